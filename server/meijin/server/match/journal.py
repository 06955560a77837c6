"""The journal: group commits, so that nobody hears of a move before it is stored.

Where the database is an SQLite file the moves go to the log beside it, and starts, ends and all the
rest to the database, each without waiting for the other; on PostgreSQL all go to the database.
"""

import asyncio
import itertools
from collections.abc import Callable, Collection, Coroutine, Iterable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from prometheus_client import Histogram
from sqlalchemy.exc import DBAPIError

from meijin.game import Choose, OpeningAction, encode_action
from meijin.server.match.commands import Analysis
from meijin.server.match.commit_log import CommitLog, first_entry
from meijin.server.match.commit_spans import CommitSpans
from meijin.server.match.live_game import LiveGame
from meijin.server.match.store_watch import StoreRequest, StoreWatch
from meijin.server.tracing.spans import NO_TRACER, Tracer
from meijin.store import Writer
from meijin.store.access.audit import Act
from meijin.store.database import is_unavailable
from meijin.store.faults import NewFault
from meijin.store.fence import Fence
from meijin.store.journal import JournalEntry, commit_entry, pack_move
from meijin.store.schema import EntryId
from meijin.store.tournaments import TournamentEnd
from meijin.store.voids import GameVoid

COLLECTION_TIME = timedelta(milliseconds=1)
"""The longest that an entry waits for news of the games that it has none of.

An entry costs as much as judging a hundred moves, whatever it holds. With two bots in 256
games every other entry was of two or three late moves, and cost a third of the moves a second.
"""

FIRST_RETRY, LAST_RETRY = timedelta(seconds=0.1), timedelta(seconds=2)
"""Between two tries to commit while the database fails."""

COMMIT_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0)
"""Of the histogram of commits, in seconds."""

BATCH_BUCKETS = (1, 4, 16, 64, 256, 1024, 4096)
"""Of the histogram of batches, in moves."""

ENTRIES_PER_TRUNCATION = 64
"""Entries between two deletions of those that hold no running game's move."""

NO_ENTRY = EntryId(0)
"""Before all others."""


@dataclass(slots=True)
class Batch:
    """What is committed together, and the games to tell of it afterwards."""

    entry: JournalEntry
    moved: list[LiveGame] = field(default_factory=list)
    """Games whose next turn is to be requested."""
    opened: list[LiveGame] = field(default_factory=list)
    """The same after an action of an opening."""
    started: list[LiveGame] = field(default_factory=list)
    ended: list[LiveGame] = field(default_factory=list)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it is committed, and everybody has been told."""

    @property
    def games(self) -> int:
        """How many running games it has news of."""
        return len(self.moved) + len(self.opened) + len(self.started)


class Journal:
    """Commits everything that has happened since the last commit, over and over.

    While one entry is being committed on the writer's thread the next is being
    collected, so that batches grow with the load.
    """

    def __init__(
        self,
        writer: Writer,
        fence: Fence,
        store_watch: StoreWatch,
        *,
        last_entry: EntryId,
        last_end: int,
        log: CommitLog | None = None,
        tracer: Tracer = NO_TRACER,
    ) -> None:
        """`log` takes the moves; without one the database does."""
        self._committing: dict[int, float] = {}
        self.commit_seconds = Histogram(
            "meijin_journal_commit_seconds",
            "From a batch's end of collection to its commit, with all tries.",
            buckets=COMMIT_BUCKETS,
            registry=None,
        )
        self.batch_moves = Histogram(
            "meijin_journal_batch_moves",
            "Moves that were committed together.",
            buckets=BATCH_BUCKETS,
            registry=None,
        )
        self._writer = writer
        self._fence = fence
        self._store_watch = store_watch
        self._spans = CommitSpans(tracer)
        self._ends = itertools.count(last_end + 1)
        self._log = log
        self._wake = asyncio.Event()
        self._batch = self._new_batch(EntryId(last_entry + 1))
        self._next_truncation = NO_ENTRY
        self._moves, self._moves_wake = self._batch, self._wake
        if log is not None:
            self._moves = self._new_batch(log.next_entry)
            self._moves_wake = asyncio.Event()

    # -- what is collected --------------------------------------------------------------

    @property
    def entry_id(self) -> EntryId:
        """The entry of moves that is being collected."""
        return self._moves.entry.id

    def add_moves(self, moves: Iterable[tuple[LiveGame, int, int]]) -> None:
        """Add games that go on, each with the ply and the cell of the move just made in it.

        All moves of a message at once: a call for each would take a tenth of judging it.
        """
        batch = self._moves
        packed, moved = batch.entry.moves, batch.moved
        for game, ply, cell in moves:
            arbiter = game.arbiter
            packed += pack_move(game.id, ply, cell, arbiter.raw_ns[-1], arbiter.charged_ns[-1])
            moved.append(game)
        self._moves_wake.set()

    def add_action(self, game: LiveGame, ply: int, action: OpeningAction) -> None:
        """Add a game that goes on after an action of its opening."""
        batch, arbiter = self._moves, game.arbiter
        if isinstance(action, Choose):
            times = [arbiter.choice_ns]
        else:
            count = len(action.cells)
            times = list(zip(arbiter.raw_ns[-count:], arbiter.charged_ns[-count:], strict=True))
        plies = range(ply, ply + len(times))
        for code, at, (raw_ns, charged_ns) in zip(encode_action(action), plies, times, strict=True):
            batch.entry.moves += pack_move(game.id, at, code, raw_ns, charged_ns)
        batch.opened.append(game)
        self._moves_wake.set()

    def add_analysis(self, game: LiveGame, ply: int, analysis: Analysis) -> None:
        """Add what a bot thought of a move."""
        self._moves.entry.add_analysis(game.id, ply, analysis)

    def add_start(self, game: LiveGame) -> None:
        """Add a game that begins."""
        self._batch.entry.starts.append(game.to_start())
        self._batch.started.append(game)
        self.wake()

    def add_end(self, game: LiveGame) -> None:
        """Add a game that has ended."""
        self._batch.entry.ends.append(game.to_end(next(self._ends)))
        self._batch.ended.append(game)
        self.wake()

    def add_void(self, void: GameVoid) -> None:
        """Add a finished game, whose end is stored, that is to count no more."""
        self._batch.entry.voids.append(void)
        self.wake()

    def add_incident(self, incident: NewFault) -> None:
        """Add what went wrong in games that go on."""
        self._batch.entry.incidents.append(incident)
        self.wake()

    def add_act(self, act: Act) -> None:
        """Add what an operator did to a game whose end or void was just added."""
        self._batch.entry.acts.append(act)

    def add_tournament_end(self, end: TournamentEnd) -> None:
        """Add a tournament's end."""
        self._batch.entry.finished_tournaments.append(end)
        self.wake()

    def wake(self) -> None:
        """Something may have been added."""
        self._wake.set()

    async def drained(self) -> None:
        """Wait until everything that was added so far is committed and released."""
        batches = (self._batch, self._moves)
        self.wake()
        self._moves_wake.set()
        for batch in batches:
            await batch.released.wait()

    # -- what is committed --------------------------------------------------------------

    async def run(self, release: Callable[[Batch], None], running: Collection[LiveGame]) -> None:
        """Commit to the database for ever.

        Args:
            release: Is called with every batch once it is committed.
            running: The games that are being played at any time.

        Raises:
            LostUpdateError: another server writes to the same games.
            LostOwnershipError: another server has claimed the database, or it lost commits.
        """
        while True:
            if self._log is None:
                await self._collect(running)
            else:
                await _next(self._wake)
            batch = self._batch
            self._batch = self._new_batch(EntryId(batch.entry.id + 1))
            if self._log is None:
                self._moves = self._batch
            if not batch.entry.is_empty:
                self._truncate(batch.entry, running)
                with self._store_watch.write() as request:
                    await self._timed(batch, self._commit(batch.entry, request))
                self._fence.acknowledge(batch.entry.id)
                release(batch)
            batch.released.set()

    def log_tasks(
        self, release: Callable[[Batch], None], running: Collection[LiveGame]
    ) -> list[Coroutine[None, None, None]]:
        """What commits moves to the log for ever, where there is one; the arguments as in `run`."""
        return [] if self._log is None else [self._run_log(self._log, release, running)]

    async def _run_log(
        self, log: CommitLog, release: Callable[[Batch], None], running: Collection[LiveGame]
    ) -> None:
        while True:
            if log.is_slow:
                await self._collect(running)
            else:
                await _next(self._moves_wake)
            batch = self._moves
            self._moves = self._new_batch(EntryId(batch.entry.id + 1))
            if batch.entry.moves:
                await self._timed(batch, log.commit(batch.entry))
                release(batch)
                log.truncate(running, batch.entry.id)
            batch.released.set()

    def close(self) -> None:
        """End what commits to the log."""
        if self._log is not None:
            self._log.close()

    def _new_batch(self, entry_id: EntryId) -> Batch:
        return Batch(JournalEntry(entry_id, NO_ENTRY, epoch=self._fence.epoch))

    def _truncate(self, entry: JournalEntry, running: Collection[LiveGame]) -> None:
        """Have old entries deleted now and then, when games have ended."""
        if entry.ends and entry.id >= self._next_truncation:
            self._next_truncation = EntryId(entry.id + ENTRIES_PER_TRUNCATION)
            entry.truncate_before = entry.id
            if self._log is None:
                entry.truncate_before = first_entry(running, entry.id)

    async def _collect(self, running: Collection[LiveGame]) -> None:
        """Wait for something to commit, and then a moment for news of every running game."""
        await _next(self._moves_wake)
        if self._moves.games >= len(running):
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(COLLECTION_TIME.total_seconds()):
                while self._moves.games < len(running):
                    await _next(self._moves_wake)

    async def _timed(self, batch: Batch, commit: Coroutine[None, None, None]) -> None:
        """Commit a batch, and observe how long it took and what it held."""
        clock = asyncio.get_running_loop().time
        began = clock()
        self._committing[id(batch)] = began
        await commit
        del self._committing[id(batch)]
        now = clock()
        self.commit_seconds.observe(now - began)
        self.batch_moves.observe(len(batch.moved))
        if self._spans.is_on:
            starts, ends = len(batch.started), len(batch.ended)
            self._spans.committed(began, now, moves=len(batch.moved), starts=starts, ends=ends)

    @property
    def committing_since(self) -> float | None:
        """When the oldest commit under way began, by the event loop's clock; ``None`` without one."""
        return min(self._committing.values(), default=None)

    async def _commit(self, entry: JournalEntry, request: StoreRequest) -> None:
        """Commit the entry, trying again for as long as the database fails.

        A commit whose answer was lost is found by the entry's epoch and id, so it
        can't happen twice. Nobody's clock runs for an answer that waits here.
        """
        delay = FIRST_RETRY
        commit = partial(commit_entry, entry=entry)
        while True:
            try:
                await _done(self._writer.submit(commit, is_urgent=True))
            except DBAPIError as error:
                if not error.connection_invalidated and not is_unavailable(error):
                    raise
                self._store_watch.fail(request, str(error.orig))
                commit = partial(commit_entry, entry=entry, is_retry=True)
                await asyncio.sleep(delay.total_seconds())
                delay = min(2 * delay, LAST_RETRY)
            else:
                return


async def _done(work: Future[None]) -> None:
    """Wait for work of another thread: half the price of `asyncio.wrap_future`."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    work.add_done_callback(lambda _: loop.call_soon_threadsafe(done.set))
    await done.wait()
    work.result()


async def _next(wake: asyncio.Event) -> None:
    await wake.wait()
    wake.clear()
