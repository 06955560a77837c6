"""Plans: what a worker plays with, and where; written by whoever starts it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SidePlan:
    """A side: a bot of the SDK, or an engine."""

    name: str
    """What it plays as."""
    bot: str = ""
    """What `load_bot` takes; empty for an engine."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The bot's, or the engine's own."""
    command: Sequence[str] = ()
    """The engine's program and its arguments."""
    protocol: str | None = None
    """What it speaks; found out when left out."""
    margin_ms: int = 0
    """Kept back of the time that it is told of."""
    memory: int | None = None
    """Bytes that each of the engine's processes may use."""
    is_suspended: bool = False
    """An engine stands still while the opponent thinks."""
    log: str = ""
    """A file for what a bot is asked and what it answers; none where empty."""
    files: Sequence[str] = ()
    """What belongs to the engine besides its program, such as weights: part of its digest."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a worker is started with."""

    server: str
    sides: Sequence[SidePlan]
    games: int
    """At once."""
    folder: str
    """For the logs of bots, and their sockets."""
    variant: str
    """What is played; engines are asked for nothing else."""
    is_pinned: bool = False
    """Each slot keeps to one core, with both of its players."""

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Plan:
        told = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{**told, "sides": [SidePlan(**side) for side in told["sides"]]})
