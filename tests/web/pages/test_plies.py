"""The plies of a game as people read them."""

from dataclasses import replace
from datetime import timedelta

from tests.game.board.test_forbidden import CROSS, RENJU
from tests.web.pages.game_messages import game_message

from meijin.game import GOMOKU, Analysis, Color, GameRecord, TimeControl
from meijin.game.records.record import parse_position
from meijin.web.pages.games.plies import ShownPly, shown_plies

MOVES = parse_position("h8i9h9i8", GOMOKU)
SECOND = timedelta(seconds=1)
RECORD = GameRecord(
    GOMOKU,
    "ann",
    "bob",
    moves=MOVES,
    times=(SECOND * 0, SECOND, SECOND * 2, SECOND * 3),
    raw_times=(SECOND * 0, SECOND * 2, SECOND * 3, SECOND * 4),
    analysis=(None, Analysis(30, 4, 900, MOVES[1:3]), Analysis(-7, 5, 10, ()), Analysis(depth=6)),
    opening_plies=1,
    time_control=TimeControl.parse("60+1"),
)


def plies(record: GameRecord) -> tuple[ShownPly, ...]:
    return shown_plies(game_message(record), record)


def test_every_ply_has_its_move() -> None:
    """From the empty board on; the opening was set up."""
    shown = plies(RECORD)
    assert [each.name for each in shown] == ["", "h8", "i9", "h9", "i8"]
    assert [each.side for each in shown] == [None] + [Color.BLACK, Color.WHITE] * 2
    assert [each.is_opening for each in shown] == [False, True, False, False, False]


def test_moves_have_their_times() -> None:
    """Raw and charged; the opening took none."""
    shown = plies(RECORD)
    assert [each.charged for each in shown[:3]] == [None, None, SECOND]
    assert [each.raw for each in shown[:3]] == [None, None, SECOND * 2]
    clocks = [each.clocks for each in shown]
    assert [(clock.black_ns // 10**9, clock.white_ns // 10**9) for clock in clocks if clock] == [
        (60, 60),
        (60, 60),
        (60, 60),
        (59, 60),
        (59, 58),
    ]


def test_moves_have_the_processor_time_that_was_measured() -> None:
    """A hosted program's; that of others nobody knows."""
    message = game_message(RECORD)
    message.moves[1].cpu_time.FromTimedelta(SECOND / 4)
    shown = shown_plies(message, RECORD)
    assert [each.cpu for each in shown] == [None, None, SECOND / 4, None, None]


def test_scores_are_turned_to_black() -> None:
    """White's own score with the other sign; nothing where a bot said nothing."""
    shown = plies(RECORD)
    assert [each.black_score for each in shown] == [None, None, -30, -7, None]
    assert shown[2].line == ("i9", "h9")


def test_a_game_without_clocks_shows_none() -> None:
    """Each move is limited alone."""
    shown = plies(replace(RECORD, time_control=TimeControl.parse("5/move")))
    assert {each.clocks for each in shown} == {None}


def test_forbidden_cells_are_those_of_the_next_move() -> None:
    """After white's eighth stone black may not make two threes."""
    shown = plies(GameRecord(RENJU, "ann", "bob", moves=CROSS))
    assert shown[8].forbidden == parse_position("h8", RENJU)
    assert not any(each.forbidden for each in plies(RECORD))
