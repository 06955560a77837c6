"""The ratios of many counts against those of each."""

import numpy as np
import pytest

from meijin.ladder.statistics.likelihood_ratios import likelihood_ratios
from meijin.ladder.statistics.sprt import Scale, Sprt

TESTS = [
    Sprt(0, 5),
    Sprt(-20, 200),
    Sprt(-200, -100),
    Sprt(0, 20, scale=Scale.LOGISTIC),
    Sprt(-600, 500, scale=Scale.LOGISTIC),
]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("kinds", [3, 5])
@pytest.mark.parametrize("most", [2, 9, 400])
def test_each_row_has_its_own_ratio(test: Sprt, kinds: int, most: int) -> None:
    """Also where results are all on one side, or all the same."""
    counts = np.random.default_rng(kinds).integers(0, most, (40, kinds))
    counts = np.concatenate((counts, np.diag([most] * kinds)))
    counts = counts[counts.any(axis=1)]
    alone = [test.llr(row) for row in counts.tolist()]
    assert likelihood_ratios(test, counts) == pytest.approx(alone, rel=1e-4, abs=1e-4)
