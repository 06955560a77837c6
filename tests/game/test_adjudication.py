"""Games that end early, by what both sides say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import (
    Adjudication,
    Adjudicator,
    Board,
    Color,
    DrawRule,
    Ending,
    GamePosition,
    Outcome,
    ResignRule,
    Seat,
)

RESIGN = Adjudication(resign=ResignRule(100, 2))
DRAW = Adjudication(draw=DrawRule(10, 2, 4))
POSITION = GamePosition(Board())


def played(rules: Adjudication, scores: Sequence[int | None]) -> tuple[Outcome | None, int]:
    """The end of a game whose movers say these scores in turn, and the ply it comes after."""
    adjudicator = Adjudicator(rules)
    for ply, score in enumerate(scores):
        outcome = adjudicator.note(list(Seat)[ply % 2], ply, score, POSITION)
        if outcome is not None:
            return outcome, ply
    return None, len(scores)


def test_a_side_loses_that_both_see_lost() -> None:
    """After as many moves of each; the evidence is what they said."""
    outcome, ply = played(RESIGN, (5, 100, -100, 130, -250))
    assert ply == 4
    assert outcome == Outcome(
        Ending.ADJUDICATION,
        Color.WHITE,
        detail="black said -250 to -100 and white said +100 to +130 in the last 2 moves each",
    )


@pytest.mark.parametrize(
    "scores",
    [
        (-100, 100, -100),  # one move of the winner is missing
        (-100, 99, -100, 100),  # the winner is not sure enough
        (-100, 100, -99, 100, -100),  # the loser still hopes
        (-100, 100, None, 100, -100),  # a move without an analysis
        (-100, -100, -100, -100),  # both see themselves lost
    ],
)
def test_a_run_that_is_broken_counts_anew(scores: Sequence[int | None]) -> None:
    """Of either side, by another score or by none."""
    assert played(RESIGN, scores)[0] is None


def test_a_level_game_is_drawn() -> None:
    """By moves that were made with enough stones on the board."""
    outcome, ply = played(DRAW, (0, 0, 0, 0, -10, 10, 3, 0))
    assert ply == 7
    assert outcome == Outcome(
        Ending.ADJUDICATION,
        detail="black said -10 to +3 and white said +0 to +10 in the last 2 moves each",
    )
    assert played(DRAW, (0, 0, 0, 0, 11, 0, 0, 0, None))[0] is None


def test_either_rule_ends_a_game() -> None:
    """Whichever comes first."""
    both = Adjudication(RESIGN.resign, DRAW.draw)
    lost, _ = played(both, (100, -100, 100, -100))
    level, _ = played(both, (0,) * 8)
    assert lost is not None
    assert level is not None
    assert (lost.winner, level.winner) == (Color.BLACK, None)


@pytest.mark.parametrize("rules", [RESIGN, DRAW, Adjudication(RESIGN.resign, DRAW.draw)])
def test_rules_come_back_as_they_were_written(rules: Adjudication) -> None:
    """Parsing is the inverse of writing."""
    assert Adjudication.parse(str(rules)) == rules


@pytest.mark.parametrize("text", ["", "resign=900", "resign=0/4", "draw=1/0/0", "draw=10/8/485"])
def test_what_is_no_rule_is_refused(text: str) -> None:
    """An empty one, a part of one, and numbers out of their ranges."""
    with pytest.raises(ValueError, match=r"adjudication|out of range"):
        Adjudication.parse(text)


SCORES = st.lists(st.none() | st.integers(-12, 12), max_size=40)


@given(SCORES, st.integers(1, 12), st.integers(1, 3))
def test_who_loses_has_said_so_every_time(scores: list[int | None], bound: int, moves: int) -> None:
    """By the rule's own words, against all that was said before."""
    outcome, ply = played(Adjudication(resign=ResignRule(bound, moves)), scores)
    for end in range(len(scores)):
        said = [scores[: end + 1][side::2][-moves:] for side in (0, 1)]
        lost = [
            len(loser) == len(winner) == moves
            and all(score is not None and score <= -bound for score in loser)
            and all(score is not None and score >= bound for score in winner)
            for loser, winner in (said, said[::-1])
        ]
        if any(lost):
            assert outcome is not None
            assert (ply, outcome.winner) == (end, Color.WHITE if lost[0] else Color.BLACK)
            return
    assert outcome is None
