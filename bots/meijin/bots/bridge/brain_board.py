"""What a manager says of a board: points, and stones that it lists line by line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from meijin.bots.bridge.gomocup import OPPONENT, OWN
from meijin.game import Board, Variant, cell_at

_NUMBER = r"\s*([0-9]{1,4})\s*"
_POINT = re.compile(r"\s*(-?[0-9]{1,4})\s*,\s*(-?[0-9]{1,4})\s*")

Numbers: TypeAlias = tuple[int, ...]
"""Those of a line: column, row and, in a BOARD, whose stone it is."""


class CommandError(Exception):
    """A command that can't be obeyed; the manager is told why."""


class Listing:
    """Stones that a manager lists line by line; what is wrong with a line is told at the end."""

    def __init__(
        self, form: str, most: int, finish: Callable[[Sequence[Numbers]], Iterator[str]]
    ) -> None:
        """Begin a list of at most so many lines of a form, such as ``x,y``."""
        self._form = form
        self._pattern = re.compile(",".join([_NUMBER] * len(form.split(","))))
        self._most = most
        self._finish = finish
        self._stones: list[Numbers] = []
        self._is_wrong = False

    def add(self, line: str) -> None:
        """Take a line, as long as there are no more than there may be."""
        match = self._pattern.fullmatch(line)
        if match is None or len(self._stones) >= self._most:
            self._is_wrong = True
        else:
            self._stones.append(tuple(map(int, match.groups())))

    def finish(self) -> Iterator[str]:
        """Yield what to answer to the whole list."""
        if self._is_wrong:
            raise CommandError(f"stones are {self._most} lines {self._form} at most, and DONE")
        yield from self._finish(self._stones)


def parse_point(text: str) -> tuple[int, int] | None:
    """Read ``x,y``."""
    match = _POINT.fullmatch(text)
    return None if match is None else (int(match[1]), int(match[2]))


def parse_cell(text: str, variant: Variant) -> int:
    """Read the cell of ``x,y``.

    Raises:
        CommandError: it is none, or off the board.
    """
    point = parse_point(text)
    if point is None:
        raise CommandError("a move is written x,y")
    return listed_cell(*point, variant)


def listed_cell(x: int, y: int, variant: Variant) -> int:
    """The cell of a point.

    Raises:
        CommandError: it is off the board.
    """
    try:
        return cell_at(x, y, variant)
    except ValueError as error:
        raise CommandError(str(error)) from None


def point_name(cell: int, variant: Variant) -> str:
    """Write a cell as ``x,y``."""
    row, column = divmod(cell, variant.width)
    return f"{column},{row}"


def listed_board(stones: Sequence[Numbers], variant: Variant) -> Board:
    """The position of a BOARD: each side's stones in their order, black's first.

    The side to move is black where both have as many stones.

    Raises:
        CommandError: no game has such stones.
        IllegalMoveError: two stand on a cell, or the game would have been over.
    """
    own = [listed_cell(x, y, variant) for x, y, field in stones if field == OWN]
    others = [listed_cell(x, y, variant) for x, y, field in stones if field == OPPONENT]
    if len(own) + len(others) < len(stones):
        raise CommandError("fields other than 1 and 2 are not known")
    if len(others) - len(own) not in (0, 1):
        raise CommandError(f"no game has {len(own)} stones of its own and {len(others)} others")
    first, second = (own, others) if len(own) == len(others) else (others, own)
    moves = [cell for pair in zip(first, second, strict=False) for cell in pair]
    return Board.from_moves([*moves, *first[len(second) :]], variant)
