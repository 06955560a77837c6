"""The referee of records."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from tests.game.made_records import records

from meijin.game import (
    GOMOKU,
    Board,
    Color,
    Ending,
    GameRecord,
    Outcome,
    Party,
    TimeControl,
)
from meijin.game.records.record import parse_position
from meijin.game.records.referee import problems

SECOND = timedelta(seconds=1)
START = datetime(2026, 1, 2, tzinfo=UTC)
WON = GameRecord(
    variant=GOMOKU,
    black="ann",
    white="bob",
    moves=parse_position("a1a2b1b2c1c2d1d2e1", GOMOKU),
    times=(timedelta(0),) * 2 + (SECOND,) * 7,
    raw_times=(timedelta(0),) * 2 + (2 * SECOND,) * 7,
    opening_plies=2,
    time_control=TimeControl.parse("4"),
    outcome=Outcome(Ending.FIVE, Color.BLACK),
    start_time=START,
    end_time=START + 14 * SECOND,
)
OPEN = replace(WON, moves=WON.moves[:-1], times=WON.times[:-1], raw_times=WON.raw_times[:-1])
FORFEIT = Outcome(Ending.TIME, Color.WHITE, Party.BLACK)


@pytest.mark.parametrize(
    "record",
    [
        WON,
        replace(WON, outcome=Outcome(Ending.VOID, None, Party.OPERATOR)),
        replace(OPEN, outcome=FORFEIT),
        replace(OPEN, outcome=Outcome(Ending.ADJUDICATION)),
        replace(OPEN, outcome=None),
        replace(WON, times=(), raw_times=(), start_time=None),
    ],
)
def test_what_can_be_true(record: GameRecord) -> None:
    assert problems(record) == []


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (replace(WON, moves=(*WON.moves[:-1], 0)), "black wins by five.*could go on"),
        (replace(WON, moves=(0, 0, *WON.moves[2:])), "ply 1: a15 is occupied"),
        (replace(WON, outcome=None), "no result, and the board shows a win of black"),
        (replace(WON, outcome=FORFEIT), "black forfeits: time.*shows a win of black"),
        (replace(WON, outcome=Outcome(Ending.FIVE, Color.WHITE)), "white wins by five"),
        (replace(OPEN, outcome=Outcome(Ending.DRAW)), '"draw", and on the board'),
        (replace(WON, opening_plies=9), "ply 8: the opening ends the game"),
        (replace(WON, opening_plies=3), "ply 2: a move of the opening took time"),
        (replace(WON, raw_times=(timedelta(0),) * 9), "ply 2: 1 s were charged, and it took 0 s"),
        (replace(WON, time_control=TimeControl.parse("3")), "ply 8: black took 1 s and had 0 s"),
        (replace(WON, time_control=TimeControl.parse("0.5/move")), "ply 2: black took 1 s"),
        (replace(WON, end_time=START + 10 * SECOND), "moves took 14 s, and it lasted 10 s"),
        (replace(WON, end_time=START - 10 * SECOND), "ended before it started"),
    ],
)
def test_what_is_wrong(record: GameRecord, problem: str) -> None:
    """It is named, with the ply where there is one."""
    assert re.search(problem, "\n".join(problems(record)), re.DOTALL)


@given(records())
def test_any_record_is_judged(record: GameRecord) -> None:
    """A record of legal moves is refused for its end or its times alone."""
    board = Board.from_moves(record.moves, record.variant)
    found = problems(replace(record, times=(), raw_times=(), start_time=None, opening_plies=0))
    outcome = record.outcome
    agrees = outcome is None or outcome.ending is Ending.VOID
    if agrees:
        assert bool(found) is (outcome is None and board.is_over)
    else:
        assert outcome is not None
        by_board = outcome.ending in {Ending.FIVE, Ending.DRAW}
        same = by_board and outcome.result.winner is board.winner
        assert (not found) is (same if board.is_over else not by_board)
