"""Symmetries of a board: games and openings that are mirror images of each other."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

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
