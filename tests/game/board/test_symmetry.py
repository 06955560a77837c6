"""Mirror images of openings and games."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import GOMOKU, Board, Variant
from meijin.game.board.symmetry import (
    canonical,
    canonical_moves,
    canonical_position,
    images_of,
    position_key,
    symmetries,
)

VARIANTS = (GOMOKU, Variant(width=7, height=7), Variant(width=9, height=6))
SIZES = [(15, 15), (8, 8), (3, 3), (9, 22), (5, 6)]


def variant_of(width: int, height: int) -> Variant:
    return Variant(width=width, height=height, line=min(width, height, 5))


def some_moves(variant: Variant, seed: int, length: int) -> list[int]:
    return random.Random(seed).sample(range(variant.cells), length)


@pytest.mark.parametrize("size", SIZES)
def test_the_symmetries_are_a_group(size: tuple[int, int]) -> None:
    """Eight or four different permutations, the identity first, of which two make a third.

    Cells that touch each other do so in every image: a five stays a five.
    """
    variant, width = variant_of(*size), size[0]
    found = symmetries(variant)
    assert found[0] == tuple(range(variant.cells))
    assert len(set(found)) == len(found) == (8 if size[0] == size[1] else 4)
    for one in found:
        for other in found:
            assert tuple(other[cell] for cell in one) in found

    def distance(one: int, other: int) -> tuple[int, int]:
        rows, columns = abs(one // width - other // width), abs(one % width - other % width)
        return min(rows, columns), max(rows, columns)

    pairs = [some_moves(variant, seed, 2) for seed in range(50)]
    for image in found:
        assert all(distance(*pair) == distance(*(image[cell] for cell in pair)) for pair in pairs)


@given(st.lists(st.integers(0, 48), unique=True), st.sampled_from(range(8)))
def test_images_have_one_canonical_form(moves: list[int], which: int) -> None:
    variant = Variant(width=7, height=7)
    image = [symmetries(variant)[which][cell] for cell in moves]
    found = canonical(moves, variant)
    assert canonical(image, variant) == found
    assert found == min([each[cell] for cell in moves] for each in symmetries(variant))


def test_another_order_is_another_game_and_the_same_position() -> None:
    one, other, colours = (0, 1, 2, 3), (2, 3, 0, 1), (1, 0, 3, 2)
    assert canonical(one, GOMOKU) != canonical(other, GOMOKU)
    assert position_key(one, GOMOKU) == position_key(other, GOMOKU)
    assert position_key(one, GOMOKU) != position_key(colours, GOMOKU)


def test_images_of_a_symmetric_opening_are_fewer() -> None:
    """Each position comes once, and the opening itself is none of them."""
    variant = Variant(width=7, height=7)
    openings = ((), (24,), (0,), (1,), (1, 9))
    assert [len([*images_of(moves, variant)]) for moves in openings] == [0, 0, 3, 7, 7]
    for image in images_of((1, 9), variant):
        assert position_key(image, variant) == position_key((1, 9), variant)
        assert not Board.from_moves(image, variant).is_over


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("length", [0, 1, 2, 7])
def test_images_and_orders_share_a_position(variant: Variant, length: int) -> None:
    """Whichever image, and whichever order of each colour's stones.

    What is counted of a move is found again from any image, and all its cells give one position.
    """
    moves = some_moves(variant, length, length)
    found = canonical_position(moves, variant)
    for image in symmetries(variant):
        other = canonical_position([image[cell] for cell in moves], variant)
        assert other.key == found.key
        assert other.canonical_cell(image[17]) == found.canonical_cell(17)
    turned = list(moves)
    turned[::2] = reversed(turned[::2])
    assert canonical_position(turned, variant).key == found.key
    for cell in set(range(variant.cells)) - set(moves):
        same = found.cells_of(found.canonical_cell(cell))
        assert cell in same
        assert len({canonical_position([*moves, each], variant).key for each in same}) == 1


def test_keys_differ_where_positions_do() -> None:
    """As many keys as there are positions by the sorted stones of all images."""
    small = Variant(width=5, height=5)
    games = [some_moves(small, seed, seed % 4) for seed in range(2000)]
    pairs = {(canonical_position(each, small).key, position_key(each, small)) for each in games}
    assert len({key for key, _ in pairs}) == len({key for _, key in pairs}) == len(pairs)


def test_variants_have_keys_of_their_own() -> None:
    """The same stones under another rule are another position, for the empty board too."""
    variants = [Variant.parse(f"{rule} 15x15") for rule in ("freestyle", "standard", "renju")]
    for moves in ([], [112]):
        assert len({canonical_position(moves, each).key for each in variants}) == len(variants)


def test_the_first_move_has_thirty_six_forms() -> None:
    """Of the 225 cells of an empty board of 15x15."""
    empty = canonical_position([], GOMOKU)
    assert len({empty.canonical_cell(cell) for cell in range(GOMOKU.cells)}) == 36


def test_keys_never_change() -> None:
    """They are kept in databases; here they are written down."""
    assert canonical_position([], GOMOKU).key == -9194177842081034435
    assert canonical_position([112, 98, 113], GOMOKU).key == -6110856329023574874
    assert canonical_position([3, 4], Variant(width=9, height=6)).key == -7066357430459915680


@given(st.lists(st.integers(0, 48), unique=True), st.sampled_from([7, 8, 9]))
def test_moves_of_a_game_are_canonical_one_by_one(moves: list[int], width: int) -> None:
    """The position before each that is asked for, and its cell: as it is said of one alone."""
    variant = Variant(width=width, height=7)
    plies = range(1, len(moves), 2)
    positions = [canonical_position(moves[:ply], variant) for ply in plies]
    wanted = [
        (position.key, position.canonical_cell(moves[ply]))
        for ply, position in zip(plies, positions, strict=True)
    ]
    assert list(canonical_moves(moves, variant, plies)) == wanted
