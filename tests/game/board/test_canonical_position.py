"""Positions without the order of their stones, and without left and right."""

from __future__ import annotations

import random

import pytest

from meijin.game import GOMOKU, Variant
from meijin.game.board.canonical_position import canonical_position
from meijin.game.board.symmetry import position_key, symmetries

VARIANTS = (GOMOKU, Variant(width=7, height=7), Variant(width=9, height=6))


def some_moves(variant: Variant, seed: int, length: int) -> list[int]:
    """So many different cells."""
    return random.Random(seed).sample(range(variant.cells), length)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("length", [0, 1, 2, 7])
def test_images_and_orders_share_a_key(variant: Variant, length: int) -> None:
    """Whichever image, and whichever order of each colour's stones."""
    moves = some_moves(variant, length, length)
    found = canonical_position(moves, variant)
    for image in symmetries(variant):
        assert canonical_position([image[cell] for cell in moves], variant).key == found.key
    turned = list(moves)
    turned[::2] = reversed(turned[::2])
    assert canonical_position(turned, variant).key == found.key


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


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("length", [0, 1, 2, 5])
def test_cells_lead_there_and_back(variant: Variant, length: int) -> None:
    """A cell is among those of its canonical cell, and playing any of them gives one position."""
    moves = some_moves(variant, length, length)
    found = canonical_position(moves, variant)
    for cell in set(range(variant.cells)) - set(moves):
        same = found.cells_of(found.canonical_cell(cell))
        assert cell in same
        keys = {canonical_position([*moves, each], variant).key for each in same}
        assert len(keys) == 1


def test_mirror_images_have_the_same_canonical_cells() -> None:
    """What is counted of a game is found again from any of its images."""
    moves, then = some_moves(GOMOKU, 3, 5), 17
    found = canonical_position(moves, GOMOKU)
    for image in symmetries(GOMOKU):
        other = canonical_position([image[cell] for cell in moves], GOMOKU)
        assert other.canonical_cell(image[then]) == found.canonical_cell(then)


def test_the_first_move_has_thirty_six_forms() -> None:
    """Of the 225 cells of an empty board of 15x15."""
    empty = canonical_position([], GOMOKU)
    assert len({empty.canonical_cell(cell) for cell in range(GOMOKU.cells)}) == 36


def test_keys_never_change() -> None:
    """They are kept in databases; here they are written down."""
    assert canonical_position([], GOMOKU).key == -9194177842081034435
    assert canonical_position([112, 98, 113], GOMOKU).key == -6110856329023574874
    assert canonical_position([3, 4], Variant(width=9, height=6)).key == -7066357430459915680
