"""Collect, commit, send: nobody hears of a move before it is stored."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import structlog
from sqlalchemy.exc import DBAPIError

from meijin.server.match.live_game import LiveGame
from meijin.store import Writer
from meijin.store.database import is_unavailable
from meijin.store.journal import JournalEntry, commit_entry
from meijin.store.schema import EntryId

log = structlog.get_logger()

PATIENCE = 0.001
"""The longest that an entry waits for news of the games that it has none of, seconds.

An entry costs as much as judging a hundred moves, whatever it holds. With two bots in 256
games every other entry was of two or three late moves, and cost a third of the moves a second.
"""

FIRST_RETRY, LAST_RETRY = 0.1, 2.0
"""Seconds between two tries to commit while the database fails."""


@dataclass(slots=True)
class Batch:
    """What is committed together, and the games to tell of it afterwards."""

    entry: JournalEntry
    moved: list[LiveGame] = field(default_factory=list)
    """Games whose next turn is to be requested."""
    started: list[LiveGame] = field(default_factory=list)
    ended: list[LiveGame] = field(default_factory=list)
    told: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it is committed and told."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to commit."""
        entry = self.entry
        ends = entry.ends or entry.finished_tournaments or entry.voids
        return not (entry.moves or entry.starts or ends)

    @property
    def games(self) -> int:
        """How many running games it has news of."""
        return len(self.moved) + len(self.started)


class Journal:
    """Commits everything that has happened since the last commit, over and over.

    While one entry is being committed on the writer's thread the next is being
    collected, so that batches grow with the load.
    """

    def __init__(
        self,
        writer: Writer,
        last: EntryId,
        release: Callable[[Batch], None],
        running_games: Callable[[], int],
    ) -> None:
        self._writer = writer
        self._release = release
        self._running_games = running_games
        self._wake = asyncio.Event()
        self.batch = Batch(JournalEntry(EntryId(last + 1), EntryId(0)))
        """What is being collected."""
        self.is_failing = False
        """The database does not take commits at the moment."""

    def wake(self) -> None:
        """Something may have been added to the batch."""
        self._wake.set()

    async def run(self) -> None:
        """Commit for ever.

        Raises:
            LostUpdateError: another server writes to the same games.
        """
        while True:
            await self._collect()
            batch = self.batch
            self.batch = Batch(JournalEntry(EntryId(batch.entry.id + 1), EntryId(0)))
            if not batch.is_empty:
                await self._commit(batch.entry)
                self._release(batch)
            batch.told.set()

    async def _collect(self) -> None:
        """Wait for something to commit, and then a moment for more of it."""
        await self._next()
        if self._is_complete():
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while not self._is_complete():
                    await self._next()

    async def _next(self) -> None:
        await self._wake.wait()
        self._wake.clear()

    def _is_complete(self) -> bool:
        """Whether there is news of every running game, so that no bot is waited for."""
        return self.batch.games >= self._running_games()

    async def drained(self) -> None:
        """Wait until everything that was added so far is committed and told."""
        batch = self.batch
        self.wake()
        await batch.told.wait()

    async def _commit(self, entry: JournalEntry) -> None:
        """Commit the entry, trying again for as long as the database fails.

        A commit whose answer was lost is found by the flush's id, so it can't
        happen twice. Nobody's clock runs for an answer that waits here.
        """
        delay = FIRST_RETRY
        commit = partial(commit_entry, entry=entry)
        while True:
            try:
                await _done(self._writer.submit(commit))
            except DBAPIError as error:
                if not error.connection_invalidated and not is_unavailable(error):
                    raise
                if not self.is_failing:
                    log.error("the database fails; games wait", error=str(error.orig))
                self.is_failing = True
                commit = partial(commit_entry, entry=entry, is_retry=True)
                await asyncio.sleep(delay)
                delay = min(2 * delay, LAST_RETRY)
            else:
                if self.is_failing:
                    log.info("the database is back")
                self.is_failing = False
                return


async def _done(work: Future[None]) -> None:
    """Wait for work of another thread: half the price of `asyncio.wrap_future`."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    work.add_done_callback(lambda _: loop.call_soon_threadsafe(done.set))
    await done.wait()
    work.result()
