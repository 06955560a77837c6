"""Transport security (TLS) of a server: its credentials, loaded again when their files change."""

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self, TypeAlias

import grpc
import structlog

from meijin.server.errors import CertificateError
from meijin.server.settings import Settings

log = structlog.get_logger()

RELOAD_INTERVAL = timedelta(seconds=5)
"""How often the files are looked at."""

_Stamp: TypeAlias = tuple[tuple[int, int, int] | None, ...]
"""Of each file what changes with it; none for a file that isn't there."""


@dataclass(frozen=True, slots=True)
class CertificateEnds:
    """Until when the certificates that were loaded last are valid."""

    server: datetime
    client_ca: datetime | None
    """Of all authorities whose certificates clients may show; ``None`` when none are asked for."""


class Credentials:
    """What TLS handshakes are answered with; streams that are open keep what they began with.

    gRPC asks for news at every handshake, in threads of its own.
    """

    def __init__(self, certificate: Path, key: Path, client_ca: Path | None) -> None:
        """Load the files.

        Raises:
            CertificateError: one of them can't be used.
        """
        self._certificate, self._key, self._client_ca = certificate, key, client_ca
        self._stamp = self._read_stamp()
        self._first = self._load()
        self._news: deque[grpc.ServerCertificateConfiguration] = deque(maxlen=1)
        self._asked = asyncio.Event()

    @classmethod
    def of(cls, settings: Settings) -> Self | None:
        """Credentials of a server that speaks TLS.

        Raises:
            CertificateError: a file can't be used.
        """
        if settings.certificate is None or settings.key is None:
            return None
        return cls(settings.certificate, settings.key, settings.client_ca)

    def for_server(self) -> grpc.ServerCredentials:
        """What gRPC opens a port with."""
        return grpc.dynamic_ssl_server_credentials(
            self._first,
            self._fetch,  # type: ignore[arg-type]  # the stubs don't know of None for no news
            require_client_authentication=self._client_ca is not None,
        )

    def reload(self) -> None:
        self._asked.set()

    async def watch(self) -> None:
        """Load the files whenever they have changed."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(RELOAD_INTERVAL.total_seconds()):
                    await self._asked.wait()
            is_asked = self._asked.is_set()
            self._asked.clear()
            await asyncio.to_thread(self._load_again, even_unchanged=is_asked)

    def _load_again(self, *, even_unchanged: bool) -> None:
        """Load the files; if they can't be used, what was loaded before stays in use."""
        stamp = self._read_stamp()
        if stamp == self._stamp and not even_unchanged:
            return
        self._stamp = stamp
        try:
            self._news.append(self._load())
        except CertificateError as error:
            log.error("the new certificate can't be used", reason=str(error))

    def _load(self) -> grpc.ServerCertificateConfiguration:
        # The package `cryptography` takes 0.04 s to import, and most servers speak no TLS.
        from meijin.server.certificates import Authorities, KeyPair  # noqa: PLC0415

        pair = KeyPair.read(self._certificate, self._key)
        authorities = None if self._client_ca is None else Authorities.read(self._client_ca)
        self.ends = CertificateEnds(pair.end, None if authorities is None else authorities.end)
        """Until when what was loaded last is valid."""
        if pair.end < datetime.now(UTC):
            log.error("the certificate has expired", end=pair.end.isoformat())
        else:
            log.info("certificate loaded", end=pair.end.isoformat())
        return grpc.ssl_server_certificate_configuration(
            [(pair.key, pair.certificate)],
            None if authorities is None else authorities.certificates,
        )

    def _read_stamp(self) -> _Stamp:
        files = (self._certificate, self._key, self._client_ca)
        return tuple(_stamp(file) for file in files if file is not None)

    def _fetch(self) -> grpc.ServerCertificateConfiguration | None:
        """What has been loaded since the last handshake, if something has."""
        try:
            return self._news.pop()
        except IndexError:
            return None


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_ino, found.st_size)
