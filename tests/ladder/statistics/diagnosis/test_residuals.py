"""Tails and many tests at once, against tables.

Residuals by pair, against sums by hand and a refit without approximations.
"""

import itertools
import math

import numpy as np
import pytest
from tests.ladder.statistics.made_games import NO_ADVANTAGE, counts

from meijin.ladder.statistics.diagnosis.residuals import (
    PairResiduals,
    Points,
    benjamini_hochberg,
    chi_square_tail,
    holm,
    two_sided,
)
from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit, Prior, fit
from meijin.ladder.statistics.fit.covariance import covariance
from meijin.ladder.statistics.fit.pair_counts import PairCounts


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


def test_tails_at_their_limits() -> None:
    """Without freedom nothing is sure; 1.96 deviations leave 5 %, on either side."""
    assert chi_square_tail(np.array([5.0]), np.array([0.0])).tolist() == [1.0]
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


def residuals_of(games: PairCounts, prior: Prior | None = None) -> tuple[Fit, PairResiduals]:
    known = fit(games, prior)
    return known, PairResiduals.of(known, covariance(known))


GAMES = counts(
    [(0, 1, 9, 2, 4), (1, 0, 7, 1, 6), (1, 2, 5, 3, 8), (2, 0, 9, 0, 3), (0, 2, 2, 2, 9)]
)


def test_colours_are_put_together_from_the_first_ones_side() -> None:
    """Games, points, and what is expected of them by the fit's own probabilities."""
    known, found = residuals_of(GAMES)
    assert np.column_stack((found.one, found.other)).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert found.points.games.tolist() == [29, 25, 16]
    assert found.points.scored.tolist() == [10 + 6.5, 3 + 3, 6.5]
    lead = known.elo[0] - known.elo[1]
    wanted = 15 * known.outcomes.score(lead) + 14 * (1 - known.outcomes.score(-lead))
    assert found.points.expected[0] == pytest.approx(float(wanted))


def test_moments_are_those_of_the_outcomes() -> None:
    """Variance, slope and fourth cumulant of one game, by sums over its three results."""
    known, _ = residuals_of(GAMES)
    points = Points.of(known, counts([(0, 2, 1, 0, 0)]))
    lead = float(known.elo[0] - known.elo[2])
    win, loss = float(known.outcomes.wins(lead)), float(known.outcomes.losses(lead))
    chances = [(1.0, win), (0.5, 1 - win - loss), (0.0, loss)]
    mean = sum(value * chance for value, chance in chances)
    second, fourth = (
        sum((value - mean) ** power * chance for value, chance in chances) for power in (2, 4)
    )
    assert points.variance[0] == pytest.approx(second)
    assert points.fourth[0] == pytest.approx(fourth - 3 * second**2)
    step = 0.01
    slope = (known.outcomes.score(lead + step) - known.outcomes.score(lead - step)) / (2 * step)
    assert points.slope[0] == pytest.approx(float(slope) * ELO_PER_NAT, rel=1e-6)


def test_two_alone_leave_nothing_to_see() -> None:
    """The fit follows their games: no residual, no variance, no test."""
    _, found = residuals_of(counts([(0, 1, 30, 0, 10), (1, 0, 12, 0, 28)]), NO_ADVANTAGE)
    assert found.rest.tolist() == pytest.approx([0.0], abs=1e-6)
    assert not found.is_tested.any()
    assert found.standardised.tolist() == [0.0]


def test_the_rests_add_up_to_the_degrees_of_freedom() -> None:
    """Without draws, prior and advantage: the pairs less one strength for all but one player."""
    pairs = itertools.permutations(range(5), 2)
    games = counts((one, other, 5 + one, 0, 4 + other) for one, other in pairs)
    _, found = residuals_of(games, NO_ADVANTAGE)
    assert found.rest.sum() == pytest.approx(10 - 4, abs=1e-6)


def test_deviance_roots_have_the_tails_of_the_binomial() -> None:
    """Of 13 games of equals all won: one in 8,192, which Pearson's residual makes one in 6,400.

    Of a favourite's lost games the residual makes far too much, and the root does not.
    """
    columns = [(13, 10), (13, 2), (6.5, 0.2), (3.25, 0.196), (3.25, 0.196), (0, 0)]
    points = Points(*map(np.array, columns))
    found = PairResiduals(np.array([0, 0]), np.array([1, 2]), points, np.ones(2))
    tails = [0.5 * math.erfc(root / math.sqrt(2)) for root in found.deviance_roots.tolist()]
    assert tails[0] == pytest.approx(2.0**-13, rel=0.2)
    upsets = 1 - 0.98**10 - 10 * 0.02 * 0.98**9
    assert upsets < tails[1] < 2 * upsets
    pearson = 1.8 / math.sqrt(0.196)
    assert 0.5 * math.erfc(pearson / math.sqrt(2)) < upsets / 200


def test_a_pairs_lead_is_one_step_from_the_fits() -> None:
    """What it scored and expected, over the slope: near the lead of its own games."""
    games = counts((*pair, 50, 0, 50) for pair in itertools.permutations(range(4), 2))
    games.wins[0], games.losses[0] = 56, 44
    known, found = residuals_of(games, NO_ADVANTAGE)
    own = found.log_odds[0] + (known.elo[0] - known.elo[1]) / ELO_PER_NAT
    assert own == pytest.approx(math.log(106 / 94), abs=1e-3)
