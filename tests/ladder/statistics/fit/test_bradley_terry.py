"""The fit against closed forms, its own invariances and other tools' answers."""

import csv
import math
import random
from collections.abc import Mapping
from dataclasses import replace

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
from tests.ladder.statistics.made_games import (
    FREE,
    NO_ADVANTAGE,
    OUTCOMES,
    Row,
    contents,
    counts,
    swapped,
)

from meijin.ladder.statistics.fit.bradley_terry import (
    ELO_PER_NAT,
    Chances,
    Fit,
    NoFitError,
    Outcomes,
    Prior,
    fit,
)

DRAW_SLOPE = 0.5
ROWS: list[Row] = [
    (3, 7, 5, 2, 3),
    (7, 3, 4, 4, 2),
    (9, 3, 1, 0, 6),
    (7, 9, 8, 1, 0),
    (9, 7, 2, 2, 2),
]


def log_posterior(
    rows: list[Row], values: Mapping[int | str, float], levels: Mapping[int, float]
) -> float:
    """The logarithm of the posterior, straight from its definition; strengths by player."""
    scale = 2 * Prior().strength ** 2
    in_elo = (value for name, value in values.items() if name != "draw_slope")
    value = -sum(each**2 for each in in_elo) / scale - (values["draw_slope"] / DRAW_SLOPE) ** 2 / 2
    for first, second, wins, draws, losses in rows:
        difference = values[first] - values[second] + values["advantage"]
        mean = (levels.get(first, 0) + levels.get(second, 0)) / 2
        width = values["draws"] * 10 ** (values["draw_slope"] * mean / 400)
        win = 1 / (1 + 10 ** (-(difference - width) / 400))
        loss = 1 / (1 + 10 ** ((difference + width) / 400))
        value += wins * math.log(win) + losses * math.log(loss)
        value += draws * math.log(1 - win - loss) if draws else 0.0
    return value


@st.composite
def pools(draw: st.DrawFn) -> list[Row]:
    """Rows of a small pool, some of them of the same pair."""
    player, count = st.integers(-5, 5), st.integers(0, 30)
    row = st.tuples(player, player, count, count, count).filter(lambda row: row[0] != row[1])
    return draw(st.lists(row, max_size=20))


@pytest.mark.parametrize(("wins", "losses"), [(1, 1), (3, 1), (2, 5), (1, 99)])
def test_two_players_have_a_closed_form(wins: int, losses: int) -> None:
    """Without priors and draws the difference is 400 log10 of wins by losses."""
    result = fit(counts([(1, 2, wins, 0, losses)]), NO_ADVANTAGE)
    assert result.elo[0] - result.elo[1] == pytest.approx(400 * math.log10(wins / losses), abs=1e-6)
    assert result.outcomes == Outcomes(0.0, 0.0)


@given(pools(), st.randoms(use_true_random=False))
def test_order_and_splits_make_no_difference(rows: list[Row], random: random.Random) -> None:
    """The same games give the same bytes, shuffled and split into single games.

    Components, perfect scorers and nothing but draws too are finite, and the mean is 0.
    """
    single: list[Row] = [
        (first, second, *result)
        for first, second, *totals in rows
        for result, total in zip(np.eye(3, dtype=int).tolist(), totals, strict=True)
        for _ in range(int(total))
    ]
    random.shuffle(single)
    merged = [row for row in rows if any(row[2:])]
    result = fit(counts(merged))
    assert contents(fit(counts(single))) == contents(result)
    assert np.isfinite([*result.elo, result.outcomes.advantage, result.outcomes.draws]).all()
    assert result.outcomes.draws >= 0
    assert result.elo.sum() == pytest.approx(0, abs=1e-6)


@given(pools())
def test_swapped_colours_flip_the_advantage(rows: list[Row]) -> None:
    """Calling the second mover the first changes the sign of the advantage alone."""
    one, other = fit(counts(rows)), fit(swapped(counts(rows)))
    assert other.elo == pytest.approx(one.elo, abs=1e-6)
    assert other.outcomes.advantage == pytest.approx(-one.outcomes.advantage, abs=1e-6)
    assert other.outcomes.draws == pytest.approx(one.outcomes.draws, abs=1e-6)


@pytest.mark.parametrize(
    ("rows", "levels", "step"),
    [
        (ROWS, {}, 0.01),
        ([row for row in ROWS if not row[3]], {}, 0.01),
        ([(1, 2, 0, 3, 0)], {}, 0.01),
        (ROWS, {3: 120.0, 7: -200.0, 9: 80.0}, 0.01),
        # Half a million games without a point, in a circle: undamped Newton steps never settle.
        ([(1, 0, 0, 0, 631300), (2, 1, 2, 0, 30), (0, 2, 0, 0, 4935), (0, 1, 831521, 0, 0)], {}, 1),
    ],
    ids=["draws", "no draws", "nothing but draws", "a slope of draws", "one-sided"],
)
def test_the_fit_is_at_the_top(rows: list[Row], levels: Mapping[int, float], step: float) -> None:
    """By finite differences, the posterior falls to both sides of every parameter, alike."""
    prior = Prior(draw_slope=DRAW_SLOPE) if levels else Prior()
    result = fit(counts(rows), prior, levels=np.array([*levels.values()]) if levels else None)
    names: list[int | str] = [*result.players.tolist(), "advantage", "draws", "draw_slope"]
    outcomes = result.outcomes
    parameters = [*result.elo, outcomes.advantage, outcomes.draws, outcomes.draw_slope]
    values = dict(zip(names, parameters, strict=True))
    assert bool(outcomes.draw_slope) is bool(levels)
    top = log_posterior(rows, values, levels)
    for name, value in values.items():
        if name in {"draws", "draw_slope"} and not value:
            continue
        size = 1e-4 if name == "draw_slope" else step
        below, above = (
            log_posterior(rows, {**values, name: value + side * size}, levels) for side in (-1, 1)
        )
        assert max(below, above) < top
        assert abs(above - below) < 0.01 * (2 * top - above - below) + 1e-8


def test_draws_depend_on_no_strength_unless_levels_are_told() -> None:
    """And the prior lets them; then it is the plain fit, to the byte."""
    plain = contents(fit(counts(ROWS)))
    assert contents(fit(counts(ROWS), Prior(draw_slope=DRAW_SLOPE))) == plain
    assert contents(fit(counts(ROWS), levels=np.array([1.0, 0.0, -1.0]))) == plain


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


# -- outcomes -----------------------------------------------------------------------


def test_the_stronger_two_are_the_more_they_draw() -> None:
    """A slope of 0.3 is a factor of 10^0.3 for 400 Elo, and ratings may be shifted."""
    outcomes = Outcomes(20.0, 50.0, draw_slope=0.3, level=100.0)
    assert outcomes.between(100.0, 100.0) == Chances(20.0, 50.0)
    above = outcomes.between(np.array([700.0, -100.0]), np.array([300.0, -500.0]))
    stronger, weaker = 50 * 10**0.3, 50 * 10**-0.3
    assert above.draws == pytest.approx([stronger, weaker])
    assert outcomes.shifted(1400.0).between(1900.0, 1900.0).draws == pytest.approx(stronger)
    assert Outcomes(20.0, 50.0).between(900.0, 900.0) == Outcomes(20.0, 50.0)


@pytest.mark.parametrize("outcomes", [OUTCOMES, replace(OUTCOMES, opening=300.0)])
@pytest.mark.parametrize("difference", [-700.0, 0.0, 90.0])
def test_the_information_is_what_a_result_is_expected_to_tell(
    difference: float, outcomes: Outcomes
) -> None:
    """The mean curvature of a result is the mean square of its gradient, with either colour."""
    curvature = square = 0.0
    for first in (difference, -difference):
        win, loss = float(outcomes.wins(first)), float(outcomes.losses(first))
        for points, chance in ((1.0, win), (0.5, 1 - win - loss), (0.0, loss)):
            slope, bend = outcomes.derivatives(first, points)
            curvature += chance * bend / 2
            square += chance * slope**2 / 2
    assert outcomes.information(difference) == pytest.approx(curvature)
    assert outcomes.information(difference) == pytest.approx(square)


@pytest.mark.parametrize("outcomes", [OUTCOMES, replace(OUTCOMES, opening=300.0)])
@pytest.mark.parametrize("points", [0.0, 0.5, 1.0])
def test_derivatives_are_those_of_finite_differences(points: float, outcomes: Outcomes) -> None:
    """Of the logarithm of a result's chance."""

    def logarithm(difference: float) -> float:
        win, loss = float(outcomes.wins(difference)), float(outcomes.losses(difference))
        return math.log({1.0: win, 0.5: 1 - win - loss, 0.0: loss}[points])

    step = 0.01
    above, here, below = (logarithm(120.0 + side * step) for side in (1, 0, -1))
    gradient, curvature = outcomes.derivatives(120.0, points)
    assert gradient == pytest.approx(ELO_PER_NAT * (above - below) / (2 * step), rel=1e-4)
    bend = ELO_PER_NAT**2 * (2 * here - above - below) / step**2
    assert curvature == pytest.approx(bend, rel=1e-2)


def test_the_score_with_both_colours_forgets_the_advantage_of_equals() -> None:
    """Whoever moves first every second time gains nothing by it."""
    assert OUTCOMES.score_with_both(0.0) == pytest.approx(0.5)


# -- other tools --------------------------------------------------------------------


def fit_as_published(pool: Pool) -> Fit:
    """With the draw parameter held at 0.01 Elo, as Gomocup does: at 0 here."""
    return fit(with_draws_as_both(with_bayes_elo_prior(pool.counts)), NO_ADVANTAGE)


@needs_golden
@pytest.mark.parametrize("name", GOMOCUP)
def test_gomocup_agrees_with_bayes_elo_and_ordo(name: str) -> None:
    """To a quarter of an Elo with BayesElo, which stops climbing early, and to 0.03 with Ordo."""
    pool = Pool.read(name)
    for result, column, error in (
        (fit(with_bayes_elo_prior(pool.counts), NO_ADVANTAGE), "bayeselo_mm01_unscaled", 0.25),
        (fit_as_published(pool), "bayeselo_gomocup_settings", 0.25),
        (fit(with_half_draws(pool.counts), NO_ADVANTAGE), "ordo_z200.2379_mean0", 0.03),
    ):
        wanted = pool.column(column)
        assert result.elo == pytest.approx(wanted - wanted.mean(), abs=error)


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
    result = fit(pool.counts, Prior(600.0, math.inf, math.inf))
    assert result.elo == pytest.approx(pool.column("our_rk_sigma600_unscaled"), abs=1e-4)
