"""Where the games of a tournament without a schedule come from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from meijin.store.match_counts import PairingResult
from meijin.store.schema import BotId
from meijin.store.tournaments import PlannedGame


class BotCapacity(NamedTuple):
    """How many games of a tournament a bot that is here takes."""

    free: int
    """So many more could begin now."""
    altogether: int
    """So many at once, when it plays nothing else."""
    playing: int = 0
    """So many it plays now."""


AWAY = BotCapacity(0, 0)


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a tournament could play now."""

    seats: Mapping[BotId, BotCapacity]
    """Of the bots that are here and can play it, whether they entered it or not."""
    waiting: int
    """Games that are planned and have not begun."""
    held: Mapping[BotId, int]
    """BotCapacity that those of them will take whose bots are both here."""
    room: int
    """So many games more could run at once, whoever plays them."""


@dataclass(frozen=True, slots=True)
class GamePair:
    """Two games on one opening: `first` has black in the one, `second` in the other."""

    first: BotId
    second: BotId
    opening: bytes
    """Two bytes a cell, little-endian."""
    reason: str
    """Why the two are to meet."""

    def games(self, number: int) -> tuple[PlannedGame, PlannedGame]:
        """Both, the first with a number in the tournament."""
        return (
            PlannedGame(number, self.first, self.second, self.opening, self.reason),
            PlannedGame(number + 1, self.second, self.first, self.opening, self.reason),
        )


class Supply(Protocol):
    """Plans a tournament's games as they are needed, and says when it is decided.

    It is made from what the store holds, so that a restarted server goes on with one that
    says the same.
    """

    @property
    def verdict(self) -> str:
        """Why no more games are needed, at most 200 characters; empty while they are."""

    def game_ended(self, result: PairingResult) -> None:
        """A game has a result. `verdict` is asked for next, in the same turn of the loop."""

    async def next_pairs(self, demand: Capacity) -> Sequence[GamePair]:
        """What is to be played next; all of it is stored before this is called again.

        It is called whenever a bot has come, or a game has begun or ended.

        Raises:
            StoreAwayError: what it needs to know can't be read now.
        """
