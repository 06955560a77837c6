"""The referee: whether a record can be true, by its rule, its clock and its own words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from meijin.game.board.board import Board, IllegalMoveError
from meijin.game.clock import MICROSECOND, format_seconds
from meijin.game.color import Color, Seat
from meijin.game.outcome import Ending
from meijin.game.records.record import GameRecord
from meijin.game.rules.opening_rule import FREE

CLOCK_SLACK = timedelta(seconds=2)
"""That a game may have taken less by the calendar than by its clocks: servers' clocks are set."""


def problems(record: GameRecord) -> list[str]:
    """What is wrong with a record, a sentence each; nothing where all of it can be true."""
    board = Board(record.variant)
    found = [*_replay(record, board)]
    if not found:
        found += _check_outcome(record, board)
    return [*found, *_check_times(record), *_check_clock(record), *_check_calendar(record)]


def _replay(record: GameRecord, board: Board) -> Iterator[str]:
    for ply, cell in enumerate(record.moves):
        try:
            board.play(cell)
        except IllegalMoveError as error:
            yield f"ply {ply}: {error}"
            return
        if board.is_over and ply < record.opening_plies:
            yield f"ply {ply}: the opening ends the game"
            return


def _check_outcome(record: GameRecord, board: Board) -> Iterator[str]:
    outcome = record.outcome
    if outcome is None:
        if board.is_over:
            yield f"it has no result, and the board shows {_shown(board)}"
        return
    if outcome.ending is Ending.VOID:
        return
    by_board = outcome.ending in {Ending.FIVE, Ending.DRAW}
    if board.is_over:
        if not by_board or outcome.winner is not board.winner:
            yield f'it ends "{outcome}", and the board shows {_shown(board)}'
    elif by_board:
        yield f'it ends "{outcome}", and on the board the game could go on'


def _shown(board: Board) -> str:
    return "a draw" if board.winner is None else f"a win of {_name(board.winner)}"


def _name(color: Color) -> str:
    return color.name.lower()


def _check_times(record: GameRecord) -> Iterator[str]:
    for ply in range(min(record.opening_plies, len(record.times))):
        if record.times[ply]:
            yield f"ply {ply}: a move of the opening took time"
    if not record.raw_times:
        return
    for ply, (charged, raw) in enumerate(zip(record.times, record.raw_times, strict=False)):
        if charged > raw:
            yield f"ply {ply}: {format_seconds(charged)} s were charged, and it took {format_seconds(raw)} s"


def _check_clock(record: GameRecord) -> Iterator[str]:
    """A move that takes more than its player has left can't have been accepted.

    Not where a side was chosen: a record does not hold what that took.
    """
    if record.time_control is None or not record.times or record.variant.opening_rule != FREE:
        return
    clock = record.clock()
    for ply in range(record.opening_plies, len(record.moves)):
        seat, color = (Seat.FIRST, Seat.SECOND)[ply % 2], (Color.BLACK, Color.WHITE)[ply % 2]
        spent = record.times[ply]
        if not clock.charge(seat, spent // MICROSECOND * 1000):
            left = timedelta(microseconds=clock.budget_ns(seat) // 1000)
            yield f"ply {ply}: {_name(color)} took {format_seconds(spent)} s and had {format_seconds(left)} s"
            return


def _check_calendar(record: GameRecord) -> Iterator[str]:
    start, end = record.start_time, record.end_time
    if start is None or end is None:
        return
    if end < start - CLOCK_SLACK:
        yield "it ended before it started"
        return
    spent = sum(record.raw_times or record.times, timedelta(0))
    if spent > end - start + CLOCK_SLACK:
        lasted = max(end - start, timedelta(0))
        yield f"its moves took {format_seconds(spent)} s, and it lasted {format_seconds(lasted)} s"
