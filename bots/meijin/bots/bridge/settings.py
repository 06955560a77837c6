"""Settings: how an engine is run as a bot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from meijin.bots.bridge.limits import NO_LIMITS, Limits
from meijin.bots.bridge.times import MARGIN
from meijin.game import FREESTYLE, OpeningRule, Rule


@dataclass(frozen=True, slots=True)
class WrapSettings:
    """How an engine is run; what is left out is found by asking it."""

    command: Sequence[str]
    """The program and its arguments."""
    protocol: str | None = None
    """One of `identity.PROTOCOLS`."""
    rules: Sequence[Rule] = (FREESTYLE,)
    opening_rules: Sequence[OpeningRule] | None = None
    """Beside the free one."""
    sizes: tuple[int, int] | None = None
    """The shortest and the longest side of a board."""
    games: int = 1
    """Games at once, each with a process of its own."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The engine's own."""
    margin: timedelta = MARGIN
    """Kept back of the time that it is told of."""
    pause: timedelta | None = None
    """Between the engine's answer and the next command."""
    limits: Limits = NO_LIMITS
    supplier: str = ""
    """What an engine says, in any case, when not it but its supplier has failed; nothing if empty."""
