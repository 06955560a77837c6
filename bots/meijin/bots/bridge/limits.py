"""Limits: what an engine's processes may use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Limits:
    """What one process of an engine may use; none when left out."""

    memory: int | None = None
    """Bytes of address space of each of its processes, and what it is told as ``max_memory``."""
    cpu: timedelta | None = None
    """Processor time in one game, in whole seconds; each game then has a process of its own."""
    is_pinned: bool = False
    """Each engine keeps to one core."""
    is_suspended: bool = False
    """The engine stands still while it isn't asked for anything."""

    def arguments(self, core: int | None) -> list[str]:
        """What the launcher is told, and the core if there is to be one."""
        values = {
            "memory": self.memory,
            "cpu": None if self.cpu is None else max(1, round(self.cpu.total_seconds())),
            "core": core if self.is_pinned else None,
        }
        return [f"--{name}={value}" for name, value in values.items() if value is not None]


NO_LIMITS = Limits()
