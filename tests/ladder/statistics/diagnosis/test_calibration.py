"""Games by what a fit of others has foretold of them."""

from dataclasses import replace

import numpy as np
import pytest
from tests.ladder.statistics.made_games import counts, played, shuffled

from meijin.ladder.statistics.diagnosis.calibration import BINS, Calibration
from meijin.ladder.statistics.fit.bradley_terry import fit
from meijin.ladder.statistics.fit.pair_counts import PairCounts

STRONG, WEAK, NEW = 1, 2, 3
KNOWN = fit(counts([(STRONG, WEAK, 60, 10, 10), (WEAK, STRONG, 20, 10, 50)]))
"""The first has the higher expected score with either colour."""


def held_out(*rows: tuple[int, int, float, float, float]) -> Calibration:
    return Calibration.of(KNOWN, counts(rows, openings=list(range(len(rows)))))


def told(found: Calibration) -> tuple[float, float, float]:
    """Games, and the favourites' points as they were told and as they made them."""
    games, expected, points = (
        float(column.sum()) for column in (found.games, found.expected, found.points)
    )
    return games, expected, points


def test_the_points_are_the_favourites() -> None:
    """Whoever moves first; a draw is half a point."""
    one = held_out((STRONG, WEAK, 5, 2, 1))
    other = held_out((WEAK, STRONG, 1, 2, 5))
    assert told(one)[0::2] == told(other)[0::2] == (8, 6)
    assert one.games.argmax() > other.games.argmax() >= 0  # moving first is worth something
    chances = KNOWN.chances(np.array([0]), np.array([1]))
    assert told(one)[1] == pytest.approx(8 * chances.score(KNOWN.elo[0] - KNOWN.elo[1]).item())


def test_nothing_was_told_of_a_newcomer() -> None:
    assert told(held_out((NEW, STRONG, 1, 0, 0), (WEAK, NEW, 0, 0, 1))) == (0, 0, 0)
    assert told(held_out((NEW, STRONG, 1, 0, 0), (STRONG, WEAK, 1, 0, 0)))[0] == 1
    assert told(Calibration.of(KNOWN, counts([], openings=[]))) == (0, 0, 0)


def test_a_sure_game_is_in_the_last_bin() -> None:
    sure = fit(counts([(STRONG, WEAK, 1e9, 0, 0), (WEAK, STRONG, 0, 0, 1e9)]))
    found = Calibration.of(sure, counts([(STRONG, WEAK, 1, 0, 0)]))
    assert found.games.tolist() == [0] * (BINS - 1) + [1]


def _world(seed: int) -> PairCounts:
    """Games of twenty players, each two of whom meet often."""
    rng = np.random.default_rng(seed)
    strengths = np.random.default_rng(1).normal(0, 200, 20)
    pairs = np.argwhere(~np.eye(20, dtype=bool))
    return played(strengths[:, None] - strengths, pairs, 40, rng)


def test_what_is_told_is_true_where_the_model_is() -> None:
    """In every bin, as nearly as its games can show; whatever the order of the rows."""
    fitted, later = fit(_world(1)), _world(2)
    found = Calibration.of(fitted, later)
    assert found.games.sum() == later.games
    assert (found.games[:-1] > 0).all()
    error = (found.points - found.expected) / np.sqrt(np.maximum(found.games, 1) / 4)
    assert np.abs(error).max() < 4
    again = Calibration.of(fitted, shuffled(later)[0])
    np.testing.assert_allclose(again.points, found.points)


def test_a_ladder_that_tells_too_much_shows() -> None:
    """Where the games held out end the other way, favourites score far less than they were told."""
    later = _world(2)
    found = Calibration.of(fit(_world(1)), replace(later, wins=later.losses, losses=later.wins))
    assert (found.points[5:9] < 0.5 * found.expected[5:9]).all()
