"""Checks: what was looked at, and how it came out."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass


class Status(enum.Enum):
    """How a check came out."""

    PASS = "pass"  # noqa: S105 - a word
    FAIL = "fail"
    WARN = "warn"
    """It works, and something is better done otherwise."""
    SKIP = "skip"
    """It was not looked at, for a stated reason that is no fault of the bot."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    reason: str
    """What was found, in one sentence."""
    fix: str = ""
    """What to do about it; empty where there is nothing to do."""
    status: Status = Status.PASS
    evidence: tuple[str, ...] = ()
    """The last lines that the bot's program wrote, where they may say why."""
    name: str = ""
    """Set, as the time, by the examination."""
    seconds: float = 0.0
    """How long it took."""


class CheckFailedError(Exception):
    """A check has failed; what is left of it is not tried."""

    def __init__(self, reason: str, fix: str, evidence: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.check = Check(reason, fix, Status.FAIL, tuple(evidence))


def has_passed(checks: Sequence[Check]) -> bool:
    statuses = {check.status for check in checks}
    return Status.PASS in statuses and Status.FAIL not in statuses
