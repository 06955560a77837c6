"""A ladder with everything that keeps it fresh: a Redis, and worker processes."""

import os
import signal
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from meijin.ladder.rating_table import rate
from meijin.ladder.refresh_queue import NAMESPACE, QUEUE, RefreshQueue, connect
from meijin.ladder.verify import transcript
from meijin.server.process.valkey import EmbeddedValkey
from meijin.store.ladders import ladders
from meijin.store.ladders.runs import NewRating
from meijin.store.schema import RatingRun

if TYPE_CHECKING:
    from tests.ladder.conftest import StartWorker
    from tests.store.league import League

NEVER = 3600.0
"""Seconds between two sweeps, so that nothing is published but by jobs."""


class Site:
    """A league, the Redis that its server sends jobs to, and its worker processes."""

    def __init__(
        self,
        league: "League",
        valkey: EmbeddedValkey,
        start_worker: "StartWorker",
        worker_log: Path,
    ) -> None:
        self.league = league
        self.valkey = valkey
        self._start_worker = start_worker
        self._worker_log = worker_log
        times = iter(range(0, 1_000_000_000, 10))
        self.queue = RefreshQueue(valkey.url, lambda: next(times))
        """The server's end of the queue, with a clock on which every pause is over."""

    def start_worker(self, *, sweep: float) -> "subprocess.Popen[bytes]":
        """Start a worker process."""
        return self._start_worker(self.valkey.url, sweep=sweep)

    def enqueue(self) -> bool:
        """Have a worker look at the ladder."""
        return self.queue.enqueue(self.league.ladder_id)

    def is_written(self) -> bool:
        """Whether Redis has written all it knows; with a slow disk it answers before it has."""
        with connect(self.valkey.url) as client:
            found = client.info("persistence")
        return not found["aof_buffer_length"] and not found["aof_pending_bio_fsync"]

    def kill_redis(self) -> None:
        """Kill Redis and wait until it is gone."""
        assert self.valkey.pid is not None
        os.kill(self.valkey.pid, signal.SIGKILL)
        os.waitid(os.P_PID, self.valkey.pid, os.WEXITED | os.WNOWAIT)

    @property
    def log(self) -> str:
        """What the workers have said."""
        return self._worker_log.read_text()

    def is_up(self) -> bool:
        """Whether a worker process has started."""
        return "worker started" in self.log

    def is_enqueued(self) -> bool:
        """Whether a message for the ladder is on its way, and its job has not begun."""
        with connect(self.valkey.url) as client:
            return bool(client.exists(f"{NAMESPACE}:refresh-queued:{self.league.ladder_id}"))

    def has_messages(self) -> bool:
        """Whether messages wait, or are not yet done."""
        with connect(self.valkey.url) as client:
            return bool(client.hlen(f"{NAMESPACE}:{QUEUE}.msgs"))

    def is_current(self) -> bool:
        """Whether every game is in the published run."""
        return is_current(self.league)

    def count_runs(self) -> int:
        """How many runs were published."""
        query = select(func.count()).select_from(RatingRun)
        return self.league.database.read(lambda connection: connection.execute(query).scalar_one())


def is_current(league: "League") -> bool:
    """Whether every game is in the published run."""
    return not league.database.read(
        lambda connection: ladders.is_dirty(connection, league.ladder_id)
    )


def assert_published_is_what_the_games_give(league: "League") -> None:
    """The published table equals one computed here from a snapshot, to the byte."""
    run = rate(league.snapshot(), datetime(2026, 1, 1, tzinfo=UTC))
    published = league.standings()
    assert published.run is not None
    assert (published.run.revision, published.run.games) == (run.revision, run.games)
    assert published.run.checksum == run.checksum
    assert published.run.parameters == run.parameters
    lines = [NewRating(row.version_id, row.line) for row in published.standings]
    assert transcript(lines) == transcript(run.ratings)
