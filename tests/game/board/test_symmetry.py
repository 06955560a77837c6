"""Mirror images of openings and games."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import GOMOKU, Board, Variant
from meijin.game.board.symmetry import canonical, images_of, position_key, symmetries

SIZES = [(15, 15), (8, 8), (3, 3), (9, 22), (5, 6)]


def variant_of(width: int, height: int) -> Variant:
    """A board of this size."""
    return Variant(width=width, height=height, line=min(width, height, 5))


@pytest.mark.parametrize("size", SIZES)
def test_the_symmetries_are_a_group(size: tuple[int, int]) -> None:
    """Eight or four different permutations, the identity first, of which two make a third."""
    variant = variant_of(*size)
    found = symmetries(variant)
    assert found[0] == tuple(range(variant.cells))
    assert len(set(found)) == len(found) == (8 if size[0] == size[1] else 4)
    for one in found:
        for other in found:
            assert tuple(other[cell] for cell in one) in found


@pytest.mark.parametrize("size", SIZES)
def test_the_symmetries_keep_neighbours(size: tuple[int, int]) -> None:
    """Cells that touch each other do so in every image: a five stays a five."""
    variant, width = variant_of(*size), size[0]

    def distance(one: int, other: int) -> tuple[int, int]:
        rows, columns = abs(one // width - other // width), abs(one % width - other % width)
        return min(rows, columns), max(rows, columns)

    rng = random.Random(1)
    pairs = [rng.sample(range(variant.cells), 2) for _ in range(50)]
    for image in symmetries(variant):
        assert all(distance(*pair) == distance(*(image[cell] for cell in pair)) for pair in pairs)


@given(st.lists(st.integers(0, 48), unique=True), st.sampled_from(range(8)))
def test_images_have_one_canonical_form(moves: list[int], which: int) -> None:
    """It is one of them, and the least."""
    variant = Variant(width=7, height=7)
    image = [symmetries(variant)[which][cell] for cell in moves]
    found = canonical(moves, variant)
    assert canonical(image, variant) == found
    assert found == min([each[cell] for cell in moves] for each in symmetries(variant))


def test_another_order_is_another_game_and_the_same_position() -> None:
    """Of the stones of one colour."""
    one, other, colours = (0, 1, 2, 3), (2, 3, 0, 1), (1, 0, 3, 2)
    assert canonical(one, GOMOKU) != canonical(other, GOMOKU)
    assert position_key(one, GOMOKU) == position_key(other, GOMOKU)
    assert position_key(one, GOMOKU) != position_key(colours, GOMOKU)


def test_images_of_a_symmetric_opening_are_fewer() -> None:
    """Each position comes once, and the opening itself is none of them."""
    variant = Variant(width=7, height=7)
    assert [len(list(images_of(moves, variant))) for moves in ((), (24,), (0,), (1,), (1, 9))] == [
        0,
        0,
        3,
        7,
        7,
    ]
    for image in images_of((1, 9), variant):
        assert position_key(image, variant) == position_key((1, 9), variant)
        assert not Board.from_moves(image, variant).is_over
