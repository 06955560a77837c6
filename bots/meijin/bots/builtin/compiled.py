"""The base class of bots that search with the compiled core, and how they play openings."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from random import Random
from time import monotonic

from meijin.bots.core.cache import source_digest
from meijin.bots.sdk.bot import DIGEST_LENGTH, Bot, central_first, drawn_stones
from meijin.bots.sdk.errors import MissingExtraError
from meijin.bots.sdk.position import Position, thinking_time
from meijin.game import FREE, Board, Color, Offer
from meijin.game.openings.book import generated_openings
from meijin.game.position import distinct_cells

logger = logging.getLogger("meijin.bots")

COMPILING = "compiling the search"
"""The words of the log line by which others know that a bot compiles."""

NOTICE_INTERVAL = timedelta(seconds=10)
"""Between two notices of a compilation, at least."""


class Progress:
    """Progress of a compilation: says that it runs, and again while it lasts."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
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


LOOKED_AT = 24
"""Cells that are looked at for a single stone, or as offers for it: twice as many as are asked for."""
CANDIDATES = 8
"""Openings that are looked at, of which the most balanced is placed."""


class CompiledBot(Bot):
    """A bot that needs numba, and is a new version whenever the core is.

    It plays openings by the values that its own search gives to positions.
    """

    search_threads = 1

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
        """Place the candidate after which neither side is better, as far as a search sees.

        Where no more sides are chosen, since offers were declared before, place the best stone.
        """
        if position.task is not None and position.task.declared:
            return [self._ranked(position, position.board, thinking_time(position))[0][1]]
        candidates = _candidates(position, stones)
        values = self._values(position, position.board, candidates, thinking_time(position))
        return min(zip(values, candidates, strict=False), key=lambda found: abs(found[0]))[1]

    def choose_side(self, position: Position, stones: int) -> Color | Sequence[int] | Offer:  # noqa: ARG002 - it never places more
        """Take the side that is better, as far as a search sees.

        Or make an offer, where even the worst of its cells leaves the bot ahead.
        """
        side, time = position.board.side_to_move, thinking_time(position)
        if position.task is not None and (count := position.task.offers):
            time /= 2
            offered = self._ranked(position, position.board, time)[:count]
            if offered[-1][0] > 0:
                return Offer(tuple(cell for _, cell in offered))
        value = self.advantage(position, position.board, time)
        return side if value >= 0 else side.other

    def declare_offers(self, position: Position, most: int) -> int:
        """Declare as many as leave neither side better, were white to take the worst of them.

        A fourth stone that is still to be placed is taken to be white's best.
        """
        board, time = position.board.copy(), thinking_time(position)
        if board.side_to_move is Color.WHITE:
            time /= 2
            board.play(self._ranked(position, board, time)[0][1])
        ranked = self._ranked(position, board, time)[:most]
        return 1 + min(range(len(ranked)), key=lambda place: abs(ranked[place][0]))

    def offer_cells(self, position: Position, count: int) -> Sequence[int]:
        """Offer the cells that are best for the bot, as far as a search sees."""
        ranked = self._ranked(position, position.board, thinking_time(position))
        return [cell for _, cell in ranked[:count]]

    def take_offered(self, position: Position, cells: Sequence[int]) -> int:
        """Take the cell that is best for the bot, which is then to move."""
        options = [(cell,) for cell in cells]
        values = self._values(position, position.board, options, thinking_time(position))
        return max(zip(values, cells, strict=False))[1]

    def _ranked(self, position: Position, board: Board, time: timedelta) -> list[tuple[float, int]]:
        """Cells near the centre with what a stone there is worth to its side, the best first."""
        cells = distinct_cells(board, central_first(board))[:LOOKED_AT]
        values = self._values(position, board, [(cell,) for cell in cells], time)
        worth = [-value for value in values] + [-math.inf] * (len(cells) - len(values))
        return sorted(zip(worth, cells, strict=True), reverse=True)

    def _values(
        self, position: Position, board: Board, options: Sequence[Sequence[int]], time: timedelta
    ) -> list[float]:
        """What positions after some stones are worth to who moves then: while there is time."""
        deadline, values = monotonic() + time.total_seconds(), list[float]()
        for cells in options:
            if values and monotonic() >= deadline:
                break
            later = board.copy()
            for cell in cells:
                later.play(cell)
            values.append(self.advantage(position, later, time / len(options)))
        return values


def _candidates(position: Position, stones: int) -> list[tuple[int, ...]]:
    """Half of them begin balanced openings, and half lie anywhere; drawn by the game's name.

    One stone alone lies anywhere: near the middle black is better. Where the task allows some cells
    alone, all are drawn of these.
    """
    rng = Random(position.game_id)  # noqa: S311 - the opponent may know it
    anywhere = (tuple(drawn_stones(position, stones, rng)) for _ in range(CANDIDATES))
    if position.task is not None and position.task.squares:
        return list(dict.fromkeys(anywhere))
    book = generated_openings(replace(position.variant, opening_rule=FREE, draw_at=None))
    known = [opening[:stones] for opening in book if len(opening) > stones > 1]
    if position.board.moves or not known:
        return list(anywhere)
    half = CANDIDATES // 2
    return [*rng.sample(known, min(half, len(known))), *islice(anywhere, half)]
