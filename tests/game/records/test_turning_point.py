"""Turning points of made-up games, whose bots tell scores that are chances."""

from collections.abc import Sequence
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import GOMOKU, Analysis, Color, Ending, GameRecord, Outcome, Party
from meijin.game.records.chances import WIN_SCORE, ChanceMap
from meijin.game.records.turning_point import LEAST_FALL, TurningPoint, turning_point

BLACK, WHITE = Color.BLACK, Color.WHITE
MAPS = {BLACK: ChanceMap(1000), WHITE: ChanceMap(3000)}
BLACK_WINS, WHITE_WINS = (Outcome(Ending.RESIGN, color) for color in Color)
FORFEIT = Outcome(Ending.TIME, BLACK, Party.WHITE)
DRAW = Outcome(Ending.DRAW)


def game(chances: Sequence[int | None], outcome: Outcome | None, *, opening: int = 0) -> GameRecord:
    """A game whose moves were made at these chances of black, in percent, as the mover saw them."""
    return GameRecord(
        GOMOKU,
        "ann",
        "bob",
        moves=tuple(range(opening + len(chances))),
        opening_plies=opening,
        analysis=(None,) * opening
        + tuple(_said(ply, chance) for ply, chance in enumerate(chances, opening)),
        outcome=outcome,
    )


def _said(ply: int, chance: int | None) -> Analysis | None:
    if chance is None:
        return None
    odds = log(chance / (100 - chance)) if 0 < chance < 100 else None
    sign, color = (1, BLACK) if ply % 2 == 0 else (-1, WHITE)
    if odds is None:
        return Analysis(sign * (WIN_SCORE - 3) * (1 if chance else -1))
    return Analysis(sign * round(odds * MAPS[color].scale))


def shown(found: TurningPoint | None) -> tuple[int, Color, int, int] | None:
    if found is None:
        return None
    return found.ply, found.color, round(100 * found.before), round(100 * found.after)


def test_both_see_it_at_once() -> None:
    """White's move 4 lost: black sees it at its next turn, and so does white."""
    record = game([50, 50, 50, 55, 90, 92, 95, 98], BLACK_WINS)
    assert shown(turning_point(record, MAPS)) == (4, WHITE, 45, 10)


@pytest.mark.parametrize(
    "chances",
    [
        [50, 50, 50, 50, 95, 50, 96, 50, 97, 96, 98],
        [50, 50, 50, 50, 50, 95, 50, 96, 50, 97, 96],
    ],
    ids=["the winner sees it", "the loser sees it"],
)
def test_one_side_is_blind(chances: list[int]) -> None:
    """It is where the other saw it, and not where the blind one does, four plies later."""
    assert shown(turning_point(game(chances, BLACK_WINS), MAPS)) == (4, WHITE, 50, 5)


def test_what_came_back_is_none() -> None:
    """The largest fall of all was undone; the one that lasted is told."""
    record = game([50, 50, 95, 95, 50, 50, 30, 30, 10, 5], WHITE_WINS)
    assert shown(turning_point(record, MAPS)) == (3, BLACK, 95, 50)
    record = game([50, 50, 5, 5, 60, 60, 30, 30, 10, 5], WHITE_WINS)
    assert shown(turning_point(record, MAPS)) == (5, BLACK, 60, 30)


def test_a_proven_win_is_certain() -> None:
    record = game([50, 50, 50, 50, 100, 0, 100], BLACK_WINS)
    assert shown(turning_point(record, MAPS)) == (4, WHITE, 50, 0)


def test_a_draw_has_that_of_the_better_side() -> None:
    """Black threw a won game away; that white's chance fell before counts for less."""
    record = game([50, 50, 60, 60, 90, 90, 50, 50], DRAW)
    assert shown(turning_point(record, MAPS)) == (5, BLACK, 90, 50)
    assert turning_point(game([50, 50, 30, 30, 52, 52, 50, 50], DRAW), MAPS) is not None
    assert turning_point(game([50, 50, 50, 52, 48, 50, 50, 50], DRAW), MAPS) is None


def test_the_five_itself_is_seen() -> None:
    """By who saw nothing else coming: its last move was the one that lost."""
    record = game([None, 50, None, 50, None], Outcome(Ending.FIVE, BLACK))
    assert shown(turning_point(record, MAPS)) == (4, WHITE, 50, 0)


def test_a_bot_that_begins_to_speak_changes_nothing() -> None:
    """That the two differ is no move's doing."""
    assert turning_point(game([50, None, 50, 90, 50, 90], BLACK_WINS), MAPS) is None


@pytest.mark.parametrize(
    "record",
    [
        game([], BLACK_WINS),
        game([None] * 9, BLACK_WINS),
        game([50, 50, 90, 95], None),
        game([50, 50, 90, 95], Outcome(Ending.VOID, at_fault=Party.OPERATOR)),
        game([50, 60, 60, 70, 70, 80, 80, 90, 90, 100], BLACK_WINS),
        game([50, 50, 55, 50], FORFEIT),
    ],
    ids=["no move", "no word", "running", "void", "by small steps", "forfeit"],
)
def test_some_games_have_none(record: GameRecord) -> None:
    assert turning_point(record, MAPS) is None


def test_an_opening_turns_nothing() -> None:
    """Nobody chose its moves."""
    assert turning_point(game([50, 90, 90], BLACK_WINS, opening=1), MAPS) is None
    assert turning_point(game([50, 50, 90, 90], BLACK_WINS, opening=1), MAPS) is not None


@given(
    st.lists(st.one_of(st.none(), st.integers(0, 100)), max_size=30),
    st.sampled_from([BLACK_WINS, WHITE_WINS, DRAW, FORFEIT, Outcome(Ending.FIVE, WHITE)]),
    st.integers(0, 4),
)
def test_it_is_a_move_of_who_lost(
    chances: list[int | None], outcome: Outcome, opening: int
) -> None:
    """A move that was chosen, after which the chance is less by more than a little."""
    found = turning_point(game(chances, outcome, opening=opening), MAPS)
    if found is not None:
        assert opening < found.ply <= opening + len(chances)
        assert found.color is (BLACK if found.ply % 2 else WHITE)
        assert found.color is not outcome.winner
        assert 0 <= found.after < found.before - LEAST_FALL <= 1
