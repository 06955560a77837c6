"""Evaluations: positions outside of games that a bot is asked for on its stream."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import NamedTuple

from meijin.game import Board
from meijin.game.records.analysis import cells_on_board
from meijin.server.match.live.commands import Evaluation
from meijin.wire.text import plain_text

MAX_OUTSTANDING = 64
"""Positions that a bot is asked for at once on one stream; more of them wait here."""

PATIENCE = timedelta(seconds=30)
"""Beyond the time of a search, how long a bot may be silent that was asked: its games go first."""

MAX_GIVEN_UP = 1024
"""Evaluations that nobody waits for any more and the bot may still answer: the newest N."""

MAX_FAILURE = 500
"""Characters kept of why a bot has found nothing."""

LEFT = "the bot has left"


@dataclass(frozen=True, slots=True)
class Search:
    """A position to search, and what that may cost."""

    board: Board
    time: timedelta
    """What the bot's clock shows."""
    nodes: int = 0
    """The most positions it is to visit; 0 for any number."""


class Asked(NamedTuple):
    """What a bot is asked."""

    number: int
    """The evaluation's number on the stream."""
    search: Search


@dataclass(slots=True, eq=False)
class Evaluations:
    """The evaluations of one stream: asked, awaited and answered."""

    _wake: Callable[[], None]
    """Has the stream send what is `unsent`."""
    unsent: list[Asked] = field(default_factory=list)
    """What the bot is yet to be asked. A plain list: it is looked at for every message."""
    has_ended: bool = False
    """The bot has left."""
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_OUTSTANDING))
    _pending: dict[int, asyncio.Future[Evaluation | None]] = field(default_factory=dict)
    _given_up: dict[int, None] = field(default_factory=dict)
    _answered_at: float = 0.0

    async def evaluate(self, search: Search) -> Evaluation:
        """Have the bot search a position; a caller that leaves takes the question back.

        What is found is a legal cell, or none with the reason.
        """
        async with self._room:
            asked = Asked(next(self._numbers), search)
            if self.has_ended:
                return Evaluation(asked.number, failure=LEFT)
            answer = asyncio.get_running_loop().create_future()
            self._pending[asked.number] = answer
            self.unsent.append(asked)
            self._wake()
            try:
                return await self._answer_to(asked, answer)
            finally:
                self._forget(asked)

    async def _answer_to(
        self, asked: Asked, answer: asyncio.Future[Evaluation | None]
    ) -> Evaluation:
        """Wait for an answer for as long as the bot gives others, and a while longer."""
        clock = asyncio.get_running_loop().time
        asked_at, limit = clock(), (asked.search.time + PATIENCE).total_seconds()
        while not answer.done():
            left = max(asked_at, self._answered_at) + limit - clock()
            if left <= 0:
                failure = f"the bot has not answered for {limit:g} s"
                return Evaluation(asked.number, failure=failure)
            await asyncio.wait((answer,), timeout=left)
        found = answer.result()
        if found is None:
            return Evaluation(asked.number, failure=LEFT)
        return _judged(found, asked.search.board)

    def _forget(self, asked: Asked) -> None:
        """Nobody waits for an answer any more, or it is here."""
        if self._pending.pop(asked.number, None) is None:
            return
        if asked in self.unsent:
            self.unsent.remove(asked)
            return
        self._given_up[asked.number] = None
        if len(self._given_up) > MAX_GIVEN_UP:
            del self._given_up[next(iter(self._given_up))]

    def take(self) -> list[Asked]:
        """What the bot is asked now."""
        asked, self.unsent = self.unsent, []
        return [each for each in asked if each.number in self._pending]

    def answer(self, found: Evaluation) -> bool:
        """The bot has answered; false where that was not to be answered, or not again."""
        waiting = self._pending.pop(found.number, None)
        if waiting is None:
            is_late = found.number in self._given_up
            self._given_up.pop(found.number, None)
            return is_late
        self._answered_at = asyncio.get_running_loop().time()
        if not waiting.done():
            waiting.set_result(found)
        return True

    def end(self) -> None:
        """The bot has left: nothing is answered any more."""
        self.has_ended = True
        self.unsent.clear()
        for waiting in self._pending.values():
            if not waiting.done():
                waiting.set_result(None)


def _judged(found: Evaluation, board: Board) -> Evaluation:
    """What is told of an answer: bots may send anything."""
    failure, analysis = "", found.analysis
    if found.failure:
        failure = f"the bot failed: {plain_text(found.failure[:MAX_FAILURE])}"
    elif found.cell is not None and not board.is_legal(found.cell):
        failure = f"the bot answered with cell {found.cell}, which can't be played"
    if failure:
        return found._replace(cell=None, analysis=None, failure=failure)
    if analysis is not None:
        analysis = replace(analysis, pv=cells_on_board(analysis.pv, board.variant))
    return found._replace(analysis=analysis)
