"""Processes of doors, one of which is always ready for the next program."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

from meijin.hosting.door.lines import HostLine, Line, Plan, read_line, write_line

MODULE = "meijin.hosting.door"
QUIET = {"GRPC_VERBOSITY": "NONE"}
"""Else a program that takes all of its door's descriptors fills the host's log."""


class DoorProcess:
    """A door as its host sees it."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    def tell(self, line: HostLine) -> None:
        """Say something; a door that has ended doesn't hear it."""
        assert self._process.stdin is not None
        with suppress(ConnectionError, RuntimeError):
            self._process.stdin.write(write_line(line))

    async def lines(self) -> AsyncIterator[Line]:
        """What it says, until it ends."""
        assert self._process.stdout is not None
        while data := await self._process.stdout.readline():
            yield read_line(data)

    async def close(self) -> None:
        """End it, and wait until it has."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


class DoorPool:
    """Starts doors ahead of time: what they import takes half a second.

    Args:
        environment: Of the doors; it tells how the server is reached.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._spare: asyncio.Task[DoorProcess] | None = None

    def prepare(self) -> None:
        """Start one for the next program, unless one is ready."""
        if self._spare is None:
            self._spare = asyncio.create_task(self._start())

    async def take(self, plan: Plan) -> DoorProcess:
        """A door that is about to listen."""
        self.prepare()
        assert self._spare is not None
        spare, self._spare = self._spare, None
        door = await spare
        door.tell(plan)
        self.prepare()
        return door

    async def close(self) -> None:
        spare, self._spare = self._spare, None
        if spare is not None:
            await (await spare).close()

    async def _start(self) -> DoorProcess:
        words = (sys.executable, "-P", "-m", MODULE)
        process = await asyncio.create_subprocess_exec(
            *words, stdin=PIPE, stdout=PIPE, env={**self._environment, **QUIET}
        )
        return DoorProcess(process)
