"""Openings: the first moves of a game, given to both sides."""

import re
from collections.abc import Iterable, Iterator

from meijin.game.board.board import Board
from meijin.game.board.coordinates import cell_at, cell_name, parse_cell
from meijin.game.board.symmetry import PositionKey, position_key
from meijin.game.rules.variant import Variant

Opening = tuple[int, ...]
"""The cells in the order played, black first."""

_NUMBERS = re.compile(r"([0-9]{1,2}),([0-9]{1,2})")


def parse_opening(text: str, variant: Variant) -> Opening:
    """Read cells separated by white space, as names or as numbers.

    ``h8 i9`` and ``7,7 8,6`` are the same on 15x15: numbers are column and row from the
    top left, both from 0.

    Raises:
        ValueError: a cell is unreadable or off the board.
    """
    return tuple(_parse_move(word, variant) for word in text.split())


def _parse_move(word: str, variant: Variant) -> int:
    numbers = _NUMBERS.fullmatch(word)
    if numbers is None:
        return parse_cell(word, variant)
    return cell_at(int(numbers[1]), int(numbers[2]), variant)


def format_opening(cells: Iterable[int], variant: Variant) -> str:
    """The names of the cells, like ``h8 i9 j10``."""
    return " ".join(cell_name(cell, variant) for cell in cells)


def check_opening(cells: Iterable[int], variant: Variant) -> None:
    """Accept an opening after which a game can go on.

    Raises:
        ValueError: a cell repeats or is off the board, the opening ends the game, or the
            players place the first stones by an opening rule.
    """
    opening = tuple(cells)
    if opening and variant.opening_rule.steps:
        rule = variant.opening_rule.name
        raise ValueError(f"with {rule} the players place the first stones; leave openings out")
    if Board.from_moves(opening, variant).is_over:
        raise ValueError(f"the opening {format_opening(opening, variant)} ends the game")


def distinct(
    openings: Iterable[Opening], variant: Variant, known: set[PositionKey]
) -> Iterator[Opening]:
    """The openings that are none of the known ones up to symmetry; each becomes known."""
    for opening in openings:
        key = position_key(opening, variant)
        if key not in known:
            known.add(key)
            yield opening
