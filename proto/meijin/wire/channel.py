"""Channels to a server: TLS or plain text, and what a failed handshake means."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeAlias

import grpc

from meijin.wire.contract import (
    CA_VARIABLE,
    CLIENT_CERTIFICATE_VARIABLE,
    CLIENT_KEY_VARIABLE,
    PLAINTEXT_VARIABLE,
    TLS_SCHEME,
    Address,
)

StrPath: TypeAlias = str | os.PathLike[str]

_YES = frozenset({"1", "on", "t", "true", "y", "yes"})

_HANDSHAKE_FAILURES = {
    "Hostname Verification Check failed": "the server's certificate is for another name; use a "
    "name that it is for, or give the server a certificate for this one",
    "certificate has expired": "the server's certificate has expired; its operator must renew it",
    "certificate is not yet valid": "the server's certificate is not valid yet; see that this "
    "machine's clock is right",
    "CERTIFICATE_VERIFY_FAILED": "the server's certificate is by an unknown authority; give that "
    f"authority's certificate with --ca or {CA_VARIABLE}",
    "missing selected ALPN property": "what answers speaks TLS and is no Meijin server; check the "
    "address and the port",
    "WRONG_VERSION_NUMBER": f"the server speaks no TLS; leave {TLS_SCHEME} out, if plain text "
    "will do",
}
"""What gRPC says of a handshake that the client breaks off, and what to say instead."""

_CLOSED = re.compile(r"Socket closed|Connection reset|Broken pipe")
"""What gRPC says of one that the server breaks off, which tells no reason."""


@dataclass(frozen=True, slots=True)
class Security:
    """Transport security (TLS) of a client: whom it trusts, and what it shows."""

    ca: StrPath | None = None
    """A PEM file of authorities; without one those that gRPC brings along are trusted."""
    client_certificate: StrPath | None = None
    """A PEM file of the certificate that opens a server which asks for one, its own first."""
    client_key: StrPath | None = None
    """A PEM file of that certificate's key."""
    plaintext: bool = False
    """Whether a token may go to another machine in plain text."""

    @classmethod
    def from_environment(cls) -> Self:
        """Read MEIJIN_CA, MEIJIN_CLIENT_CERTIFICATE, MEIJIN_CLIENT_KEY and MEIJIN_PLAINTEXT."""
        return cls(
            ca=_path_in(CA_VARIABLE),
            client_certificate=_path_in(CLIENT_CERTIFICATE_VARIABLE),
            client_key=_path_in(CLIENT_KEY_VARIABLE),
            plaintext=os.environ.get(PLAINTEXT_VARIABLE, "").lower() in _YES,
        )

    def check_token(self, address: Address, token: str | None) -> None:
        """See that nobody between here and the server can read the token.

        Raises:
            ValueError: it would go to another machine in plain text.
        """
        if token and not (address.is_tls or address.is_local or self.plaintext):
            raise ValueError(
                f"the token would go to {address} in plain text; write {TLS_SCHEME}{address}, or "
                f"allow it with --plaintext or {PLAINTEXT_VARIABLE}=true"
            )

    def credentials(self) -> grpc.ChannelCredentials:
        """What a TLS handshake needs.

        Raises:
            ValueError: a file can't be read, or isn't what it should be.
        """
        if (self.client_certificate is None) != (self.client_key is None):
            raise ValueError("a client's certificate and its key go together; give both or none")
        authorities = None if self.ca is None else _read_authorities(self.ca)
        if self.client_certificate is None or self.client_key is None:
            return grpc.ssl_channel_credentials(authorities)
        key, chain = _read_pair(self.client_key, self.client_certificate)
        return grpc.ssl_channel_credentials(authorities, key, chain)


def _path_in(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value) if value else None


def _read(path: StrPath) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"can't read {path}: {error.strerror}") from None


def _read_authorities(path: StrPath) -> bytes:
    authorities = _read(path)
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=authorities.decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise ValueError(f"{path} holds no certificate in PEM") from None
    return authorities


def _read_pair(key: StrPath, certificate: StrPath) -> tuple[bytes, bytes]:
    """A key and its certificate, which are seen to belong together."""
    pair = _read(key), _read(certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:  # with a password to try, nobody is asked for one
        context.load_cert_chain(certificate, key, password="")
    except (OSError, ValueError):
        raise ValueError(
            f"{certificate} and {key} are no certificate and its key in PEM, without a password"
        ) from None
    return pair


def open_channel(
    address: Address, security: Security, options: Sequence[tuple[str, int]]
) -> grpc.Channel:
    """A channel for calls that wait.

    Raises:
        ValueError: a file of `security` can't be read, or isn't what it should be.
    """
    options = (*options, *_proxy_options(address))
    if address.is_tls:
        return grpc.secure_channel(address.target, security.credentials(), options=options)
    return grpc.insecure_channel(address.target, options=options)


def open_async_channel(
    address: Address, security: Security, options: Sequence[tuple[str, int]]
) -> grpc.aio.Channel:
    """A channel for coroutines.

    Raises:
        ValueError: a file of `security` can't be read, or isn't what it should be.
    """
    options = (*options, *_proxy_options(address))
    if address.is_tls:
        return grpc.aio.secure_channel(address.target, security.credentials(), options=options)
    return grpc.aio.insecure_channel(address.target, options=options)


def _proxy_options(address: Address) -> tuple[tuple[str, int], ...]:
    """No proxy of the environment stands between a client and a server on the same machine."""
    return (("grpc.enable_http_proxy", 0),) if address.is_local else ()


def handshake_failure(address: Address, details: str) -> str | None:
    """What to say of a connection that failed in its handshake; none if it failed otherwise."""
    for sign, advice in _HANDSHAKE_FAILURES.items():
        if sign in details:
            return advice
    if not (details.startswith("failed to connect") and _CLOSED.search(details)):
        return None
    if address.is_tls:
        return (
            "the server breaks the TLS handshake off; it may want a client's certificate: give "
            f"--client-certificate and --client-key, or {CLIENT_CERTIFICATE_VARIABLE} and "
            f"{CLIENT_KEY_VARIABLE}"
        )
    return f"the server closes the connection; if it wants TLS, write {TLS_SCHEME}{address}"
