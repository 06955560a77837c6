"""Whether the estimate after a sequential test is true: its interval, its median and its mean.

    python benchmarks/stopped_tests.py [--runs 400] [--bounds 20 50 200] [--worlds even uneven wild]
                                       [--truths -0.5 0 0.5 1 1.5] [--processes 2] [--json]

--runs       tests played in each case
--bounds     elo1 of the tests, in normalised Elo; elo0 is 0, the risks are 5 %
--worlds     how openings differ: even (none favours a side, one game in ten between equals is
             drawn), uneven (the first side is better by 60 Elo, with a deviation of 150 from
             opening to opening; the same draws), wild (by 200 with 200, 3 % drawn)
--truths     the advantage in multiples of elo1
--processes  at a time
--json       the rows as one JSON object on the last line

Pairs of games are drawn by lot, each on an opening of its own, and the test looks after each. Each
row tells of both estimates, `plain` as of a match of a fixed length and `stopped` as it is printed:
how often the 95 % interval held the truth, the share of estimates above the truth, and their median
and mean as differences from the truth in normalised Elo.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from report import Row, parser_of, pool_of, report

from meijin.ladder.statistics.fit.pair_counts import Floats, Integers
from meijin.ladder.statistics.sequential.sprt import Estimate, Sprt, likelihood_ratios
from meijin.ladder.statistics.sequential.stopped import estimate_of

POINTS = np.arange(5) / 4
"""Mean scores of a pair."""
PER_DEVIATION = 800 / math.log(10) / math.sqrt(2)
"""Normalised Elo in a deviation of a pair's mean score."""
ELO_PER_NAT = 400 / math.log(10)
OPENINGS = 41
"""Nodes of the mean over openings (Gauss and Hermite)."""
BLOCK = 64
"""Pairs between two looks at which tests have stopped."""


@dataclass(frozen=True, slots=True)
class World:
    """What openings are like."""

    advantage: float
    """Of the side to move first, in Elo."""
    deviation: float
    """Of that, from opening to opening."""
    drawn: float
    """The share of draws between equals."""

    def pairs(self, strength: float) -> Floats:
        """The chances of 0 to 4 half points of a bot this many Elo the stronger; shape (5,)."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(OPENINGS)
        bias = self.advantage + self.deviation * nodes
        as_first, as_second = self.game(strength + bias), self.game(strength - bias)
        chances = np.zeros(5)
        for one, other in product(range(3), repeat=2):
            chances[one + other] += weights @ (as_first[one] * as_second[other])
        shares: Floats = chances / chances.sum()
        return shares

    def game(self, difference: Floats | float) -> list[Floats]:
        """The chances of a loss, a draw and a win."""
        draws = math.log((1 + self.drawn) / (1 - self.drawn))
        win = 1 / (1 + np.exp(draws - difference / ELO_PER_NAT))
        loss = 1 / (1 + np.exp(draws + difference / ELO_PER_NAT))
        return [loss, 1 - win - loss, win]

    def strength(self, normalised_elo: float) -> float:
        """How many Elo a bot with an advantage is the stronger, by bisection."""
        low, high = -3000.0, 3000.0
        for _ in range(60):
            middle = (low + high) / 2
            if _normalised_elo(self.pairs(middle)) < normalised_elo:
                low = middle
            else:
                high = middle
        return low


WORLDS: Mapping[str, World] = {
    "even": World(0, 0, 0.1),
    "uneven": World(60, 150, 0.1),
    "wild": World(200, 200, 0.03),
}


def _normalised_elo(shares: Floats) -> float:
    mean = float(shares @ POINTS)
    return (mean - 0.5) / math.sqrt(float(shares @ (POINTS - mean) ** 2)) * PER_DEVIATION


@dataclass(frozen=True, slots=True)
class Case:
    """One row."""

    elo1: float
    world: str
    truth: float
    """In multiples of `elo1`."""
    runs: int


def play(test: Sprt, shares: Floats, runs: int, rng: np.random.Generator) -> Integers:
    """Play tests until each has stopped; their counts of pairs then, shape (runs, 5)."""
    counts = np.zeros((runs, 5), dtype=np.int64)
    going = np.arange(runs)
    while len(going):
        luck = rng.choice(5, size=(len(going), BLOCK), p=shares)
        path = counts[going, None] + np.cumsum(np.eye(5, dtype=np.int64)[luck], axis=1)
        ratios = likelihood_ratios(test, path.reshape(-1, 5)).reshape(path.shape[:2])
        stopped = (ratios <= test.lower) | (ratios >= test.upper)
        place = np.where(stopped.any(axis=1), stopped.argmax(axis=1), BLOCK - 1)
        counts[going] = path[np.arange(len(going)), place]
        going = going[~stopped.any(axis=1)]
    return counts


def judge(case: Case) -> Row:
    """Play a case's tests and compare what is estimated with the truth."""
    test, world, truth = Sprt(0, case.elo1), WORLDS[case.world], case.truth * case.elo1
    rng = np.random.default_rng(1978)
    counts = play(test, world.pairs(world.strength(truth)), case.runs, rng)
    row: dict[str, str | int | float] = {
        "elo1": case.elo1,
        "world": case.world,
        "truth": truth,
        "tests": case.runs,
        "median_pairs": float(np.median(counts.sum(axis=1))),
    }
    plain = [Estimate.of(each) for each in counts.tolist()]
    stopped = [estimate_of(test, each) for each in counts.tolist()]
    for name, estimates in (("plain", plain), ("stopped", stopped)):
        row |= {f"{name}_{what}": value for what, value in _compared(estimates, truth)}
    return row


def _compared(estimates: Sequence[Estimate], truth: float) -> Iterator[tuple[str, float]]:
    low = np.array([each.normalised_low for each in estimates])
    high = np.array([each.normalised_high for each in estimates])
    middle = np.array([each.normalised_elo for each in estimates])
    yield "holds", round(100 * float(((low <= truth) & (truth <= high)).mean()), 1)
    yield "above", round(100 * float((middle > truth).mean()), 1)
    yield "median", round(float(np.median(middle)) - truth, 1)
    yield "mean", round(float(middle.mean()) - truth, 1)


def main() -> None:
    """Judge all cases."""
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--bounds", type=float, nargs="+", default=[20.0, 50.0, 200.0])
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--truths", type=float, nargs="+", default=[-0.5, 0.0, 0.5, 1.0, 1.5])
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    cases = [
        Case(elo1, world, truth, options.runs)
        for elo1, world, truth in product(options.bounds, options.worlds, options.truths)
    ]
    with pool_of(options.processes) as processes:
        rows = list(processes.map(judge, cases))
    report("After tests that stopped themselves", rows, as_json=options.json)


if __name__ == "__main__":
    main()
