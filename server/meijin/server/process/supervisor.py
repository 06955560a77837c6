"""The supervisor of the processes beside a server: the embedded Valkey and the ladders' worker."""

import asyncio
import os
import signal
import subprocess
import sys
from datetime import timedelta
from typing import Self

import structlog

from meijin.server.process.die_with_parent import die_with_parent
from meijin.server.process.valkey import EmbeddedValkey, EmbeddedValkeyError
from meijin.server.settings import Settings
from meijin.wire.contract import (
    COLLECTOR_VARIABLES,
    DATABASE_VARIABLE,
    LOG_FORMAT_VARIABLE,
    LOG_LEVEL_VARIABLE,
    REDIS_VARIABLE,
    SWEEP_VARIABLE,
    VALKEY_FOLDER,
)

log = structlog.get_logger()

LIVENESS_INTERVAL = timedelta(seconds=0.5)
"""Between two looks whether they live."""

FIRST_BACKOFF, MAX_BACKOFF = timedelta(seconds=0.5), timedelta(seconds=30)
"""Before a process that ended is started again, doubled each time."""

STABLE_TIME = timedelta(seconds=60)
"""A process that lived for as long is restarted after the first backoff."""

WORKER_STOP_TIMEOUT = timedelta(seconds=5)
"""The worker has this time to finish its jobs; then it is killed, and they are made up for later."""


class Supervisor:
    """The supervisor: keeps an embedded Valkey and a worker alive, unless a Redis is configured.

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
            self._valkey = EmbeddedValkey(self._settings.data / VALKEY_FOLDER)
            self._valkey.start()
            self.redis_url = self._valkey.url
            self._worker = self._start_worker()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._worker is not None:
            self._worker.send_signal(signal.SIGTERM)
            try:
                await asyncio.to_thread(self._worker.wait, WORKER_STOP_TIMEOUT.total_seconds())
            except subprocess.TimeoutExpired:
                self._worker.kill()
                self._worker.wait()
        if self._valkey is not None:
            self._valkey.stop()

    async def run(self) -> None:
        if self._worker is None:  # there is nothing to keep alive
            await asyncio.get_running_loop().create_future()
        clock = asyncio.get_running_loop().time
        backoff, since = FIRST_BACKOFF, clock()
        while True:
            await asyncio.sleep(LIVENESS_INTERVAL.total_seconds())
            processes = (self._valkey, self._worker)
            if all(process is None or process.poll() is None for process in processes):
                continue
            is_stable = clock() - since > STABLE_TIME.total_seconds()
            backoff = FIRST_BACKOFF if is_stable else min(2 * backoff, MAX_BACKOFF)
            await asyncio.sleep(backoff.total_seconds())
            await self._restart()
            since = clock()

    async def _restart(self) -> None:
        if self._valkey is not None and self._valkey.poll() is not None:
            log.warning("the embedded Valkey ended; starting it again", status=self._valkey.poll())
            try:
                self._valkey.stop()
                self._valkey.spawn()  # from this thread, whose end is to be its end
                await asyncio.to_thread(self._valkey.wait_until_ready)
            except EmbeddedValkeyError as error:
                log.error("no embedded Valkey", error=str(error))
        if self._worker is not None and self._worker.poll() is not None:
            log.warning("the worker ended; starting it again", status=self._worker.poll())
            self._worker = self._start_worker()

    def _start_worker(self) -> "subprocess.Popen[bytes]":
        """Start a worker; it takes the URLs from its environment, since one may hold a password."""
        kept = {key: value for key, value in os.environ.items() if key not in COLLECTOR_VARIABLES}
        environment = kept | {
            DATABASE_VARIABLE: self._settings.database,
            REDIS_VARIABLE: self.redis_url,
            SWEEP_VARIABLE: str(self._settings.sweep.total_seconds()),
            LOG_LEVEL_VARIABLE: self._settings.log_level.value,
            LOG_FORMAT_VARIABLE: self._settings.log_format.value,
        }
        if self._settings.traces is not None:
            environment[COLLECTOR_VARIABLES[0]] = self._settings.traces
        command = [sys.executable, "-m", "meijin", "worker"]
        return subprocess.Popen(
            die_with_parent(command),
            env=environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
