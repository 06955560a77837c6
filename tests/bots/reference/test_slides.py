"""The grid of 2048."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.bots.reference.slides import (
    EMPTY,
    SNAKE,
    STEEP,
    Grid,
    Slide,
    grid_worth,
    mirrored,
    neighbours,
    pushed,
    slid,
    symmetries,
    turned,
)

GRIDS = st.lists(st.sampled_from([0, 2, 4, 8, 16]), min_size=16, max_size=16).map(tuple)


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ([0, 0, 2, 0], [2, 0, 0, 0]),
        ([2, 2, 0, 0], [4, 0, 0, 0]),
        ([2, 0, 0, 2], [4, 0, 0, 0]),
        ([2, 2, 2, 0], [4, 2, 0, 0]),
        ([2, 2, 2, 2], [4, 4, 0, 0]),
        ([4, 2, 2, 0], [4, 4, 0, 0]),
        ([2, 2, 4, 0], [4, 4, 0, 0]),
        ([2, 4, 2, 4], [2, 4, 2, 4]),
    ],
)
def test_line(line: list[int], after: list[int]) -> None:
    """Tiles close up; two equal ones merge, the nearest to the side first, each once."""
    assert pushed(line) == after


CORNERED: Grid = (2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 2)


@pytest.mark.parametrize(
    ("slide", "after"),
    [
        (Slide.LEFT, (4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 2, 0, 0)),
        (Slide.RIGHT, (0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 2)),
        (Slide.UP, (2, 0, 0, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
        (Slide.DOWN, (0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 4)),
    ],
)
def test_slide(slide: Slide, after: Grid) -> None:
    """All lines go the same way."""
    assert slid(CORNERED, slide) == after


@given(GRIDS)
def test_slides_keep_the_sum(grid: Grid) -> None:
    """Merging loses nothing, and every tile stays a power of two."""
    for slide in Slide:
        after = slid(grid, slide)
        assert sum(after) == sum(grid)
        assert all(tile & (tile - 1) == 0 for tile in after)


@given(GRIDS)
def test_slides_turn_with_the_grid(grid: Grid) -> None:
    """Up on a grid is right on the grid turned clockwise, and left is right in the mirror."""
    assert turned(slid(grid, Slide.UP)) == slid(turned(grid), Slide.RIGHT)
    assert mirrored(slid(grid, Slide.LEFT)) == slid(mirrored(grid), Slide.RIGHT)


@given(GRIDS)
def test_worth_is_symmetric(grid: Grid) -> None:
    """A grid is worth the same in all its eight positions."""
    assert {grid_worth(each) for each in symmetries(grid)} == {grid_worth(grid)}


def test_symmetries_are_eight() -> None:
    """All differ for a grid without symmetry, and turning four times changes nothing."""
    assert len(set(symmetries(SNAKE))) == 8
    assert turned(turned(turned(turned(SNAKE)))) == SNAKE
    assert mirrored(mirrored(SNAKE)) == SNAKE


def test_worth_is_the_largest_sum() -> None:
    """Tiles along the snake are worth their weights' sums, a lone tile 16 times itself."""
    assert grid_worth(SNAKE) == sum(weight * weight for weight in SNAKE)
    assert grid_worth(STEEP) == sum(weight * weight for weight in STEEP)
    corner: Grid = (0, 0, 0, 1024, *[0] * 12)
    assert grid_worth(corner) == 16 * 1024
    assert grid_worth(EMPTY) == 0


def test_neighbours() -> None:
    """Two at a corner, four in the middle."""
    assert neighbours(0) == [1, 4]
    assert neighbours(5) == [1, 4, 6, 9]
    assert neighbours(11) == [7, 10, 15]
