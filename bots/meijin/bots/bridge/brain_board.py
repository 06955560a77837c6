"""What a manager says of a board: points, and stones that it lists line by line."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, cast

from meijin.bots.bridge.gomocup import OPPONENT, OWN
from meijin.bots.sdk.answer import Answer
from meijin.bots.sdk.bot import Bot, overrides, settled
from meijin.bots.sdk.position import Position
from meijin.game import Board, Color, GamePosition, Placement, Variant, cell_at

_NUMBER = r"\s*([0-9]{1,4})\s*"
_POINT = re.compile(r"\s*(-?[0-9]{1,4})\s*,\s*(-?[0-9]{1,4})\s*")

Numbers: TypeAlias = tuple[int, ...]
"""Those of a line: column, row and, in a BOARD, whose stone it is."""


class RefusedCommandError(Exception):
    """A command that can't be obeyed; the manager is told why."""


class Listing:
    """Stones that a manager lists line by line; what is wrong with a line is told at the end."""

    def __init__(
        self, form: str, most: int, finish: Callable[[Sequence[Numbers]], Iterator[str]]
    ) -> None:
        """Begin a list of at most `most` lines of a form, such as ``x,y``."""
        self._form = form
        self._pattern = re.compile(",".join([_NUMBER] * len(form.split(","))))
        self._most = most
        self._finish = finish
        self._lines: list[str] = []

    def add(self, line: str) -> None:
        if len(self._lines) <= self._most:
            self._lines.append(line)

    def finish(self) -> Iterator[str]:
        """Answer the list that has ended."""
        matches = [match for line in self._lines if (match := self._pattern.fullmatch(line))]
        if len(matches) < len(self._lines) or len(matches) > self._most:
            raise RefusedCommandError(
                f"stones are {self._most} lines {self._form} at most, and DONE"
            )
        yield from self._finish([tuple(map(int, match.groups())) for match in matches])


def parse_point(text: str) -> tuple[int, int] | None:
    match = _POINT.fullmatch(text)
    return None if match is None else (int(match[1]), int(match[2]))


def parse_cell(text: str, variant: Variant) -> int:
    """Read the cell of ``x,y``.

    Raises:
        RefusedCommandError: it is none, or off the board.
    """
    point = parse_point(text)
    if point is None:
        raise RefusedCommandError("a move is written x,y")
    return listed_cell(*point, variant)


def listed_cell(x: int, y: int, variant: Variant) -> int:
    """The cell of a point.

    Raises:
        RefusedCommandError: it is off the board.
    """
    try:
        return cell_at(x, y, variant)
    except ValueError as error:
        raise RefusedCommandError(str(error)) from None


def listed_board(stones: Sequence[Numbers], variant: Variant) -> Board:
    """The position of a BOARD: each side's stones in their order, black's first.

    The side to move is black where both have as many stones.

    Raises:
        RefusedCommandError: no game has such stones.
        IllegalMoveError: two stand on a cell, or the game would have been over.
    """
    own = [listed_cell(x, y, variant) for x, y, field in stones if field == OWN]
    others = [listed_cell(x, y, variant) for x, y, field in stones if field == OPPONENT]
    if len(own) + len(others) < len(stones):
        raise RefusedCommandError("fields other than 1 and 2 are not known")
    if len(others) - len(own) not in (0, 1):
        raise RefusedCommandError(
            f"no game has {len(own)} stones of its own and {len(others)} others"
        )
    first, second = (own, others) if len(own) == len(others) else (others, own)
    moves = [cell for pair in zip(first, second, strict=False) for cell in pair]
    return Board.from_moves([*moves, *first[len(second) :]], variant)


def answer_turn(bot: Bot, position: Position) -> Answer:
    if overrides(bot, "choose"):
        return cast("Answer", _result(bot.choose(position)))
    return cast("Sequence[Answer]", _result(bot.choose_many([position])))[0]


def answer_opening(bot: Bot, position: Position) -> Color | Sequence[int]:
    """The stones that the bot places in an opening, or the side that it chooses.

    Raises:
        RefusedCommandError: the opening asks for nothing after this many stones, or the bot answers
            what it isn't asked for.
    """
    board = position.board
    rule, opening = board.variant.opening_rule, None
    if board.ply <= rule.most_stones:
        opening = GamePosition(board)
    if opening is None or (task := opening.task) is None or opening.is_partway:
        raise RefusedCommandError(f"{rule.name} has no choice after {board.ply} stones")
    position.color = opening.color_of(opening.seat_to_act)
    method = bot.choose_side if task.may_choose else bot.place_opening
    found = _result(method(position, task.stones))
    if isinstance(found, Color):
        return found
    cells = found.cells if isinstance(found, Placement) else tuple(cast("Sequence[int]", found))
    if not cells or len(cells) != task.stones:
        raise RefusedCommandError(f"{bot.name} places {len(cells)} stones, asked to {task}")
    return cells


def _result(found: object) -> object:
    return asyncio.run(settled(found)) if inspect.isawaitable(found) else found
