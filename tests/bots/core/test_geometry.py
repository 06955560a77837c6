"""Cells and lines of a board."""

from __future__ import annotations

import pytest

from meijin.bots.core.geometry import MARGIN, STEPS, geometry_of


@pytest.mark.parametrize(("width", "height"), [(5, 5), (15, 15), (7, 22), (22, 7), (22, 22)])
def test_steps_stay_on_the_line(width: int, height: int) -> None:
    """Each step along a line keeps the line and moves on by two bits."""
    geometry = geometry_of(width, height)
    for direction, (rows, columns) in enumerate(STEPS):
        places = set()
        for cell in range(width * height):
            row, column = divmod(cell, width)
            line, shift = geometry.line[direction, cell], geometry.shift[direction, cell]
            places.add((line, shift))
            assert 2 * MARGIN <= shift <= 62 - 2 * MARGIN
            inside = 0 <= row + rows < height and 0 <= column + columns < width
            assert inside == (geometry.after[direction, cell] > 0)
            if inside:
                following = cell + geometry.step[direction]
                assert geometry.line[direction, following] == line
                assert geometry.shift[direction, following] == shift + 2
                assert geometry.before[direction, following] > 0
        assert len(places) == width * height
