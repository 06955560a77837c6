"""Targets: the addresses that webhooks may send to, so that no request reaches a private network.

A name is resolved once; each of its addresses has to be allowed, and the connection goes to one
of those that were checked: a name that changes meanwhile changes nothing.
"""

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

from meijin.wire.text import check_text

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network
Resolve: TypeAlias = Callable[[str, int], Sequence[str]]
"""The addresses of a host and a port."""

PORTS = {"https": 443, "http": 80}

MAX_NAME = 253
"""Characters of a host's name."""

_LABEL = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"({_LABEL}\.)*{_LABEL}")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""A last label by which the whole is read as an address, in any of its old forms: `127.1`, `0`."""

NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
"""Prefixes of IPv6 addresses that hold one of IPv4 in their last four bytes."""

HOSTS_OF_CLOUDS = frozenset({IPv4Address("168.63.129.16")})
"""Public ones that answer a machine about itself."""


class TargetError(ValueError):
    """Nothing may be sent there; the message says why, and what may be."""


@dataclass(frozen=True, slots=True)
class Url:
    """Where a webhook sends, taken apart."""

    host: str
    port: int
    path: str
    """With its query."""
    is_tls: bool

    @property
    def literal(self) -> Address | None:
        """The address that the host is; ``None`` for a name."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None

    @property
    def host_header(self) -> str:
        """The host, and the port where it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = PORTS["https" if self.is_tls else "http"]
        return host if self.port == usual else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Target:
    """A URL with the address that a connection goes to."""

    url: Url
    address: str


def parse_url(text: str) -> Url:
    """A URL that can be sent to.

    Raises:
        TargetError: it is none.
    """
    try:
        parts = urlsplit(check_text(text))
        port = parts.port
    except ValueError as error:
        raise TargetError(f"it is no URL: {error}") from None
    host = parts.hostname
    if parts.scheme not in PORTS or not host:
        raise TargetError("it must be a URL such as https://example.org/hook")
    if parts.username is not None or parts.password is not None:
        raise TargetError("it may hold no user name; put what the receiver needs into its path")
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise TargetError("it must be plain ASCII; write other characters as %XX, or as xn--")
    return Url(host, port or PORTS[parts.scheme], _path(parts), parts.scheme == "https")


def _path(parts: SplitResult) -> str:
    path = parts.path or "/"
    return f"{path}?{parts.query}" if parts.query else path


@dataclass(frozen=True, slots=True)
class Reach:
    """Where a webhook may send: public addresses by https, and these networks in any way."""

    networks: tuple[Network, ...] = ()

    def check(self, url: Url) -> None:
        """Accept a URL as far as it can be judged without resolving its name.

        Raises:
            TargetError: nothing may be sent there.
        """
        if not url.is_tls and not self.networks:
            raise TargetError("it must be https")
        literal = url.literal
        if literal is not None:
            self._check_address(url, literal)
        else:
            _check_name(url.host, is_public=not self.networks)

    def find(self, url: Url, resolve: Resolve) -> Target:
        """The address that a connection to a URL goes to.

        Raises:
            TargetError: nothing may be sent there.
            OSError: the name has no address, or nobody knows now.
        """
        addresses = list(dict.fromkeys(resolve(url.host, url.port)))
        if not addresses:
            raise TargetError(f"{url.host} has no address")
        for address in addresses:
            self._check_address(url, ipaddress.ip_address(address.partition("%")[0]))
        return Target(url, addresses[0])

    def _check_address(self, url: Url, address: Address) -> None:
        if any(address in network for network in self.networks):
            return
        if not url.is_tls:
            raise TargetError("it must be https")
        for each in _meant(address):
            if not _is_public(each):
                raise TargetError(f"{url.host} is no public address, or leads to one that is not")


def _check_name(host: str, *, is_public: bool) -> None:
    """Accept what everybody takes for a host's name, and where that is asked for a public one.

    Raises:
        TargetError: it is none.
    """
    name = host.removesuffix(".")
    _, dot, last = name.rpartition(".")
    if _NUMBER.fullmatch(last):
        raise TargetError(f"{host} is no name; write an address as four decimal numbers with dots")
    if len(name) > MAX_NAME or not _NAME.fullmatch(name):
        raise TargetError(f"{host} is no name of a host")
    if is_public and (not dot or last == "localhost"):
        raise TargetError(f"{host} is the name of no public address")


def _meant(address: Address) -> Iterable[Address]:
    """An address, and that of IPv4 which it stands for or holds."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return [address.ipv4_mapped]
        if any(address in network for network in NAT64):
            return [IPv4Address(address.packed[-4:])]
        if address.sixtofour is not None:
            return [address, address.sixtofour]
    return [address]


def _is_public(address: Address) -> bool:
    is_special = address.is_multicast or address.is_reserved or address.is_unspecified
    return address.is_global and not is_special and address not in HOSTS_OF_CLOUDS


def resolve_host(host: str, port: int) -> Sequence[str]:
    """Ask the system for the addresses of a host."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]
