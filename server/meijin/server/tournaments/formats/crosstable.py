"""A crosstable: what each two bots of a tournament have scored against each other."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from meijin.game import Result
from meijin.store.schema import BotId
from meijin.store.tournaments.match_counts import RESULT_PLACES

Counts: TypeAlias = NDArray[np.int64]

UNITS = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
"""A game won, drawn and lost."""

SHIFT = np.int64(32)
"""A pair of bots is one number: the first's id above the second's, who has the higher id."""


class PairScore(NamedTuple):
    """What one bot scored against another, both colours together."""

    bot_id: BotId
    opponent_id: BotId
    wins: int
    draws: int
    losses: int


def _none() -> Counts:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Crosstable:
    """The scores of each two bots that have met, in arrays.

    Half a million pairs, of a thousand bots that have all met, are 16 MB so; as objects they
    took 200 MB.
    """

    pairs: Counts = field(default_factory=_none)
    """Sorted, each once; shape (n,)."""
    scores: Counts = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    """Games that the first of each won, drew and lost; shape (n, 3)."""

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def firsts(self) -> Counts:
        """The bots of the pairs with the lower ids; shape (n,)."""
        return self.pairs >> SHIFT

    @property
    def seconds(self) -> Counts:
        """Their opponents; shape (n,)."""
        return self.pairs & ((1 << SHIFT) - 1)

    @classmethod
    def of(cls, games: Iterable[tuple[BotId, BotId, Result]]) -> Self:
        """What black and white scored in some games."""
        pairs, scores = [], []
        for black, white, result in games:
            place = RESULT_PLACES[result]
            pairs.append(min(black, white) << 32 | max(black, white))
            scores.append(UNITS[place if black < white else 2 - place])
        return cls._summed(np.array(pairs, np.int64), np.array(scores, np.int64).reshape(-1, 3))

    @classmethod
    def total(cls, tables: Sequence[Self]) -> Self:
        pairs = np.concatenate([table.pairs for table in tables])
        return cls._summed(pairs, np.concatenate([table.scores for table in tables]))

    @classmethod
    def _summed(cls, pairs: Counts, scores: Counts) -> Self:
        once, places = np.unique(pairs, return_inverse=True)
        summed = np.zeros((len(once), 3), np.int64)
        np.add.at(summed, places, scores)
        return cls(once, summed)

    def __iter__(self) -> Iterator[PairScore]:
        """Each score both ways round, sorted by the ids of the two."""
        bots = np.concatenate([self.firsts, self.seconds])
        opponents = np.concatenate([self.seconds, self.firsts])
        scores = np.concatenate([self.scores, self.scores[:, ::-1]])
        order = np.lexsort((opponents, bots))
        columns = (bots[order], opponents[order], *scores[order].T)
        for bot, opponent, *score in zip(*(column.tolist() for column in columns), strict=True):
            yield PairScore(BotId(bot), BotId(opponent), *score)
