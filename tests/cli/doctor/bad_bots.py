"""Bots with one mistake each, for the doctor to find; they start quickly and play at once."""

import os
import secrets
import subprocess
import time
from collections.abc import Sequence
from random import Random

from meijin.bots import RESIGN, Answer, Bot, Capabilities, Position
from meijin.game import FREE, FREESTYLE, RENJU, SWAP2, Color

RNG = Random(1)


class Good(Bot):
    """Plays any legal cell, in every game that it claims."""

    capabilities = Capabilities(max_games=2)

    def choose(self, position: Position) -> Answer:
        """Draw a cell."""
        return RNG.choice(position.legal_cells())

    def place_opening(self, position: Position, stones: int) -> Sequence[int]:
        """Draw as many cells."""
        return RNG.sample(position.legal_cells(), stones)

    def choose_side(self, position: Position, stones: int) -> Color:  # noqa: ARG002 - the SDK's signature  # noqa: ARG002 - the SDK's signature
        """Take white."""
        return Color.WHITE


class Raises(Good):
    """Fails in its first turn, after a flood of words that are no text."""

    def choose(self, position: Position) -> Answer:  # noqa: ARG002 - the SDK's signature
        """Fail."""
        os.write(2, b"\xff\x1b[31m" * 100_000 + b"\n")
        raise RuntimeError("no such table")


class Dies(Good):
    """Says hello, and ends when its first game starts."""

    def game_started(self, position: Position) -> None:  # noqa: ARG002 - the SDK's signature
        """End the process, without a word to the server."""
        os.write(2, b"out of luck\n")
        os._exit(3)


class Hangs(Good):
    """Never answers."""

    def choose(self, position: Position) -> Answer:  # noqa: ARG002 - the SDK's signature
        """Wait for ever."""
        time.sleep(3600)
        raise AssertionError


class GivesUp(Good):
    """Resigns at its first turn."""

    def choose(self, position: Position) -> Answer:  # noqa: ARG002 - the SDK's signature
        """Resign."""
        return RESIGN


class NoRenju(Good):
    """Claims renju and swap2, of which it knows nothing."""

    capabilities = Capabilities(rules=(FREESTYLE, RENJU), opening_rules=(FREE, SWAP2))

    def choose(self, position: Position) -> Answer:
        """Fail under another rule than freestyle."""
        if position.variant.rule != FREESTYLE:
            raise ValueError("what is renju?")
        return super().choose(position)

    def place_opening(self, position: Position, stones: int) -> Sequence[int]:
        """Place too few."""
        return position.legal_cells()[: stones - 1]


class ThreeMistakes(Good):
    """Claims sizes that it can't play, is slow on a fast clock, and draws its digest by lot."""

    capabilities = Capabilities(min_size=15, max_size=17)

    @property
    def digest(self) -> str:
        """Draw one."""
        return secrets.token_hex(8)

    def choose(self, position: Position) -> Answer:
        """Take an occupied cell on other boards than 15x15, and on a second too much of it."""
        if position.variant.cells != 225:
            return position.board.moves[0]
        if position.clock_ms <= 1000:
            time.sleep(4 * position.time_left.total_seconds())
        return super().choose(position)


class Untidy(Good):
    """Gets ready in its first turn, and leaves a child behind."""

    is_ready = False

    def prepare(self) -> None:
        """Start the child, in a session of its own and below nobody."""
        subprocess.run(["sh", "-c", "sleep 3600 & exit"], start_new_session=True, check=True)

    def choose(self, position: Position) -> Answer:
        """Take a second, once."""
        if not Untidy.is_ready:
            Untidy.is_ready = True
            time.sleep(1)
        return super().choose(position)


class Stays(Good):
    """Does not end when it is told to."""

    def close(self) -> None:
        """Wait for ever."""
        time.sleep(3600)
