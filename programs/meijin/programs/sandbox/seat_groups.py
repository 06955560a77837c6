"""Control groups of seats, whichever version of the kernel's hierarchy holds them.

A host has one group, a seat one in it, and a seat's has two parts: `program`, which is limited,
frozen and killed, and `door`, the process between it and the server, which shares its core.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from meijin.programs.kinds import ProgramLimits
from meijin.programs.sandbox.abilities import Finding

PERIOD_US = 100_000
"""Of the CPU quota: as much of it each period as one core gives."""


class Part(enum.Enum):
    """One of the two groups of a seat."""

    PROGRAM = "program"
    DOOR = "door"


@dataclass(frozen=True, slots=True)
class GroupUsage:
    """What the processes of a program have used."""

    cpu_ns: int
    memory_bytes: int
    """The most at once."""
    processes: int
    """Those of now, or the most at once where the kernel counts it."""
    oom_kills: int
    """Processes that were killed since the group's memory was full."""


class SeatGroup(Protocol):
    """The control groups of a seat."""

    def entries(self, part: Part) -> Sequence[Path]:
        """The files to which a process writes its id to be in a part, with all it starts."""

    def pin(self, core: int | None) -> None:
        """Have both parts run on one core; on any when ``None``."""

    def freeze(self) -> None:
        """Begin to make the program stand still."""

    def is_frozen(self) -> bool:
        """Whether all of its processes do."""

    def thaw(self) -> None: ...

    def usage(self) -> GroupUsage:
        """What the program has used."""

    def members(self) -> list[int]:
        """The processes of the program."""

    def kill(self, part: Part | None = None) -> None:
        """Have every process of a part die, or of both, also where they are frozen."""

    def remove(self) -> bool:
        """Remove the groups; whether none is left, as where a process still dies."""


class Hierarchy(Protocol):
    """Where a host makes its control groups."""

    def findings(self) -> Sequence[Finding]:
        """What it can limit, measure or do."""

    def open(self) -> None:
        """Make the host's group."""

    def folders(self) -> Sequence[Path]:
        """Those of the host's group, for whoever removes them after its death."""

    def seat(self, name: str, limits: ProgramLimits) -> SeatGroup:
        """Make the groups of a seat, with its limits set."""


def write(file: Path, value: object) -> None:
    """Set what a control file holds.

    Raises:
        OSError: the kernel refuses the value.
    """
    with file.open("w") as stream:
        stream.write(str(value))


def read_number(file: Path) -> int:
    """The number that a control file holds; 0 where there is none, as in an older kernel."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return 0


def read_field(file: Path, name: str) -> int:
    """A number of a control file of names and numbers; 0 where there is none."""
    try:
        fields = [line.split() for line in file.read_text().splitlines()]
    except OSError:
        return 0
    return next((int(words[1]) for words in fields if words[0] == name), 0)
