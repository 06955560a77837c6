"""What a sandbox can limit on this machine, and which limits a host can't do without."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass


class Ability(enum.Enum):
    """Something of a program that a sandbox limits, or does to it."""

    MEMORY = "memory"
    PROCESSES = "processes"
    NETWORK = "network"
    CPU = "cpu"
    """One core at most, and a chosen one."""
    CPU_TIME = "cpu time"
    """Measured, with that of processes that have ended."""
    FREEZE = "freeze"
    """All of its processes stand still."""
    SCRATCH = "scratch"
    """The folder that it may write to."""
    SYSCALLS = "system calls"
    FILES = "open files"
    TREE = "file system"
    """It sees its own files and the runtime's alone."""


REQUIRED = (Ability.MEMORY, Ability.PROCESSES, Ability.NETWORK)
"""Without one of these nobody else's program is started."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a sandbox limits something here."""

    ability: Ability
    is_limited: bool
    how: str
    """By what, or why not."""
    advice: str = ""
    """What to do where it is not."""


class CannotHostError(Exception):
    """This machine can't limit what has to be limited for programs of others."""


def require(findings: Sequence[Finding]) -> None:
    """Refuse to host where memory, processes or network can't be limited.

    Raises:
        CannotHostError: one of them can't be; the message says which, and what to do.
    """
    missing = [
        finding for finding in findings if finding.ability in REQUIRED and not finding.is_limited
    ]
    if missing:
        causes = dict.fromkeys((finding.how, finding.advice) for finding in missing)
        reasons = "; ".join(_sentence(how, advice, missing) for how, advice in causes)
        raise CannotHostError(f"this machine can't host programs: {reasons}")


def _sentence(how: str, advice: str, missing: Sequence[Finding]) -> str:
    """What can't be limited for one and the same reason."""
    names = [each.ability.value for each in missing if (each.how, each.advice) == (how, advice)]
    *others, last = names
    named = f"{', '.join(others)} and {last}" if others else last
    told = f"{named} can't be limited ({how})"
    return f"{told}: {advice}" if advice else told


def report(sandbox: str, findings: Sequence[Finding]) -> str:
    """Print what a sandbox limits on this machine, a line each, with what to do below it."""
    lines = [f"sandbox: {sandbox}"]
    told: tuple[str, str] | None = None
    for finding in findings:
        mark = "yes" if finding.is_limited else "NO" if finding.ability in REQUIRED else "no"
        is_told = not finding.is_limited and (finding.how, finding.advice) == told
        how = "as above" if is_told else finding.how
        lines.append(f"  {finding.ability.value:<12}  {mark:<3}  {how}")
        if not finding.is_limited and finding.advice and not is_told:
            lines.append(f"{'':21}{finding.advice}")
        told = None if finding.is_limited else (finding.how, finding.advice)
    return "\n".join(lines)
