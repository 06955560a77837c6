"""Whether the ladder is as sure as it says, and how many games its matchmaker needs.

    python benchmarks/calibration.py [--ladders 60] [--seeds 20] [--processes 2]
                                     [--only coverage|matchmaking] [--json]

Games are drawn by lot from known strengths: the first move is worth 60 Elo, and one game in ten
between equals is drawn.

coverage     ladders of 30 bots, of whom 8 begin and the others join until the 8,000th game, paired
             as the Computer Go Server does it. Everyone's strength should lie within the 95 %
             interval that the table shows in 93 to 96 of 100 cases: from_anchor with the first bot
             as the anchor, from_mean without one.
LOS          of all pairs of these ladders: the mean LOS told, and how often the favourite was the
             stronger.
matchmaking  20 bots, each 40 Elo stronger than the next: games until the order is right (the
             median of the seeds), and until it is right with every adjacent LOS above 95 %
             (median and quartiles); wrong_stops says in how many of the races the order was wrong
             when these were above 95 % for the first time. Ratings are fitted after every 20
             games. What stops a ladder instead is judged by stopping.py.
"""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np
from report import Row, parser_of, pool_of, print_json, show
from simulated import Seats, SimulatedGames, go_server_round, round_robin

from meijin.ladder.pool import BASE, Pool
from meijin.ladder.statistics.fit.bradley_terry import Fit, fit
from meijin.ladder.statistics.fit.covariance import (
    covariance,
    superiority,
    superiority_to_next,
)
from meijin.ladder.statistics.fit.pair_counts import Floats, connected_components
from meijin.ladder.statistics.pairing.matchmaking import Matchmaker
from meijin.ladder.statistics.pairing.online_posterior import OnlinePosterior

BOTS = 30
DEVIATION = 250.0
"""Of the bots' strengths, in Elo."""
AT_FIRST = 8
LAST_JOINS = 8_000
CHECKPOINTS = (2_000, 5_000, 10_000)
FIT_EVERY = 200
"""Games between two fits that a pairing is made by."""
LOS_BINS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)

RANKED = 20
STEP = 40.0
BATCH = 20
SURE = 0.95
"""The LOS over the next in rank that is sure."""
MOST_GAMES = 80_000
"""A policy that is not done by then has failed."""


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """How a ladder's numbers compare with the truth after this many games."""

    games: int
    anchored: Floats
    """Of each interval relative to the anchor, whether the truth lay in it: 1 or 0."""
    centred: Floats
    """The same, relative to the mean of the established."""
    predicted: Floats
    """The LOS of the favourite of each pair."""
    observed: Floats
    """Whether it was the stronger: 1 or 0."""


def simulate_ladder(
    seed: int, bots: int = BOTS, checkpoints: Sequence[int] = CHECKPOINTS
) -> list[Judgement]:
    """Play a ladder that bots join over time, and judge it at some moments."""
    rng = np.random.default_rng(seed)
    games = SimulatedGames(rng.normal(0, DEVIATION, bots), rng)
    share = LAST_JOINS / max(CHECKPOINTS) * checkpoints[-1] / max(bots - AT_FIRST, 1)
    joins = np.maximum(0, np.arange(1 - AT_FIRST, bots + 1 - AT_FIRST)) * share
    elo, fitted = np.zeros(bots), 0
    judgements: list[Judgement] = []
    while len(judgements) < len(checkpoints):
        active = np.flatnonzero(joins <= games.count)
        games.play(*go_server_round(active, elo, games.as_first, rng))
        if games.count - fitted >= FIT_EVERY:
            elo, fitted = fit(games.all_counts).elo, games.count
        if games.count >= checkpoints[len(judgements)]:
            judgements.append(judge(games, checkpoints[len(judgements)]))
    return judgements


def judge(games: SimulatedGames, checkpoint: int) -> Judgement:
    """Compare with the truth what the table says of those who have played."""
    counts = games.counts
    pool = Pool.of(counts, (0,))
    truth = games.strengths[pool.fit.players]
    order = np.argsort(-pool.fit.elo, kind="stable")
    ahead, behind = (order[places] for places in np.triu_indices(len(order), 1))
    lead = pool.fit.elo[ahead] - pool.fit.elo[behind]
    return Judgement(
        games=checkpoint,
        anchored=_inside(pool, truth),
        centred=_inside(Pool.of(counts, ()), truth),
        predicted=superiority(lead, pool.covariance.of_differences(ahead, behind)),
        observed=(truth[ahead] > truth[behind]).astype(float),
    )


def _inside(pool: Pool, truth: Floats) -> Floats:
    """Whether each shown interval holds the truth; an anchor has none."""
    error = pool.elo - BASE - (truth - pool.centre @ truth)
    inside = (np.abs(error) <= pool.margin).astype(float)
    shown: Floats = inside[~pool.is_anchor]
    return shown


def coverage_rows(judgements: Sequence[Judgement]) -> Iterator[Row]:
    """One row for each moment, in percent."""
    for games in sorted({each.games for each in judgements}):
        these = [each for each in judgements if each.games == games]
        anchored = np.concatenate([each.anchored for each in these])
        centred = np.concatenate([each.centred for each in these])
        yield {
            "table": "coverage",
            "games": games,
            "ladders": len(these),
            "intervals": len(anchored),
            "from_anchor": round(100 * float(anchored.mean()), 2),
            "from_mean": round(100 * float(centred.mean()), 2),
        }


def los_rows(judgements: Sequence[Judgement]) -> Iterator[Row]:
    """One row for each bin of the LOS told."""
    predicted = np.concatenate([each.predicted for each in judgements])
    observed = np.concatenate([each.observed for each in judgements])
    bins = np.digitize(predicted, LOS_BINS[1:-1])
    for place, low in enumerate(LOS_BINS[:-1]):
        mine = bins == place
        if mine.any():
            yield {
                "table": "LOS",
                "from": low,
                "to": LOS_BINS[place + 1],
                "pairs": int(mine.sum()),
                "predicted": round(float(predicted[mine].mean()), 4),
                "observed": round(float(observed[mine].mean()), 4),
            }


class Policy(Protocol):
    """A way to choose who meets."""

    def batch(self, games: SimulatedGames, known: Fit) -> Seats:
        """The next games."""
        ...


class OurPolicy:
    """The matchmaker's: each pick is played with both colours."""

    def __init__(self, rng: np.random.Generator) -> None:  # noqa: ARG002 - as the others
        self._picks = 0

    def batch(self, games: SimulatedGames, known: Fit) -> Seats:
        """Picks that follow one another without a result between them."""
        found = covariance(known)
        players, counts = len(known.players), games.counts
        maker = Matchmaker(
            OnlinePosterior(known.elo, found.matrix, known.outcomes),
            connected_components(counts.first, counts.second, players),
            picks=self._picks,
        )
        everybody = ~np.eye(players, dtype=bool)
        picks = [pick for _ in range(BATCH // 2) if (pick := maker.pick(everybody))]
        self._picks += len(picks)
        one = np.array([pick.one for pick in picks])
        other = np.array([pick.other for pick in picks])
        return np.concatenate((one, other)), np.concatenate((other, one))


class RoundRobinPolicy:
    """Round after round, in an order by lot."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._left: list[tuple[int, int]] = []

    def batch(self, games: SimulatedGames, known: Fit) -> Seats:  # noqa: ARG002 - it asks nobody
        """The next of the round."""
        while len(self._left) < BATCH:
            seats = round_robin(len(games.strengths), self._rng)
            self._left += zip(*(side.tolist() for side in seats), strict=True)
        first, second = np.array(self._left[:BATCH]).T
        del self._left[:BATCH]
        return first, second


class GoServerPolicy:
    """Rounds of neighbours with some luck."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def batch(self, games: SimulatedGames, known: Fit) -> Seats:
        """One round."""
        return go_server_round(np.arange(len(known.players)), known.elo, games.as_first, self._rng)


POLICIES: Mapping[str, Callable[[np.random.Generator], Policy]] = {
    "ours": OurPolicy,
    "round robin": RoundRobinPolicy,
    "go server": GoServerPolicy,
}


@dataclass(frozen=True, slots=True)
class Race:
    """How many games a policy needed."""

    policy: str
    ordered: int
    """Until the order was right for the first time."""
    settled: int
    """Until it was right and every adjacent LOS above 95 %."""
    stopped: int
    """Until these were above 95 % for the first time, right or wrong."""

    @property
    def is_wrong(self) -> bool:
        """Whether the order was wrong at that time."""
        return self.stopped < self.settled


def race(policy: str, seed: int, bots: int = RANKED, most: int = MOST_GAMES) -> Race:
    """Play by a policy until the order of all is right and sure."""
    rng = np.random.default_rng(seed)
    strengths = STEP * rng.permutation(bots).astype(float)
    games, chosen = SimulatedGames(strengths, rng), POLICIES[policy](rng)
    ordered = stopped = most
    while games.count < most:
        known = fit(games.all_counts)
        is_right = (np.argsort(known.elo) == np.argsort(strengths)).all()
        if games.count and is_right:
            ordered = min(ordered, games.count)
        if games.count and _is_sure(known):
            stopped = min(stopped, games.count)
            if is_right:
                return Race(policy, ordered, games.count, stopped)
        games.play(*chosen.batch(games, known))
    return Race(policy, ordered, most, stopped)


def _is_sure(known: Fit) -> bool:
    """Whether everyone is surely stronger than the next in rank."""
    order = np.argsort(-known.elo, kind="stable")
    return bool((superiority_to_next(known.elo, order, covariance(known)) > SURE).all())


def race_rows(races: Sequence[Race]) -> Iterator[Row]:
    """One row for each policy."""
    for policy in dict.fromkeys(each.policy for each in races):
        these = [each for each in races if each.policy == policy]
        settled = [each.settled for each in these]
        low, median, high = (float(np.quantile(settled, share)) for share in (0.25, 0.5, 0.75))
        yield {
            "table": "matchmaking",
            "policy": policy,
            "seeds": len(these),
            "right_order": round(statistics.median(each.ordered for each in these)),
            "sure_order": round(median),
            "lower_quartile": round(low),
            "upper_quartile": round(high),
            "wrong_stops": sum(each.is_wrong for each in these),
        }


def main() -> None:
    """Simulate everything."""
    parser = parser_of(__doc__)
    parser.add_argument("--ladders", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", choices=("coverage", "matchmaking"))
    options = parser.parse_args()
    tables: dict[str, list[Row]] = {}
    with pool_of(options.processes) as processes:
        if options.only != "matchmaking":
            ladders = processes.map(simulate_ladder, range(options.ladders))
            judgements = list(chain.from_iterable(ladders))
            tables["Coverage of the 95 % intervals"] = list(coverage_rows(judgements))
            tables["LOS of all pairs"] = list(los_rows(judgements))
        if options.only != "coverage":
            tasks = [(policy, seed) for policy in POLICIES for seed in range(options.seeds)]
            races = processes.map(race, *zip(*tasks, strict=True))
            tables["Games to an order"] = list(race_rows(list(races)))
    for title, rows in tables.items():
        show(title, rows)
    if options.json:
        print_json(list(chain.from_iterable(tables.values())))


if __name__ == "__main__":
    main()
