"""Large eigenvalues, against the whole of them."""

import numpy as np
import pytest

from meijin.ladder.statistics.fit import lanczos
from meijin.ladder.statistics.fit.lanczos import large_eigenpairs
from meijin.ladder.statistics.fit.pair_counts import Floats


def normalised(met: Floats) -> Floats:
    """Weights of who met whom, normalised to a largest eigenvalue of 1."""
    met = met + met.T
    scale = met.sum(axis=0) ** -0.5
    weights: Floats = scale[:, None] * met * scale
    return weights


def ring(players: int) -> Floats:
    """Everyone met the two next, one to three times."""
    rng = np.random.default_rng(1)
    met = np.zeros((players, players))
    for step in (1, 2):
        place = np.arange(players)
        met[place, (place + step) % players] = rng.integers(1, 4, players)
    return normalised(met)


def mixed(players: int, games: int) -> Floats:
    """Players met by lot."""
    rng = np.random.default_rng(1)
    met = np.zeros((players, players))
    np.add.at(met, tuple(rng.integers(0, players, (2, games))), 1.0)
    return normalised(met)


@pytest.mark.parametrize("matrix", [ring(300), mixed(300, 6000)], ids=["ring", "mixed"])
def test_large_eigenvalues_are_found(matrix: Floats) -> None:
    """All above one half, but for the 1 that it is told of."""
    largest = np.linalg.eigh(matrix)[1][:, -1]
    values, vectors = large_eigenpairs(lambda vector: matrix @ vector, largest)
    wanted = np.linalg.eigvalsh(matrix)[:-1]
    found = values > 0.5
    assert values[found] == pytest.approx(wanted[wanted > 0.5], abs=0.002)
    rest = matrix @ vectors[:, found] - vectors[:, found] * values[found]
    assert (np.linalg.norm(rest, axis=0) <= 0.1 * (1 - values[found])).all()


def test_the_vectors_are_orthonormal() -> None:
    """However many steps were taken."""
    matrix = ring(300)
    _, vectors = large_eigenpairs(lambda vector: matrix @ vector, np.ones(300))
    assert vectors.T @ vectors == pytest.approx(np.eye(vectors.shape[1]), abs=1e-9)


def test_a_mixed_pool_takes_few_steps() -> None:
    """It is seen at the first look that nothing is missing."""
    matrix = mixed(300, 6000)
    values, _ = large_eigenpairs(lambda vector: matrix @ vector, np.ones(300))
    assert len(values) <= lanczos.CHECK_STEPS[0]


def test_a_small_space_is_used_up() -> None:
    """With as many steps as there are players all of it is known."""
    matrix = mixed(9, 100)
    largest = np.linalg.eigh(matrix)[1][:, -1]
    values, _ = large_eigenpairs(lambda vector: matrix @ vector, largest)
    assert values == pytest.approx(np.linalg.eigvalsh(matrix)[:-1])
