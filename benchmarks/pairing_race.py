"""How many games the ladder's matchmaker needs to an order that is right and sure.

    python benchmarks/pairing_race.py [--seeds 20] [--most 80000] [--processes 2] [--json]

Games are drawn by lot from known strengths: the first move is worth 60 Elo, and one game in ten
between equals is drawn. Of 20 bots, each is 40 Elo stronger than the next. A row has the games
until the order is right (the median of the seeds), and until it is right with every adjacent LOS
above 95 % (median and quartiles); wrong_stops says in how many of the races the order was wrong
when these were above 95 % for the first time. Ratings are fitted after every 20 games, and a
race of --most games is given up. What stops a ladder instead is judged by stopping.py.
"""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from report import Row, parser_of, pool_of, report
from simulated import Seats, SimulatedGames, go_server_round, round_robin

from meijin.ladder.statistics.fit.bradley_terry import Fit, fit
from meijin.ladder.statistics.fit.covariance import (
    covariance,
    superiority_to_next,
)
from meijin.ladder.statistics.fit.pair_counts import connected_components
from meijin.ladder.statistics.pairing.matchmaking import Matchmaker
from meijin.ladder.statistics.pairing.online_posterior import OnlinePosterior

RANKED = 20
STEP = 40.0
BATCH = 20
SURE = 0.95
"""The LOS over the next in rank that is sure."""


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


def race(most: int, policy: str, seed: int) -> Race:
    """Play by a policy until the order of all is right and sure."""
    rng = np.random.default_rng(seed)
    strengths = STEP * rng.permutation(RANKED).astype(float)
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
            "policy": policy,
            "seeds": len(these),
            "right_order": round(statistics.median(each.ordered for each in these)),
            "sure_order": round(median),
            "lower_quartile": round(low),
            "upper_quartile": round(high),
            "wrong_stops": sum(each.is_wrong for each in these),
        }


def main() -> None:
    """Let all policies race."""
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--most", type=int, default=80_000)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    tasks = [(policy, seed) for policy in POLICIES for seed in range(options.seeds)]
    with pool_of(options.processes) as processes:
        races = list(processes.map(partial(race, options.most), *zip(*tasks, strict=True)))
    report("Games to an order", list(race_rows(races)), as_json=options.json)


if __name__ == "__main__":
    main()
