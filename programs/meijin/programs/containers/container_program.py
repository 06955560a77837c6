"""A program that runs in a container of Docker or Podman."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

from meijin.programs.containers.container_group import ContainerGroup
from meijin.programs.containers.engine import Engine, EngineError
from meijin.programs.kinds import MEBIBYTE, ProgramLimits
from meijin.programs.sandbox.output import Output, Written
from meijin.programs.sandbox.running import Cause, End, Usage

_NO_COMMAND = (126, 127)
_SIGNALLED = 128
"""Added to the number of a signal in the status of a container."""
_KILLED = _SIGNALLED + signal.SIGKILL
"""Who is left to kill a program unasked is the kernel, when memory is short; Podman before release
5 does not tell of that."""
_GRACE = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class ContainerState:
    """What an engine says of a container."""

    status: str
    pid: int
    """Of its first process, as the machine counts; 0 where none runs."""
    code: int
    error: str
    """Why it could not be started."""
    is_out_of_memory: bool

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what ``inspect`` prints."""
        state: dict[str, Any] = json.loads(text)[0]["State"]
        return cls(
            status=state["Status"],
            pid=state.get("Pid", 0),
            code=state.get("ExitCode", 0),
            error=state.get("Error", ""),
            is_out_of_memory=state.get("OOMKilled", False),
        )

    @property
    def is_running(self) -> bool:
        return self.status in ("running", "paused")


class ContainerProgram(Written):
    """A program that was started in a container, until that is removed."""

    def __init__(
        self,
        engine: Engine,
        container: str,
        process: asyncio.subprocess.Process,
        *,
        limits: ProgramLimits,
        core: int | None,
        output: int,
        find_group: Callable[[str, int], ContainerGroup | None],
        on_end: Callable[["ContainerProgram"], None],
    ) -> None:
        """Follow the engine's process that is attached to a container.

        Args:
            engine: That of the container.
            container: Its id.
            process: What passes on its output, and ends when it does.
            limits: Those that were set.
            core: The one that it was given.
            output: The pipe that it writes to, to be read and closed.
            find_group: Finds the control groups of a container and its first process.
            on_end: Called when nothing is left.
        """
        self._engine = engine
        self._container = container
        self._process = process
        self._limits = limits
        self._output = Output(output, limit=limits.output_bytes, on_flood=self._on_flood)
        self._find_group = find_group
        self._on_end = on_end
        self._group: ContainerGroup | None = None
        self._used = Usage(0, 0, 0, 0)
        """As it was seen last: the groups are gone as soon as the program is."""
        self._cause: Cause | None = None
        self._lost = ""
        """Why the container was given up."""
        self._pinned = self._core = core
        self._is_frozen = self._is_to_stand = False
        self._turns = asyncio.Lock()
        """One command after the other, or the engine may take the first last."""
        self._kills: set[asyncio.Task[None]] = set()
        self._end = asyncio.create_task(self._follow(), name="program in a container")

    @property
    def container(self) -> str:
        """The container's id."""
        return self._container

    def usage(self) -> Usage:
        """What it has used up to the last time that this was asked while it ran."""
        if self._group is not None:
            self._used = self._group.usage(self._used, output_bytes=self._output.total)
        return self._used

    async def begin(self, poll_interval: timedelta) -> None:
        """Wait until it runs, or has ended; without its control groups it is given up."""
        while not self._end.done():
            state = await self._inspect()
            if state is not None and state.pid:
                self._group = self._find_group(self._container, state.pid)
                if self._group is None and await self._is_running():
                    self._lost = "its control groups are not to be seen: host where the engine runs"
                    await self._kill()
                return
            await asyncio.wait([self._end], timeout=poll_interval.total_seconds())

    def pin(self, core: int | None) -> None:
        """Have it run on one core from the next thaw on; on any when ``None``."""
        self._pinned = core

    def add_door(self, pid: int) -> None:
        """Do nothing: a container takes no process of others."""

    async def freeze(self) -> None:
        """Have it stand still."""
        self._is_to_stand = True
        await self._settle()
        self.usage()

    async def thaw(self) -> None:
        """Let it go on, on the core that it was pinned to."""
        self._is_to_stand = False
        await self._settle()

    async def _settle(self) -> None:
        await asyncio.shield(asyncio.create_task(self._take_turn()))

    async def _take_turn(self) -> None:
        """Bring the container to what is wanted of it by now.

        Raises:
            EngineError: the engine can't, and the program runs.
        """
        async with self._turns:
            if not self._is_to_stand and self._pinned != self._core:
                await self._tell("update", "--cpuset-cpus", _cores(self._pinned))
                self._core = self._pinned
            if self._is_to_stand != self._is_frozen:
                await self._tell("pause" if self._is_to_stand else "unpause")
                self._is_frozen = not self._is_frozen

    async def _tell(self, *words: str) -> None:
        """Run a command about the container, whose end meanwhile is no error."""
        if self._end.done():
            return
        try:
            await self._engine.call(*words, self._container)
        except EngineError:
            if await self._is_running():
                raise

    async def wait(self) -> End:
        """Wait until its container was removed."""
        return await asyncio.shield(self._end)

    async def stop(self, grace: timedelta = _GRACE) -> End:
        """Ask it to end, and kill it after `grace`."""
        self._cause = self._cause or Cause.ASKED
        self.usage()
        if grace and not self._end.done():
            with suppress(EngineError):  # what can't be asked is killed
                await self.thaw()
                await self._tell("kill", "--signal", "TERM")
                await asyncio.wait([self._end], timeout=grace.total_seconds())
        await self._kill()
        return await self.wait()

    def _on_flood(self) -> None:
        self._cause = self._cause or Cause.OUTPUT
        task = asyncio.create_task(self._kill())
        self._kills.add(task)
        task.add_done_callback(self._kills.discard)

    async def _kill(self) -> None:
        """Remove the container, with all that runs in it."""
        if not self._end.done():
            await self._remove()
            with suppress(ProcessLookupError):
                self._process.kill()

    async def _remove(self) -> None:
        with suppress(EngineError):  # it has gone already, or the janitor tries again
            await self._engine.call("rm", "--force", "--volumes", self._container)

    async def _is_running(self) -> bool:
        state = await self._inspect()
        return state is not None and state.is_running

    async def _inspect(self) -> ContainerState | None:
        """What the engine says of the container; ``None`` where it has none."""
        try:
            told = await self._engine.call("container", "inspect", self._container)
            return ContainerState.parse(told)
        except (EngineError, ValueError, KeyError, IndexError):
            return None

    async def _follow(self) -> End:
        code = await self._process.wait()
        self._output.close()
        state = await self._inspect()
        await self._remove()
        self.usage()
        self._on_end(self)
        return self._judge(code, state)

    def _judge(self, code: int, state: ContainerState | None) -> End:
        if self._cause is Cause.ASKED:
            return End(Cause.ASKED, code, "the host has stopped it")
        if self._cause is Cause.OUTPUT:
            return End.by_output(code, self._limits.output_bytes)
        if state is None or state.is_running:
            return End(Cause.LAUNCH, code, self._lost or "the engine has lost its container")
        if state.is_out_of_memory or state.code == _KILLED:
            said = f"it wanted more than {self._limits.memory_bytes // MEBIBYTE} MiB of memory"
            unsure = "" if state.is_out_of_memory else ", or has killed itself"
            return End(Cause.MEMORY, state.code, f"{said}{unsure}")
        if state.status == "created" or state.error or state.code in _NO_COMMAND:
            return self._not_started(state)
        number = state.code - _SIGNALLED
        is_signal = number in set(signal.Signals)
        return End.by_signal(number) if is_signal else End.by_itself(state.code)

    def _not_started(self, state: ContainerState) -> End:
        said = [*state.error.splitlines()[-1:], *self.lines[-1:], "its container does not start"]
        cause = Cause.COMMAND if state.code in _NO_COMMAND else Cause.LAUNCH
        return End(cause, state.code, said[0])


def _cores(core: int | None) -> str:
    """A list of cores as an engine takes it; it has no word for all of them but their numbers."""
    return str(core) if core is not None else ",".join(map(str, sorted(os.sched_getaffinity(0))))
