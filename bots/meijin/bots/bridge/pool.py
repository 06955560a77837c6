"""The pool: engines that run, one for each game at once, and those that wait for a game."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Callable, Coroutine
from concurrent import futures
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeVar

from meijin.bots.bridge.dialogue import Dialogue, EngineError, NewGame
from meijin.bots.bridge.process import END_GRACE
from meijin.bots.bridge.session import EngineSession
from meijin.game import GOMOKU, Variant

_Result = TypeVar("_Result")
_THREADS = 4
"""For each game at once: engines that play, that begin, that are stopped and that end."""

logger = logging.getLogger("meijin.bots.engine")


class EnginePool:
    """Engines by the number of their seat; each plays one game at a time, and then another.

    It lives on one event loop; engines are waited for in threads.
    """

    def __init__(
        self,
        launch: Callable[[int], EngineSession],
        size: int,
        *,
        is_reused: bool = True,
    ) -> None:
        self._launch = launch
        self._size = size
        self._is_reused = is_reused
        self._seats: dict[EngineSession, int] = {}
        self._idle: list[EngineSession] = []
        self._threads = futures.ThreadPoolExecutor(_THREADS * size, "meijin-engine")
        self._held: dict[EngineSession, futures.Future[Any]] = {}  # their last dialogues
        self._usual: Variant = GOMOKU  # what the next game is likely to be
        self._tasks: set[asyncio.Task[None]] = set()
        self._stops: set[asyncio.Task[None]] = set()  # of searches, each soon over

    def add(self, session: EngineSession) -> None:
        """Take an engine that has a board set up, before all others, as that of the first seat."""
        self._seats[session] = 0
        self._idle.append(session)

    async def fill(self, variant: Variant) -> None:
        """Have an engine for each game at once, with a board set up.

        Raises:
            EngineError: one can't set it up, or dies.
        """
        self._usual = variant
        while len(self._seats) < self._size:
            session = self._open()
            self._idle.append(await self._hold(session, session.protocol.start(variant)))

    async def acquire(self, game: NewGame) -> EngineSession:
        """Take an engine that has begun `game`: one that waits, or a new one.

        Raises:
            EngineError: a new one can't begin it either.
        """
        self._usual = game.variant
        if not self._idle and self._stops:
            await asyncio.wait(self._stops)
        while self._idle:
            session = self._idle.pop()
            if not session.process.is_alive:
                self._retire(session)
                continue
            try:
                return await self._hold(session, session.protocol.new_game(game))
            except EngineError as error:
                logger.debug("started anew: %s", error)
        session = self._open()
        return await self._hold(session, session.protocol.new_game(game))

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
        held = self._threads.submit(session.hold, dialogue, patience=patience)
        self._held[session] = held
        try:
            return await asyncio.wrap_future(held)
        except asyncio.CancelledError:
            session.interrupt()
            raise

    def release(self, session: EngineSession) -> None:
        """Take an engine back whose game has ended; another game may have it."""
        is_needed = len(self._seats) <= self._size
        if self._is_reused and is_needed and session.process.is_alive:
            self._idle.append(session)
        else:
            self.discard(session)

    def discard(self, session: EngineSession) -> None:
        """End an engine that can't be used again, and start another in its stead."""
        if session in self._seats:
            self._retire(session)
            self._run(self._refill())

    def interrupt(self, session: EngineSession) -> None:
        """Take an engine back that is thinking: it is stopped where it can be, else ended."""
        stop = session.protocol.stop()
        if stop is None:
            self.discard(session)
        else:
            task = self._run(self._stop(session, stop))
            self._stops.add(task)
            task.add_done_callback(self._stops.discard)

    def close(self) -> None:
        """Ask all engines to end, and end those that don't within the grace."""
        for task in self._tasks:
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

    async def _hold(self, session: EngineSession, dialogue: Dialogue[None]) -> EngineSession:
        try:
            await self.hold(session, dialogue)
        except BaseException:
            self._retire(session)
            raise
        return session

    def _open(self) -> EngineSession:
        taken = set(self._seats.values())
        seat = next(number for number in itertools.count() if number not in taken)
        session = self._launch(seat)
        self._seats[session] = seat
        return session

    async def _stop(self, session: EngineSession, stop: Dialogue[None]) -> None:
        try:
            await asyncio.wait((asyncio.wrap_future(self._held[session]),))
            session.process.forget_interrupts()
            await self.hold(session, stop)
        except EngineError:
            self.discard(session)
        else:
            self.release(session)

    def _retire(self, session: EngineSession) -> None:
        """Ask an engine to end, and end it if it doesn't, while others go on."""
        if self._seats.pop(session, None) is not None:
            self._threads.submit(_end, session, self._held.pop(session, None))

    async def _refill(self) -> None:
        """Replace an engine while no game waits; if that fails, the next game tries again."""
        with suppress(EngineError):
            await self.fill(self._usual)

    def _run(self, coroutine: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _end(session: EngineSession, held: futures.Future[Any] | None) -> None:
    """End an engine when nobody waits for it any more."""
    if held is not None:
        futures.wait((held,))
    session.close(END_GRACE)
