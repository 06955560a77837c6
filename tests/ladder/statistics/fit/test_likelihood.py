"""The posterior's derivatives against finite differences."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.ladder.statistics.fit.bradley_terry import Prior, logistic
from meijin.ladder.statistics.fit.likelihood import LogPosterior, Point, State, normal_nodes
from meijin.ladder.statistics.fit.lineage import Lineage
from meijin.ladder.statistics.fit.pair_counts import Floats, GroupedCounts, PairCounts

STEP = 1e-5
COUNT = st.integers(0, 20)
PRIOR = Prior(draw_slope=0.5, lineage=90.0)
LEVELS = np.array([1.5, -0.5, 0.0, -1.0])
LINEAGES = [Lineage.none(), Lineage(*np.array([(1, 3), (0, 1), (1, 2)]))]
SPREADS = [0.0, 0.4, 2.0]
"""Of openings, in nats."""


@st.composite
def posteriors(draw: st.DrawFn, spreads: Sequence[float]) -> LogPosterior:
    """Of a few random pairs of four players, with draws, without, and with nothing else."""
    row = st.tuples(st.integers(0, 3), st.integers(0, 3), COUNT, COUNT, COUNT)
    rows = draw(st.lists(row.filter(lambda row: row[0] != row[1]), min_size=1, max_size=8))
    table = np.array([*rows, (0, 1, 0, 0, 0), (2, 3, 0, 0, 0)], dtype=np.int64).T
    results = table[2:5].astype(np.float64)
    results *= np.array(draw(st.sampled_from([(1, 1, 1), (1, 0, 1), (0, 1, 0)])))[:, None]
    wins, played_out, losses = results
    games = GroupedCounts.of(PairCounts(table[0], table[1], wins, played_out, losses))
    players = games.players
    return LogPosterior.of(
        games.pairs,
        len(players),
        PRIOR.precisions,
        opening=draw(st.sampled_from(spreads)),
        has_advantage=True,
        has_draw_slope=draw(st.booleans()),
        levels=LEVELS[: len(players)],
        lineage=draw(st.sampled_from(LINEAGES)),
    )


@st.composite
def points(draw: st.DrawFn, spreads: Sequence[float] = SPREADS) -> tuple[LogPosterior, Floats]:
    """A posterior, and all parameters of a state in one array."""
    posterior = draw(posteriors(spreads))
    value = st.floats(-3, 3)
    strengths = draw(st.lists(value, min_size=4, max_size=4))
    draws = draw(st.floats(0.1, 2)) if posterior.has_draws else 0.0
    slope = draw(st.floats(-0.7, 0.7)) if posterior.has_draw_slope else 0.0
    return posterior, np.array([*strengths, draw(value), draws, slope])


def state(posterior: LogPosterior, values: Floats) -> State:
    return State(values[: posterior.players], *values[posterior.players :].tolist())


def array(of: State) -> Floats:
    return np.concatenate((of.strengths, of.others))


def free(posterior: LogPosterior) -> list[int]:
    return [*range(posterior.players), *(posterior.players + posterior.free).tolist()]


@given(points())
def test_the_slope_is_that_of_finite_differences(point: tuple[LogPosterior, Floats]) -> None:
    """Of the value, along each parameter."""
    posterior, values = point
    gradient = array(Point(posterior, state(posterior, values)).gradient())
    for place in free(posterior):
        step = STEP * np.eye(len(values))[place]
        above, below = (
            Point(posterior, state(posterior, values + side * step)).value for side in (1, -1)
        )
        assert (above - below) / (2 * STEP) == pytest.approx(gradient[place], rel=1e-5, abs=1e-4)


@given(points())
def test_the_curvature_is_that_of_finite_differences(point: tuple[LogPosterior, Floats]) -> None:
    """Of the gradient, along each parameter, with the strengths' block written out."""
    posterior, values = point
    curvature = Point(posterior, state(posterior, values)).curvature(is_exact=True)
    whole = np.block(
        [
            [curvature.strengths.dense(), curvature.border],
            [curvature.border.T, curvature.corner],
        ]
    )
    kept = free(posterior)
    for place in kept:
        step = STEP * np.eye(len(values))[place]
        above, below = (
            array(Point(posterior, state(posterior, values + side * step)).gradient())
            for side in (1, -1)
        )
        found = (below - above) / (2 * STEP)
        assert found[kept] == pytest.approx(whole[kept.index(place)], rel=1e-4, abs=1e-4)


@given(points())
def test_gauss_and_newtons_curvature_is_positive_definite(
    point: tuple[LogPosterior, Floats],
) -> None:
    """At any state, unlike the exact one; where openings are alike it has the same strengths."""
    posterior, values = point
    here = Point(posterior, state(posterior, values))
    curvature, exact = here.curvature(), here.curvature(is_exact=True)
    border = curvature.border
    whole = np.block([[curvature.strengths.held(), border], [border.T, curvature.corner]])
    assert np.linalg.eigvalsh(whole).min() > 0
    if not posterior.has_effects:
        assert (curvature.border == exact.border).all()
        assert (curvature.strengths.dense() == exact.strengths.dense()).all()


@pytest.mark.parametrize("deviation", [0.2, 1.0, 2.3])
@pytest.mark.parametrize("lead", [0.0, 1.5, -4.0])
def test_nodes_integrate_a_chance(deviation: float, lead: float) -> None:
    """The mean over all openings, as a sum of a thousand times as many terms has it."""
    effects = deviation * np.linspace(-8, 8, 20_001)
    density = np.exp(-((effects / deviation) ** 2) / 2)
    exact = float(density @ logistic(lead + effects)) / float(density.sum())
    nodes, weights = normal_nodes(deviation)
    assert weights @ logistic(lead + deviation * nodes) == pytest.approx(exact, abs=2e-4)


def test_nothing_is_integrated_without_a_deviation() -> None:
    nodes, weights = normal_nodes(0.0)
    assert (nodes.tolist(), weights.tolist()) == ([0.0], [1.0])
