"""Bots of all kinds in one process: random ones, slow ones, one that fails, hostile words.

python -m tests.web.browser.troupe ADDRESS NAME=TOKEN...
"""

import asyncio
import random
import sys
from dataclasses import replace

from meijin.bots import Analysis, Bot, Capabilities, Choice, Position, serve
from meijin.bots.sdk.runner import ignore_idle_wakeups
from meijin.game import OPENING_RULES, Color

HOSTILE = "<script>alert(1)</script>"
REVERSED = "\u202eoib"
"""Turns the direction of what follows."""

SLOW = "slow"
"""How the names begin of bots that take their time."""


SINGLE = "single"
"""Plays one game at a time."""


class Player(Bot):
    """Plays anywhere, says what it thinks, under a version label that nobody should trust."""

    capabilities = Capabilities(
        min_size=5,
        max_size=15,
        max_games=8,
        opening_rules=tuple(OPENING_RULES.values()),
        evaluates=True,
    )

    def __init__(self, name: str) -> None:
        self.name = name
        if name == SINGLE:
            self.capabilities = replace(self.capabilities, max_games=1)
        self.version = '<b onclick="alert(2)">'
        self._rng = random.Random(name)

    async def choose(self, position: Position) -> Choice:
        """Take any cell; the one that fails does so a few moves into its games."""
        cells = position.legal_cells()
        if self.name.startswith("failing") and len(position.board.moves) > 4:
            raise RuntimeError(f"{HOSTILE} {REVERSED}\x07")
        if self.name.startswith(SLOW):
            await asyncio.sleep(0.3)
        pv = self._rng.sample(cells, min(4, len(cells)))
        score = self._rng.randrange(-90, 90)
        return Choice(pv[0], Analysis(score=score, depth=3, nodes=1000, pv=tuple(pv)))

    def place_opening(self, position: Position, stones: int) -> list[int]:
        return self._rng.sample(position.legal_cells(), stones)

    def choose_side(self, position: Position, stones: int) -> Color | list[int]:
        return self.place_opening(position, stones) if stones else Color.BLACK


async def play(address: str, tokens: dict[str, str]) -> None:
    ignore_idle_wakeups()
    hardware = f"{HOSTILE} {REVERSED}"
    async with asyncio.TaskGroup() as tasks:
        for name, token in tokens.items():
            bot = serve(Player(name), server=address, token=token, hardware=hardware)
            tasks.create_task(bot)


if __name__ == "__main__":
    asyncio.run(play(sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:])))
