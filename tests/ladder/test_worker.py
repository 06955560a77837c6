"""Worker processes, killed and left without Redis."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from dramatiq import Worker
from sqlalchemy import func, select

from meijin.game import Result
from meijin.ladder import worker as worker_module
from meijin.ladder.hints import NAMESPACE, QUEUE, Flags, Hints, connect
from meijin.ladder.jobs import Jobs, make_broker
from meijin.ladder.refresh import rate
from meijin.ladder.worker import run_worker
from meijin.server.embedded import EmbeddedValkey
from meijin.store import Database, ladders
from meijin.store.ladders import NewRating
from meijin.store.tables import RatingRun

if TYPE_CHECKING:
    from tests.ladder.conftest import Eventually, League, StartWorker

NEVER = 3600.0
"""Seconds between two sweeps, so that nothing is published but by jobs."""
GAME = (0, 1, Result.BLACK_WINS)


@pytest.fixture
def hints(valkey: EmbeddedValkey) -> Iterator[Hints]:
    """The server's end of the queue, with a clock that never pauses."""
    times = iter(range(0, 1_000_000_000, 10))
    hints = Hints(valkey.url, lambda: next(times))
    yield hints
    hints.close()


@pytest.fixture
def is_up(worker_log: Path) -> Callable[[], bool]:
    """Whether a worker process has started."""
    return lambda: "worker started" in worker_log.read_text()


@contextmanager
def locked(database: Database) -> Iterator[None]:
    """Keep everybody else from writing, so that a job stops before it publishes."""
    with database.writer.connect() as connection:
        with connection.begin() as transaction:
            yield
            transaction.rollback()


def is_current(league: "League") -> bool:
    """Whether every game is in the published run."""
    return not league.database.read(
        lambda connection: ladders.is_dirty(connection, league.ladder_id)
    )


def count_runs(league: "League") -> int:
    """How many runs were published."""
    query = select(func.count()).select_from(RatingRun)
    return league.database.read(lambda connection: connection.execute(query).scalar_one())


def is_flagged(valkey: EmbeddedValkey, league: "League") -> bool:
    """Whether a message for the ladder is on its way and no job has begun."""
    with connect(valkey.url) as client:
        return bool(client.exists(f"{NAMESPACE}:hinted:{league.ladder_id}"))


def waiting_messages(valkey: EmbeddedValkey) -> int:
    """How many messages are queued or not yet done."""
    with connect(valkey.url) as client:
        return client.hlen(f"{NAMESPACE}:{QUEUE}.msgs")


def assert_published_is_what_the_games_give(league: "League") -> None:
    """The published table equals one computed here from the log, to the byte."""
    snapshot = league.database.read(
        lambda connection: ladders.snapshot(connection, league.ladder_id)
    )
    published = league.database.read(
        lambda connection: ladders.standings(connection, league.ladder_id)
    )
    run = rate(snapshot, datetime(2026, 1, 1, tzinfo=UTC))
    assert published.run is not None
    assert (published.run.revision, published.run.games) == (run.revision, run.games)
    assert published.run.checksum == run.checksum
    assert published.run.parameters == run.parameters
    lines = [
        NewRating(
            version_id=line.version_id,
            rank=line.rank,
            elo=line.elo,
            classic_elo=line.classic_elo,
            games=line.games,
            wins=line.wins,
            draws=line.draws,
            losses=line.losses,
            faults=line.faults,
        )
        for line in published.standings
    ]
    assert lines == run.ratings
    assert [line.elo.hex() for line in lines] == [rating.elo.hex() for rating in run.ratings]


def test_a_thousand_games_are_one_run_or_two(
    league: "League",
    valkey: EmbeddedValkey,
    hints: Hints,
    start_worker: "StartWorker",
    eventually: "Eventually",
) -> None:
    """The worker's first look finds them all; the message finds at most the last."""
    league.finish_random(1000)
    for _ in range(1000):
        assert hints.hint(league.ladder_id)
    start_worker(valkey.url, sweep=NEVER)
    eventually(lambda: is_current(league))
    eventually(lambda: waiting_messages(valkey) == 0)
    assert count_runs(league) <= 2
    assert_published_is_what_the_games_give(league)


def test_a_message_delivered_five_times_is_one_run(
    league: "League",
    valkey: EmbeddedValkey,
    start_worker: "StartWorker",
    eventually: "Eventually",
    is_up: Callable[[], bool],
) -> None:
    """Only the first finds a dirty ladder."""
    start_worker(valkey.url, sweep=NEVER)
    eventually(is_up)
    league.finish_random(50)
    with connect(valkey.url) as client:
        broker = make_broker(client)
        message = Jobs(broker, league.database, Flags(client)).refresh_ladder.message(
            league.ladder_id
        )
        for _ in range(5):
            broker.enqueue(message)
    eventually(lambda: waiting_messages(valkey) == 0)
    assert is_current(league)
    assert count_runs(league) == 1


def test_a_killed_workers_job_goes_to_another(
    league: "League",
    valkey: EmbeddedValkey,
    hints: Hints,
    start_worker: "StartWorker",
    eventually: "Eventually",
    is_up: Callable[[], bool],
) -> None:
    """A job that dies before it publishes is delivered again, without any sweep."""
    victim = start_worker(valkey.url, sweep=NEVER)
    eventually(is_up)
    league.finish_random(50)
    with locked(league.database):
        assert hints.hint(league.ladder_id)
        eventually(lambda: not is_flagged(valkey, league))
        victim.kill()
        victim.wait()
    assert count_runs(league) == 0
    assert waiting_messages(valkey) == 1
    with connect(valkey.url) as client:
        broker = make_broker(client)
        Jobs(broker, league.database, Flags(client))
        worker = Worker(broker, worker_timeout=200, worker_threads=1)
        worker.start()
        eventually(lambda: waiting_messages(valkey) == 0)
        worker.stop()
    assert count_runs(league) == 1
    assert_published_is_what_the_games_give(league)


def test_another_worker_finds_a_killed_ones_ladder_at_once(
    league: "League",
    valkey: EmbeddedValkey,
    hints: Hints,
    start_worker: "StartWorker",
    eventually: "Eventually",
    is_up: Callable[[], bool],
) -> None:
    """Its first look finds the ladder; the job that comes back later finds nothing to do."""
    victim = start_worker(valkey.url, sweep=NEVER)
    eventually(is_up)
    league.finish_random(50)
    with locked(league.database):
        assert hints.hint(league.ladder_id)
        eventually(lambda: not is_flagged(valkey, league))
        victim.kill()
        victim.wait()
    start_worker(valkey.url, sweep=NEVER)
    eventually(lambda: is_current(league))
    eventually(lambda: waiting_messages(valkey) == 0)
    assert count_runs(league) == 1


def test_a_killed_redis_loses_nothing(
    league: "League",
    valkey: EmbeddedValkey,
    hints: Hints,
    start_worker: "StartWorker",
    eventually: "Eventually",
    worker_log: Path,
) -> None:
    """Games finish while Redis is killed and comes back: every one is rated, and once."""
    start_worker(valkey.url, sweep=0.5)
    delivered = []
    for number in range(90):
        if number == 30:
            assert valkey.pid is not None
            os.kill(valkey.pid, signal.SIGKILL)
            eventually(lambda: valkey.poll() is not None)
        if number == 60:
            eventually(lambda: "no Redis" in worker_log.read_text())
            valkey.restart()
        league.finish(
            (number % 5, (number * 3 + 1) % 5 if number % 2 else (number + 2) % 5, _result(number))
        )
        delivered.append(hints.hint(league.ladder_id))
    assert delivered == [True] * 30 + [False] * 30 + [True] * 30
    eventually(lambda: is_current(league))
    eventually(lambda: "Redis is back" in worker_log.read_text())
    eventually(lambda: waiting_messages(valkey) == 0)
    assert_published_is_what_the_games_give(league)
    assert worker_log.read_text().count("no Redis") == 1


def _result(number: int) -> Result:
    return (Result.BLACK_WINS, Result.DRAW, Result.WHITE_WINS, Result.BLACK_WINS)[number % 4]


def test_jobs_are_taken_from_a_restarted_redis(
    league: "League",
    valkey: EmbeddedValkey,
    hints: Hints,
    start_worker: "StartWorker",
    eventually: "Eventually",
    is_up: Callable[[], bool],
) -> None:
    """The queue itself goes on, without any sweep."""
    start_worker(valkey.url, sweep=NEVER)
    eventually(is_up)
    assert valkey.pid is not None
    os.kill(valkey.pid, signal.SIGKILL)
    valkey.restart()
    league.finish(GAME)
    assert hints.hint(league.ladder_id)
    eventually(lambda: is_current(league))


def test_without_redis_the_sweep_publishes(
    league: "League",
    no_redis: str,
    start_worker: "StartWorker",
    eventually: "Eventually",
    worker_log: Path,
) -> None:
    """A worker starts and works without Redis, and says so once."""
    worker = start_worker(no_redis, sweep=0.1)
    for _ in range(3):
        league.finish(GAME)
        eventually(lambda: is_current(league))
    assert_published_is_what_the_games_give(league)
    worker.terminate()
    assert worker.wait(timeout=30) == 0
    log = worker_log.read_text()
    assert log.count("no Redis; ladders follow more slowly") == 1
    assert log.count("ladder published") == 3
    assert "Traceback" not in log
    assert "connection error" not in log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_worker_finishes_its_job(
    league: "League",
    valkey: EmbeddedValkey,
    hints: Hints,
    start_worker: "StartWorker",
    eventually: "Eventually",
    is_up: Callable[[], bool],
    worker_log: Path,
    number: signal.Signals,
) -> None:
    """The running job publishes, then the process exits with 0."""
    worker = start_worker(valkey.url, sweep=NEVER)
    eventually(is_up)
    league.finish_random(50)
    with locked(league.database):
        assert hints.hint(league.ladder_id)
        eventually(lambda: not is_flagged(valkey, league))
        worker.send_signal(number)
    assert worker.wait(timeout=30) == 0
    assert is_current(league)
    assert waiting_messages(valkey) == 0
    assert "worker stopped" in worker_log.read_text()


def test_a_worker_with_a_dead_thread_starts_anew(
    database: Database,
    no_redis: str,
    eventually: "Eventually",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A crew that isn't whole is stopped and replaced."""
    crews: list[worker_module._Crew] = []

    class Crew(worker_module._Crew):
        def __init__(self, database: Database, redis_url: str, stop: threading.Event) -> None:
            super().__init__(database, redis_url, stop)
            crews.append(self)

        def is_whole(self) -> bool:
            return super().is_whole() and len(crews) > 1

    monkeypatch.setattr(worker_module, "_Crew", Crew)
    stop = threading.Event()
    sweep = timedelta(seconds=0.01)
    url = str(database.url)
    thread = threading.Thread(
        target=run_worker, args=(url, no_redis), kwargs={"stop": stop, "sweep": sweep}
    )
    thread.start()
    eventually(lambda: len(crews) == 2)
    stop.set()
    thread.join(30)
    assert not thread.is_alive()
    assert not any(each.is_alive() for each in crews[0]._worker.workers)


def test_urls_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that a password need not stand in the list of processes."""
    monkeypatch.delenv("MEIJIN_DATABASE", raising=False)
    monkeypatch.setenv("MEIJIN_REDIS", "redis://secret")
    with pytest.raises(SystemExit):
        worker_module._parser().parse_args([])
    assert "--database" in capsys.readouterr().err
    monkeypatch.setenv("MEIJIN_DATABASE", "sqlite:///x")
    options = worker_module._parser().parse_args([])
    assert (options.database, options.redis) == ("sqlite:///x", "redis://secret")
