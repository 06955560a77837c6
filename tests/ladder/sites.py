"""A ladder with everything that keeps it fresh: a Redis, and worker processes."""

import os
import signal

from sqlalchemy import Connection, func, select
from tests.processes import Process, Processes
from tests.store.league import League

from meijin.ladder.job_queue import NAMESPACE, connect
from meijin.ladder.rating_table import rate
from meijin.ladder.refresh_queue import QUEUE, RefreshQueue
from meijin.ladder.tally import Snapshot, Tally
from meijin.ladder.verification.verify import verify
from meijin.server.process.valkey import EmbeddedValkey
from meijin.store.ladders import ladders
from meijin.store.ladders.games import logged_games
from meijin.store.ladders.versions import parents_of
from meijin.store.schema import Ladder, RatingRun

NEVER = 3600.0
"""Seconds between two sweeps, so that nothing is published but by jobs."""


class Site:
    """A league, the Redis that its server sends jobs to, and its worker processes."""

    def __init__(self, league: League, redis_url: str, processes: Processes) -> None:
        self.league = league
        self._redis_url = redis_url
        self._processes = processes
        times = iter(range(0, 1_000_000_000, 10))
        self.queue = RefreshQueue(redis_url, lambda: next(times))
        """The server's end of the queue, with a clock on which every pause is over."""

    def start_worker(self, *, sweep: float) -> Process:
        database = str(self.league.database.url)
        options = f"--database={database}", f"--redis={self._redis_url}", f"--sweep={sweep}"
        return self._processes.start("worker", "worker", *options)

    def enqueue(self) -> bool:
        return self.queue.enqueue(self.league.ladder_id)

    def is_written(self) -> bool:
        """Whether Redis has written all it knows; with a slow disk it answers before it has."""
        with connect(self._redis_url) as client:
            found = client.info("persistence")
        return not found["aof_buffer_length"] and not found["aof_pending_bio_fsync"]

    @property
    def log(self) -> str:
        """What all workers say."""
        return (self._processes.folder / "worker.log").read_text()

    def is_up(self) -> bool:
        return "worker started" in self.log

    def is_enqueued(self) -> bool:
        """Whether a message for the ladder is on its way, and its job has not begun."""
        with connect(self._redis_url) as client:
            return bool(client.exists(f"{NAMESPACE}:refresh-queued:{self.league.ladder_id}"))

    def has_messages(self) -> bool:
        with connect(self._redis_url) as client:
            return bool(client.hlen(f"{NAMESPACE}:{QUEUE}.msgs"))

    def is_current(self) -> bool:
        return not self.league.database.read(ladders.is_dirty, self.league.ladder_id)

    def count_runs(self) -> int:
        query = select(func.count()).select_from(RatingRun)
        return self.league.database.read(lambda connection: connection.execute(query).scalar_one())


def kill(valkey: EmbeddedValkey) -> None:
    assert valkey.pid is not None
    os.kill(valkey.pid, signal.SIGKILL)
    os.waitid(os.P_PID, valkey.pid, os.WEXITED | os.WNOWAIT)


def logged_snapshot(league: League, cutoff: int, then: Ladder | None = None) -> Snapshot:
    """The league's games up to one, read one by one, with the ladder of now or as it was then."""

    def read(connection: Connection) -> Snapshot:
        ladder = then or ladders.ladder_row(connection, league.ladder_id)
        games = logged_games(connection, ladder.id, cutoff=cutoff, voided=ladder.voided)
        tally, anchors = Tally.of(games), ladders.anchors(connection, ladder.id)
        return Snapshot.of(ladder, tally, anchors, parents_of(connection, tally.versions))

    return league.database.read(read)


def assert_published(league: League) -> None:
    """The published run is, to the byte, what all games give and what the log gives."""
    found = league.standings()
    assert found.run is not None
    run = rate(league.snapshot(), found.run.create_time)
    assert (found.run.checksum, found.run.parameters) == (run.checksum, run.parameters)
    assert (found.run.revision, found.run.games) == (run.revision, run.games)
    assert (found.run.cutoff, found.run.repeats) == (run.cutoff, run.repeats)
    assert verify(league.database, league.ladder_id).differences == ()
