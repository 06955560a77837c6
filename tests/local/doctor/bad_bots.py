"""Bots with one mistake each, for the doctor to find; they start quickly and play at once."""

import os
import secrets
import subprocess
import time
from collections.abc import Sequence
from datetime import timedelta
from random import Random

from meijin.bots import Answer, Bot, Capabilities, Position
from meijin.game import FREE, FREESTYLE, RENJU, SWAP2, Color

RNG = Random(1)


class Good(Bot):
    """Plays any legal cell, in every game that it claims."""

    capabilities = Capabilities(max_games=2)

    def choose(self, position: Position) -> Answer:
        return RNG.choice(position.legal_cells())

    def place_opening(self, position: Position, stones: int) -> Sequence[int]:
        return RNG.sample(position.legal_cells(), stones)

    def choose_side(self, position: Position, stones: int) -> Color:  # noqa: ARG002 - the SDK's signature
        return Color.WHITE


class Raises(Good):
    """Fails in its first turn, after a flood of words that are no text."""

    def choose(self, position: Position) -> Answer:  # noqa: ARG002 - the SDK's signature
        os.write(2, b"\xff\x1b[31m" * 100_000 + b"\n")
        raise RuntimeError("no such table")


class Dies(Good):
    """Says hello, and ends when its first game starts."""

    def game_started(self, position: Position) -> None:  # noqa: ARG002 - the SDK's signature
        os.write(2, b"out of luck\n")
        os._exit(3)


class Hangs(Good):
    """Never answers."""

    def choose(self, position: Position) -> Answer:  # noqa: ARG002 - the SDK's signature
        time.sleep(3600)
        raise AssertionError


class NoRenju(Good):
    """Claims renju and swap2, of which it knows nothing."""

    capabilities = Capabilities(rules=(FREESTYLE, RENJU), opening_rules=(FREE, SWAP2))

    def choose(self, position: Position) -> Answer:
        if position.variant.rule != FREESTYLE:
            raise ValueError("what is renju?")
        return super().choose(position)

    def place_opening(self, position: Position, stones: int) -> Sequence[int]:
        return position.legal_cells()[: stones - 1]


class ThreeMistakes(Good):
    """Claims sizes that it can't play, is slow on a fast clock, and draws its digest by lot."""

    capabilities = Capabilities(min_size=15, max_size=17)

    @property
    def digest(self) -> str:
        return secrets.token_hex(8)

    def choose(self, position: Position) -> Answer:
        if position.variant.cells != 225:
            return position.board.moves[0]
        if position.clock_ms <= 1000:
            time.sleep(4 * position.time_left.total_seconds())
        return super().choose(position)


class Untidy(Good):
    """Gets ready in its first turn, and leaves a child behind."""

    is_ready = False

    def prepare(self) -> None:
        subprocess.run(["sh", "-c", "sleep 3600 & exit"], start_new_session=True, check=True)

    def choose(self, position: Position) -> Answer:
        if not Untidy.is_ready:
            Untidy.is_ready = True
            time.sleep(1)
        return super().choose(position)


class Stays(Good):
    """Does not end when it is told to."""

    def close(self) -> None:
        time.sleep(3600)


class Late(Good):
    """Fails in long games."""

    def choose(self, position: Position) -> Answer:
        if len(position.board.moves) > 40:
            raise RuntimeError("out of memory")
        return super().choose(position)


class Slow(Good):
    """Claims that it needs days."""

    capabilities = Capabilities(min_move_time=timedelta(days=20))


class Patient(Hangs):
    """Never answers, and claims that a move takes long."""

    capabilities = Capabilities(min_move_time=timedelta(seconds=10))
