"""Symmetries of a board: games and openings that are mirror images of each other.

A canonical position is one for all orders of the same stones, and for all their mirror images. Its
key is its Zobrist hash (Zobrist, A New Hashing Method with Application for Game Playing, 1970), the
least of those of its images. Keys are kept in databases, so they never change.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from struct import Struct

from meijin.game.rules.variant import Variant

PositionKey = tuple[tuple[int, ...], tuple[int, ...]]
"""The cells of the first, third, ... stone, sorted, and those of the others."""


@lru_cache(maxsize=64)
def symmetries(variant: Variant) -> tuple[tuple[int, ...], ...]:
    """Of each symmetry of the board the image of every cell, the identity first.

    There are eight where the board is square, and otherwise four.
    """
    width, height = variant.width, variant.height
    columns, rows = range(width), range(height)
    maps = [
        [
            (height - 1 - row if down else row, width - 1 - column if right else column)
            for row in rows
            for column in columns
        ]
        for down in (False, True)
        for right in (False, True)
    ]
    if width == height:
        maps += [[(column, row) for row, column in places] for places in maps]
    return tuple(tuple(row * width + column for row, column in places) for places in maps)


def canonical(moves: Sequence[int], variant: Variant) -> list[int]:
    """The least of the images of a game's moves: equal for all of them."""
    images = symmetries(variant)
    for cell in moves:
        if len(images) == 1:
            break
        least = min(image[cell] for image in images)
        images = tuple(image for image in images if image[cell] == least)
    image = images[0]
    return [image[cell] for cell in moves]


def position_key(moves: Sequence[int], variant: Variant) -> PositionKey:
    """The same for all orders in which the stones of a position were placed, and all its images."""
    return min(_position([image[cell] for cell in moves]) for image in symmetries(variant))


def images_of(moves: Sequence[int], variant: Variant) -> Iterator[tuple[int, ...]]:
    """The other images of an opening, each position once."""
    seen = {_position(moves)}
    for image in symmetries(variant):
        moved = tuple(image[cell] for cell in moves)
        if (position := _position(moved)) not in seen:
            seen.add(position)
            yield moved


def _position(moves: Sequence[int]) -> PositionKey:
    return tuple(sorted(moves[::2])), tuple(sorted(moves[1::2]))


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


@lru_cache(maxsize=16)
def _packed_keys(variant: Variant) -> tuple[int, tuple[tuple[int, ...], tuple[int, ...]]]:
    """The keys of all images side by side in one number, so that a stone is one exclusive or."""
    keys, images = zobrist_keys(variant), symmetries(variant)
    pack = Struct(f"<{len(images)}q").pack

    def number(values: Iterable[int]) -> int:
        return int.from_bytes(pack(*values), "little")

    black, white = (
        tuple(number(stones[image[cell]] for image in images) for cell in range(variant.cells))
        for stones in keys.stones
    )
    return number(keys.empty for _ in images), (black, white)


def canonical_moves(
    moves: Sequence[int], variant: Variant, plies: Collection[int]
) -> Iterator[tuple[int, int]]:
    """Some moves of a game: the key of the position that each was made in, and its canonical cell.

    The same as `canonical_position` says of each, for a twentieth of the steps.
    """
    found, stones = _packed_keys(variant)
    images = symmetries(variant)
    size, unpack = KEY_BYTES * len(images), Struct(f"<{len(images)}q").unpack
    for ply, cell in enumerate(moves):
        if ply in plies:
            hashes = unpack(found.to_bytes(size, "little"))
            least = min(hashes)
            if hashes.count(least) == 1:
                yield least, images[hashes.index(least)][cell]
            else:
                reached = zip(images, hashes, strict=True)
                yield least, min(image[cell] for image, key in reached if key == least)
        found ^= stones[ply % 2][cell]


def _number(text: str) -> int:
    digest = blake2b(text.encode(), digest_size=KEY_BYTES).digest()
    return int.from_bytes(digest, "little", signed=True)
