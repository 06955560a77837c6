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
circles      each bot is rock, paper or scissors by lot, 100 Elo stronger against those it
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from functools import partial

import numpy as np
from interval_coverage import play_adaptively
from report import Row, parser_of, pool_of, report
from scenarios import World, WorldGames

from meijin.ladder.statistics.diagnosis.diagnosis import Diagnosis
from meijin.ladder.statistics.diagnosis.residuals import in_blocks
from meijin.ladder.statistics.fit.bradley_terry import fit
from meijin.ladder.statistics.fit.covariance import covariance

BLOCKS = 64
DEVIATION = 200.0
SCENARIOS: Mapping[str, Callable[[int], World]] = {
    "holds": partial(World, deviation=DEVIATION),
    "circles": partial(World, deviation=DEVIATION, cycle=100),
    "one pair": partial(World, deviation=DEVIATION, odd_pair=400),
    "trend": partial(World, deviation=DEVIATION, trend=2),
    "learner": partial(World, deviation=DEVIATION, trend=2, has_one_learner=True),
    "walk": partial(World, deviation=DEVIATION, drift=2),
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
    played = WorldGames(SCENARIOS[scenario](bots), rng)
    while played.count < games:
        if pairing == "ours":
            play_adaptively(played, "model")
        else:
            played.play_both(*rng.choice(bots, 2, replace=False).tolist())
    known = fit(played.counts)
    times = in_blocks(len(played.in_order.first), BLOCKS)
    said = Diagnosis.of(known, covariance(known), played.in_order, times)
    return Finding(
        found=said.is_misfit,
        fit=said.goodness.is_rejected,
        pair=any(each.is_sure for each in said.pairs),
        triple=any(each.is_sure for each in said.triples),
        drift=any(each.is_sure for each in said.drifts),
        by_opponents=float(said.depends_on_opponents.mean()),
        by_drift=float(said.changes_over_time.mean()),
    )


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
    parser = parser_of(__doc__)
    parser.add_argument("--pools", type=int, default=200)
    parser.add_argument("--bots", type=int, default=20)
    parser.add_argument("--games", type=int, default=2_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", choices=tuple(SCENARIOS))
    parser.add_argument("--pairing", choices=PAIRINGS)
    options = parser.parse_args()
    with pool_of(options.processes) as processes:
        found = list(rows(options, processes))
    report("Pools with a finding, in percent", found, as_json=options.json)


if __name__ == "__main__":
    main()
