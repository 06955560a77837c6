"""Whether intervals hold the truth where bots are not dice.

    python benchmarks/interval_coverage.py [--ladders 40] [--only NAME ...] [--pairing adaptive|random]
                                  [--pair-by robust|model] [--processes 1] [--json]

Bots with strengths of N(0, 250) Elo play pairs of games, with both colours on one opening; the
first move is worth 60 Elo. `random` pairs by lot; `adaptive` is the ladder's matchmaker, refitted
after every 20 games. Every row has the same ladders judged by the plain model (`model_...`: no
effects of openings, and its own covariance) and as the ladder judges them (`robust_...`: effects of
openings where they show, and the robust covariance with a walk): the percentage of 95 % intervals
that hold the truth from the mean, and from an anchor (each bot in turn is it), and the median of
half of an interval from the mean. `correlation`, `pairs` and `walk` are the medians of what was
estimated, `flagged` the percentage of pools whose diagnosis warns of them, and `holds` says whether
both robust percentages are within 93 to 97, or 95 % of the pools are flagged. The second table has how often
in a hundred the favourite was the stronger where the LOS told was .95 to .99, and where it was .99 or above.
With --pair-by model the matchmaker looks at the model's covariance, as it did before there was a
robust one.

The truth is the strength that a bot's games are drawn from:

model       the fit's model: 20 bots
cycle       rock, paper, scissors: each of 20 bots is one of three kinds by lot, and 100 Elo better
            or worse against the other two than by its strength, which is the truth
upsets      the same with an effect of each pair's own, of N(0, 100) Elo
drift       a bot's strength takes a step of N(0, 2) Elo after each of its games; the truth is the
            strength of now
drift-long  the same for ten times as many games, and model-long the model
drift-mean  the same, and the truth is the mean strength over the bot's games
openings    20 openings that favour the first move by N(60, 150) Elo, for 20 bots
repeats-20  20 bots, 20 openings: nine times in ten a game with the same colours and opening ends
            as the first one did. The truth is the strength that first games are drawn from
repeats-8   the same with 8 bots and 40 openings
few-8       the same with 4 of 8 bots who repeat games among themselves, and dice otherwise
identical-8 8 bots whose games always come again; those are left out
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from report import Row, parser_of, pool_of, print_json, show
from scenarios import World, WorldGames

from meijin.ladder.statistics.diagnosis.diagnosis import Diagnosis
from meijin.ladder.statistics.diagnosis.residuals import in_blocks
from meijin.ladder.statistics.fit.bradley_terry import Fit, fit
from meijin.ladder.statistics.fit.covariance import (
    Z_95,
    Covariance,
    covariance,
    superiority,
)
from meijin.ladder.statistics.fit.empirical_bayes import fit_with_widths
from meijin.ladder.statistics.fit.pair_counts import Floats, PairCounts, connected_components
from meijin.ladder.statistics.intervals.overdispersion import Overdispersion
from meijin.ladder.statistics.intervals.robust import RandomWalk, robust_covariance
from meijin.ladder.statistics.pairing.matchmaking import Matchmaker
from meijin.ladder.statistics.pairing.online_posterior import OnlinePosterior

BATCH = 20
"""Games between two fits that a pairing is made by."""
BANDS = {"95": (0.95, 0.99), "99": (0.99, 1.01)}
"""Of the LOS told: from, and up to."""
TARGET = (93.0, 97.0)
"""Of 95 % intervals, in percent; this many pools are to be flagged where it is missed:"""
FLAGGED = 95.0

BLOCKS = 64
"""Of games in order, in which the diagnosis looks for trends."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A world, and when its ladders are judged."""

    world: World = field(default_factory=World)
    checkpoints: Sequence[int] = (600, 2_000)
    is_of_mean: bool = False
    """The truth is everyone's mean strength over its games, not that of now."""


SCENARIOS: Mapping[str, Scenario] = {
    "model": Scenario(),
    "cycle": Scenario(World(cycle=100)),
    "upsets": Scenario(World(pair_deviation=100)),
    "drift": Scenario(World(drift=2)),
    "drift-long": Scenario(World(drift=2), (8_000, 20_000)),
    "model-long": Scenario(checkpoints=(8_000, 20_000)),
    "drift-mean": Scenario(World(drift=2), is_of_mean=True),
    "openings": Scenario(World(openings=20, opening_deviation=150)),
    "repeats-20": Scenario(World(openings=20, repetition=0.9)),
    "repeats-8": Scenario(World(bots=8, openings=40, repetition=0.9), (1_000, 3_000)),
    "few-8": Scenario(World(bots=8, openings=40, repetition=0.9, repeaters=4), (1_000, 3_000)),
    "identical-8": Scenario(
        World(bots=8, openings=40, repetition=1, leaves_repeats_out=True), (1_000, 3_000)
    ),
}
FITS: Mapping[str, Callable[[PairCounts], Fit]] = {"model": fit, "robust": fit_with_widths}
"""By the covariances' names."""
PAIRINGS = ("adaptive", "random")


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """How a covariance compares with the truth."""

    from_mean: float
    """The share of the intervals around the mean that hold it."""
    from_anchor: float
    told: Floats
    """The LOS of the favourite of each pair."""
    is_right: Floats
    """Whether it was the stronger: 1 or 0."""
    width: float
    """The median of the intervals around the mean: their half, in Elo."""


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """A ladder of a scenario after this many games."""

    games: int
    overdispersion: Overdispersion
    walk: RandomWalk
    is_flagged: bool
    by: Mapping[str, Calibration]
    """By the covariances' names."""


def simulate(scenario: Scenario, pairing: str, pair_by: str, seed: int) -> list[Judgement]:
    """Play a ladder, and judge it at its checkpoints."""
    rng = np.random.default_rng(seed)
    games = WorldGames(scenario.world, rng)
    judgements = []
    for checkpoint in scenario.checkpoints:
        while games.count < checkpoint:
            if pairing == "random":
                for _ in range(BATCH // 2):
                    games.play_both(*rng.choice(scenario.world.bots, 2, replace=False).tolist())
            else:
                play_adaptively(games, pair_by)
        judgements.append(judge(games, checkpoint, is_of_mean=scenario.is_of_mean))
    return judgements


def play_adaptively(games: WorldGames, pair_by: str) -> None:
    """Play what the matchmaker picks next, without a result between two picks."""
    known, counts, bots = fit(games.all_counts), games.counts, games.world.bots
    found = covariance(known)
    if pair_by == "robust":
        found = robust_covariance(known, walk_of(known, games)).covariance
    maker = Matchmaker(
        OnlinePosterior(known.elo, found.matrix, known.outcomes),
        connected_components(counts.first, counts.second, bots),
        picks=games.count // 2,
    )
    everybody = ~np.eye(bots, dtype=bool)
    picks = [pick for _ in range(BATCH // 2) if (pick := maker.pick(everybody))]
    for pick in picks:
        games.play_both(pick.one, pick.other)


def walk_of(known: Fit, games: WorldGames) -> RandomWalk:
    """As the ladder has it of a pool whose games it knows by time."""
    return RandomWalk.of(known, games.in_order, in_blocks(len(games.in_order.first), BLOCKS))


def judge(games: WorldGames, checkpoint: int, *, is_of_mean: bool = False) -> Judgement:
    """Compare with the truth what is said of those who have played."""
    fits = {name: make(games.counts) for name, make in FITS.items()}
    known = fits["robust"]
    truth = (games.mean_strengths if is_of_mean else games.strengths)[known.players]
    diagnosis = Diagnosis.of(
        known, covariance(known), games.in_order, in_blocks(len(games.in_order.first), BLOCKS)
    )
    robust = robust_covariance(known, walk_of(known, games))
    return Judgement(
        games=checkpoint,
        overdispersion=robust.overdispersion,
        walk=robust.walk,
        is_flagged=diagnosis.is_misfit,
        by={
            "model": calibration(fits["model"], covariance(fits["model"]), truth),
            "robust": calibration(known, robust.covariance, truth),
        },
    )


def calibration(known: Fit, found: Covariance, truth: Floats) -> Calibration:
    """Compare a fit and its covariance with the truth."""
    bots = len(truth)
    one, other = np.triu_indices(bots, 1)
    margins = Z_95 * np.sqrt(found.from_mean(np.full(bots, 1 / bots)))
    variances = found.of_differences(one, other)
    lead, true_lead = known.elo[one] - known.elo[other], truth[one] - truth[other]
    errors = known.elo - known.elo.mean() - (truth - truth.mean())
    return Calibration(
        from_mean=float((np.abs(errors) <= margins).mean()),
        from_anchor=float((np.abs(lead - true_lead) <= Z_95 * np.sqrt(variances)).mean()),
        told=superiority(np.abs(lead), variances),
        is_right=(lead * true_lead > 0).astype(float),
        width=float(np.median(margins)),
    )


def coverage_row(name: str, pairing: str, these: Sequence[Judgement]) -> Row:
    """How often the intervals of a scenario hold at one moment of its ladders."""
    shares = {
        f"{key}_{side}": _percent([getattr(each.by[key], f"from_{side}") for each in these])
        for key in FITS
        for side in ("mean", "anchor")
    }
    flagged = _percent([each.is_flagged for each in these])
    is_right = all(
        TARGET[0] <= shares[f"robust_{side}"] <= TARGET[1] for side in ("mean", "anchor")
    )
    return {
        "table": "coverage",
        **_moment(name, pairing, these),
        **shares,
        "model_width": _median([each.by["model"].width for each in these], 1),
        "robust_width": _median([each.by["robust"].width for each in these], 1),
        "correlation": _median([each.overdispersion.correlation for each in these], 2),
        "pairs": _median([each.overdispersion.pair_deviation for each in these], 1),
        "walk": _median([each.walk.step for each in these], 1),
        "flagged": flagged,
        "holds": "yes" if is_right or flagged >= FLAGGED else "no",
    }


def los_row(name: str, pairing: str, these: Sequence[Judgement]) -> Row:
    """How often the favourite was the stronger, where its LOS was high."""
    return {
        "table": "LOS",
        **_moment(name, pairing, these),
        **{
            f"{key}_{band}": _share_right([each.by[key] for each in these], *bounds)
            for key in FITS
            for band, bounds in BANDS.items()
        },
    }


def _moment(name: str, pairing: str, these: Sequence[Judgement]) -> Row:
    return {
        "scenario": name,
        "pairing": pairing,
        "games": these[0].games,
        "ladders": len(these),
    }


def _share_right(these: Sequence[Calibration], low: float, high: float) -> float | str:
    told = np.concatenate([each.told for each in these])
    is_right = np.concatenate([each.is_right for each in these])[(low <= told) & (told < high)]
    return _percent(is_right) if is_right.size else "-"


def _percent(shares: Sequence[float] | Floats) -> float:
    return round(100 * float(np.mean(shares)), 1)


def _median(values: Sequence[float], digits: int) -> float:
    return round(float(np.median(values)), digits)


def main() -> None:
    """Simulate every scenario."""
    parser = parser_of(__doc__)
    parser.add_argument("--ladders", type=int, default=40)
    parser.add_argument("--only", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    parser.add_argument("--pairing", nargs="+", choices=PAIRINGS, default=list(PAIRINGS))
    parser.add_argument("--pair-by", choices=FITS, default="robust")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    coverage: list[Row] = []
    chances: list[Row] = []
    with pool_of(options.processes) as processes:
        for name in options.only:
            for pairing in options.pairing:
                play = partial(simulate, SCENARIOS[name], pairing, options.pair_by)
                ladders = list(processes.map(play, range(options.ladders)))
                for these in zip(*ladders, strict=True):
                    coverage.append(coverage_row(name, pairing, these))
                    chances.append(los_row(name, pairing, these))
    show("Coverage of the 95 % intervals", [_without_table(row) for row in coverage])
    show("LOS", [_without_table(row) for row in chances])
    if options.json:
        print_json(coverage + chances)


def _without_table(row: Row) -> Row:
    return {key: value for key, value in row.items() if key != "table"}


if __name__ == "__main__":
    main()
