"""The opening book: what a sequential test deals, so that no game need come again.

The forty openings of `balanced` come first. The generated ones were made by
``scripts/openings.py``: random stones near the centre, kept where a search finds neither side
far ahead. Both are balanced on 15x15 under the freestyle rule and are used on every board with
room for them. Smaller boards, and those on which the line is not five, have a few stones near
the centre without a search: all of them, the fewest stones first.
"""

import string
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice

from meijin.game.board.board import Board
from meijin.game.board.symmetry import PositionKey, position_key
from meijin.game.openings.generated import GENERATED
from meijin.game.openings.opening import Opening, has_balanced_openings, openings_for
from meijin.game.rules.variant import Variant

BOOK_SIDE = 7
"""Generated openings lie in the middle of the board, so many cells wide and high."""

ALPHABET = string.ascii_uppercase + string.ascii_lowercase
"""The letters of `BOOK_SIDE` squared cells of a generated opening, row by row from the top left."""

MOST_SMALL = 1000
"""Openings without a search that a board has at most."""


@lru_cache(maxsize=64)
def generated_openings(variant: Variant) -> tuple[Opening, ...]:
    """Openings beside those of `openings_for`, no two of them the same up to symmetry.

    None where the players place the first stones by an opening rule.
    """
    if variant.opening_rule.stones:
        return ()
    known = {position_key(opening, variant) for opening in openings_for(variant)}
    if has_balanced_openings(variant):
        words = GENERATED.split()
        return tuple(_distinct((_opening(word, variant) for word in words), variant, known))
    return tuple(islice(_distinct(_few_stones(variant), variant, known), MOST_SMALL))


def _opening(word: str, variant: Variant) -> Opening:
    """The opening of a word: a letter a stone, black first."""
    places = (divmod(ALPHABET.index(letter), BOOK_SIDE) for letter in word)
    return tuple(_middle(row, column, variant) for row, column in places)


def _middle(row: int, column: int, variant: Variant) -> int:
    """The cell of a place in the middle of the board."""
    edge = BOOK_SIDE // 2
    row += variant.height // 2 - edge
    column += variant.width // 2 - edge
    return row * variant.width + column


def _few_stones(variant: Variant) -> Iterator[Opening]:
    """Openings of one stone in the middle, of two, and so on, as long as the game goes on."""
    reach = BOOK_SIDE // 2
    rows = _around(variant.height, reach)
    columns = _around(variant.width, reach)
    cells = [row * variant.width + column for row in rows for column in columns]
    level: list[Opening] = [()]
    while level:
        longer = ((*opening, cell) for opening in level for cell in cells if cell not in opening)
        level = [each for each in _distinct(longer, variant, set()) if _goes_on(each, variant)]
        yield from level


def _around(length: int, reach: int) -> range:
    middle = length // 2
    return range(max(0, middle - reach), min(length, middle + reach + 1))


def _goes_on(opening: Opening, variant: Variant) -> bool:
    return not Board.from_moves(opening, variant).is_over


def _distinct(
    openings: Iterable[Opening], variant: Variant, known: set[PositionKey]
) -> Iterator[Opening]:
    """The openings that are none of the known ones up to symmetry; each becomes known."""
    for opening in openings:
        key = position_key(opening, variant)
        if key not in known:
            known.add(key)
            yield opening
