"""What scores say of who wins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game.records.chances import ChanceMap, wins_in

MAPS = st.builds(ChanceMap, st.floats(1e-3, 1e9), st.floats(-50, 50))
SCORES = st.integers(-(2**31), 2**31 - 1)


def test_a_map_tells_odds() -> None:
    """Those of e to 1 a scale above the score that is even."""
    assert ChanceMap().chance(0) == 0.5
    assert ChanceMap(50, -2).chance(100) == 0.5
    assert ChanceMap(50, -2).chance(150) == pytest.approx(0.7311, abs=1e-4)


@given(MAPS, st.integers(-28_999, 28_999), st.integers(-28_999, 28_999))
def test_more_is_better(chances: ChanceMap, one: int, other: int) -> None:
    """A higher score never has the lower chance."""
    low, high = sorted((one, other))
    assert chances.chance(low) <= chances.chance(high)


@given(MAPS, SCORES)
def test_every_score_has_a_chance(chances: ChanceMap, score: int) -> None:
    """Whatever a bot sends."""
    assert 0 <= chances.chance(score) <= 1


@pytest.mark.parametrize(
    ("score", "moves"),
    [
        (29_999, 1),
        (29_997, 2),
        (29_996, 2),
        (30_000, 1),
        (-29_998, -1),
        (-29_996, -2),
        (29_000, 500),
        (-29_000, -500),
        (28_999, None),
        (30_001, None),
        (-30_001, None),
        (0, None),
    ],
)
def test_proven_wins_are_told_in_moves(score: int, moves: int | None) -> None:
    """Of the winner, the last of which makes the line; no map makes them less sure."""
    assert wins_in(score) == moves
    if moves is not None:
        assert ChanceMap(offset=-9 if moves > 0 else 9).chance(score) == (moves > 0)
