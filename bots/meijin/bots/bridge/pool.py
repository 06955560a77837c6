"""The pool: engines that run, one for each game at once, and those that wait for a game."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from concurrent import futures
from datetime import timedelta
from typing import Any, TypeVar

from meijin.bots.bridge.dialogue import Dialogue, EngineError, NewGame
from meijin.bots.bridge.probe import Starter
from meijin.bots.bridge.process import END_GRACE
from meijin.bots.bridge.session import EngineSession
from meijin.game import GOMOKU, Variant
from meijin.game.arbiter.moment import nanoseconds

_Result = TypeVar("_Result")
_THREADS = 4
"""For each game at once: engines that play, that begin, that are stopped and that end."""

logger = logging.getLogger("meijin.bots.engine")


class EnginePool:
    """Engines by the number of their seat; each plays one game at a time, and then another.

    One is *ready* when it has made a trial move and has an empty board: whatever that takes is
    taken between games. It lives on one event loop; engines are waited for in threads.
    """

    def __init__(self, starter: Starter, size: int, *, is_reused: bool = True) -> None:
        self._starter = starter
        self._size = size
        self._is_reused = is_reused
        self._seats: dict[EngineSession, int] = {}
        self._idle: list[EngineSession] = []  # ready
        self._starting: dict[asyncio.Task[None], int] = {}  # with the numbers of their seats
        self._clearing: set[asyncio.Task[None]] = set()
        self._threads = futures.ThreadPoolExecutor(_THREADS * size, "meijin-engine")
        self._held: dict[EngineSession, futures.Future[Any]] = {}  # their last dialogues
        self._usual: Variant = GOMOKU  # what the next game is likely to be
        self._promised = size  # games that may come any time

    def add(self, session: EngineSession) -> None:
        """Take an engine that is ready, before all others, as that of the first seat."""
        self._seats[session] = 0
        self._idle.append(session)

    async def fill(self, variant: Variant) -> None:
        """Have an engine for each game at once, ready.

        Raises:
            EngineError: one can't get ready, or dies.
        """
        self._usual = variant
        while len(self._seats) < self._size:
            await self._start()

    async def acquire(self, game: NewGame) -> EngineSession:
        """Take an engine that has begun `game`: one that is ready, or as soon as one is.

        Raises:
            EngineError: none gets ready.
        """
        self._usual = game.variant
        self._promised = max(0, self._promised - 1)
        while True:
            while not self._idle:
                await self._one_more()
            session = self._idle.pop()
            if not session.process.is_alive:
                self._retire(session)
                continue
            try:
                await self.hold(session, session.protocol.new_game(game))
            except EngineError as error:
                logger.debug("started anew: %s", error)
                self._retire(session)
            except asyncio.CancelledError:
                self.discard(session)
                raise
            else:
                return session

    async def ready(self) -> None:
        """Wait until an engine is ready beyond those for which games may come any time."""
        while len(self._idle) <= self._promised and (tasks := {*self._starting, *self._clearing}):
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        self._promised += 1

    async def hold(
        self,
        session: EngineSession,
        dialogue: Dialogue[_Result],
        patience: timedelta | None = None,
    ) -> _Result:
        """Hold a dialogue in a thread; it is interrupted when this is cancelled.

        Raises:
            EngineError: see `EngineSession.hold`.
        """
        patience_ns = None if patience is None else nanoseconds(patience)
        held = self._threads.submit(session.hold, dialogue, patience_ns=patience_ns)
        self._held[session] = held
        try:
            return await asyncio.wrap_future(held)
        except asyncio.CancelledError:
            session.interrupt()
            raise

    def release(self, session: EngineSession) -> None:
        """Take an engine back whose game has ended; it gets ready for another at once."""
        if self._is_reused and len(self._seats) <= self._size and session.process.is_alive:
            self._clear(session, None)
        else:
            self.discard(session)

    def discard(self, session: EngineSession) -> None:
        """End an engine that can't be used again, and start another in its stead."""
        if session in self._seats:
            self._retire(session)
            if len(self._seats) + len(self._starting) < self._size:
                self._start()

    def interrupt(self, session: EngineSession) -> None:
        """Take an engine back that is thinking: it is stopped where it can be, else ended."""
        stop = session.protocol.stop()
        if stop is None:
            self.discard(session)
        else:
            self._clear(session, stop)

    def close(self) -> None:
        """Ask all engines to end, and end those that don't within the grace."""
        self._starter.close()
        for task in (*self._starting, *self._clearing):
            task.cancel()
        for session in self._seats:
            session.interrupt()
        futures.wait(self._held.values())
        for session in self._seats:
            session.ask_to_end()
        deadline = time.monotonic() + END_GRACE.total_seconds()
        for session in self._seats:
            session.process.finish(deadline)
        self._seats.clear()
        self._idle.clear()
        self._threads.shutdown(wait=False)

    async def _one_more(self) -> None:
        """Wait until an engine gets ready, which is started if none is about to be."""
        tasks = {*self._starting, *self._clearing} or {self._start()}
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if not self._idle and tasks == done:
            for task in done:
                task.result()

    def _start(self) -> asyncio.Task[None]:
        taken = {*self._seats.values(), *self._starting.values()}
        seat = next(number for number in itertools.count() if number not in taken)
        task = asyncio.get_running_loop().create_task(self._get_ready(seat))
        self._starting[task] = seat
        task.add_done_callback(self._started)
        return task

    def _started(self, task: asyncio.Task[None]) -> None:
        del self._starting[task]
        if not task.cancelled():
            task.exception()  # whoever waits for an engine is told

    async def _get_ready(self, seat: int) -> None:
        launched = self._threads.submit(self._starter.ready, self._usual, seat)
        session = await asyncio.wrap_future(launched)
        self._seats[session] = seat
        self._idle.append(session)

    def _clear(self, session: EngineSession, stop: Dialogue[None] | None) -> None:
        task = asyncio.get_running_loop().create_task(self._clear_board(session, stop))
        self._clearing.add(task)
        task.add_done_callback(self._clearing.discard)

    async def _clear_board(self, session: EngineSession, stop: Dialogue[None] | None) -> None:
        """Have an engine ready again, or another in its stead."""
        try:
            if stop is not None:
                await asyncio.wait((asyncio.wrap_future(self._held[session]),))
                session.process.forget_interrupts()
                await self.hold(session, stop)
            await self.hold(session, session.protocol.set_up(self._usual))
        except EngineError as error:
            logger.info("between games, %s; it is started anew", error)
            self.discard(session)
        else:
            self._idle.append(session)

    def _retire(self, session: EngineSession) -> None:
        """Ask an engine to end, and end it if it doesn't, while others go on."""
        if self._seats.pop(session, None) is not None:
            self._threads.submit(_end, session, self._held.pop(session, None))


def _end(session: EngineSession, held: futures.Future[Any] | None) -> None:
    """End an engine when nobody waits for it any more."""
    if held is not None:
        futures.wait((held,))
    session.close(END_GRACE)
