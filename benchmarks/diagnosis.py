"""Whether a ladder says so when its bots are not dice, and keeps silent when they are.

    python benchmarks/diagnosis.py [--pools 200] [--bots 20] [--games 2000] [--processes 2]
                                   [--only SCENARIO] [--pairing ours|random] [--json]

Pools of bots whose strengths are normal with a deviation of 200 Elo, whose games are drawn by lot:
the first move is worth 60 Elo, and one game in ten between equals is drawn.

--pools      pools of each scenario and pairing.
--bots       bots of a pool.
--games      games of a pool, after which it is diagnosed.
--processes  at once.
--only       one of the scenarios below.
--pairing    one of: `ours`, the ladder's matchmaker, refitted after every 20 games, and `random`,
             two by lot with each colour in turn.
--json       one object on the last line.

Scenarios, each a world that breaks the model in one way:

holds        one strength a bot: what is found here is a false alarm.
circles      a third of the bots each is rock, paper and scissors, 100 Elo stronger against those it
             beats than its strength says, 100 weaker against the others.
one pair     one bot in the middle of the field is 400 Elo stronger against one other alone.
trend        every bot gets 2 Elo stronger or weaker, by lot, with each of its games.
learner      one bot gets 2 Elo stronger with each of its games, and the others stay.
walk         every bot's strength takes a random step of deviation 2 Elo with each of its games.

A row has the percentages of pools in which anything was found (`found`), and each kind of it: the
fit as a whole, a pair, a triple, a drift; and the percentages of bots that were marked, by their
opponents and by drift.
"""

import argparse
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from itertools import chain

import numpy as np
from calibration import OurPolicy
from report import Row, print_json, show
from simulated import OUTCOMES, SimulatedGames

from meijin.ladder.statistics.diagnosis.diagnosis import Diagnosis
from meijin.ladder.statistics.diagnosis.drift import in_blocks
from meijin.ladder.statistics.fit.bradley_terry import fit
from meijin.ladder.statistics.fit.covariance import covariance
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, PairCounts

DEVIATION = 200.0
"""Of the bots' strengths, in Elo."""
BLOCKS = 64
BATCH = 20
CIRCLE = 100.0
STEP = 2.0
ODD_PAIR = 400.0


class World(SimulatedGames):
    """Games of bots that are as the model has them, kept in order too."""

    def __init__(self, bots: int, rng: np.random.Generator) -> None:
        super().__init__(rng.normal(0, DEVIATION, bots), rng)
        self.luck = rng
        self.log: list[tuple[int, int, int]] = []
        """First, second and how it ended: 0 for a win, 1 for a draw, 2 for a loss."""

    def play(self, first: Integers, second: Integers) -> None:
        """Play some games, one after the other."""
        for one, other in zip(first.tolist(), second.tolist(), strict=True):
            difference = self.strengths[one] - self.strengths[other] + self.bonus(one, other)
            luck = self.luck.random()
            result = 0 if luck > 1 - OUTCOMES.wins(difference) else 1
            if luck < OUTCOMES.losses(difference):
                result = 2
            self._results[result, one, other] += 1
            self.as_first[one] += 1
            self.log.append((one, other, result))
            self.change(one)
            self.change(other)
        self.count += len(first)

    def bonus(self, one: int, other: int) -> float:  # noqa: ARG002 - for those below
        """By how much one is the stronger against the other, beside their strengths."""
        return 0.0

    def change(self, bot: int) -> None:
        """Change a bot by a game that it has played."""

    def diagnosis(self) -> Diagnosis:
        """What the ladder says of these games."""
        known = fit(self.counts)
        first, second, result = np.array(self.log).T
        wins, draws, losses = ((result == kind).astype(float) for kind in range(3))
        times = in_blocks(len(result), BLOCKS)
        by_time = PairCounts(first, second, wins, draws, losses)
        return Diagnosis.of(known, covariance(known), by_time, times)


class Circles(World):
    """Rock, paper and scissors."""

    def __init__(self, bots: int, rng: np.random.Generator) -> None:
        super().__init__(bots, rng)
        self._kinds = np.arange(bots) % 3

    def bonus(self, one: int, other: int) -> float:
        """For the kind before."""
        return (0.0, CIRCLE, -CIRCLE)[int(self._kinds[other] - self._kinds[one]) % 3]


class OnePair(World):
    """One bot that knows another's weakness."""

    def __init__(self, bots: int, rng: np.random.Generator) -> None:
        super().__init__(bots, rng)
        order = np.argsort(self.strengths)[bots // 2 :]
        self._pair = (int(order[0]), int(order[1]))

    def bonus(self, one: int, other: int) -> float:
        """For the pair alone."""
        return {self._pair: ODD_PAIR, self._pair[::-1]: -ODD_PAIR}.get((one, other), 0.0)


class Trend(World):
    """Bots that get better or worse all the time."""

    def __init__(self, bots: int, rng: np.random.Generator) -> None:
        super().__init__(bots, rng)
        self.steps: Floats = STEP * rng.choice((-1.0, 1.0), bots)

    def change(self, bot: int) -> None:
        """One step further."""
        self.strengths[bot] += self.steps[bot]


class Learner(Trend):
    """One bot that gets better all the time."""

    def __init__(self, bots: int, rng: np.random.Generator) -> None:
        super().__init__(bots, rng)
        self.steps = STEP * (np.arange(bots) == 0)


class Walk(World):
    """Bots that change at random."""

    def change(self, bot: int) -> None:
        """A step by lot."""
        self.strengths[bot] += STEP * self.luck.normal()


SCENARIOS: Mapping[str, Callable[[int, np.random.Generator], World]] = {
    "holds": World,
    "circles": Circles,
    "one pair": OnePair,
    "trend": Trend,
    "learner": Learner,
    "walk": Walk,
}
PAIRINGS = ("ours", "random")


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found in a pool: each 1 or 0, or a share of its bots."""

    found: float
    fit: float
    pair: float
    triple: float
    drift: float
    by_opponents: float
    by_drift: float


def diagnose(task: tuple[str, str, int, int, int]) -> Finding:
    """Play a pool of a scenario, by a pairing, and diagnose it.

    Args:
        task: Scenario, pairing, seed, bots and games.
    """
    scenario, pairing, seed, bots, games = task
    rng = np.random.default_rng(seed)
    world = SCENARIOS[scenario](bots, rng)
    ours = OurPolicy(rng)
    while world.count < games:
        if pairing == "ours":
            world.play(*ours.batch(world, fit(world.all_counts)))
        else:
            world.play(*_by_lot(bots, rng))
    said = world.diagnosis()
    return Finding(
        found=said.is_misfit,
        fit=said.goodness.is_rejected,
        pair=any(each.is_sure for each in said.pairs),
        triple=any(each.is_sure for each in said.triples),
        drift=any(each.is_sure for each in said.drifts),
        by_opponents=float(said.depends_on_opponents.mean()),
        by_drift=float(said.changes_over_time.mean()),
    )


def _by_lot(bots: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
    one = rng.integers(0, bots, BATCH // 2)
    other = (one + rng.integers(1, bots, BATCH // 2)) % bots
    return np.concatenate((one, other)), np.concatenate((other, one))


def row(scenario: str, pairing: str, findings: Sequence[Finding]) -> Row:
    """The percentages of pools and of bots."""
    shares = {
        each.name: round(100 * float(np.mean([getattr(found, each.name) for found in findings])), 1)
        for each in fields(Finding)
    }
    return {"scenario": scenario, "pairing": pairing, "pools": len(findings), **shares}


def rows(options: argparse.Namespace, processes: ProcessPoolExecutor) -> Iterator[Row]:
    """One row for each scenario and pairing, seeds counted from 0."""
    for scenario in [options.only] if options.only else SCENARIOS:
        for pairing in [options.pairing] if options.pairing else PAIRINGS:
            tasks = [
                (scenario, pairing, seed, options.bots, options.games)
                for seed in range(options.pools)
            ]
            yield row(scenario, pairing, list(processes.map(diagnose, tasks, chunksize=4)))


def main() -> None:
    """Simulate everything."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pools", type=int, default=200)
    parser.add_argument("--bots", type=int, default=20)
    parser.add_argument("--games", type=int, default=2_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", choices=tuple(SCENARIOS))
    parser.add_argument("--pairing", choices=PAIRINGS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, mp_context=spawn) as processes:
        found = list(rows(options, processes))
    show("Pools with a finding, in percent", found)
    if options.json:
        print_json(list(chain(found)))


if __name__ == "__main__":
    main()
