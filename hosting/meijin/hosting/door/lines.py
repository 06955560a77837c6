"""Lines: what a host and a door say to each other over the door's pipes, a JSON object each."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TypeAlias

# What a host says.


@dataclass(frozen=True, slots=True)
class Plan:
    """The first line: whose door it is to be."""

    server: str
    """The server's address."""
    ticket: str
    socket: str
    """The path to listen on."""
    bot: str
    digest: str
    label: str = ""
    hardware: str = ""
    nodes_per_second: int = 0
    memory_bytes: int = 0
    start_ms: int = 30_000
    """From its start until the program has said hello."""
    user: int = 0
    """The user to become; 0 for none other."""
    is_measured: bool = True
    """The server takes what the host measures, and not its own clock."""


@dataclass(frozen=True, slots=True)
class Started:
    """The program runs: it has its time to connect from now on."""


@dataclass(frozen=True, slots=True)
class Granted:
    """The program has a core."""

    number: int


@dataclass(frozen=True, slots=True)
class Used:
    """The processor time that the program has taken since it was granted a core."""

    number: int
    cpu_us: int
    is_overstepped: bool = False
    """It has used up its time, and has not answered."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The program has ended."""

    cause: str
    is_fault: bool
    """It is its own fault: the game that it plays is lost."""


# What a door says.


@dataclass(frozen=True, slots=True)
class Listening:
    """The program can connect."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The server has let the bot in."""


@dataclass(frozen=True, slots=True)
class Wants:
    """The program is to think: it needs a core."""

    number: int
    cpu_us: int = 0
    """Processor time that it may use; 0 where what passes is charged."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The program has answered, and what it has used is to be told."""

    number: int


@dataclass(frozen=True, slots=True)
class Done:
    """The program needs its core no more, or not after all."""

    number: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The program is to be ended, or has no server any more."""

    cause: str
    is_fault: bool


HostLine: TypeAlias = Plan | Started | Granted | Used | Ended
DoorLine: TypeAlias = Listening | Opened | Wants | Answered | Done | Failed

_KINDS = {
    kind.__name__: kind
    for kind in (
        Plan,
        Started,
        Granted,
        Used,
        Ended,
        Listening,
        Opened,
        Wants,
        Answered,
        Done,
        Failed,
    )
}


Line: TypeAlias = HostLine | DoorLine


def write_line(line: Line) -> bytes:
    return json.dumps({"kind": type(line).__name__, **asdict(line)}).encode() + b"\n"


def read_line(data: bytes) -> Line:
    """Read what `write_line` writes.

    Raises:
        ValueError: it is none.
    """
    fields = json.loads(data)
    try:
        return _KINDS[fields.pop("kind")](**fields)
    except (AttributeError, KeyError, TypeError):
        raise ValueError(f"no line between a host and a door: {data[:200]!r}") from None
