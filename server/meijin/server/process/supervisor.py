"""The processes that a server starts beside itself: the embedded Valkey and its worker."""

import asyncio
import os
import signal
import subprocess
import sys
from types import TracebackType
from typing import Self

import structlog

from meijin.server.process.die_with_parent import die_with_parent
from meijin.server.process.valkey import EmbeddedValkey, EmbeddedValkeyError
from meijin.server.settings import Settings

log = structlog.get_logger()

LOOK = 0.5
"""Seconds between two looks whether they live."""

FIRST_RETRY, LAST_RETRY = 0.5, 30.0
"""Seconds before a process that ended is started again, doubled each time."""

SETTLED = 60.0
"""A process that lived for so many seconds is restarted without delay."""

STOP_TIME = 15.0
"""Seconds that the worker has to finish its jobs."""


class Supervisor:
    """Keeps an embedded Valkey and a worker alive, unless a Redis is configured.

    They are started from the main thread, whose end is theirs.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._valkey: EmbeddedValkey | None = None
        self._worker: subprocess.Popen[bytes] | None = None
        self.redis_url = settings.redis_url or ""
        """Where the jobs queue."""

    async def __aenter__(self) -> Self:
        if not self.redis_url:
            self._valkey = EmbeddedValkey(self._settings.data / "valkey")
            self._valkey.start()
            self.redis_url = self._valkey.url
            self._worker = self._start_worker()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._worker is not None:
            self._worker.send_signal(signal.SIGTERM)
            try:
                await asyncio.to_thread(self._worker.wait, STOP_TIME)
            except subprocess.TimeoutExpired:
                self._worker.kill()
                self._worker.wait()
        if self._valkey is not None:
            self._valkey.stop()

    async def run(self) -> None:
        """Start again what has ended, for ever."""
        delay, since = FIRST_RETRY, asyncio.get_running_loop().time()
        while True:
            await asyncio.sleep(LOOK)
            if not self._has_failed():
                continue
            now = asyncio.get_running_loop().time()
            delay = FIRST_RETRY if now - since > SETTLED else min(2 * delay, LAST_RETRY)
            await asyncio.sleep(delay)
            self._restart()
            since = asyncio.get_running_loop().time()

    def _has_failed(self) -> bool:
        valkey, worker = self._valkey, self._worker
        return (valkey is not None and valkey.poll() is not None) or (
            worker is not None and worker.poll() is not None
        )

    def _restart(self) -> None:
        if self._valkey is not None and self._valkey.poll() is not None:
            log.warning("the embedded Valkey ended; starting it again", status=self._valkey.poll())
            try:
                self._valkey.restart()
            except EmbeddedValkeyError as error:
                log.error("no embedded Valkey", error=str(error))
        if self._worker is not None and self._worker.poll() is not None:
            log.warning("the worker ended; starting it again", status=self._worker.poll())
            self._worker = self._start_worker()

    def _start_worker(self) -> "subprocess.Popen[bytes]":
        """Start a worker; it takes the URLs from its environment, since one may hold a password."""
        environment = os.environ | {
            "MEIJIN_DATABASE_URL": self._settings.database,
            "MEIJIN_REDIS_URL": self.redis_url,
            "MEIJIN_SWEEP": str(self._settings.sweep.total_seconds()),
        }
        command = [sys.executable, "-m", "meijin.cli.main", "worker"]
        return subprocess.Popen(
            die_with_parent(command),
            env=environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
