"""Copied play: who agrees more than others' choices explain."""

import numpy as np
import pytest

from meijin.ladder.statistics.diagnosis.copied_play import (
    Choices,
    Likeness,
    agreement,
    evidence,
    signals,
)
from meijin.ladder.statistics.fit.pair_counts import Integers

BOTS, POSITIONS = 12, 150


def made_choices(rng: np.random.Generator, *, copy_of: int | None = None) -> Choices:
    """Each bot's move in each position, of four; the last bot's are another's, where it copies."""
    moves = rng.choice(4, size=(POSITIONS, BOTS), p=[0.55, 0.25, 0.15, 0.05])
    if copy_of is not None:
        moves[:, -1] = np.where(rng.random(POSITIONS) < 0.85, moves[:, copy_of], moves[:, -1])
    return choices_of(moves)


def choices_of(moves: Integers) -> Choices:
    """Everybody's in every position; shape (positions, bots)."""
    positions, bots = np.indices(moves.shape)
    return Choices(positions.ravel(), bots.ravel(), moves.ravel())


def test_a_copy_stands_out() -> None:
    """The pair alone, with about as many agreements as it has copied."""
    choices = made_choices(np.random.default_rng(1), copy_of=3)
    (found,) = signals(agreement(choices, BOTS), 0.01)
    assert (found.first, found.second, found.positions) == (3, BOTS - 1, POSITIONS)
    assert found.observed > 0.85 * POSITIONS
    assert found.expected == pytest.approx(0.4 * POSITIONS, rel=0.15)
    assert found.p_value < 1e-6


def test_what_is_copied_comes_before_what_is_alike() -> None:
    """Bots that have six moves in ten of each other may be of one school."""
    rng = np.random.default_rng(3)
    moves = rng.choice(4, size=(POSITIONS, BOTS), p=[0.55, 0.25, 0.15, 0.05])
    for first, second, copied in ((0, 1, 0.62), (2, 3, 0.9)):
        is_copied = rng.random(POSITIONS) < copied
        moves[:, second] = np.where(is_copied, moves[:, first], moves[:, second])
    found = signals(agreement(choices_of(moves), BOTS), 0.01)
    assert [(each.first, each.likeness) for each in found] == [
        (2, Likeness.COPIED),
        (0, Likeness.ALIKE),
    ]


@pytest.mark.long
def test_nobody_is_named_where_nobody_has_copied() -> None:
    for seed in range(20):
        choices = made_choices(np.random.default_rng(seed))
        assert signals(agreement(choices, BOTS), 0.01) == []


def test_strong_bots_agree_without_having_copied() -> None:
    """Half of the class always finds the best move: what they agree more is no copying."""
    rng = np.random.default_rng(2)
    best = rng.integers(0, 4, POSITIONS)
    moves = rng.integers(0, 4, (POSITIONS, BOTS))
    is_found = rng.random((POSITIONS, BOTS)) < np.linspace(0.2, 0.95, BOTS)
    choices = choices_of(np.where(is_found, best[:, None], moves))
    assert signals(agreement(choices, BOTS), 0.01) == []


def test_expected_agreement_leaves_the_pair_out() -> None:
    """Two who play what nobody else does: hardly a chance is expected of it."""
    found = agreement(choices_of(np.array([[0, 0, 1, 1, 1, 2]])), 6)
    assert found.observed[0, 1] == 1
    assert found.expected[0, 1] == pytest.approx(0.25 / 5)  # the moves that nobody has made
    assert found.expected[2, 3] == pytest.approx((1 + 0.25) / 5)
    assert found.observed[0, 2] == 0


def test_a_position_with_few_bots_tells_nothing() -> None:
    """Nor do pairs that met in too few positions."""
    assert agreement(choices_of(np.zeros((1, 4), dtype=np.int64)), 4).positions.sum() == 0
    assert signals(agreement(choices_of(np.zeros((0, 3), dtype=np.int64)), 3), 0.01) == []


def test_evidence_begins_with_what_others_play_otherwise() -> None:
    """And has the positions alone in which the two agree."""
    choices = made_choices(np.random.default_rng(1), copy_of=3)
    places = evidence(choices, 3, BOTS - 1)
    expected = [place.expected for place in places]
    assert expected == sorted(expected)
    assert expected[0] < 0.15
    moves = choices.moves.reshape(POSITIONS, BOTS)
    agreed = np.flatnonzero(moves[:, 3] == moves[:, -1]).tolist()
    assert sorted(place.position for place in places) == agreed
