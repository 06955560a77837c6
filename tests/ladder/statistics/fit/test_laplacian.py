"""The matrix of who met whom, against the same written out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from meijin.ladder.statistics.fit import laplacian
from meijin.ladder.statistics.fit.laplacian import (
    Laplacian,
    NoSolutionError,
    solve_bordered,
)
from meijin.ladder.statistics.fit.pair_counts import Floats


def graph(players: int, edges: int, ridge: float = 0.1) -> Laplacian:
    """Random weights between random players, some of whom meet often."""
    rng = np.random.default_rng(players)
    first = rng.integers(0, players, edges)
    second = (first + rng.integers(1, players, edges)) % players
    return Laplacian(first, second, rng.random(edges) + 0.1, np.full(players, ridge))


def written_out(matrix: Laplacian) -> Floats:
    out = np.diag(matrix.ridge)
    for one, other, weight in zip(matrix.first, matrix.second, matrix.weight, strict=True):
        out[[one, other], [one, other]] += weight
        out[[one, other], [other, one]] -= weight
    return out


def test_the_matrix_is_that_of_its_edges() -> None:
    """Games of the same two add up, whatever the colours."""
    matrix = graph(6, 200)
    out, vector = written_out(matrix), np.arange(6.0)
    assert matrix.dense() == pytest.approx(out)
    assert matrix.diagonal == pytest.approx(np.diagonal(out))
    assert matrix.product()[0](vector) == pytest.approx(out @ vector)


def test_a_border_takes_away_what_is_unknown() -> None:
    """What is left is the complement of the corner."""
    matrix, rng = graph(6, 40), np.random.default_rng(1)
    border, corner = rng.random((6, 2)), np.array([[9.0, 1.0], [1.0, 7.0]])
    complement = written_out(matrix) - border @ np.linalg.inv(corner) @ border.T
    assert replace(matrix, border=border, corner=corner).dense() == pytest.approx(complement)


def test_the_newest_are_a_part_of_the_matrix() -> None:
    """Edges to the older are on the diagonal; what is unknown at the border stays so."""
    matrix, rng = graph(9, 30), np.random.default_rng(1)
    bordered = replace(matrix, border=rng.random((9, 2)), corner=np.diag((90.0, 70.0)))
    assert bordered.dense(4) == pytest.approx(bordered.dense()[4:, 4:])


@pytest.mark.parametrize("dense", [0, 1500])
@pytest.mark.parametrize("players", [2, 6, 64, 200])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("unknown", [0, 1, 2])
def test_a_bordered_system_is_solved(
    monkeypatch: pytest.MonkeyPatch, dense: int, players: int, ridge: float, unknown: int
) -> None:
    """Written out or by its edges, with a border and without, singular or not."""
    monkeypatch.setattr(laplacian, "DENSE", dense)
    matrix, rng = graph(players, 20 * players, ridge), np.random.default_rng(1)
    border = rng.standard_normal((players, unknown))
    border -= border.mean(axis=0)
    corner = 50.0 * players * np.eye(unknown)
    top, bottom = rng.standard_normal(players), rng.standard_normal(unknown)
    top -= top.mean()
    x, y = solve_bordered(matrix, border, corner, top, bottom)
    assert written_out(matrix) @ x + border @ y == pytest.approx(top, abs=1e-7)
    assert border.T @ x + corner @ y == pytest.approx(bottom, abs=1e-7)
    assert not ridge or x.sum() == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize(
    ("ends", "weight", "ridge"),
    [([(0, 1)], -9.0, 0.1), ([(0, 1), (2, 3)], 1.0, 0.0)],
    ids=["not positive", "two components without a ridge"],
)
def test_what_has_no_solution_is_refused(
    ends: list[tuple[int, int]], weight: float, ridge: float
) -> None:
    first, second = np.array(ends).T
    players = 2 * len(ends)
    matrix = Laplacian(first, second, np.full(len(ends), weight), np.full(players, ridge))
    top = np.repeat((1.0, -1.0), len(ends))
    with pytest.raises(NoSolutionError):
        solve_bordered(matrix, np.empty((players, 0)), np.empty((0, 0)), top, np.empty(0))
