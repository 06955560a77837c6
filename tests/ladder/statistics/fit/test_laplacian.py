"""The matrix of who met whom, against the same written out by hand."""

import numpy as np
import pytest

from meijin.ladder.statistics.fit import laplacian
from meijin.ladder.statistics.fit.laplacian import Laplacian, NoSolutionError, solve_bordered
from meijin.ladder.statistics.fit.pair_counts import Floats


def graph(players: int, edges: int, ridge: float = 0.1) -> Laplacian:
    """Random weights between random players, some of whom meet often."""
    rng = np.random.default_rng(players)
    first = rng.integers(0, players, edges)
    second = (first + rng.integers(1, players, edges)) % players
    return Laplacian(first, second, rng.random(edges) + 0.1, np.full(players, ridge))


def written_out(matrix: Laplacian) -> Floats:
    """Edge by edge."""
    out = np.diag(matrix.ridge)
    for one, other, weight in zip(matrix.first, matrix.second, matrix.weight, strict=True):
        out[[one, other], [one, other]] += weight
        out[[one, other], [other, one]] -= weight
    return out


def test_dense_is_edge_by_edge() -> None:
    """Games of the same two add up, whatever the colours."""
    matrix = graph(6, 40)
    assert matrix.dense() == pytest.approx(written_out(matrix))
    assert matrix.diagonal == pytest.approx(np.diagonal(written_out(matrix)))


def test_a_border_takes_away_what_is_unknown() -> None:
    """What is left is the complement of the corner."""
    matrix, rng = graph(6, 40), np.random.default_rng(1)
    border, corner = rng.random((6, 2)), np.array([[9.0, 1.0], [1.0, 7.0]])
    complement = written_out(matrix) - border @ np.linalg.inv(corner) @ border.T
    assert matrix.with_border(border, corner).dense() == pytest.approx(complement)


def test_merging_keeps_the_matrix() -> None:
    """One edge for each two who met."""
    matrix = graph(6, 200)
    merged = matrix.merged()
    assert merged.dense() == pytest.approx(matrix.dense())
    assert len(merged.weight) == 15
    assert (merged.first < merged.second).all()


def test_weights_times_is_the_matrix_without_its_diagonal() -> None:
    """A vector is multiplied edge by edge."""
    matrix = graph(6, 40)
    vector = np.arange(6.0)
    weights = np.diag(matrix.diagonal) - written_out(matrix)
    assert matrix.weights_times(vector) == pytest.approx(weights @ vector)


def test_weights_between_is_an_entry_of_them() -> None:
    """In either order, and 0 where two never met."""
    matrix = graph(9, 12).merged()
    weights = np.diag(matrix.diagonal) - matrix.dense()
    one, other = (places.ravel() for places in np.indices((9, 9)))
    assert matrix.weights_between(one, other) == pytest.approx(weights[one, other], abs=1e-12)
    assert np.count_nonzero(matrix.weights_between(one, other)) == 2 * len(matrix.weight) < 72


@pytest.mark.parametrize("dense", [0, 1500])
@pytest.mark.parametrize("players", [2, 6, 63, 64, 65, 200])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("unknown", [0, 1, 2])
def test_both_ways_solve(
    monkeypatch: pytest.MonkeyPatch, dense: int, players: int, ridge: float, unknown: int
) -> None:
    """By factors and by conjugate gradients, with a border and without, singular or not."""
    monkeypatch.setattr(laplacian, "DENSE", dense)
    matrix, rng = graph(players, 20 * players, ridge), np.random.default_rng(1)
    border = rng.standard_normal((players, unknown))
    border -= border.mean(axis=0)
    corner = 50.0 * players * np.eye(unknown)
    top, bottom = rng.standard_normal(players), rng.standard_normal(unknown)
    top -= top.mean()
    x, y = solve_bordered(matrix, border, corner, top, bottom)
    error = 1e-9 if dense else 1e-4
    assert written_out(matrix) @ x + border @ y == pytest.approx(top, abs=error)
    assert border.T @ x + corner @ y == pytest.approx(bottom, abs=error)
    assert not ridge or x.sum() == pytest.approx(0, abs=error)


def test_a_negative_weight_has_no_factors() -> None:
    """What isn't positive is refused."""
    matrix = Laplacian(np.array([0]), np.array([1]), np.array([-9.0]), np.full(2, 0.1))
    with pytest.raises(NoSolutionError):
        solve_bordered(
            matrix, np.empty((2, 0)), np.empty((0, 0)), np.array([1.0, -1.0]), np.empty(0)
        )


def test_conjugate_gradients_give_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Components without a ridge can't be told apart, and no step gets nearer."""
    monkeypatch.setattr(laplacian, "DENSE", 0)
    ends = np.array([0, 2]), np.array([1, 3])
    matrix = Laplacian(*ends, np.ones(2), np.zeros(4))
    top = np.array([1.0, 1.0, -1.0, -1.0])
    with pytest.raises(NoSolutionError):
        solve_bordered(matrix, np.empty((4, 0)), np.empty((0, 0)), top, np.empty(0))
