"""The large eigenvalues of a large symmetric matrix, by Lanczos's method (1950).

Not by ``scipy.sparse.linalg.eigsh``, which has to be told how many are wanted: doubling their number
until all above `LARGE` are among them took 32 s where this takes 3.5 (4,000 players in 80 groups).
Nor does it give the other Ritz values: without those, 5,619 of 10,000 published margins change.
"""

from collections.abc import Callable

import numpy as np

from meijin.ladder.statistics.fit.pair_counts import Floats

CHECK_STEPS = (120, 180, 270, 400, 600, 900, 1350)
"""After so many steps convergence is checked. The last check ends it: with 10,000
players the steps up to there take 7 s."""
LARGE = 0.5
"""Eigenvalues above it are waited for."""
RESIDUAL_TOLERANCE = 0.1
"""An eigenvalue has converged when its residual is smaller than this part of its distance from 1. In
simulated pools, the worst one's was 0.3 or more before the check at which all were found, and less
than 0.001 then."""
BREAKDOWN = 1e-10
"""A step that finds less that is new was the last, and an eigenvalue nearer to 1 is 1."""


def large_eigenpairs(times: Callable[[Floats], Floats], first: Floats) -> tuple[Floats, Floats]:
    """Ritz values below 1 and their vectors: the large ones converged, the others nearly.

    Every new vector is reorthogonalised against all before it (Paige 1970: the rounding of the short
    recurrence brings found ones back). Of equal eigenvalues, which only symmetry makes, it may
    find fewer than there are.

    Args:
        times: The matrix times a vector; no eigenvalue of it is above 1.
        first: About an eigenvector of the largest eigenvalue, to be rid of it; shape (n,).

    Returns:
        The values, shape (k,), and the vectors as columns, shape (n, k).
    """
    most = min(CHECK_STEPS[-1], len(first))
    basis, image = np.empty((most, len(first))), np.empty((most, most))
    vector, size = first, float(np.linalg.norm(first))
    values, turns = np.empty(0), np.empty((0, 0))
    for steps in range(1, most + 1):
        seen = basis[:steps]
        seen[-1] = vector / size
        vector = times(seen[-1])
        image[steps - 1, :steps] = seen @ vector
        vector -= seen.T @ image[steps - 1, :steps]
        if steps == 1:
            vector = np.random.default_rng(0).standard_normal(len(first))
        vector -= seen.T @ (seen @ vector)
        size = float(np.linalg.norm(vector))
        if steps in CHECK_STEPS or steps == most or size <= BREAKDOWN:
            values, turns = np.linalg.eigh(image[:steps, :steps])  # reads the lower half alone
            if _have_converged(values, size * turns[-1]):
                break
    below = values < 1 - BREAKDOWN
    return values[below], basis[: len(values)].T @ turns[:, below]


def _have_converged(values: Floats, residuals: Floats) -> bool:
    wanted = (values > LARGE) & (values < 1 - BREAKDOWN)
    converged = np.abs(residuals[wanted]) <= RESIDUAL_TOLERANCE * (1 - values[wanted])
    return bool(converged.all())
