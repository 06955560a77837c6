"""An authority of a test, and the files of the certificates that it signs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from meijin.server.certificates import Authority, KeyPair
from meijin.wire.channel import Security

VALIDITY = timedelta(days=1)


class AuthorityFiles:
    """Signs certificates, each in new files of a folder."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self._folder = folder
        self._authority = Authority.make(name, now=datetime.now(UTC), validity=VALIDITY)
        self.ca = folder / f"{name}.pem"
        self.ca.write_bytes(self._authority.pair.certificate)

    @property
    def security(self) -> Security:
        """Of a client that trusts this authority, and shows nothing."""
        return Security(self.ca)

    def server(
        self, *names: str, stem: str = "server", age: timedelta = timedelta(0)
    ) -> dict[str, Any]:
        """The settings of a server with a certificate for these names, by default its own."""
        pair = self._authority.server_pair(
            names or ("127.0.0.1",), now=datetime.now(UTC) - age, validity=VALIDITY
        )
        certificate, key = self._replace(pair, stem)
        return {"certificate": certificate, "key": key}

    def client(self, name: str = "client", *, trusting: AuthorityFiles | None = None) -> Security:
        """Of a client that shows a certificate by this authority."""
        pair = self._authority.client_pair(name, now=datetime.now(UTC), validity=VALIDITY)
        return Security((trusting or self).ca, *self._replace(pair, name))

    def _replace(self, pair: KeyPair, stem: str) -> tuple[Path, Path]:
        files = (self._folder / f"{stem}.pem", self._folder / f"{stem}-key.pem")
        for file, content in zip(files, (pair.certificate, pair.key), strict=True):
            new = file.with_suffix(".new")
            new.write_bytes(content)
            new.replace(file)
        return files
