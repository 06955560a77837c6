"""PSQ, the files that Piskvork and the Gomocup's judge save games in.

A first line ``Piskvorky 15x15, 11:11, 0`` is followed by a line ``column,row,milliseconds`` a
move, both counted from 1 at the top left; then come the names of the players, the one who began
first, and a number that tells how the game ended. The judge adds a line with the winner, 1 or 2,
and the rule: ``1,Freestyle``. Without it the rule is not known, and read as freestyle; ours has -1
for a winner that is not known, or that there is none of since the game is void.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta

from meijin.game.board.board import Board, ForbiddenMoveError
from meijin.game.board.coordinates import cell_at
from meijin.game.color import Color
from meijin.game.outcome import Ending, Outcome
from meijin.game.records.record import GameRecord, finished_outcome, imported_outcome
from meijin.game.rules.rule import FREESTYLE
from meijin.game.rules.variant import GOMOKU_LINE, Variant, rule_named

_HEAD = re.compile(r"Piskvorky ([0-9]{1,2})x([0-9]{1,2})\b[^\n]*")
_MOVE = re.compile(r"\s*([0-9]{1,2})\s*,\s*([0-9]{1,2})\s*,\s*([0-9]{1,12})\s*")
_CODE = re.compile(r"\s*(-?[0-9]{1,2})\s*")
_WINNER = re.compile(r"\s*(-1|[0-2])\s*,\s*([A-Za-z][A-Za-z_-]*)\s*")
_MILLISECOND = timedelta(milliseconds=1)
_UNKNOWN = -1
_ENDINGS = {1: Ending.FORBIDDEN, 2: Ending.TIME, 3: Ending.ILLEGAL, 4: Ending.CRASH}
"""What the judge's codes say; 0 is the board's own end, and 1 a move that renju forbids."""
_WINNER_PLACE = 3
"""Of the winner's line among those behind the moves."""
_SIDES = {"1": Color.BLACK, "2": Color.WHITE, "0": None}


def to_psq(record: GameRecord) -> str:
    """Write a record, as far as the format has room for it; names lose their line breaks.

    Raises:
        ValueError: the line isn't of five, or a player is named like a move.
    """
    variant = record.variant
    if variant.line != GOMOKU_LINE:
        raise ValueError(f"PSQ holds games of five in a row alone, not {variant}")
    return "".join(f"{line}\r\n" for line in _lines(record))


def _lines(record: GameRecord) -> Iterator[str]:
    yield f"Piskvorky {record.variant.size}, 0:0, 0"
    for ply, cell in enumerate(record.moves):
        row, column = divmod(cell, record.variant.width)
        spent = record.times[ply] // _MILLISECOND if record.times else 0
        yield f"{column + 1},{row + 1},{spent}"
    for name in (record.black, record.white):
        words = " ".join(name.split())
        if _MOVE.fullmatch(words):
            raise ValueError(f'a player named "{words}" reads as a move in PSQ')
        yield words
    outcome = record.outcome
    yield str(_UNKNOWN if outcome is None else _code(outcome))
    yield f"{_winner(outcome)},{record.variant.rule.name.capitalize()}"


def _winner(outcome: Outcome | None) -> str:
    if outcome is None or outcome.ending is Ending.VOID:
        return str(_UNKNOWN)
    return next(text for text, side in _SIDES.items() if side is outcome.result.winner)


def _code(outcome: Outcome) -> int:
    codes = {ending: code for code, ending in _ENDINGS.items()}
    codes |= {Ending.FIVE: 0, Ending.DRAW: 0}
    return codes.get(outcome.ending, _UNKNOWN)


def from_psq(text: str) -> GameRecord:
    """Read a game.

    A last move that its rule forbids is not part of the record: it is why the game ended. Times are
    known where one isn't zero; the opening is then the moves at the start that took
    none. Of a game that does not tell its winner the outcome is what the board shows.

    Raises:
        ValueError: it is no such file, or its moves are no legal game; the message has the line.
    """
    head, *lines = text.lstrip("\ufeff").splitlines() or [""]
    moves = list(_leading_moves(lines))
    tail = [line.strip() for line in lines[len(moves) :]]
    board = _replay(moves, _variant(head.strip(), tail))
    is_foul = board.ply < len(moves)
    times = tuple(int(move[3]) * _MILLISECOND for move in moves[: board.ply])
    black, white, *ending = [*tail, "", ""][: max(2, len(tail))]
    return GameRecord(
        variant=board.variant,
        black=black,
        white=white,
        moves=tuple(board.moves),
        times=times if any(times) else (),
        opening_plies=next((ply for ply, time in enumerate(times) if time), 0),
        outcome=imported_outcome(board.side_to_move.other, board, Ending.FORBIDDEN)
        if is_foul
        else _outcome(ending, board),
    )


def _leading_moves(lines: Sequence[str]) -> Iterator[re.Match[str]]:
    for line in lines:
        move = _MOVE.fullmatch(line)
        if move is None:
            return
        yield move


def _variant(head: str, tail: Sequence[str]) -> Variant:
    form = _HEAD.fullmatch(head)
    if form is None:
        raise ValueError('line 1: a PSQ file begins with "Piskvorky 15x15, ..."')
    winner = _WINNER.fullmatch(tail[_WINNER_PLACE]) if len(tail) > _WINNER_PLACE else None
    try:
        rule = FREESTYLE if winner is None else rule_named(winner[2].lower())
        return Variant(rule, int(form[1]), int(form[2]))
    except ValueError as error:
        raise ValueError(f"line 1: {error}") from error


def _replay(moves: Sequence[re.Match[str]], variant: Variant) -> Board:
    board = Board(variant)
    for number, move in enumerate(moves, start=2):
        try:
            board.play(cell_at(int(move[1]) - 1, int(move[2]) - 1, variant))
        except ForbiddenMoveError as error:
            if move is not moves[-1]:
                raise ValueError(f"line {number}: {error}") from error
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
    return board


def _outcome(lines: Sequence[str], board: Board) -> Outcome | None:
    """The outcome by the lines behind the names."""
    code = _CODE.fullmatch(lines[0]) if lines else None
    winner = _WINNER.fullmatch(lines[1]) if len(lines) > 1 else None
    ending = None if code is None else _ENDINGS.get(int(code[1]))
    if winner is not None and winner[1] in _SIDES:
        side = _SIDES[winner[1]]
        return imported_outcome(side, board, None if side is None else ending)
    if ending is None or board.is_over:
        return finished_outcome(board)
    return imported_outcome(board.side_to_move.other, board, ending)
