"""The sandbox that is none: programs run as processes of the host's user, for its own and tests."""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Self

from meijin.programs.kinds import ProgramLimits
from meijin.programs.sandbox.abilities import Ability, Finding
from meijin.programs.sandbox.output import Output, Written
from meijin.programs.sandbox.running import SOCKET, Cause, End, Launch, Usage

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_POLL_INTERVAL = 0.002
_DIE_WITH_PARENT = "--pdeathsig=KILL"
_NO_COMMAND = (126, 127)
_STILL = ("T", "t", "Z", "X")
"""States of processes that do nothing: stopped, or dead."""
_GRACE = timedelta(seconds=1)
_ADVICE = "host programs of others with the sandbox bubblewrap"


class ProcessSandbox:
    """Starts programs as processes, with nothing between them and the machine.

    They see the machine's own folders: a program runs in its tree, not in ``/bot``.
    """

    name = "process"
    runs_images = False

    def __init__(self) -> None:
        """Start with no program."""
        self._running: set[ProcessProgram] = set()
        self._folder = Path()

    def check(self) -> Sequence[Finding]:
        """Nothing is limited; freezing and measuring reach the processes of its session."""
        done = {
            Ability.CPU_TIME: "/proc, of processes that still run or were waited for",
            Ability.FREEZE: "SIGSTOP to the processes of its session",
        }
        return [
            Finding(
                ability,
                is_limited=ability in done,
                how=done.get(ability, "a process of the host's own user"),
                advice="" if ability in done else _ADVICE,
            )
            for ability in Ability
        ]

    async def __aenter__(self) -> Self:
        """Make the folder that holds the programs' homes."""
        self._folder = Path(tempfile.mkdtemp(prefix="meijin-processes-"))
        return self

    async def __aexit__(self, *_: object) -> None:
        for program in list(self._running):
            await program.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def start(self, launch: Launch) -> "ProcessProgram":
        """Start a program in a session of its own, which ends with the host."""
        home = self._folder / launch.name
        home.mkdir(exist_ok=True)
        reader, writer = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *_with_parent(),
                *launch.command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writer,
                stderr=writer,
                env={
                    **launch.environment,
                    "PATH": "/usr/bin:/bin",
                    "HOME": str(home),
                    "MEIJIN_SERVER": f"unix:{launch.socket_folder / SOCKET}",
                },
                cwd=launch.tree,
                start_new_session=True,
            )
        finally:
            os.close(writer)
        program = ProcessProgram(process, reader, launch.limits, self._running.discard)
        program.pin(launch.core)
        self._running.add(program)
        return program


def _with_parent() -> Sequence[str]:
    """The words that have a program die with the host's thread, where util-linux is there.

    With them and without them status 126 or 127 says that there is no such command.
    """
    found = shutil.which("setpriv")
    return ("/bin/sh", "-c", 'exec "$@"', "launch") if found is None else (found, _DIE_WITH_PARENT)


class ProcessProgram(Written):
    """A program that was started as a process, with the others of its session."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        output: int,
        limits: ProgramLimits,
        on_end: Callable[["ProcessProgram"], None],
    ) -> None:
        """Follow a process, and read the pipe that it writes to."""
        self._process = process
        self._output = Output(output, limit=limits.output_bytes, on_flood=self._on_flood)
        self._limits = limits
        self._on_end = on_end
        self._cause: Cause | None = None
        self._is_to_stand = False
        self._used = Usage(0, 0, 0, 0)
        """As it was seen last."""
        self._end = asyncio.create_task(self._follow(), name="program as a process")

    @property
    def pid(self) -> int:
        """The process's id, which is its session's too."""
        return self._process.pid

    def usage(self) -> Usage:
        """What those of its processes that are there have used, with those that they waited for."""
        seen = [each for pid in self._members() if (each := _read_usage(pid)) is not None]
        self._used = Usage(
            cpu_ns=max(self._used.cpu_ns, sum(each.cpu_ns for each in seen)),
            memory_bytes=max(self._used.memory_bytes, sum(each.memory_bytes for each in seen)),
            processes=max(self._used.processes, sum(each.processes for each in seen)),
            output_bytes=self._output.total,
        )
        return self._used

    def pin(self, core: int | None) -> None:
        """Have it run on one core, with what it starts from now on; on any when ``None``."""
        cores = os.sched_getaffinity(0) if core is None else {core}
        for pid in self._members():
            with suppress(ProcessLookupError):
                os.sched_setaffinity(pid, cores)

    def add_door(self, pid: int) -> None:
        """Do nothing: a process that limits nothing shares nothing with another."""

    async def freeze(self) -> None:
        """Stop its processes; returns when they stand still."""
        self._is_to_stand = True
        self._send(signal.SIGSTOP)
        while self._is_to_stand and any(_state(pid) not in _STILL for pid in self._members()):  # noqa: ASYNC110 - no event comes
            await asyncio.sleep(_POLL_INTERVAL)

    async def thaw(self) -> None:
        """Let them go on."""
        self._is_to_stand = False
        self._send(signal.SIGCONT)

    async def wait(self) -> End:
        """Wait until it has ended, and its session was killed."""
        return await asyncio.shield(self._end)

    async def stop(self, grace: timedelta = _GRACE) -> End:
        """Ask it to end, and kill it after `grace`."""
        self._cause = self._cause or Cause.ASKED
        if grace:
            self._send(signal.SIGTERM)
            await self.thaw()
            await asyncio.wait([self._end], timeout=grace.total_seconds())
        self._send(signal.SIGKILL)
        return await self.wait()

    def _on_flood(self) -> None:
        self._cause = self._cause or Cause.OUTPUT
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        for pid in self._members():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def _members(self) -> list[int]:
        """The processes of its session."""
        pids = (int(folder.name) for folder in Path("/proc").glob("[0-9]*"))
        return [pid for pid in pids if _session(pid) == self.pid]

    async def _follow(self) -> End:
        code = await self._process.wait()
        self._send(signal.SIGKILL)
        self._output.close()
        self.usage()
        self._on_end(self)
        if self._cause is Cause.ASKED:
            return End(Cause.ASKED, code, "the host has stopped it")
        if self._cause is Cause.OUTPUT:
            return End.by_output(code, self._limits.output_bytes)
        if code in _NO_COMMAND:
            words = self._output.lines[-1:] or ["there is no such command"]
            return End(Cause.COMMAND, code, words[0])
        return End.by_signal(-code) if code < 0 else End.by_itself(code)


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


def _fields(pid: int) -> list[str]:
    """Those of ``/proc/PID/stat`` from the third on; proc(5) counts from one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _state(pid: int) -> str:
    return next(iter(_fields(pid)), "X")


def _read_usage(pid: int) -> Usage | None:
    if not (fields := _fields(pid)):
        return None
    ticks = sum(map(int, fields[11:15]))  # utime to cstime
    return Usage(ticks * _TICK_NS, int(fields[21]) * _PAGE, int(fields[17]), 0)
