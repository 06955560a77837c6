"""A bot for the tests: it plays anywhere, and writes down at once what it is told and answers."""

import asyncio
import os
import random
import time
from dataclasses import replace

from meijin.bots import Bot, Capabilities, Position
from meijin.game import OPENING_RULES, Color, Outcome, encode_moves

OPENING_DELAYS = 10
"""How many times as long as a move an action of an opening takes."""


class JournalBot(Bot):
    """Thinks for `delay` seconds on each move of up to `games` at once; `seed` makes it another bot."""

    capabilities = Capabilities(
        min_size=7, max_size=15, opening_rules=tuple(OPENING_RULES.values())
    )

    def __init__(self, journal: str, delay: float = 0.01, seed: int = 0, games: int = 4) -> None:
        self.capabilities = replace(self.capabilities, max_games=games)
        self._journal = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._delay = delay
        self._rng = random.Random(seed)

    async def choose(self, position: Position) -> int:
        self._note("told", position.game_id, encode_moves(position.board.moves).hex())
        await asyncio.sleep(self._delay)
        cell = self._rng.choice(position.legal_cells())
        self._note("sent", position.game_id, f"{len(position.board.moves)} {cell}")
        return cell

    def place_opening(self, position: Position, stones: int) -> list[int]:
        """Take any cells, and long enough for the server to be killed meanwhile."""
        self._note("told", position.game_id, encode_moves(position.board.moves).hex())
        time.sleep(OPENING_DELAYS * self._delay)
        return self._rng.sample(position.legal_cells(), stones)

    def choose_side(self, position: Position, stones: int) -> Color | list[int]:
        if stones and self._rng.random() < 0.5:
            return self.place_opening(position, stones)
        self._note("told", position.game_id, encode_moves(position.board.moves).hex())
        time.sleep(OPENING_DELAYS * self._delay)
        return self._rng.choice(tuple(Color))

    def game_ended(self, game_id: str, outcome: Outcome | None) -> None:
        if outcome is not None:
            self._note("ended", game_id, f"{outcome.result.value} {outcome.ending.value}")

    def _note(self, *words: str) -> None:
        """Hand a line to the system, which keeps it though the process be killed."""
        os.write(self._journal, f"{' '.join(words)}\n".encode())
