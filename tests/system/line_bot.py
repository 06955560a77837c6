"""Two bots for the tests, of which one beats the other in every game on 7x7."""

import asyncio
from collections.abc import Iterable

from meijin.bots import Bot, Capabilities, Position


class Line(Bot):
    """Takes the first cell that is free, and so the first row."""

    capabilities = Capabilities(min_size=7, max_size=7, max_games=2)

    def __init__(self, delay: float = 0.01) -> None:
        self._delay = delay

    async def choose(self, position: Position) -> int:
        await asyncio.sleep(self._delay)
        return next(iter(self.cells(position)))

    def cells(self, position: Position) -> Iterable[int]:
        return position.legal_cells()


class Dots(Line):
    """Takes cells of which no two of a line of five are neighbours, from the last row on."""

    def cells(self, position: Position) -> Iterable[int]:
        width = position.variant.width
        free = reversed(position.legal_cells())
        return (cell for cell in free if (cell % width + 2 * (cell // width)) % 5 == 0)
