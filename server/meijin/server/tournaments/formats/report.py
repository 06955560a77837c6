"""How the bots of a tournament stand, and how it came to that."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from meijin.store.schema import BotId


@dataclass(frozen=True, slots=True)
class TieBreak:
    """What orders bots with the same points."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class TournamentStanding:
    """One bot's place in a tournament."""

    rank: int
    """From 1 on; the same for those whom nothing tells apart."""
    bot_id: BotId
    points: float
    """1 for a game won, a half for one drawn, and those of a bye."""
    wins: int
    draws: int
    losses: int
    tie_breaks: tuple[TieBreak, ...] = ()
    """In the order in which they count."""
    note: str = ""
    """What else there is to say, such as where it went out."""

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses


@dataclass(slots=True)
class Meeting:
    """Two bots in one round, and the games they play there."""

    round: int
    number: int
    """In the tournament, from 1 on."""
    first: BotId | None
    """``None`` while it is not known."""
    second: BotId | None
    """``None`` while it is not known, or for a bye."""
    first_points: float = 0.0
    second_points: float = 0.0
    winner: BotId | None = None
    """``None`` while it is open, and where it ended level."""
    next: int = 0
    """The number of the meeting that the winner goes to; 0 for none."""
    is_bye: bool = False
    """There is no second bot."""
    is_over: bool = False
    note: str = ""
    """How it was decided, where that is not by points."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a format says of a tournament beside its crosstable."""

    standings: tuple[TournamentStanding, ...] = ()
    """Best first; empty where the format ranks nobody."""
    meetings: tuple[Meeting, ...] = ()
    """By number; empty where each two meet as the crosstable tells."""


def ranks_of(keys: Sequence[Hashable]) -> list[int]:
    """The ranks, from 1 on, of what these keys have put in order: equal ones share the best."""
    best: dict[Hashable, int] = {}
    for rank, key in enumerate(keys, start=1):
        best.setdefault(key, rank)
    return [best[key] for key in keys]
