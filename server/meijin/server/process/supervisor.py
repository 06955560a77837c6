"""The supervisor of the processes beside a server: Valkey, workers and the server's own host."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

import structlog

from meijin.server.process.die_with_parent import die_with_parent
from meijin.server.process.valkey import EmbeddedValkey, EmbeddedValkeyError
from meijin.server.settings import Settings
from meijin.wire.contract import (
    COLLECTOR_VARIABLES,
    DATABASE_VARIABLE,
    HOST_TOKEN_VARIABLE,
    HOSTED_FOLDER,
    LOG_FORMAT_VARIABLE,
    LOG_LEVEL_VARIABLE,
    PROGRAMS_VARIABLE,
    REDIS_VARIABLE,
    SERVER_VARIABLE,
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


HOST_STOP_TIMEOUT = timedelta(seconds=10)
"""The host has this time to stop its programs."""


@dataclass(slots=True, eq=False)
class Child:
    """A process beside the server: a command of ours, started anew whenever it has ended."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    stop_timeout: timedelta
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        """Start it; from the main thread, whose end is its own."""
        self.process = subprocess.Popen(
            die_with_parent([sys.executable, "-P", "-m", "meijin", *self.command]),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def has_ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    async def stop(self) -> None:
        process = self.process
        if process is None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            await asyncio.to_thread(process.wait, self.stop_timeout.total_seconds())
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Supervisor:
    """The supervisor: keeps what runs beside the server alive.

    That is an embedded Valkey with the workers of its queues, unless a Redis is configured, and the
    server's own host. They are started from the main thread, whose end is theirs.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._valkey: EmbeddedValkey | None = None
        self.children: list[Child] = []
        """Those of our own commands."""
        self.redis_url = settings.redis_url or ""
        """Where the jobs queue."""

    async def __aenter__(self) -> Self:
        if not self.redis_url:
            self._valkey = EmbeddedValkey(self._settings.data / VALKEY_FOLDER)
            self._valkey.start()
            self.redis_url = self._valkey.url
            self._add("worker", ["worker"], self._of_jobs(), WORKER_STOP_TIMEOUT)
            if self._settings.hosting:
                self._add("admissions", ["host", "admit"], self._of_jobs(), WORKER_STOP_TIMEOUT)
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(child.stop() for child in self.children))
        if self._valkey is not None:
            self._valkey.stop()

    def start_host(self, address: str, token: str) -> None:
        """Start the server's own host, which connects to an address."""
        environment = self._kept() | {SERVER_VARIABLE: address, HOST_TOKEN_VARIABLE: token}
        folder = self._settings.data / HOSTED_FOLDER
        command = ["host", "run", f"--folder={folder}", "--name=own"]
        self._add("host", command, environment, HOST_STOP_TIMEOUT)

    def _add(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        stop_timeout: timedelta,
    ) -> None:
        child = Child(name, command, environment, stop_timeout)
        self.children.append(child)
        child.start()

    async def run(self) -> None:
        clock = asyncio.get_running_loop().time
        backoff, since = FIRST_BACKOFF, clock()
        while True:
            await asyncio.sleep(LIVENESS_INTERVAL.total_seconds())
            ended = [child for child in self.children if child.has_ended]
            has_valkey_ended = self._valkey is not None and self._valkey.poll() is not None
            if not (ended or has_valkey_ended):
                continue
            is_stable = clock() - since > STABLE_TIME.total_seconds()
            backoff = FIRST_BACKOFF if is_stable else min(2 * backoff, MAX_BACKOFF)
            await asyncio.sleep(backoff.total_seconds())
            if has_valkey_ended:
                await self._restart_valkey()
            for child in ended:
                assert child.process is not None
                status = child.process.poll()
                log.warning("a process ended; starting it again", name=child.name, status=status)
                child.start()
            since = clock()

    async def _restart_valkey(self) -> None:
        assert self._valkey is not None
        log.warning("the embedded Valkey ended; starting it again", status=self._valkey.poll())
        try:
            self._valkey.stop()
            self._valkey.spawn()  # from this thread, whose end is to be its end
            await asyncio.to_thread(self._valkey.wait_until_ready)
        except EmbeddedValkeyError as error:
            log.error("no embedded Valkey", error=str(error))

    def _of_jobs(self) -> Mapping[str, str]:
        """The environment of a worker; it holds the URLs, since one may hold a password."""
        return self._kept() | {
            DATABASE_VARIABLE: self._settings.database,
            REDIS_VARIABLE: self.redis_url,
            SWEEP_VARIABLE: str(self._settings.sweep.total_seconds()),
            PROGRAMS_VARIABLE: self._settings.depot,
        }

    def _kept(self) -> dict[str, str]:
        """What every child has of the server's environment."""
        kept = {key: value for key, value in os.environ.items() if key not in COLLECTOR_VARIABLES}
        kept[LOG_LEVEL_VARIABLE] = self._settings.log_level.value
        kept[LOG_FORMAT_VARIABLE] = self._settings.log_format.value
        if self._settings.traces is not None:
            kept[COLLECTOR_VARIABLES[0]] = self._settings.traces
        return kept
