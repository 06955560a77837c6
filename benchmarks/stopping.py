"""How often a ladder stops with a wrong order, and how many games it takes to stop.

    python benchmarks/stopping.py [--pools 100] [--most 40000] [--batch 20] [--processes 2]
                                  [--seed 1] [--only WORLD] [--rule RULE] [--json]

--pools      pools of each world.
--batch      games between two looks.
--most       games after which a pool that has not stopped is given up.
--processes  processes that share the tasks.
--seed       of the strengths and of the games.
--only       one world: normal, wide, spaced, pairs, couple.
--rule       one rule: order, within 10, top 3.
--json       one JSON object on the last line.

World by world strengths are drawn in Elo, and games from them by lot (the first move is worth 60
Elo, and one game in ten between equals is drawn): normal, ten bots N(0, 200); wide, twenty
N(0, 250); spaced, twenty of 40 Elo from one to the next; pairs, ten in five pairs 100 Elo apart
with 12 Elo between the two; couple, two bots 12 Elo apart. The bots' openings are endless, and no
game repeats another.

A pool is looked at after each batch of games, and stops at the first look that is sure to 95 %:

before       every adjacent LOS is above 0.95; bots are paired by variance and order in turn.
posterior    the sum of the posterior's chances of a wrong pair is below 0.05; paired as below.
after        `StoppingRule`, which accounts for the looks; the matchmaker follows the rule.

A stop is wrong where two are in the wrong order that are further apart than the rule's zone (0
Elo for "order" and for "before"); for the top 3, where one of them is weaker by more than the
zone of 10 than one who is not. All pools of a world are played at once, as arrays, by a fit and
pairings of their own here: strengths alone, with the advantage and the draws known.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from report import Row, parser_of, pool_of, report
from simulated import OUTCOMES

from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Prior
from meijin.ladder.statistics.fit.covariance import normal_cdf
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, Mask
from meijin.ladder.statistics.pairing.matchmaking import (
    ALTERNATION,
    ALTERNATION_TO_AN_END,
    WHOLE_ORDER,
)
from meijin.ladder.statistics.pairing.stopping_rule import StoppingRule, error_bounds

CONFIDENCE = 0.95
GAP = 12.0
"""Between two near equals, in Elo."""
RULES = {
    "order": StoppingRule(CONFIDENCE),
    "within 10": StoppingRule(CONFIDENCE, zone=10.0),
    "top 3": StoppingRule(CONFIDENCE, zone=10.0, top=3),
}
WAYS = ("before", "posterior", "after")


def normal(rng: np.random.Generator) -> Floats:
    """Ten bots of any strengths."""
    return rng.normal(0, 200, 10)


def wide(rng: np.random.Generator) -> Floats:
    """Twenty bots of any strengths."""
    return rng.normal(0, 250, 20)


def spaced(rng: np.random.Generator) -> Floats:
    """Twenty bots, each stronger than the next by the same."""
    return 40.0 * rng.permutation(20).astype(np.float64)


def pairs(rng: np.random.Generator) -> Floats:
    """Five pairs of near equals."""
    return rng.permutation(np.add.outer(100.0 * np.arange(5), [0.0, GAP]).ravel())


def couple(rng: np.random.Generator) -> Floats:
    """Two near equals."""
    return GAP * rng.permutation(2).astype(np.float64)


WORLDS: dict[str, Callable[[np.random.Generator], Floats]] = {
    "normal": normal,
    "wide": wide,
    "spaced": spaced,
    "pairs": pairs,
    "couple": couple,
}


class Pools:
    """Pools that are played side by side; leading axes are pools, Elo are in nats."""

    def __init__(self, strengths: Floats, rng: np.random.Generator) -> None:
        """Begin without a game.

        Args:
            strengths: In Elo; shape (pools, n).
        """
        pools, n = strengths.shape
        self.truth = strengths
        self.elo = np.zeros((pools, n))
        self.covariance: Floats = np.empty((pools, n, n))
        self.games = 0
        self._rng = rng
        self._results = np.zeros((3, pools, n, n))
        self.one, self.other = np.triu_indices(n, 1)
        self.fit()

    def keep(self, left: Mask) -> None:
        """Go on with some of them."""
        self.truth, self.elo = self.truth[left], self.elo[left]
        self.covariance, self._results = self.covariance[left], self._results[:, left]

    def play(self, one: Integers, other: Integers) -> None:
        """Two games of each pair, with either colour; shape (pools, pairs)."""
        row = np.arange(len(self.elo))[:, None]
        for first, second in ((one, other), (other, one)):
            difference = self.truth[row, first] - self.truth[row, second]
            luck = self._rng.random(first.shape)
            lost, won = luck < OUTCOMES.losses(difference), luck > 1 - OUTCOMES.wins(difference)
            np.add.at(
                self._results, (np.where(won, 0, np.where(lost, 2, 1)), row, first, second), 1
            )
        self.games += 2 * one.shape[1]

    def fit(self, steps: int = 2) -> None:
        """Newton's steps to the maximum of the posterior, from where the last fit ended."""
        wins, draws, losses = self._results
        precision = Prior().precisions[0]
        diagonal = np.arange(self.elo.shape[1])
        for _ in range(steps):
            nats = self.elo / ELO_PER_NAT
            difference = self.elo[:, :, None] - self.elo[:, None, :]
            won, lost = OUTCOMES.wins(difference), OUTCOMES.losses(difference)
            slope = (wins + draws) * (1 - won) - (draws + losses) * (1 - lost)
            weight = (wins + draws) * won * (1 - won) + (draws + losses) * lost * (1 - lost)
            weight = weight + weight.transpose(0, 2, 1)
            gradient = slope.sum(2) - slope.sum(1) - precision * nats
            information = -weight
            information[:, diagonal, diagonal] += weight.sum(2) + precision
            self.covariance = np.linalg.inv(information).astype(np.float64, copy=False)
            step = (self.covariance @ gradient[:, :, None])[:, :, 0]
            longest = np.abs(step).max(axis=1, keepdims=True)
            self.elo = self.elo + ELO_PER_NAT * step * np.minimum(1, 1 / np.maximum(longest, 1e-9))

    def pick(self, count: int, rule: StoppingRule, turns: int) -> tuple[Integers, Integers]:
        """As `Matchmaker` picks, one after the other; every so many turns by the variances."""
        covariance, row = self.covariance.copy(), np.arange(len(self.elo))
        information = 2 * OUTCOMES.information(self.elo[:, self.one] - self.elo[:, self.other])
        ahead, behind, lead = self._asked(rule)
        picks = []
        for number in range(count):
            variance = _of_differences(covariance, self.one, self.other)
            share = information / (1 + information * variance)
            if number % turns == 0:
                worth = share * _of_differences(covariance @ covariance, self.one, self.other)
            else:
                doubted = _of_differences(covariance, ahead, behind)
                z = (lead + rule.zone) / (ELO_PER_NAT * np.sqrt(doubted))
                image = covariance[row[:, None], ahead] - covariance[row[:, None], behind]
                moved = image[:, :, self.one] - image[:, :, self.other]
                worth = share * np.einsum("pd,pdk->pk", normal_cdf(-z) / doubted, moved**2)
            best = worth.argmax(axis=1)
            one, other, weight = self.one[best], self.other[best], information[row, best]
            image = covariance[row, one] - covariance[row, other]
            weight = weight / (1 + weight * (image[row, one] - image[row, other]))
            covariance -= weight[:, None, None] * image[:, :, None] * image[:, None, :]
            picks.append((one, other))
        ones, others = zip(*picks, strict=True)
        return np.stack(ones, axis=1), np.stack(others, axis=1)

    def _asked(self, rule: StoppingRule) -> tuple[Integers, Integers, Floats]:
        """The pairs that a rule asks for, by who leads, and the lead in Elo; shape (pools, d)."""
        order, row = np.argsort(-self.elo, axis=1), np.arange(len(self.elo))[:, None]
        ranks = np.nonzero(rule.asks(*np.ogrid[: order.shape[1], : order.shape[1]]))
        ahead, behind = (order[:, each] for each in ranks)
        return ahead, behind, self.elo[row, ahead] - self.elo[row, behind]

    def leads(self, rule: StoppingRule) -> tuple[Floats, Floats, Floats]:
        """Of the pairs that a rule asks for: lead, its variance, and the true lead, in Elo."""
        ahead, behind, lead = self._asked(rule)
        row = np.arange(len(lead))[:, None]
        variance = ELO_PER_NAT**2 * _of_differences(self.covariance, ahead, behind)
        return lead, variance, self.truth[row, ahead] - self.truth[row, behind]


def _of_differences(matrix: Floats, one: Integers, other: Integers) -> Floats:
    row = np.arange(len(matrix))[:, None]
    diagonal = np.diagonal(matrix, axis1=1, axis2=2)
    if one.ndim == 1:
        found: Floats = diagonal[:, one] + diagonal[:, other] - 2 * matrix[:, one, other]
    else:
        found = diagonal[row, one] + diagonal[row, other] - 2 * matrix[row, one, other]
    return found


def are_sure(way: str, lead: Floats, variance: Floats, zone: float) -> Mask:
    """Which pools stop, by the pairs that are asked for."""
    tails = normal_cdf(-(lead + zone) / np.sqrt(variance))
    if way == "before":
        sure: Mask = tails.max(axis=1) < 1 - CONFIDENCE
    elif way == "posterior":
        sure = tails.sum(axis=1) <= 1 - CONFIDENCE
    else:
        sure = error_bounds(lead, variance, zone).sum(axis=1) <= 1 - CONFIDENCE
    return sure


@dataclass(frozen=True, slots=True)
class Task:
    """Pools of a world that are to stop by a rule."""

    world: str
    rule: str
    way: str
    pools: int
    most: int
    batch: int
    seed: int


def play(task: Task) -> Row:
    """Play the pools, each until it stops, and count the wrong stops."""
    rng = np.random.default_rng(task.seed)
    strengths = np.array([WORLDS[task.world](rng) for _ in range(task.pools)])
    rule = RULES["order" if task.way == "before" else task.rule]
    asked, turns = rule, ALTERNATION_TO_AN_END
    if task.way == "before":
        asked, turns = WHOLE_ORDER, ALTERNATION
    pools = Pools(strengths, rng)
    stops: list[int] = []
    wrong = 0
    while pools.games < task.most and len(pools.elo):
        pools.play(*pools.pick(task.batch // 2, asked, turns))
        pools.fit()
        lead, variance, truth = pools.leads(rule)
        sure = are_sure(task.way, lead, variance, rule.zone)
        stops += [pools.games] * int(sure.sum())
        wrong += int((truth[sure] < -rule.zone).any(axis=1).sum())
        if sure.any():
            pools.keep(~sure)
    return _row(task, stops, wrong)


def _row(task: Task, stops: Sequence[int], wrong: int) -> Row:
    never = task.pools - len(stops)
    games = [*stops, *[task.most] * never]
    low, median, high = np.quantile(games, (0.25, 0.5, 0.75))
    return {
        "world": task.world,
        "rule": task.rule,
        "way": task.way,
        "pools": task.pools,
        "wrong_stops": wrong,
        "wrong_%": round(100 * wrong / task.pools, 1),
        "never_%": round(100 * never / task.pools, 1),
        "games": round(median),
        "lower_quartile": round(low),
        "upper_quartile": round(high),
    }


def main() -> None:
    """Simulate every world under every rule."""
    parser = parser_of(__doc__)
    parser.add_argument("--pools", type=int, default=100)
    parser.add_argument("--most", type=int, default=40_000)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=WORLDS)
    parser.add_argument("--rule", choices=RULES)
    options = parser.parse_args()
    tasks = [
        Task(world, rule, way, options.pools, options.most, options.batch, options.seed)
        for world in ([options.only] if options.only else WORLDS)
        for rule in ([options.rule] if options.rule else RULES)
        for way in WAYS
        if (way != "before" or rule == "order") and (world != "couple" or rule != "top 3")
    ]
    with pool_of(options.processes) as processes:
        rows = list(processes.map(play, tasks))
    report("Stops at 95 %", rows, as_json=options.json)


if __name__ == "__main__":
    main()
