"""Running programs: how one is started, what it uses, and how it has ended."""

import enum
import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Protocol, Self

from meijin.programs.kinds import ProgramLimits
from meijin.programs.sandbox.abilities import Finding

TREE = Path("/bot")
"""Where a program sees its own files, which is also its working folder."""
SOCKET_FOLDER = Path("/run/arena")
SOCKET = "bot.sock"
"""The file in `SOCKET_FOLDER` that is the program's one way to the arena."""
SCRATCH = Path("/tmp")  # noqa: S108 - a file system of the program's own
"""The one folder that a program may write to; it is also its home."""

_NAME = re.compile(r"[A-Za-z0-9-]{1,100}")


@dataclass(frozen=True, slots=True)
class Launch:
    """A program that is to be started."""

    name: str
    """Of the seat, unique among those of its host; letters, digits and hyphens."""
    command: Sequence[str]
    """Its first word is found on the PATH, ``/usr/bin:/bin``, or is a path as seen inside."""
    tree: Path
    """Its files."""
    socket_folder: Path
    """The folder of its socket, which everybody may connect to."""
    runtime: Sequence[Path] = ()
    """Folders that it reads besides ``/usr``, such as an interpreter's, each at its own place."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Besides PATH, HOME and MEIJIN_SERVER."""
    limits: ProgramLimits = field(default_factory=ProgramLimits)
    core: int | None = None
    """The one that it runs on; any when ``None``."""
    image: str = ""
    """The container image that it is, which has command and files of its own; empty else."""
    lifetime: timedelta | None = None
    """The most that it may last; ``None`` for a seat.

    Kubernetes keeps it, also where nobody is left who would stop the program. Other sandboxes leave
    it to who has started it, for their janitors end programs together with their host.
    """

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} names no seat; take letters, digits and hyphens")


class Cause(enum.Enum):
    """Why a program has ended."""

    ASKED = "asked"
    """The host has stopped it."""
    EXITED = "exited"
    SIGNAL = "signal"
    MEMORY = "memory"
    """It wanted more than its limit."""
    OUTPUT = "output"
    """It has written more than its limit."""
    SYSCALL = "system call"
    """It was killed for one that no bot needs."""
    LIFETIME = "lifetime"
    """It has lasted longer than it may."""
    COMMAND = "command"
    """Its command can't be run: there is no such file, or it is not executable."""
    LAUNCH = "launch"
    """The sandbox could not be set up: the host's fault."""


@dataclass(frozen=True, slots=True)
class End:
    """How a program has ended."""

    cause: Cause
    status: int
    """Its exit status, or the number of the signal."""
    words: str
    """One line for its owner."""

    @classmethod
    def by_itself(cls, status: int) -> Self:
        """It has exited."""
        return cls(Cause.EXITED, status, f"it exited with status {status}")

    @classmethod
    def by_signal(cls, number: int) -> Self:
        """A signal has ended it."""
        if number == signal.SIGSYS:
            return cls(Cause.SYSCALL, number, "it was killed for a system call that no bot needs")
        return cls(Cause.SIGNAL, number, f"it was ended by {signal.Signals(number).name}")

    @classmethod
    def by_output(cls, status: int, limit: int) -> Self:
        """It was killed since it wrote too much."""
        return cls(Cause.OUTPUT, status, f"it wrote more than {limit:,} bytes in a minute")

    @classmethod
    def by_lifetime(cls, status: int, lifetime: timedelta) -> Self:
        """It was ended since it lasted too long."""
        said = f"it lasted longer than {lifetime.total_seconds():.0f} s"
        return cls(Cause.LIFETIME, status, said)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a program has used since it was started, with all of its processes."""

    cpu_ns: int
    memory_bytes: int
    """The most at once."""
    processes: int
    """The most at once, threads included."""
    output_bytes: int


class Running(Protocol):
    """A program that was started."""

    @property
    def lines(self) -> Sequence[str]:
        """The last of what it has written, 64 KiB at most, without control characters."""

    @property
    def is_cut(self) -> bool:
        """Whether older lines were dropped."""

    def usage(self) -> Usage: ...

    def pin(self, core: int | None) -> None:
        """Have it run on one core; on any when ``None``."""

    def add_door(self, pid: int) -> None:
        """Charge the process that stands between program and server to the same core.

        It outlives the program, until `stop`: it may have to tell the server of its end.
        """

    async def freeze(self) -> None:
        """Have all of its processes stand still; returns when they do."""

    async def thaw(self) -> None: ...

    async def wait(self) -> End:
        """Wait until it has ended and nothing is left of it but its door."""

    async def stop(self, grace: timedelta = timedelta(seconds=1)) -> End:
        """Ask it to end, frozen or not, and kill it where it has not after `grace`.

        Its door is killed too.
        """


class Sandbox(Protocol):
    """What starts programs, apart from each other and from the machine, within a ``with`` block."""

    @property
    def name(self) -> str: ...

    @property
    def runs_images(self) -> bool:
        """Whether it starts container images, and not programs on this machine alone."""

    def check(self) -> Sequence[Finding]:
        """What it can limit on this machine."""

    async def start(self, launch: Launch) -> Running:
        """Start a program.

        Where that fails it has ended with the cause `Cause.LAUNCH` or `Cause.COMMAND`.
        """

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None:
        """Kill what still runs."""
