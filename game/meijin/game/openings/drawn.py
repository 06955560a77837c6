"""Random openings: stones drawn near the centre, to be vetted by a search."""

from collections.abc import Iterator
from random import Random

from meijin.game.openings.opening import Opening, distinct
from meijin.game.rules.variant import Variant

BOOK_SIDE = 7
"""The side of the square in the middle of a board in which they lie."""
STONES = (4, 5, 6, 7)
"""As many as an opening has; most are one-sided, whatever their number."""


def drawn_openings(variant: Variant, seed: int) -> Iterator[Opening]:
    """Stones in the middle 7x7 of a board with room for it, each once up to symmetry, forever."""
    top, left = (side // 2 - BOOK_SIDE // 2 for side in (variant.height, variant.width))
    rows, columns = range(top, top + BOOK_SIDE), range(left, left + BOOK_SIDE)
    cells = [row * variant.width + column for row in rows for column in columns]
    return distinct(_samples(cells, Random(seed)), variant, set())  # noqa: S311 - no secret


def _samples(cells: list[int], rng: Random) -> Iterator[Opening]:
    while True:
        yield tuple(rng.sample(cells, rng.choice(STONES)))
