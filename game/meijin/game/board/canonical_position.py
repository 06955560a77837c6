"""Canonical positions: one for all orders of the same stones, and for all their mirror images.

A position's key is its Zobrist hash (Zobrist, A New Hashing Method with Application for Game
Playing, 1970), the least of those of its images. Keys are kept in databases, so they never change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from meijin.game.board.symmetry import symmetries
from meijin.game.rules.variant import Variant

KEY_BYTES = 8


@dataclass(frozen=True, slots=True)
class ZobristKeys:
    """The random numbers that the positions of a variant are hashed with, signed, of 64 bits."""

    empty: int
    """The hash of the empty board."""
    stones: tuple[tuple[int, ...], tuple[int, ...]]
    """By colour, black first, and cell: what a stone there changes, by exclusive or."""


@dataclass(frozen=True, slots=True)
class CanonicalPosition:
    """What a position has in common with its mirror images."""

    key: int
    """Signed, of 64 bits. Those of two of ten million positions are equal by accident once in
    360,000 such collections."""
    images: tuple[tuple[int, ...], ...]
    """The symmetries of the board that lead to the canonical image, of each cell's image."""

    def canonical_cell(self, cell: int) -> int:
        """The least cell of the canonical image that a symmetry leads a cell to."""
        return min(image[cell] for image in self.images)

    def cells_of(self, canonical_cell: int) -> tuple[int, ...]:
        """The cells of the position whose canonical cell this is, in order."""
        return tuple(sorted({image.index(canonical_cell) for image in self.images}))


@lru_cache(maxsize=64)
def zobrist_keys(variant: Variant) -> ZobristKeys:
    """The keys of a variant, which has them to itself."""
    black, white = (
        tuple(_number(f"{variant} {color} {cell}") for cell in range(variant.cells))
        for color in ("black", "white")
    )
    return ZobristKeys(_number(str(variant)), (black, white))


def canonical_position(moves: Sequence[int], variant: Variant) -> CanonicalPosition:
    """What the position after some moves, all on the board, is known by."""
    keys = zobrist_keys(variant)
    hashes = []
    for image in symmetries(variant):
        found = keys.empty
        for ply, cell in enumerate(moves):
            found ^= keys.stones[ply % 2][image[cell]]
        hashes.append(found)
    least = min(hashes)
    reached = zip(symmetries(variant), hashes, strict=True)
    return CanonicalPosition(least, tuple(image for image, found in reached if found == least))


def _number(text: str) -> int:
    digest = blake2b(text.encode(), digest_size=KEY_BYTES).digest()
    return int.from_bytes(digest, "little", signed=True)
