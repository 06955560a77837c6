"""The base class of bots that search with the compiled core, and how they play openings."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from random import Random

from meijin.bots.core.cache import source_digest
from meijin.bots.sdk.bot import DIGEST_LENGTH, Bot
from meijin.bots.sdk.errors import MissingExtraError
from meijin.bots.sdk.position import Position, thinking_time
from meijin.game import FREE, Board, Color
from meijin.game.openings.book import generated_openings

logger = logging.getLogger("meijin.bots")

COMPILING = "compiling the search"
"""The words of the log line by which others know that a bot compiles."""

NOTICE_INTERVAL = timedelta(seconds=10)
"""Between two notices of a compilation, at least."""


class Progress:
    """Progress of a compilation: says that it runs, and again while it lasts."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._functions = 0
        self._next = -math.inf

    def begin(self, functions: int) -> None:
        """Another function is being compiled, the one of this number."""
        self._functions = functions
        now = self._now()
        if now < self._next:
            return
        self._next = now + NOTICE_INTERVAL.total_seconds()
        if functions == 1:
            logger.info("%s, once; it takes a minute, or more on a busy machine", COMPILING)
        else:
            logger.info("%s: %d functions so far", COMPILING, functions)

    def end(self) -> None:
        """Everything is there; nothing is said where all of it was loaded."""
        if self._functions:
            logger.info("compiled the search: %d functions", self._functions)


CANDIDATES = 8
"""Openings that are looked at, of which the most balanced is placed."""


class CompiledBot(Bot):
    """A bot that needs numba, and is a new version whenever the core is.

    It plays openings by the values that its own search gives to positions.
    """

    def __init__(self) -> None:
        """Look for numba.

        Raises:
            MissingExtraError: it isn't installed.
        """
        if importlib.util.find_spec("numba") is None:
            raise MissingExtraError(f"{self.name} needs numba; pip install 'meijin[bots]'")

    @property
    def digest(self) -> str:
        """Tells versions apart, those of the core too."""
        both = f"{super().digest}{source_digest()}".encode()
        return hashlib.sha256(both).hexdigest()[:DIGEST_LENGTH]

    def prepare(self) -> None:
        """Load the compiled search, or compile it, before any clock runs."""
        from meijin.bots.core.jit import compilations  # noqa: PLC0415 - not in the bare install

        progress = Progress()
        with compilations(progress.begin):
            self.warm_up()
        progress.end()

    def warm_up(self) -> None:
        """Search once, so that the first move is no slower than the others."""
        raise NotImplementedError(f"{type(self).__name__} has no warm_up method")

    def advantage(self, position: Position, board: Board, time: timedelta) -> float:
        """How much better the side to move stands, in any unit; below 0 it stands worse.

        `board` is a position of the same game, searched for no longer than `time`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no advantage method")

    def place_opening(self, position: Position, stones: int) -> Sequence[int]:
        """Place the candidate after which neither side is better, as far as a search sees."""
        candidates = _candidates(position, stones)
        time = thinking_time(position) / len(candidates)

        def imbalance(cells: Sequence[int]) -> float:
            board = position.board.copy()
            for cell in cells:
                board.play(cell)
            return abs(self.advantage(position, board, time))

        return min(candidates, key=imbalance)

    def choose_side(self, position: Position, stones: int) -> Color | Sequence[int]:  # noqa: ARG002 - it never places more
        """Take the side that is better, as far as a search sees."""
        side = position.board.side_to_move
        value = self.advantage(position, position.board, thinking_time(position))
        return side if value >= 0 else side.other


def _candidates(position: Position, stones: int) -> list[tuple[int, ...]]:
    """Half of them begin balanced openings, and half lie anywhere; drawn by the game's name.

    One stone alone lies anywhere: near the middle black is better.
    """
    rng = Random(position.game_id)  # noqa: S311 - the opponent may know it
    legal = position.legal_cells()
    anywhere = (tuple(rng.sample(legal, stones)) for _ in range(CANDIDATES))
    book = generated_openings(replace(position.variant, opening_rule=FREE, draw_at=None))
    known = [opening[:stones] for opening in book if len(opening) > stones > 1]
    if position.board.moves or not known:
        return list(anywhere)
    half = CANDIDATES // 2
    return [*rng.sample(known, min(half, len(known))), *islice(anywhere, half)]
