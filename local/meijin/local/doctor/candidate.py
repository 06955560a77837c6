"""The candidate: what is examined, and how it is started and stopped."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended that was told to."""

    seconds: float = 0.0
    """What it took."""
    was_killed: bool = False
    """It did not end by itself."""
    left: Sequence[str] = ()
    """The processes that it left behind, by name."""


class Candidate(Protocol):
    """A bot's program: a process, or what a sandbox runs."""

    @property
    def is_own(self) -> bool:
        """Whether the doctor starts and stops it; else the bot's author does."""

    @property
    def is_running(self) -> bool:
        """Whether it was started, and has neither ended nor been stopped."""

    @property
    def ending(self) -> str:
        """How it has ended by itself, in words; empty while it runs, and where it was stopped."""

    @property
    def last_lines(self) -> Sequence[str]:
        """The last lines of what it has said, which may hold anything."""

    def start(self, server: str, token: str, log: Path) -> None:
        """Start it: for the first time, or again after `stop`.

        Args:
            server: The address that it is to connect to.
            token: The bot's own, for its stream.
            log: The file for what it says, which is there until the examination is over.
        """

    def stop(self) -> Ended:
        """Tell it to end, wait for it, and end whatever it leaves; does nothing the second time."""
