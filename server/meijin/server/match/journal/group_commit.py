"""Group commits: what has happened since the last commit is committed together, over and over."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from prometheus_client import Histogram

from meijin.server.match.journal.commit_spans import CommitSpans
from meijin.server.match.journal.compaction import Compaction
from meijin.server.match.live.live_game import LiveGame
from meijin.store.fence import Fence
from meijin.store.journal import JournalEntry
from meijin.store.schema import EntryId

FIRST_RETRY, LAST_RETRY = timedelta(seconds=0.1), timedelta(seconds=2)
"""Between two tries to commit while the store fails."""

COMMIT_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0)
"""Of the histogram of commits, in seconds."""

BATCH_BUCKETS = (1, 4, 16, 64, 256, 1024, 4096)
"""Of the histogram of batches, in moves."""


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


class CommitWatch:
    """What is told of commits: metrics, spans, and since when one is under way."""

    def __init__(self, spans: CommitSpans) -> None:
        self.seconds = Histogram(
            "meijin_journal_commit_seconds",
            "From a batch's end of collection to its commit, with all tries.",
            buckets=COMMIT_BUCKETS,
            registry=None,
        )
        self.moves = Histogram(
            "meijin_journal_batch_moves",
            "Moves that were committed together.",
            buckets=BATCH_BUCKETS,
            registry=None,
        )
        self._spans = spans
        self._begun: dict[int, float] = {}

    @property
    def since(self) -> float | None:
        """When the oldest commit under way began, by the event loop's clock; ``None`` without one."""
        return min(self._begun.values(), default=None)

    def begin(self, batch: Batch) -> None:
        """A batch's commit begins."""
        self._begun[id(batch)] = asyncio.get_running_loop().time()

    def end(self, batch: Batch) -> None:
        """A batch is committed."""
        began, now = self._begun.pop(id(batch)), asyncio.get_running_loop().time()
        moves = len(batch.moved) + len(batch.opened)
        self.seconds.observe(now - began)
        self.moves.observe(moves)
        if self._spans.is_on:
            starts, ends = len(batch.started), len(batch.ended)
            self._spans.committed(began, now, moves=moves, starts=starts, ends=ends)


def retry_delays() -> Iterator[float]:
    """The exponential backoff of a commit that fails: the seconds before each further try."""
    delay = FIRST_RETRY
    while True:
        yield delay.total_seconds()
        delay = min(2 * delay, LAST_RETRY)


class GroupCommit(ABC):
    """Commits everything that has happened since the last commit.

    While one entry is being committed the next is being collected, so that batches grow with the
    load.
    """

    def __init__(
        self,
        fence: Fence,
        watch: CommitWatch,
        *,
        first_entry: EntryId,
        compaction: Compaction | None,
    ) -> None:
        """`compaction`: of what is committed here, where that is moves."""
        self._fence = fence
        self._watch = watch
        self._compaction = compaction
        self._wake = asyncio.Event()
        self.batch = self._new_batch(first_entry)
        """What is being collected."""

    def wake(self) -> None:
        """Something may have been added to the batch."""
        self._wake.set()

    async def run(self, release: Callable[[Batch], None], running: Collection[LiveGame]) -> None:
        """Commit for ever.

        Args:
            release: Is called with every batch once it is committed.
            running: The games that are being played at any time.
        """
        while True:
            await self.wait()
            await self.collect(running)
            batch, has_news = self.batch, self.has_news
            self.batch = self._new_batch(EntryId(batch.entry.id + has_news))
            if has_news:
                self.prepare(batch.entry, running)
                self._watch.begin(batch)
                await self.commit(batch.entry)
                self._watch.end(batch)
                release(batch)
            batch.released.set()

    @property
    def has_news(self) -> bool:
        """Whether there is anything to commit."""
        return not self.batch.entry.is_empty

    def prepare(self, entry: JournalEntry, running: Iterable[LiveGame]) -> None:
        """Have old entries go with one that is about to be committed."""
        if self._compaction is not None:
            self._compaction.advance(entry, running)

    def _new_batch(self, entry_id: EntryId) -> Batch:
        return Batch(JournalEntry(entry_id, epoch=self._fence.epoch))

    async def wait(self) -> None:
        """Wait until something may have been added."""
        await self._wake.wait()
        self._wake.clear()

    async def wait_for(self, limit: timedelta, is_complete: Callable[[], bool]) -> None:
        """Wait a moment for more, until the batch is complete."""
        if is_complete():
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(limit.total_seconds()):
                while not is_complete():
                    await self.wait()

    @abstractmethod
    async def collect(self, running: Collection[LiveGame]) -> None:
        """Something was added: wait for more, where larger batches pay."""

    @abstractmethod
    async def commit(self, entry: JournalEntry) -> None:
        """Commit an entry, trying again for as long as the store fails."""
