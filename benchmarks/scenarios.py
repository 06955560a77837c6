"""Worlds in which bots are not dice, and games of them: none of the fit's formulas are used here."""

from dataclasses import dataclass

import numpy as np

from meijin.ladder.statistics.fit.pair_counts import Floats, PairCounts

FIRST_MOVE = 60.0
"""What the first move is worth, in Elo."""
DRAWS = 40.0
"""By how many Elo a bot has to be better to win every second game."""
DEVIATION = 250.0
"""Of the bots' strengths, in Elo."""
FRESH = 0
"""This many openings: each two games, with the colours changed, have one of their own."""


@dataclass(frozen=True, slots=True)
class World:
    """How results come about. Without more, games are those of the model."""

    bots: int = 20
    deviation: float = DEVIATION
    """Of the bots' strengths, in Elo."""
    openings: int = FRESH
    """How many there are; each two games of a pairing draw one of them by lot."""
    cycle: float = 0.0
    """Every bot is rock, paper or scissors by lot, and this many Elo better against the one kind, and
    worse against the other."""
    pair_deviation: float = 0.0
    """Every pair has an effect of its own, with this deviation in Elo."""
    odd_pair: float = 0.0
    """One bot in the middle of the field is this many Elo better against the next one alone."""
    trend: float = 0.0
    """After each of its games a bot is this many Elo stronger, or weaker: which of them, is by lot."""
    has_one_learner: bool = False
    """One bot alone has the trend, and gets stronger."""
    drift: float = 0.0
    """After each of its games a bot's strength takes a random step of this deviation, in Elo."""
    opening_deviation: float = 0.0
    """Of the first-move advantage from opening to opening, in Elo."""
    repetition: float = 0.0
    """When colours and opening come again, the chance of the first game of them once more."""
    repeaters: int | None = None
    """This many bots repeat, and only against each other; ``None`` for all."""
    leaves_repeats_out: bool = False
    """A game that came again is not counted."""


class WorldGames:
    """Games so far of bots numbered 0, 1, ... in a world."""

    def __init__(self, world: World, rng: np.random.Generator) -> None:
        self.world = world
        self._rng = rng
        bots = world.bots
        self.strengths = rng.normal(0, world.deviation, bots)
        """Those of now."""
        kinds = rng.integers(0, 3, bots)
        sides = (kinds[:, None] - kinds + 1) % 3 - 1
        own = np.triu(rng.normal(0, 1, (bots, bots)), 1)
        self._effects = world.cycle * sides + world.pair_deviation * (own - own.T)
        """What each is better by against each, beyond the strengths."""
        one, other = np.argsort(self.strengths)[bots // 2 :][:2]
        self._effects[one, other] += world.odd_pair
        self._effects[other, one] -= world.odd_pair
        self._steps = np.zeros(bots)
        if world.has_one_learner:
            self._steps[0] = world.trend
        elif world.trend:
            self._steps = world.trend * rng.choice((-1.0, 1.0), bots)
        biases = rng.normal(0, world.opening_deviation, max(world.openings, 1))
        self._biases = biases.tolist()
        repeaters = bots if world.repeaters is None else world.repeaters
        self._repeats = np.arange(bots) < repeaters
        self._first_results: dict[tuple[int, int, int], int] = {}
        self._counted: dict[tuple[int, int, int], list[int]] = {}
        self._in_order: list[tuple[int, int, int]] = []
        """First and second player and result of those."""
        self._rounds = 0
        self.count = 0
        """Games played, counted or not."""
        self._sums = np.zeros(bots)
        self._games = np.zeros(bots)

    @property
    def mean_strengths(self) -> Floats:
        """Everyone's mean strength over its games."""
        means: Floats = self._sums / np.maximum(self._games, 1)
        return means

    def play_both(self, one: int, other: int) -> None:
        """Play a pair of games on one opening, drawn by lot, with either colour."""
        self._rounds += 1
        opening = self._rounds
        if self.world.openings:
            opening = int(self._rng.integers(self.world.openings))
        self._play(one, other, opening)
        self._play(other, one, opening)

    def _play(self, first: int, second: int, opening: int) -> None:
        key = (first, second, opening)
        before = self._first_results.get(key)
        result, again = self._result(first, second, opening), False
        if before is not None and self._repeats[first] and self._repeats[second]:
            again = self._rng.random() < self.world.repetition
            result = before if again else result
        self._first_results.setdefault(key, result)
        if not (again and self.world.leaves_repeats_out):
            self._counted.setdefault(key, [0, 0, 0])[result] += 1
            self._in_order.append((first, second, result))
        self.count += 1
        for bot in (first, second):
            self._sums[bot] += self.strengths[bot]
            self._games[bot] += 1
            self.strengths[bot] += self._steps[bot] + self._rng.normal(0, self.world.drift)

    def _result(self, first: int, second: int, opening: int) -> int:
        """0 for a win of the first, 1 for a draw and 2 for a loss."""
        lead = self.strengths[first] - self.strengths[second] + self._effects[first, second]
        lead += FIRST_MOVE
        if self.world.openings:
            lead += self._biases[opening]
        luck = self._rng.random()
        if luck < _chance(lead - DRAWS):
            return 0
        return 2 if luck > 1 - _chance(-lead - DRAWS) else 1

    @property
    def counts(self) -> PairCounts:
        """The results that count, by pair, colour and opening."""
        return self._as_counts([])

    @property
    def in_order(self) -> PairCounts:
        """The games that count, a row each, as they were played."""
        first, second, result = np.array(self._in_order, dtype=np.int64).reshape(-1, 3).T
        return PairCounts(first, second, *(1.0 * (result == kind) for kind in range(3)))

    @property
    def all_counts(self) -> PairCounts:
        """The results, with rows for those too who have not met: they keep everyone in a fit."""
        met = {(first, second) for first, second, _ in self._counted}
        bots = range(self.world.bots)
        return self._as_counts(
            [
                (one, other)
                for one in bots
                for other in bots
                if one != other and (one, other) not in met
            ]
        )

    def _as_counts(self, unmet: list[tuple[int, int]]) -> PairCounts:
        rows = [(*key, *results) for key, results in self._counted.items()]
        rows += [(one, other, 0, 0, 0, 0) for one, other in unmet]
        first, second, openings, *results = np.array(rows, dtype=np.int64).reshape(-1, 6).T
        wins, draws, losses = (column.astype(np.float64) for column in results)
        return PairCounts(first, second, wins, draws, losses, openings)


def _chance(lead: float) -> float:
    """Of a win, by Elo's formula."""
    return float(1 / (1 + 10 ** (-lead / 400)))
