"""2048 against an adversary."""

from random import Random

import pytest

from meijin.bots.reference import Game, alphabeta, minimax, negamax
from meijin.bots.reference.slides import EMPTY, Grid, Slide, grid_worth
from meijin.bots.reference.twenty48 import (
    Placement,
    Play,
    Twenty48,
    any_placement,
    depth_for,
    opening_grid,
    placed,
    search,
)

STUCK: Grid = (2, 4, 2, 4, 4, 2, 4, 2, 2, 4, 2, 4, 4, 2, 4, 2)


def tiles(**cells: int) -> Grid:
    """A grid with a few tiles: ``c5=2`` is a 2 on cell 5."""
    grid = list(EMPTY)
    for name, tile in cells.items():
        grid[int(name[1:])] = tile
    return tuple(grid)


def test_turns_alternate_and_are_taken_back() -> None:
    """The slider maximises; after a slide the other side places a tile."""
    game: Game[Play] = Twenty48(tiles(c5=2, c6=2))
    key = game.key
    assert game.maximiser_to_move
    game.play(Slide.LEFT)
    assert not game.maximiser_to_move
    game.play(Placement(15, 4))
    assert game.key == (tiles(c4=4, c15=4), True)
    game.undo()
    game.undo()
    assert game.key == key


def test_only_slides_that_move_something() -> None:
    """A slide that changes nothing is none."""
    assert Twenty48(tiles(c0=2, c1=4)).moves() == [Slide.DOWN, Slide.RIGHT]


def test_over_when_no_slide_is_possible() -> None:
    """A full grid without equal neighbours is lost, and worth nothing."""
    game = Twenty48(STUCK)
    assert game.is_over
    assert game.moves() == []
    assert game.evaluate() == 0
    assert not Twenty48((2, *STUCK[1:-1], 0)).is_over
    assert not Twenty48((4, *STUCK[1:])).is_over


def test_placements() -> None:
    """A two and a four on each empty cell; or only beside a tile, if there is one."""
    grid = tiles(c0=2)
    every = Twenty48(grid, slider_to_move=False, skips=False).moves()
    assert every == [Placement(cell, tile) for cell in range(1, 16) for tile in (2, 4)]
    beside = Twenty48(grid, slider_to_move=False).moves()
    assert beside == [Placement(cell, tile) for cell in (1, 4) for tile in (2, 4)]
    assert len(Twenty48(EMPTY, slider_to_move=False).moves()) == 32


@pytest.mark.parametrize("skips", [True, False])
def test_searches_agree(skips: bool) -> None:  # noqa: FBT001
    """Pruning changes no value."""
    for seed in range(3):
        game = Twenty48(opening_grid(Random(seed)), skips=skips)
        plain = minimax(game, 3)
        pruned = alphabeta(game, 3)
        assert plain.value == pruned.value == negamax(game, 3, table={}).value
        assert pruned.moves == plain.moves[:1]
        assert pruned.nodes < plain.nodes


def test_depth_grows_with_the_largest_tile() -> None:
    """Four plies, five from 1024 on, six from 2048 on."""
    depths = {tile: depth_for(tiles(c3=tile)) for tile in (2, 512, 1024, 2048, 4096)}
    assert depths == {2: 4, 512: 4, 1024: 5, 2048: 6, 4096: 6}
    grid = tiles(c0=2, c5=2)
    assert search(grid) == search(grid, 4)


def test_search_sees_ahead() -> None:
    """A ply ahead it takes the slide after which the grid is worth most."""
    grid = opening_grid(Random(4))
    found = search(grid, 1)
    game = Twenty48(grid)
    worths = []
    for slide in game.moves():
        game.play(slide)
        worths.append(grid_worth(game.grid))
        game.undo()
    assert found.value == max(worths)


def test_chance_places_on_empty_cells() -> None:
    """A full cell is never drawn, and a four about one time in ten."""
    rng = Random(1)
    drawn = [any_placement((0, *STUCK[1:-1], 0), rng) for _ in range(1000)]
    assert {placement.cell for placement in drawn} == {0, 15}
    assert 50 < sum(placement.tile == 4 for placement in drawn) < 150
    with pytest.raises(IndexError):
        any_placement(STUCK, rng)


def test_opening_has_two_tiles() -> None:
    """Decided by the source of chance."""
    grid = opening_grid(Random(1))
    assert len([tile for tile in grid if tile]) == 2
    assert grid == opening_grid(Random(1))


@pytest.mark.parametrize("seed", range(3))
def test_reaches_256(seed: int) -> None:
    """Two plies ahead are enough against placements by chance."""
    rng = Random(seed)
    game = Twenty48(opening_grid(rng))
    while not game.is_over and max(game.grid) < 256:
        game.play(search(game.grid, 2).move)
        assert not game.is_over
        game.play(any_placement(game.grid, rng))
    assert max(game.grid) >= 256


def test_placed_keeps_the_rest() -> None:
    """One cell changes."""
    assert placed(tiles(c0=2), Placement(7, 4)) == tiles(c0=2, c7=4)
