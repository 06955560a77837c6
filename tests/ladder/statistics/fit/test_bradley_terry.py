"""The fit against closed forms, its own invariances and other tools' answers."""

import csv
import math
import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ladder.statistics.golden import (
    DATA,
    GOLDEN,
    GOMOCUP,
    Pool,
    needs_golden,
    with_bayes_elo_prior,
    with_draws_as_both,
    with_half_draws,
)

from meijin.ladder.statistics.fit import laplacian
from meijin.ladder.statistics.fit.bradley_terry import (
    ELO_PER_NAT,
    Chances,
    Fit,
    NoFitError,
    Outcomes,
    Prior,
    fit,
)
from meijin.ladder.statistics.fit.pair_counts import PairCounts

FREE = Prior(math.inf, math.inf, math.inf)
NO_ADVANTAGE = Prior(math.inf, 0, math.inf)
DRAW_SLOPE = 0.5
Row = tuple[int, int, int, int, int]
"""First, second, wins, draws, losses."""

ROWS: list[Row] = [
    (3, 7, 5, 2, 3),
    (7, 3, 4, 4, 2),
    (9, 3, 1, 0, 6),
    (7, 9, 8, 1, 0),
    (9, 7, 2, 2, 2),
]


def counts(rows: list[Row]) -> PairCounts:
    """The columns of `rows`."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    return PairCounts(*columns[:2], *columns[2:].astype(float))


def contents(result: Fit) -> tuple[bytes, bytes, Outcomes, float]:
    """Everything that a fit says, to the byte."""
    return (
        result.players.tobytes(),
        result.elo.tobytes(),
        result.outcomes,
        result.log_likelihood,
    )


def log_posterior(
    rows: list[Row],
    elo: dict[int, float],
    outcomes: Outcomes,
    levels: Mapping[int, float] | None = None,
) -> float:
    """The logarithm of the posterior, straight from its definition."""
    scale = 2 * Prior().strength ** 2
    value = -sum(rating**2 for rating in elo.values()) / scale
    value -= (outcomes.advantage**2 + outcomes.draws**2) / scale
    value -= (outcomes.draw_slope / DRAW_SLOPE) ** 2 / 2
    for first, second, wins, draws, losses in rows:
        difference = elo[first] - elo[second] + outcomes.advantage
        mean = 0.0 if levels is None else (levels[first] + levels[second]) / 2
        width = outcomes.draws * 10 ** (outcomes.draw_slope * mean / 400)
        win = 1 / (1 + 10 ** (-(difference - width) / 400))
        loss = 1 / (1 + 10 ** ((difference + width) / 400))
        value += wins * math.log(win) + losses * math.log(loss)
        value += draws * math.log(1 - win - loss) if draws else 0.0
    return value


@st.composite
def pools(draw: st.DrawFn) -> list[Row]:
    """Rows of a small pool, some of them of the same pair."""
    player = st.integers(-5, 5)
    count = st.integers(0, 30)
    row = st.tuples(player, player, count, count, count).filter(lambda row: row[0] != row[1])
    return draw(st.lists(row, max_size=20))


@pytest.mark.parametrize(("wins", "losses"), [(1, 1), (3, 1), (2, 5), (1, 99)])
def test_two_players_have_a_closed_form(wins: int, losses: int) -> None:
    """Without priors and draws the difference is 400 log10 of wins by losses."""
    result = fit(counts([(1, 2, wins, 0, losses)]), NO_ADVANTAGE)
    assert result.elo[0] - result.elo[1] == pytest.approx(400 * math.log10(wins / losses), abs=1e-6)
    assert result.outcomes == Outcomes(0.0, 0.0)


@pytest.mark.parametrize(("wins", "draws", "losses"), [(2, 5, 1), (1, 1, 99), (40, 1, 40)])
def test_two_players_with_draws_are_matched(wins: int, draws: int, losses: int) -> None:
    """With two parameters for two shares, both shares come out."""
    result = fit(counts([(1, 2, wins, draws, losses)]), NO_ADVANTAGE)
    difference = result.elo[0] - result.elo[1]
    games = wins + draws + losses
    assert result.outcomes.wins(difference) == pytest.approx(wins / games)
    assert result.outcomes.losses(difference) == pytest.approx(losses / games)
    assert result.outcomes.score(difference) == pytest.approx((wins + draws / 2) / games)


def test_two_equals_show_the_advantage() -> None:
    """When each wins three of four games with the first move, that is worth 190.8 Elo."""
    result = fit(counts([(1, 2, 3, 0, 1), (2, 1, 3, 0, 1)]), Prior(advantage=math.inf))
    assert result.outcomes.advantage == pytest.approx(400 * math.log10(3))
    assert result.elo == pytest.approx([0, 0], abs=1e-9)


@given(pools(), st.randoms(use_true_random=False))
def test_order_and_splits_make_no_difference(rows: list[Row], random: random.Random) -> None:
    """The same games give the same bytes, shuffled and split into single games."""
    single = [
        (first, second, *result)
        for first, second, *totals in rows
        for result, total in zip(np.eye(3, dtype=int).tolist(), totals, strict=True)
        for _ in range(total)
    ]
    random.shuffle(single)
    played = [row for row in rows if any(row[2:])]
    assert contents(fit(counts(single))) == contents(fit(counts(played)))


@given(pools())
def test_swapped_colours_flip_the_advantage(rows: list[Row]) -> None:
    """Calling the second mover the first changes the sign of the advantage alone."""
    swapped = [(second, first, losses, draws, wins) for first, second, wins, draws, losses in rows]
    one, other = fit(counts(rows)), fit(counts(swapped))
    assert other.elo == pytest.approx(one.elo, abs=1e-6)
    assert other.outcomes.advantage == pytest.approx(-one.outcomes.advantage, abs=1e-6)
    assert other.outcomes.draws == pytest.approx(one.outcomes.draws, abs=1e-6)


@given(pools())
def test_every_pool_has_a_finite_fit_around_0(rows: list[Row]) -> None:
    """Components, perfect scorers and nothing but draws too are finite, and the mean is 0."""
    result = fit(counts(rows))
    assert np.isfinite(result.elo).all()
    assert math.isfinite(result.outcomes.advantage)
    assert 0 <= result.outcomes.draws < math.inf
    assert result.elo.sum() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("rows", [ROWS, [row for row in ROWS if not row[3]], [(1, 2, 0, 3, 0)]])
def test_the_fit_is_at_the_top(rows: list[Row]) -> None:
    """By finite differences, the posterior is flat there and falls to both sides."""
    result = fit(counts(rows))
    elo = dict(zip(result.players.tolist(), result.elo.tolist(), strict=True))
    draws = result.outcomes.draws

    def check(changed: list[float]) -> None:
        below, top, above = changed
        assert (above - below) / 2 == pytest.approx(0, abs=1e-9)
        assert max(below, above) < top

    steps = (-0.01, 0.0, 0.01)
    for player, rating in elo.items():
        moved = [elo | {player: rating + step} for step in steps]
        check([log_posterior(rows, each, result.outcomes) for each in moved])
    advantages = [result.outcomes.advantage + step for step in steps]
    check([log_posterior(rows, elo, Outcomes(each, draws)) for each in advantages])
    if draws:
        models = [Outcomes(result.outcomes.advantage, draws + step) for step in steps]
        check([log_posterior(rows, elo, model) for model in models])


def test_a_slope_of_the_draws_is_at_the_top() -> None:
    """By finite differences, the posterior is flat there and falls to both sides."""
    levels = {3: 120.0, 7: -200.0, 9: 80.0}
    prior = Prior(draw_slope=DRAW_SLOPE)
    result = fit(counts(ROWS), prior, levels=np.array(list(levels.values())))
    elo = dict(zip(result.players.tolist(), result.elo.tolist(), strict=True))
    for name, step in (("advantage", 0.01), ("draws", 0.01), ("draw_slope", 1e-4)):
        at = getattr(result.outcomes, name)
        models = [replace(result.outcomes, **{name: at + side * step}) for side in (-1, 0, 1)]
        below, top, above = (log_posterior(ROWS, elo, each, levels) for each in models)
        assert (above - below) / 2 == pytest.approx(0, abs=1e-8)
        assert max(below, above) < top
    assert result.outcomes.draw_slope


def test_draws_depend_on_no_strength_unless_levels_are_told() -> None:
    """And the prior lets them; then it is the plain fit, to the byte."""
    plain = contents(fit(counts(ROWS)))
    assert contents(fit(counts(ROWS), Prior(draw_slope=DRAW_SLOPE))) == plain
    assert contents(fit(counts(ROWS), levels=np.array([1.0, 0.0, -1.0]))) == plain


def test_a_very_one_sided_pool_has_a_fit() -> None:
    """Half a million games without a point, in a circle: undamped Newton steps never settle."""
    rows: list[Row] = [
        (1, 0, 0, 0, 631300),
        (2, 1, 2, 0, 30),
        (0, 2, 0, 0, 4935),
        (0, 1, 831521, 0, 0),
    ]
    result = fit(counts(rows))
    elo = dict(enumerate(result.elo.tolist()))
    top = log_posterior(rows, elo, result.outcomes)
    for player, rating in elo.items():
        assert log_posterior(rows, elo | {player: rating - 1}, result.outcomes) < top
        assert log_posterior(rows, elo | {player: rating + 1}, result.outcomes) < top


def test_without_a_prior_more_of_the_same_changes_nothing() -> None:
    """Counting every game seven times keeps the strengths, the advantage and the draws."""
    more = [(first, second, *(7 * total for total in totals)) for first, second, *totals in ROWS]
    once, often = fit(counts(ROWS), FREE), fit(counts(more), FREE)  # type: ignore[arg-type]
    assert often.elo == pytest.approx(once.elo, abs=1e-6)
    assert often.outcomes.advantage == pytest.approx(once.outcomes.advantage, abs=1e-6)
    assert often.outcomes.draws == pytest.approx(once.outcomes.draws, abs=1e-6)


def test_the_prior_tells_perfect_scorers_apart() -> None:
    """Ten wins are worth more than one, and both are finite."""
    one = fit(counts([(1, 2, 1, 0, 0)]))
    ten = fit(counts([(1, 2, 10, 0, 0)]))
    assert 0 < one.elo[0] < ten.elo[0] < 1000
    assert one.outcomes.advantage > 0


def test_a_small_component_is_around_0_too() -> None:
    """A pool that met nobody else gets the prior's mean for its own."""
    result = fit(counts([*ROWS, (20, 21, 3, 0, 1), (21, 20, 1, 0, 3)]))
    assert result.elo[-2:].mean() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ([(1, 2, 3, 0, 0), (2, 1, 0, 0, 3)], "to infinity"),
        ([(1, 2, 5, 0, 5), (2, 1, 5, 0, 5), (8, 9, 700, 1, 30), (9, 8, 4, 4, 4)], "connect"),
    ],
)
def test_without_a_prior_some_pools_have_no_fit(rows: list[Row], match: str) -> None:
    """A perfect scorer or a second component needs the prior."""
    with pytest.raises(NoFitError, match=match):
        fit(counts(rows), NO_ADVANTAGE)


def test_no_games_have_a_fit() -> None:
    """Nobody has played: nobody is rated."""
    result = fit(counts([]))
    assert result.players.size == result.elo.size == 0
    assert result.outcomes == Outcomes(0.0, 0.0)


def test_it_finds_the_strengths_that_made_the_games() -> None:
    """From the expected results of a million games, all parameters come back."""
    truth = {1: 120.0, 2: 0.0, 3: -40.0, 4: -80.0}
    made = Outcomes(advantage=55.0, draws=30.0)
    rows: list[Row] = []
    for first, second in permutations(truth, 2):
        difference = truth[first] - truth[second]
        wins = round(1e6 * float(made.wins(difference)))
        losses = round(1e6 * float(made.losses(difference)))
        rows.append((first, second, wins, 10**6 - wins - losses, losses))
    result = fit(counts(rows))
    assert result.elo == pytest.approx(list(truth.values()), abs=0.01)
    assert result.outcomes.advantage == pytest.approx(55, abs=0.01)
    assert result.outcomes.draws == pytest.approx(30, abs=0.01)


def test_a_large_pool_has_the_same_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conjugate gradients find what Cholesky's factors do."""
    pool = Pool.read("synth_10_1000")
    dense = fit(pool.counts)
    monkeypatch.setattr(laplacian, "DENSE", 0)
    sparse = fit(pool.counts)
    assert sparse.elo == pytest.approx(dense.elo, abs=1e-8)
    assert sparse.outcomes.advantage == pytest.approx(dense.outcomes.advantage, abs=1e-8)
    assert sparse.outcomes.draws == pytest.approx(dense.outcomes.draws, abs=1e-8)


def test_a_large_pool_of_components_needs_a_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conjugate gradients too notice what can't be known."""
    monkeypatch.setattr(laplacian, "DENSE", 0)
    rows: list[Row] = [(1, 2, 700, 0, 30), (8, 9, 700, 1, 30)]
    with pytest.raises(NoFitError):
        fit(counts(rows), NO_ADVANTAGE)


def test_a_large_pool_has_the_same_slope(monkeypatch: pytest.MonkeyPatch) -> None:
    """By conjugate gradients too."""
    pool, prior = Pool.read("synth_10_1000"), Prior(draw_slope=DRAW_SLOPE)
    levels = fit(pool.counts).elo
    dense = fit(pool.counts, prior, levels=levels)
    monkeypatch.setattr(laplacian, "DENSE", 0)
    sparse = fit(pool.counts, prior, levels=levels)
    assert sparse.elo == pytest.approx(dense.elo, abs=1e-6)
    assert sparse.outcomes.draw_slope == pytest.approx(dense.outcomes.draw_slope, abs=1e-8)


def test_the_stronger_two_are_the_more_they_draw() -> None:
    """A slope of 0.3 is a factor of 10^0.3 for 400 Elo, and ratings may be shifted."""
    outcomes = Outcomes(20.0, 50.0, draw_slope=0.3, level=100.0)
    assert outcomes.between(100.0, 100.0) == Chances(20.0, 50.0)
    above = outcomes.between(np.array([700.0, -100.0]), np.array([300.0, -500.0]))
    stronger, weaker = 50 * 10**0.3, 50 * 10**-0.3
    assert above.draws == pytest.approx([stronger, weaker])
    assert outcomes.shifted(1400.0).between(1900.0, 1900.0).draws == pytest.approx(stronger)
    assert Outcomes(20.0, 50.0).between(900.0, 900.0) == Outcomes(20.0, 50.0)


@pytest.mark.parametrize("difference", [-300.0, 0.0, 100.0])
def test_the_information_is_what_a_result_is_expected_to_tell(difference: float) -> None:
    """Its curvature, or its gradient's square, with the colours drawn by lot."""
    outcomes = Outcomes(advantage=40.0, draws=30.0)
    curvature = square = 0.0
    for first in (difference, -difference):
        wins, losses = float(outcomes.wins(first)), float(outcomes.losses(first))
        for points, chance in ((1.0, wins), (0.5, 1 - wins - losses), (0.0, losses)):
            slope, bend = outcomes.derivatives(first, points)
            curvature += chance * bend / 2
            square += chance * slope**2 / 2
    assert outcomes.information(difference) == pytest.approx(curvature)
    assert outcomes.information(difference) == pytest.approx(square)


def test_the_score_with_both_colours_forgets_the_advantage_of_equals() -> None:
    """Whoever moves first every second time gains nothing by it."""
    assert Outcomes(advantage=80.0, draws=20.0).score_with_both(0.0) == pytest.approx(0.5)


@needs_golden
@pytest.mark.parametrize("name", GOMOCUP)
def test_gomocup_agrees_with_bayes_elo(name: str) -> None:
    """With BayesElo's prior, to a quarter of an Elo: it stops climbing early."""
    pool = Pool.read(name)
    bayes_elo = pool.column("bayeselo_mm01_unscaled")
    result = fit(with_bayes_elo_prior(pool.counts), NO_ADVANTAGE)
    assert result.elo == pytest.approx(bayes_elo - bayes_elo.mean(), abs=0.25)


@needs_golden
@pytest.mark.parametrize("name", GOMOCUP)
def test_gomocup_agrees_with_ordo(name: str) -> None:
    """With draws as halves and no prior, to 0.03 Elo."""
    pool = Pool.read(name)
    ordo = pool.column("ordo_z200.2379_mean0")
    result = fit(with_half_draws(pool.counts), NO_ADVANTAGE)
    assert result.elo == pytest.approx(ordo - ordo.mean(), abs=0.03)


def fit_as_published(pool: Pool) -> Fit:
    """With the draw parameter held at 0.01 Elo, as Gomocup does: at 0 here."""
    return fit(with_draws_as_both(with_bayes_elo_prior(pool.counts)), NO_ADVANTAGE)


@needs_golden
@pytest.mark.parametrize("name", GOMOCUP)
def test_gomocup_agrees_under_its_own_settings(name: str) -> None:
    """To a quarter of an Elo."""
    pool = Pool.read(name)
    bayes_elo = pool.column("bayeselo_gomocup_settings")
    assert fit_as_published(pool).elo == pytest.approx(bayes_elo - bayes_elo.mean(), abs=0.25)


@needs_golden
@pytest.mark.parametrize(
    ("name", "shift"), [("gomocup_global", 1600.0), ("gomocup_renju_all", 2457.0)]
)
def test_gomocup_s_published_table_comes_out(name: str, shift: float) -> None:
    """Row by row, but for what is lost by rounding to whole Elo and by stopping early."""
    pool = Pool.read(name)
    with (GOLDEN / f"{name}_published.csv").open(newline="") as file:
        rows = {row["player"].replace(" ", ""): float(row["elo"]) for row in csv.DictReader(file)}
    published = np.array([rows[player.replace(" ", "")] for player in pool.players])
    assert fit_as_published(pool).elo + shift == pytest.approx(published, abs=0.75)


def test_colours_agree_with_bayes_elo() -> None:
    """Advantage, draw parameter and strengths, with its prior."""
    pool = Pool.read("synth_10_1000")
    result = fit(with_bayes_elo_prior(pool.counts), FREE)
    assert result.elo == pytest.approx(pool.column("bayeselo_mm11_unscaled"), abs=0.01)
    with (DATA / "synth_10_1000_params.csv").open(newline="") as file:
        tools = {row["tool"]: row for row in csv.DictReader(file)}
    found = tools["bayeselo mm 1 1"]
    assert result.outcomes.advantage == pytest.approx(float(found["advantage"]), abs=0.01)
    assert result.outcomes.draws == pytest.approx(float(found["draw_parameter"]), abs=0.01)


def test_colours_agree_with_ordo() -> None:
    """Draws as halves, and the first move's advantage fitted."""
    pool = Pool.read("synth_10_1000")
    ordo = pool.column("ordo_W_D_z200.2379")
    result = fit(with_half_draws(pool.counts), FREE)
    assert result.elo == pytest.approx(ordo - ordo.mean(), abs=0.03)
    assert result.outcomes.advantage == pytest.approx(49.02, abs=0.03)


@pytest.mark.parametrize("name", ["synth_10_1000", "edge_perfect_zero_island"])
def test_the_prior_s_fit_is_as_computed_elsewhere(name: str) -> None:
    """With a perfect scorer, a zero scorer, a newcomer and a second component too."""
    pool = Pool.read(name)
    other = pool.column("our_rk_sigma600_unscaled")
    result = fit(pool.counts, Prior(600.0, math.inf, math.inf))
    assert result.elo == pytest.approx(other, abs=1e-4)


def test_the_scale_is_400_elo_to_a_tenfold() -> None:
    """400 Elo are odds of ten to one."""
    assert math.exp(400 / ELO_PER_NAT) == pytest.approx(10)
