"""The certificate that pages are served with: read again when its files change."""

import asyncio
import logging
import ssl
from datetime import timedelta
from pathlib import Path

log = logging.getLogger(__name__)

LOOK_INTERVAL = timedelta(minutes=1)
"""Between two looks whether the files have changed."""


class Certificate:
    """A certificate and its key, for handshakes from now on."""

    def __init__(self, certificate: Path, key: Path) -> None:
        """Read the files.

        Raises:
            OSError: one can't be read, or isn't what it should be (`ssl.SSLError`).
        """
        self._files = certificate, key
        self._read = self._changes()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)

    async def follow(self) -> None:
        """Read the files again whenever they have changed, for ever."""
        while True:
            await asyncio.sleep(LOOK_INTERVAL.total_seconds())
            await asyncio.to_thread(self.look)

    def look(self) -> None:
        """Read the files again if they have changed; what can't be read leaves all as it was."""
        try:
            changes = self._changes()
            if changes != self._read:
                self.context.load_cert_chain(*self._files)
                self._read = changes
        except OSError as error:
            log.warning("the pages keep their certificate: %s", error)

    def _changes(self) -> tuple[int, ...]:
        return tuple(path.stat().st_mtime_ns for path in self._files)
