"""The opening book: what a sequential test deals, so that no game need come again.

The first forty of a balanced list come first; the others are `generated_openings`. Smaller boards,
and those on which the line is not five, have a few stones near the centre without a search: all of
them, the fewest stones first.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from meijin.game.board.board import Board
from meijin.game.board.symmetry import position_key
from meijin.game.openings.balanced import FIRST, balanced_openings, has_balanced_openings
from meijin.game.openings.drawn import BOOK_SIDE
from meijin.game.openings.opening import Opening, distinct
from meijin.game.rules.variant import Variant

MOST_SMALL = 1000
"""Openings without a search that a board has at most."""


@lru_cache(maxsize=64)
def generated_openings(variant: Variant) -> tuple[Opening, ...]:
    """Openings beside those of `openings_for`, no two of them the same up to symmetry.

    None where the players place the first stones by an opening rule.
    """
    if variant.opening_rule.steps:
        return ()
    if has_balanced_openings(variant):
        return balanced_openings(variant)[FIRST:]
    known = {position_key((), variant)}
    return tuple(islice(distinct(_few_stones(variant), variant, known), MOST_SMALL))


def _few_stones(variant: Variant) -> Iterator[Opening]:
    """Openings of one stone in the middle, of two, and so on, as long as the game goes on."""
    rows, columns = _around(variant.height), _around(variant.width)
    cells = [row * variant.width + column for row in rows for column in columns]
    level: list[Opening] = [()]
    while level:
        longer = ((*opening, cell) for opening in level for cell in cells if cell not in opening)
        found = distinct(longer, variant, set())
        level = [each for each in found if not Board.from_moves(each, variant).is_over]
        yield from level


def _around(length: int) -> range:
    middle, reach = length // 2, BOOK_SIDE // 2
    return range(max(0, middle - reach), min(length, middle + reach + 1))
