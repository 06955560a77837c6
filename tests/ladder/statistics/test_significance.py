"""Tails and many tests at once, against tables."""

import numpy as np
import pytest

from meijin.ladder.statistics.significance import (
    benjamini_hochberg,
    chi_square_tail,
    holm,
    two_sided,
)


@pytest.mark.parametrize(
    ("freedom", "chance", "value"),
    [
        (3, 0.05, 7.815),
        (3, 0.01, 11.345),
        (5, 0.95, 1.145),
        (10, 0.05, 18.307),
        (10, 0.001, 29.588),
        (30, 0.5, 29.336),
        (100, 0.01, 135.807),
        (100, 0.001, 149.449),
    ],
)
def test_the_chi_square_tail_is_that_of_tables(freedom: int, chance: float, value: float) -> None:
    """Upper critical values, as printed in the NIST/SEMATECH handbook of statistical methods."""
    found = float(chi_square_tail(np.array([value]), np.array([freedom]))[0])
    assert found == pytest.approx(chance, rel=0.05, abs=1e-4)


def test_nothing_is_sure_without_freedom() -> None:
    """A fit that takes everything leaves nothing to test."""
    assert chi_square_tail(np.array([5.0]), np.array([0.0])).tolist() == [1.0]


def test_both_tails_of_the_normal_distribution() -> None:
    """1.96 deviations leave 5 %, on either side."""
    assert two_sided(np.array([1.959964, -1.959964])) == pytest.approx([0.05, 0.05], abs=1e-6)


def test_holm_steps_down() -> None:
    """The least is multiplied by how many there are, the next by one less, and never falls."""
    adjusted = holm(np.array([0.005, 0.01, 0.03, 0.04]), 4)
    assert adjusted == pytest.approx([0.02, 0.03, 0.06, 0.06])
    assert holm(np.array([0.005, 0.01]), 4) == pytest.approx(adjusted[:2])
    assert holm(np.array([0.6, 0.7]), 2).tolist() == [1.0, 1.0]
    assert holm(np.empty(0), 0).shape == (0,)


def test_benjamini_and_hochbergs_own_example() -> None:
    """Of the fifteen p-values of their paper, the first four are rejected at 5 %."""
    p_values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
    p_values += [0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert (benjamini_hochberg(np.array(p_values)) < 0.05).tolist() == [True] * 4 + [False] * 11
    assert (holm(np.array(p_values), 15) < 0.05).tolist() == [True] * 3 + [False] * 12
