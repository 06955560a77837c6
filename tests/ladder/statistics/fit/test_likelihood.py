"""The posterior's derivatives against finite differences."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.ladder.statistics.fit.bradley_terry import Prior
from meijin.ladder.statistics.fit.likelihood import COMMON, LogPosterior, Point, State
from meijin.ladder.statistics.fit.lineage import Lineage
from meijin.ladder.statistics.fit.pair_counts import Floats, PairCounts

STEP = 1e-5
COUNT = st.integers(0, 20)
PRIOR = Prior(draw_slope=0.5, lineage=90.0, opening=70.0)
LEVELS = np.array([1.5, -0.5, 0.0, -1.0])
LINEAGES = [Lineage.none(), Lineage(*np.array([(1, 3), (0, 1), (1, 2)]))]
EFFECTS = 2


@st.composite
def posteriors(draw: st.DrawFn) -> LogPosterior:
    """Of a few random pairs of four players, with draws, without, and with nothing else."""
    row = st.tuples(st.integers(0, 3), st.integers(0, 3), COUNT, COUNT, COUNT, st.integers(0, 2))
    rows = draw(st.lists(row.filter(lambda row: row[0] != row[1]), min_size=1, max_size=8))
    table = np.array([*rows, (0, 1, 0, 0, 0, 2), (2, 3, 0, 0, 0, 2)], dtype=np.int64).T
    results = table[2:5].astype(float)
    results *= np.array(draw(st.sampled_from([(1, 1, 1), (1, 0, 1), (0, 1, 0)])))[:, None]
    players, counts = replace(PairCounts(*table[:2], *results), openings=table[5]).indexed()
    return LogPosterior.of(
        counts,
        len(players),
        PRIOR.precisions,
        has_advantage=True,
        has_draw_slope=draw(st.booleans()),
        levels=LEVELS[: len(players)],
        lineage=draw(st.sampled_from(LINEAGES)),
        effects=draw(st.sampled_from([0, EFFECTS])),
    )


@st.composite
def points(draw: st.DrawFn) -> tuple[LogPosterior, Floats]:
    """A posterior, and all parameters of a state in one array."""
    posterior = draw(posteriors())
    value = st.floats(-3, 3)
    size = posterior.players + posterior.effects
    values = draw(st.lists(value, min_size=size, max_size=size))
    draws = draw(st.floats(0.1, 2)) if posterior.has_draws else 0.0
    slope = draw(st.floats(-0.7, 0.7)) if posterior.has_draw_slope else 0.0
    strengths, openings = values[: posterior.players], values[posterior.players :]
    return posterior, np.array([*strengths, draw(value), draws, slope, *openings])


def state(posterior: LogPosterior, values: Floats) -> State:
    strengths, others, openings = np.split(values, (posterior.players, posterior.players + COMMON))
    advantage, draws, draw_slope = others.tolist()
    return State(strengths, advantage, draws, draw_slope, openings)


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
        assert found[kept] == pytest.approx(whole[place, kept], rel=1e-4, abs=1e-4)


@given(points())
def test_gauss_and_newtons_curvature_is_positive_definite(
    point: tuple[LogPosterior, Floats],
) -> None:
    """At any state, unlike the exact one; it has the same border and the same strengths."""
    posterior, values = point
    here = Point(posterior, state(posterior, values))
    curvature, exact = here.curvature(), here.curvature(is_exact=True)
    free = posterior.free
    border, corner = curvature.border[:, free], curvature.corner[np.ix_(free, free)]
    whole = np.block([[curvature.strengths.held(), border], [border.T, corner]])
    assert np.linalg.eigvalsh(whole).min() > 0
    assert (curvature.border == exact.border).all()
    assert (curvature.strengths.dense() == exact.strengths.dense()).all()
