"""Whether the ladder's table is as sure as it says, where bots are dice and where they are not.

    python benchmarks/interval_coverage.py [--pools 60] [--only SCENARIO ...] [--processes 1] [--json]

--pools      ladders of each scenario.
--only       some of the scenarios, which are in scenarios.py.
--processes  at once.
--json       one object on the last line.

The games of a ladder go the whole way of the product: its tally, its run, and what that publishes.
Their results are drawn by code that shares nothing with the fit, from strengths with a deviation of
220 Elo and long tails; the first move is worth 60. Two meet by lot, with both colours on one
opening, unless the scenario says otherwise. The truth is the strength at the end.

mean, pairs        percent of the 95 % intervals that hold the truth: around the mean of the table,
                   and of the difference of each two. ± is a standard error, over pools.
need, pairs need   the factor by which intervals would have to be multiplied to hold 95 %.
scale              the slope of the ratings on the strengths: below 1 they are compressed.
width              the median of half an interval around the mean, in Elo.
plain ...          the same by a plain model of independent games (plain_model.py).
flagged            percent of pools that the diagnosis rejects, or where a version is marked.
named              percent of pools where the table names a cause, or anything is told as sure.
LOS .95, LOS .99   how often in a hundred the favourite of two was the stronger, where the LOS told
                   was .95 to .99, and above.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np
from plain_model import plain_fit
from report import Row, parser_of, pool_of, print_json, show_markdown
from scenarios import SCENARIOS, Floats, Integers, WorldGames

from meijin.game import GOMOKU, TIME_CLASSES, TimeControl
from meijin.ladder.pool import BASE
from meijin.ladder.posterior import outcomes_of
from meijin.ladder.rating_table import rate
from meijin.ladder.statistics.pairing.matchmaking import Matchmaker
from meijin.ladder.statistics.pairing.online_posterior import OnlinePosterior
from meijin.ladder.tally import Snapshot, Tally
from meijin.store.ladders.runs import NewRun
from meijin.store.schema import Ladder, RatingLine, RunParameters

LADDER = Ladder(
    name="benchmark", variant=GOMOKU, time_class=TIME_CLASSES.of(TimeControl(timedelta(minutes=1)))
)
NOW = datetime(2026, 1, 31, tzinfo=UTC)
Z_95 = 1.959964
BATCH = 20
"""Games between two runs that a pairing is made by."""
BANDS = {"LOS .95": (0.95, 0.99), "LOS .99": (0.99, 1.01)}
"""Of the LOS told: from, and up to."""
RESAMPLES = 200
"""Of the pools, for the error of a factor."""


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """How a ladder compares with the truth."""

    mean: Floats
    """Errors around the mean by half of their intervals; shape (n,)."""
    pairs: Floats
    """The same of the differences of each two."""
    plain: Floats
    """As `mean`, of the plain model."""
    scale: float
    """The slope of the ratings on the strengths."""
    width: Floats
    """Half of the intervals around the mean."""
    plain_width: Floats
    told: Floats
    """The LOS of the favourite of each two."""
    is_right: Floats
    """Whether it was the stronger: 1 or 0."""
    is_flagged: bool
    is_named: bool


def simulate(scenario: str, seed: int) -> Judgement:
    """Play a ladder to its end, and judge it."""
    world = SCENARIOS[scenario]
    games = WorldGames(world, np.random.default_rng((seed, *scenario.encode())))
    if world.is_adaptive:
        play_adaptively(games)
    while len(games.games) < world.games:
        games.play_both(*games.draw_pair())
    return judge(games, run_of(Tally.of(games.games)))


def run_of(tally: Tally) -> NewRun:
    return rate(Snapshot.of(LADDER, tally, (), ()), NOW)


def play_adaptively(games: WorldGames) -> None:
    """Let the matchmaker pair, without a result between the picks by one run."""
    bots, everybody = games.world.bots, ~np.eye(games.world.bots, dtype=bool)
    for one in range(0, bots, 2):
        games.play_both(one, (one + 1) % bots)
    tally, counted = Tally(), 0
    while len(games.games) < games.world.games:
        tally.add(games.games[counted:])
        counted = len(games.games)
        maker = matchmaker(run_of(tally), tally, picks=counted // 2)
        picks = [pick for _ in range(BATCH // 2) if (pick := maker.pick(everybody))]
        for pick in picks:
            games.play_both(pick.one, pick.other)


def matchmaker(run: NewRun, tally: Tally, *, picks: int) -> Matchmaker:
    """As the ladder has it after a run that knows all bots."""
    versions = sorted(tally.versions)
    elo = {line.version_id: line.elo for line in run.ratings}
    posterior = OnlinePosterior(
        np.array([elo[version] for version in versions]),
        errors_of(run),
        outcomes_of(run.parameters),
        prior_mean=run.parameters.prior_mean,
    )
    components = np.array([tally.versions[version].component for version in versions])
    return Matchmaker(posterior, components, picks=picks)


def errors_of(run: NewRun) -> Floats:
    """The covariance matrix that is published, by version."""
    assert run.covariances is not None
    size = len(run.ratings)
    return np.frombuffer(run.covariances.matrix, "<f4").reshape(size, size).astype(np.float64)


def judge(games: WorldGames, run: NewRun) -> Judgement:
    """Compare what a run publishes with the truth."""
    lines = sorted(run.ratings, key=lambda line: line.version_id)
    places = [line.version_id - 1 for line in lines]
    truth, centre = games.strengths[places], centre_of(lines)
    elo, margin = np.array([(line.elo, line.margin) for line in lines]).T
    one, other = np.triu_indices(len(lines), 1)
    deviations = np.sqrt(_of_differences(errors_of(run), one, other))
    lead, true_lead = elo[one] - elo[other], truth[one] - truth[other]
    plain_elo, errors = plain_fit(games.rated(), games.world.bots)
    plain_margin = Z_95 * np.sqrt(_from_mean(errors[np.ix_(places, places)], centre))
    return Judgement(
        mean=_by_margin(elo - truth, margin, centre),
        pairs=np.abs(lead - true_lead) / (Z_95 * deviations),
        plain=_by_margin(plain_elo[places] - truth, plain_margin, centre),
        scale=float(np.polyfit(truth, elo, 1)[0]),
        width=margin,
        plain_width=plain_margin,
        told=_chance(np.abs(lead) / deviations),
        is_right=(lead * true_lead > 0).astype(float),
        is_flagged=is_flagged(run),
        is_named=is_named(run),
    )


def centre_of(lines: Sequence[RatingLine]) -> Floats:
    """The weights of those whose mean is shown as `BASE`: the established, or all if nobody is."""
    weighs = np.array([line.is_linked and not line.is_provisional for line in lines])
    if not weighs.any():
        weighs = np.array([line.is_linked for line in lines])
    centre: Floats = weighs / weighs.sum()
    assert abs(centre @ [line.elo for line in lines] - BASE) < 0.01, "the mean is of others"
    return centre


def _by_margin(errors: Floats, margin: Floats, centre: Floats) -> Floats:
    """The errors around a mean by their intervals; who is the mean all alone has none."""
    has_any = centre < 1
    found: Floats = np.abs(errors - centre @ errors)[has_any] / margin[has_any]
    return found


def _of_differences(matrix: Floats, one: Integers, other: Integers) -> Floats:
    variances: Floats = matrix[one, one] + matrix[other, other] - 2 * matrix[one, other]
    return variances


def _from_mean(matrix: Floats, centre: Floats) -> Floats:
    common = matrix @ centre
    variances: Floats = np.diagonal(matrix) - 2 * common + centre @ common
    return np.maximum(variances, 0.0)


def _chance(deviations: Floats) -> Floats:
    """The normal distribution's."""
    return np.array([(1 + math.erf(each / math.sqrt(2))) / 2 for each in deviations])


def is_flagged(run: NewRun) -> bool:
    """Whether the diagnosis says that the model does not hold, as a whole or for anyone."""
    found = run.parameters.diagnosis
    assert found is not None
    sure = found.pairs + found.triples + found.drifts + found.changes
    marked = (line.depends_on_opponents or line.changes_over_time for line in run.ratings)
    return found.is_rejected or sure > 0 or any(marked)


def is_named(run: NewRun) -> bool:
    """Whether anything is told as sure: by the diagnosis, or as a cause of wide intervals."""
    flags = (field.name for field in fields(RunParameters) if field.name.endswith("_is_sure"))
    return is_flagged(run) or any(getattr(run.parameters, name) for name in flags)


def row(scenario: str, pools: Sequence[Judgement]) -> Row:
    """What the pools of a scenario come to."""
    told, is_right = (
        np.concatenate([getattr(pool, name) for pool in pools]) for name in ("told", "is_right")
    )
    return {
        "scenario": scenario,
        "pools": len(pools),
        **_coverage("mean", [pool.mean for pool in pools]),
        **_coverage("pairs", [pool.pairs for pool in pools]),
        "need": round(_need_of([pool.mean for pool in pools]), 2),
        "need ±": round(_need_error([pool.mean for pool in pools]), 2),
        "pairs need": round(_need_of([pool.pairs for pool in pools]), 2),
        "scale": round(float(np.mean([pool.scale for pool in pools])), 2),
        "width": _median([pool.width for pool in pools]),
        "plain": _percent([float((pool.plain <= 1).mean()) for pool in pools]),
        "plain need": round(_need_of([pool.plain for pool in pools]), 2),
        "plain width": _median([pool.plain_width for pool in pools]),
        "flagged": _percent([pool.is_flagged for pool in pools]),
        "named": _percent([pool.is_named for pool in pools]),
        **{
            name: _percent(is_right[(low <= told) & (told < high)])
            for name, (low, high) in BANDS.items()
        },
    }


def _coverage(name: str, pools: Sequence[Floats]) -> Row:
    """The share of intervals that hold the truth, with its standard error over pools."""
    shares = [float((pool <= 1).mean()) for pool in pools]
    error = float(np.std(shares)) / max(len(shares) - 1, 1) ** 0.5
    return {name: _percent(shares), f"{name} ±": round(100 * error, 1)}


def _need_of(pools: Sequence[Floats]) -> float:
    """What the largest twentieth of the errors begins at."""
    return float(np.quantile(np.concatenate(pools), 0.95))


def _need_error(pools: Sequence[Floats]) -> float:
    """The standard error of that, from pools drawn anew."""
    rng = np.random.default_rng(0)
    again = rng.integers(len(pools), size=(RESAMPLES, len(pools)))
    return float(np.std([_need_of([pools[place] for place in places]) for places in again]))


def _percent(shares: Sequence[float] | Floats) -> float | str:
    return round(100 * float(np.mean(shares)), 1) if len(shares) else "-"


def _median(pools: Sequence[Floats]) -> float:
    return round(float(np.median(np.concatenate(pools))), 1)


def main() -> None:
    """Simulate every scenario."""
    parser = parser_of(__doc__)
    parser.add_argument("--pools", type=int, default=60)
    parser.add_argument("--only", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    with pool_of(options.processes) as processes:
        rows = [
            row(name, list(processes.map(partial(simulate, name), range(options.pools))))
            for name in options.only
        ]
    show_markdown([_with_errors(row) for row in rows])
    if options.json:
        print_json(rows)


def _with_errors(row: Row) -> Row:
    """The columns as short as they can be, with their standard errors in them."""
    return {
        name: f"{value}±{row[f'{name} ±']}" if f"{name} ±" in row else str(value)
        for name, value in row.items()
        if not name.endswith("±")
    }


if __name__ == "__main__":
    main()
