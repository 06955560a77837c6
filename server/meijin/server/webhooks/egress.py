"""Egress: the addresses that webhooks may send to, so that no request reaches a private network.

A name is resolved once; each of its addresses has to be allowed, and the connection goes to one
of those that were checked: a name that changes meanwhile changes nothing.
"""

import asyncio
import ipaddress
import re
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TypeAlias, TypeVar, TypeVarTuple
from urllib.parse import urlsplit

from meijin.server.errors import BusyError
from meijin.wire.text import check_text

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
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

LOOKUP_LIMIT = timedelta(seconds=5)
"""How long a caller waits for an address; the system may ask for longer."""

MAX_LOOKUPS = 8
"""Threads that wait for addresses at once, those of callers who were answered among them."""

HOSTS_OF_CLOUDS = frozenset({IPv4Address("168.63.129.16")})
"""Public ones that answer a machine about itself."""


class TargetError(ValueError):
    """Nothing may be sent there; the message says why, and what may be."""


@dataclass(frozen=True, slots=True)
class Url:
    """Where a webhook sends, taken apart."""

    authority: str
    """The host as it was written, and the port where one was."""
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
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Url(parts.netloc, host, port or PORTS[parts.scheme], path, parts.scheme == "https")


@dataclass(frozen=True, slots=True)
class EgressPolicy:
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

    def resolve(self, url: Url, find: Resolve) -> Target:
        """The address that a connection to a URL goes to.

        Raises:
            TargetError: nothing may be sent there.
            OSError: the name has no address, or nobody knows now.
        """
        addresses = list(dict.fromkeys(find(url.host, url.port)))
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
        if not _is_public(_meant(address)):
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


def _meant(address: Address) -> Address:
    """The address of IPv4 that one of IPv6 stands for or holds; else itself."""
    if not isinstance(address, IPv6Address):
        return address
    if any(address in network for network in NAT64):
        return IPv4Address(address.packed[-4:])
    return address.ipv4_mapped or address.sixtofour or address


def _is_public(address: Address) -> bool:
    is_special = address.is_multicast or address.is_reserved or address.is_unspecified
    return address.is_global and not is_special and address not in HOSTS_OF_CLOUDS


def resolve_host(host: str, port: int) -> Sequence[str]:
    """Ask the system for the addresses of a host."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


class Lookups:
    """Resolves the names in the URLs of new webhooks, in threads of their own."""

    def __init__(self, resolve: Resolve = resolve_host) -> None:
        self._resolve = resolve
        self._running: set[asyncio.Task[Target]] = set()

    async def check(self, policy: EgressPolicy, url: Url) -> None:
        """Accept a URL whose host has addresses that may all be sent to.

        Raises:
            TargetError: nothing may be sent there, or nobody knows where it is.
            BusyError: too many names are being looked up.
        """
        if len(self._running) >= MAX_LOOKUPS:
            raise BusyError(f"{MAX_LOOKUPS} names are being looked up; try again later")
        lookup = in_daemon_thread("webhook-lookup", policy.resolve, url, self._resolve)
        task = asyncio.create_task(lookup)
        self._running.add(task)
        task.add_done_callback(self._forget)
        await asyncio.wait((task,), timeout=LOOKUP_LIMIT.total_seconds())
        if not task.done():
            seconds = LOOKUP_LIMIT.total_seconds()
            raise TargetError(f"{url.host} was not found within {seconds:g} s; try again later")
        try:
            task.result()
        except OSError as error:
            reason = error.strerror or error
            raise TargetError(f"{url.host} has no address that is known here: {reason}") from None

    def _forget(self, task: asyncio.Task[Target]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, though nobody waits for it any more


async def in_daemon_thread(name: str, work: Callable[[*Ts], T], *args: *Ts) -> T:
    """The result of work in a thread of its own: a pool's would hold up the end of the process."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work(*args))
        except Exception as error:  # noqa: BLE001 - the future carries it to whoever waits
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await asyncio.wrap_future(future)
