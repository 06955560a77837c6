"""Group commits: what has happened since the last commit is committed together, over and over."""

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from time import time_ns

from prometheus_client import Histogram, Metric

from meijin.game.arbiter.moment import NS_PER_SECOND
from meijin.server.match.journal.compaction import Compaction
from meijin.server.match.live.live_game import LiveGame
from meijin.server.tracing.spans import NO_TRACER, Span, Tracer
from meijin.store.fence import Fence
from meijin.store.journal import JournalEntry
from meijin.store.schema import EntryId

SLOW_COMMIT = timedelta(milliseconds=100)
"""A commit that took longer has a span of its own: there are ten a second at most."""

SPAN_INTERVAL = timedelta(seconds=1)
"""Between two spans of commits that were not slow; a busy server makes a thousand commits."""


class CommitSpans:
    """Records commits, and with each what was committed since the one recorded before."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._since: Counter[str] = Counter()
        self._next = 0.0

    def committed(self, began: float, now: float, **counts: int) -> None:
        """Take note of a commit from `began` to `now`, in seconds, and of what was in it."""
        self._since.update(commits=1, **counts)
        if now - began < SLOW_COMMIT.total_seconds() and now < self._next:
            return
        self._next = now + SPAN_INTERVAL.total_seconds()
        attributes = {f"meijin.{name}": count for name, count in counts.items()}
        attributes |= {f"meijin.since.{name}": count for name, count in self._since.items()}
        end_ns = time_ns()
        start_ns = end_ns - int((now - began) * NS_PER_SECOND)
        self._tracer.record(Span("commit", start_ns, end_ns, attributes))
        self._since.clear()


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

    def __init__(self, tracer: Tracer = NO_TRACER) -> None:
        self._seconds = Histogram(
            "meijin_journal_commit_seconds",
            "From a batch's end of collection to its commit, with all tries.",
            buckets=COMMIT_BUCKETS,
            registry=None,
        )
        self._moves = Histogram(
            "meijin_journal_batch_moves",
            "Moves that were committed together.",
            buckets=BATCH_BUCKETS,
            registry=None,
        )
        self._spans = CommitSpans(tracer) if tracer.is_on else None
        self._begun: dict[int, float] = {}

    def collect(self) -> Iterator[Metric]:
        yield from self._seconds.collect()
        yield from self._moves.collect()

    @property
    def since(self) -> float | None:
        """When the oldest commit under way began, by the event loop's clock; ``None`` without one."""
        return min(self._begun.values(), default=None)

    def begin(self, batch: Batch) -> None:
        self._begun[id(batch)] = asyncio.get_running_loop().time()

    def end(self, batch: Batch) -> None:
        began, now = self._begun.pop(id(batch)), asyncio.get_running_loop().time()
        moves = len(batch.moved) + len(batch.opened)
        self._seconds.observe(now - began)
        self._moves.observe(moves)
        if self._spans is not None:
            counts = {"starts": len(batch.started), "ends": len(batch.ended)}
            self._spans.committed(began, now, moves=moves, **counts)


def retry_delays() -> Iterator[float]:
    """The exponential backoff of a commit that fails: the seconds before each further try."""
    delay = FIRST_RETRY
    while True:
        yield delay.total_seconds()
        delay = min(2 * delay, LAST_RETRY)


class GroupCommit(ABC):
    """Commits everything that has happened since the last commit.

    While one entry is being committed the next is being collected, so that batches grow with the
    load. Where they are of moves they come with the compaction of those.
    """

    def __init__(
        self,
        fence: Fence,
        watch: CommitWatch,
        *,
        first_entry: EntryId,
        compaction: Compaction | None,
    ) -> None:
        self._fence = fence
        self._watch = watch
        self._compaction = compaction
        self._wake = asyncio.Event()
        self.batch = self._new_batch(first_entry)
        """What is being collected."""

    def wake(self) -> None:
        self._wake.set()

    async def run(self, release: Callable[[Batch], None], running: Collection[LiveGame]) -> None:
        """Commit until it is cancelled.

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
