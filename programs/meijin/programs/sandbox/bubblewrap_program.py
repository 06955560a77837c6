"""A program that runs in bubblewrap."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from meijin.programs.kinds import MEBIBYTE, ProgramLimits
from meijin.programs.sandbox.output import Output, Written
from meijin.programs.sandbox.running import Cause, End, Usage
from meijin.programs.sandbox.seat_groups import Part, SeatGroup, write

OWN_PROCESSES = 2
"""Bubblewrap's, which are in the program's group."""
_POLL_INTERVAL = 0.002
"""Seconds between two looks at a group that freezes or dies: the kernel tells nobody of it."""
_SIGNALLED = 128
"""Added to the number of a signal in the exit status that bubblewrap gives."""
_GRACE = timedelta(seconds=1)


class BubblewrapProgram(Written):
    """A program that was started, until nothing is left of it."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        *,
        group: SeatGroup,
        limits: ProgramLimits,
        output: int,
        status: int,
        on_end: Callable[[], None],
    ) -> None:
        """Follow bubblewrap's process.

        Args:
            process: Bubblewrap.
            group: The seat's groups, which are removed with it.
            limits: Those that were set.
            output: The pipe that the program writes to, to be read and closed.
            status: The pipe to which bubblewrap says how it goes, likewise.
            on_end: Called when nothing is left.
        """
        self._process = process
        self._group = group
        self._limits = limits
        self._output = Output(output, limit=limits.output_bytes, on_flood=self._on_flood)
        self._status = status
        self._on_end = on_end
        self._cause: Cause | None = None
        self._is_to_stand = False
        self._last: Usage | None = None
        """What was used until its end; ``None`` before it."""
        self._has_door = False
        self._end = asyncio.create_task(self._follow(), name="sandboxed program")
        self._removal = asyncio.create_task(self._remove(), name="end of a seat's groups")

    @property
    def pid(self) -> int:
        """Bubblewrap's, outside of the sandbox."""
        return self._process.pid

    def usage(self) -> Usage:
        """What it uses, or has used."""
        return self._last or self._usage()

    def _usage(self) -> Usage:
        used = self._group.usage()
        processes = max(used.processes - OWN_PROCESSES, 0)
        return Usage(used.cpu_ns, used.memory_bytes, processes, self._output.total)

    def pin(self, core: int | None) -> None:
        """Have it run on one core; on any when ``None``."""
        if self._last is None:
            self._group.pin(core)

    def add_door(self, pid: int) -> None:
        """Charge a process to the seat's core, until `stop` kills it."""
        if self._last is not None:
            return
        self._has_door = True
        for entry in self._group.entries(Part.DOOR):
            write(entry, pid)

    async def freeze(self) -> None:
        """Have it stand still."""
        self._is_to_stand = True
        if self._last is None:
            self._group.freeze()
        while self._freezes():  # noqa: ASYNC110 - no event comes
            await asyncio.sleep(_POLL_INTERVAL)

    def _freezes(self) -> bool:
        """Whether it still has to come to a stand; not after its end, or when it thaws meanwhile."""
        return self._is_to_stand and self._last is None and not self._group.is_frozen()

    async def thaw(self) -> None:
        """Let it go on."""
        self._is_to_stand = False
        if self._last is None:
            self._group.thaw()

    async def wait(self) -> End:
        """Wait until nothing is left of it but its door."""
        return await asyncio.shield(self._end if self._has_door else self._removal)

    async def stop(self, grace: timedelta = _GRACE) -> End:
        """Ask it to end, and kill it after `grace`."""
        self._cause = self._cause or Cause.ASKED
        if self._last is None and grace:
            self._ask()
            await asyncio.wait([self._end], timeout=grace.total_seconds())
        self._kill()
        self._has_door = False
        return await self.wait()

    def _ask(self) -> None:
        """Send a signal to all but bubblewrap, whose end would kill them."""
        self._is_to_stand = False
        self._group.thaw()
        for pid in self._group.members():
            if pid != self._process.pid:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
                    os.kill(pid, signal.SIGCONT)  # for one that has stopped itself

    def _on_flood(self) -> None:
        self._cause = self._cause or Cause.OUTPUT
        self._kill()

    def _kill(self) -> None:
        if self._last is None:
            with suppress(ProcessLookupError):  # it may not be in its group yet
                self._process.kill()
            self._group.kill(Part.PROGRAM)

    async def _follow(self) -> End:
        code = await self._process.wait()
        self._group.kill(Part.PROGRAM)
        while self._group.members():
            await asyncio.sleep(_POLL_INTERVAL)
            self._group.kill(Part.PROGRAM)
        self._output.close()
        oom_kills = self._group.usage().oom_kills
        self._last = self._usage()
        return self._judge(code, self._read_status(), oom_kills)

    async def _remove(self) -> End:
        """Remove the groups once the program has ended, and its door is not needed any more."""
        end = await asyncio.shield(self._end)
        while not self._group.remove():
            if not self._has_door:
                self._group.kill()
            await asyncio.sleep(_POLL_INTERVAL)
        self._on_end()
        return end

    def _read_status(self) -> int | None:
        """The exit status that bubblewrap gives; ``None`` where the command has not run to its end.

        All who could write have died.
        """
        with os.fdopen(self._status, "rb") as pipe:
            documents = [json.loads(line) for line in pipe.read().splitlines()]
        codes = [document["exit-code"] for document in documents if "exit-code" in document]
        return codes[0] if codes else None

    def _judge(self, code: int, status: int | None, oom_kills: int) -> End:
        if self._cause is Cause.ASKED:
            return End(Cause.ASKED, code, "the host has stopped it")
        if self._cause is Cause.OUTPUT:
            return End.by_output(code, self._limits.output_bytes)
        if oom_kills:
            said = f"it wanted more than {self._limits.memory_bytes // MEBIBYTE} MiB of memory"
            return End(Cause.MEMORY, code, said)
        if status is None and code >= 0:
            return self._not_started(code)
        number = -code if status is None else status - _SIGNALLED
        return End.by_signal(number) if number in set(signal.Signals) else End.by_itself(code)

    def _not_started(self, code: int) -> End:
        lines = self._output.lines
        last = lines[-1] if lines else f"the launcher exited with status {code}"
        if last.startswith("bwrap: execvp "):
            return End(Cause.COMMAND, code, last.removeprefix("bwrap: execvp "))
        return End(Cause.LAUNCH, code, last)
