"""Copied play: who agrees more than others' choices explain."""

import numpy as np
import pytest

from meijin.ladder.statistics.diagnosis.copied_play import Choices, agreement, evidence, signals

BOTS, POSITIONS = 12, 150


def made_choices(rng: np.random.Generator, *, copy_of: int | None = None) -> Choices:
    """Each bot's move in each position, of four; the last bot's are another's, where it copies."""
    moves = rng.choice(4, size=(POSITIONS, BOTS), p=[0.55, 0.25, 0.15, 0.05])
    if copy_of is not None:
        moves[:, -1] = np.where(rng.random(POSITIONS) < 0.85, moves[:, copy_of], moves[:, -1])
    positions = np.repeat(np.arange(POSITIONS), BOTS)
    return Choices(positions, np.tile(np.arange(BOTS), POSITIONS), moves.reshape(-1))


def test_a_copy_stands_out() -> None:
    """The pair alone, with about as many agreements as it has copied."""
    choices = made_choices(np.random.default_rng(1), copy_of=3)
    (found,) = signals(agreement(choices, BOTS), 0.01)
    assert (found.first, found.second, found.positions) == (3, BOTS - 1, POSITIONS)
    assert found.observed > 0.85 * POSITIONS
    assert found.expected == pytest.approx(0.4 * POSITIONS, rel=0.15)
    assert found.p_value < 1e-6


def test_nobody_is_named_where_nobody_has_copied() -> None:
    """In twenty classes."""
    for seed in range(20):
        choices = made_choices(np.random.default_rng(seed))
        assert signals(agreement(choices, BOTS), 0.01) == []


def test_strong_bots_agree_without_having_copied() -> None:
    """Half of the class always finds the best move: what they agree more is no copying."""
    rng = np.random.default_rng(2)
    best = rng.integers(0, 4, POSITIONS)
    moves = rng.integers(0, 4, (POSITIONS, BOTS))
    is_found = rng.random((POSITIONS, BOTS)) < np.linspace(0.2, 0.95, BOTS)
    moves = np.where(is_found, best[:, None], moves)
    positions = np.repeat(np.arange(POSITIONS), BOTS)
    choices = Choices(positions, np.tile(np.arange(BOTS), POSITIONS), moves.reshape(-1))
    assert signals(agreement(choices, BOTS), 0.01) == []


def test_expected_agreement_leaves_the_pair_out() -> None:
    """Two who play what nobody else does: hardly a chance is expected of it."""
    moves = np.array([0, 0, 1, 1, 1, 2])
    choices = Choices(np.zeros(6, dtype=np.int64), np.arange(6), moves)
    found = agreement(choices, 6)
    assert found.observed[0, 1] == 1
    assert found.expected[0, 1] == pytest.approx(0.25 / 5)  # the moves that nobody has made
    assert found.expected[2, 3] == pytest.approx((1 + 0.25) / 5)
    assert found.observed[0, 2] == 0


def test_a_position_with_few_bots_tells_nothing() -> None:
    """Nor do pairs that met in too few positions."""
    choices = Choices(np.zeros(4, dtype=np.int64), np.arange(4), np.zeros(4, dtype=np.int64))
    assert agreement(choices, 4).positions.sum() == 0
    empty = Choices(*(np.zeros(0, dtype=np.int64) for _ in range(3)))
    assert signals(agreement(empty, 3), 0.01) == []


def test_evidence_begins_with_what_others_play_otherwise() -> None:
    """And has the positions alone in which the two agree."""
    choices = made_choices(np.random.default_rng(1), copy_of=3)
    places = evidence(choices, 3, BOTS - 1)
    expected = [place.expected for place in places]
    assert expected == sorted(expected)
    assert expected[0] < 0.15
    rows = {
        (p, b): m for p, b, m in zip(choices.positions, choices.bots, choices.moves, strict=True)
    }
    assert all(rows[each.position, 3] == rows[each.position, BOTS - 1] for each in places)
    assert len(places) == sum(rows[p, 3] == rows[p, BOTS - 1] for p in range(POSITIONS))
