"""Worker processes, killed and left without Redis."""

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import redis
from dramatiq import Worker
from sqlalchemy import update
from tests.ladder.sites import NEVER, Site, assert_published_is_what_the_games_give, is_current
from typer.testing import CliRunner

from meijin.cli.main import app
from meijin.game import Result
from meijin.ladder import worker as worker_module
from meijin.ladder.jobs import Jobs, make_broker
from meijin.ladder.rating_table import ALGORITHM
from meijin.ladder.refresh import refresh
from meijin.ladder.refresh_queue import DedupKeys, connect
from meijin.ladder.worker import run_worker
from meijin.store import Database
from meijin.store.openings.explored import counted_games
from meijin.store.openings.rechecks import next_rechecks
from meijin.store.schema import RatingRun

if TYPE_CHECKING:
    from tests.ladder.conftest import Eventually, StartWorker
    from tests.store.league import League

GAME = (0, 1, Result.BLACK_WINS)


@contextmanager
def locked(database: Database) -> Iterator[None]:
    """Keep everybody else from writing, so that a job stops before it publishes."""
    with database.writer.connect() as connection, connection.begin() as transaction:
        yield
        transaction.rollback()


def test_a_thousand_games_are_one_run_or_two(site: Site, eventually: "Eventually") -> None:
    """The worker's first look finds them all; the message finds at most the last."""
    site.league.finish_random(1000)
    for _ in range(1000):
        assert site.enqueue()
    site.start_worker(sweep=NEVER)
    eventually(site.is_current)
    eventually(lambda: not site.has_messages())
    assert site.count_runs() <= 2
    assert_published_is_what_the_games_give(site.league)


def test_a_worker_counts_openings(site: Site, eventually: "Eventually") -> None:
    """At its start those that there are, and then those that end, without any message."""
    site.league.finish((0, 1, Result.BLACK_WINS), line=[112])
    site.start_worker(sweep=0.1)
    eventually(lambda: site.league.database.read(counted_games) == 1)
    site.league.finish((0, 1, Result.BLACK_WINS), line=[113])
    site.league.void(1)
    eventually(lambda: not site.league.database.read(partial(next_rechecks, limit=1)))
    eventually(lambda: site.league.database.read(counted_games) == 1)


def test_a_message_delivered_five_times_is_one_run(site: Site, eventually: "Eventually") -> None:
    """Only the first finds a dirty ladder."""
    site.start_worker(sweep=NEVER)
    eventually(site.is_up)
    site.league.finish_random(50)
    with connect(site.valkey.url) as client:
        broker = make_broker(client)
        jobs = Jobs(broker, site.league.database, DedupKeys(client))
        message = jobs.refresh_ladder.message(site.league.ladder_id)
        for _ in range(5):
            broker.enqueue(message)
    eventually(lambda: not site.has_messages())
    assert site.is_current()
    assert site.count_runs() == 1


def kill_a_worker_in_its_job(site: Site, eventually: "Eventually") -> None:
    """Kill a worker after it has begun a job, and before it can publish."""
    victim = site.start_worker(sweep=NEVER)
    eventually(site.is_up)
    site.league.finish_random(50)
    with locked(site.league.database):
        assert site.enqueue()
        eventually(lambda: not site.is_enqueued())
        victim.kill()
        victim.wait()
    assert site.count_runs() == 0
    assert site.has_messages()


def test_a_killed_workers_job_goes_to_another(site: Site, eventually: "Eventually") -> None:
    """A job that dies before it publishes is delivered again, without any sweep."""
    kill_a_worker_in_its_job(site, eventually)
    with connect(site.valkey.url) as client:
        broker = make_broker(client)
        Jobs(broker, site.league.database, DedupKeys(client))
        worker = Worker(broker, worker_timeout=200, worker_threads=1)
        worker.start()
        eventually(lambda: not site.has_messages())
        worker.stop()
    assert site.count_runs() == 1
    assert_published_is_what_the_games_give(site.league)


def test_another_worker_finds_a_killed_ones_ladder_at_once(
    site: Site, eventually: "Eventually"
) -> None:
    """Its first look finds the ladder; the job that comes back later finds nothing to do."""
    kill_a_worker_in_its_job(site, eventually)
    site.start_worker(sweep=NEVER)
    eventually(site.is_current)
    eventually(lambda: not site.has_messages())
    assert site.count_runs() == 1


def test_a_killed_redis_loses_nothing(site: Site, eventually: "Eventually") -> None:
    """Games finish while Redis is killed and comes back: every one is rated, and once."""
    site.start_worker(sweep=0.5)
    delivered = []
    for number in range(90):
        if number == 30:
            site.kill_redis()
        if number == 60:
            eventually(lambda: "no Redis" in site.log)
            site.valkey.stop()
            site.valkey.start()
        result = (Result.BLACK_WINS, Result.DRAW, Result.WHITE_WINS)[number % 3]
        site.league.finish((number % 5, (number + 1 + number % 4) % 5, result))
        delivered.append(site.enqueue())
    assert delivered == [True] * 30 + [False] * 30 + [True] * 30
    eventually(site.is_current)
    eventually(lambda: "Redis is back" in site.log)
    eventually(lambda: not site.has_messages())
    assert_published_is_what_the_games_give(site.league)
    assert site.log.count("no Redis") == 1


def test_jobs_are_taken_from_a_restarted_redis(site: Site, eventually: "Eventually") -> None:
    """The queue itself goes on, without any sweep."""
    site.start_worker(sweep=NEVER)
    eventually(site.is_up)
    site.kill_redis()
    site.valkey.stop()
    site.valkey.start()
    site.league.finish(GAME)
    assert site.enqueue()
    eventually(site.is_current)


def test_a_message_survives_a_killed_redis(site: Site, eventually: "Eventually") -> None:
    """What was queued when Redis was killed is delivered after its restart."""
    assert site.enqueue()
    eventually(site.is_written)
    site.kill_redis()
    site.valkey.stop()
    site.valkey.start()
    assert site.has_messages()
    site.start_worker(sweep=NEVER)
    eventually(lambda: not site.has_messages())


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


def test_a_new_release_computes_its_ladders_anew(
    league: "League", no_redis: str, start_worker: "StartWorker", eventually: "Eventually"
) -> None:
    """A worker that starts finds the runs of an older one, though no game has ended since."""
    league.finish_random(30)
    refresh(league.database, league.ladder_id)
    older = update(RatingRun).values(algorithm="older", checksum="0" * 64)
    league.database.write(lambda connection: connection.execute(older))
    start_worker(no_redis, sweep=NEVER)
    eventually(lambda: algorithm_of(league) == ALGORITHM)
    assert_published_is_what_the_games_give(league)


def algorithm_of(league: "League") -> str:
    """The algorithm of the published run."""
    run = league.standings().run
    assert run is not None
    return run.algorithm


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_worker_finishes_its_job(
    site: Site, eventually: "Eventually", number: signal.Signals
) -> None:
    """The running job publishes, then the process exits with 0."""
    worker = site.start_worker(sweep=NEVER)
    eventually(site.is_up)
    site.league.finish_random(50)
    with locked(site.league.database):
        assert site.enqueue()
        eventually(lambda: not site.is_enqueued())
        worker.send_signal(number)
    assert worker.wait(timeout=30) == 0
    assert site.is_current()
    assert not site.has_messages()
    assert "worker stopped" in site.log


def test_a_locked_database_is_waited_for(
    league: "League",
    no_redis: str,
    start_worker: "StartWorker",
    eventually: "Eventually",
    worker_log: Path,
) -> None:
    """From the worker's start on: it says so once, in a line, and publishes after the outage."""
    league.finish_random(30)
    league.database.url = league.database.url.update_query_dict({"timeout": "0.1"})
    with locked(league.database):
        worker = start_worker(no_redis, sweep=0.1)
        eventually(lambda: "the database fails; ladders wait" in worker_log.read_text())
    eventually(lambda: "worker started" in worker_log.read_text())
    eventually(lambda: is_current(league))
    worker.terminate()
    assert worker.wait(timeout=30) == 0
    log = worker_log.read_text()
    assert log.count("the database fails; ladders wait") == 1
    assert "the database is back" in log
    assert "Traceback" not in log


def test_a_worker_with_a_dead_thread_starts_anew(
    database: Database,
    no_redis: str,
    eventually: "Eventually",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Consumers that aren't whole are stopped and replaced."""
    made: list[worker_module._Consumers] = []

    class Consumers(worker_module._Consumers):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(self)

        def is_whole(self) -> bool:
            return super().is_whole() and len(made) > 1

    monkeypatch.setattr(worker_module, "_Consumers", Consumers)
    monkeypatch.setattr("dramatiq.worker.CONSUMER_RESTART_DELAY_SECS", 0.05)
    stop = threading.Event()
    sweep = timedelta(seconds=0.01)
    url = str(database.url)
    thread = threading.Thread(
        target=run_worker, args=(url, no_redis), kwargs={"stop": stop, "sweep": sweep}
    )
    thread.start()
    eventually(lambda: len(made) == 2)
    stop.set()
    thread.join(30)
    assert not thread.is_alive()
    assert not any(each.is_alive() for each in made[0]._worker.workers)


@pytest.mark.parametrize("written", ["2.5", "PT2.5S"])
def test_options_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    """So that a password need not stand in the list of processes; durations are as a server's."""
    calls: list[tuple[str, str, timedelta]] = []

    def work(url: str, redis_url: str, *, sweep: timedelta, **_: object) -> None:
        calls.append((url, redis_url, sweep))

    monkeypatch.setattr(worker_module, "work_until_signalled", work)
    monkeypatch.setattr("meijin.server.logs.configure_logs", lambda *_: None)
    environment = {"MEIJIN_REDIS_URL": "redis://secret"}
    refused = CliRunner().invoke(app, ["worker"], env=environment)
    assert refused.exit_code == 2
    assert "--database" in refused.output
    environment |= {"MEIJIN_DATABASE_URL": "sqlite:///x", "MEIJIN_SWEEP": written}
    assert CliRunner().invoke(app, ["worker"], env=environment).exit_code == 0
    assert calls == [("sqlite:///x", "redis://secret", timedelta(seconds=2.5))]


@pytest.mark.parametrize(
    ("words", "lines"),
    [("MISCONF Errors writing to the AOF file: No space left on device", 0), ("NOSCRIPT", 1)],
)
def test_consumers_are_silent_about_an_outage(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, words: str, lines: int
) -> None:
    """A full disk under Redis is told of once, elsewhere; what nobody expects is told in full."""
    consumer = logging.getLogger("dramatiq.worker.ConsumerThread(ladder)")
    monkeypatch.setattr(consumer, "filters", [])
    monkeypatch.setattr(
        logging.getLogger("dramatiq.worker.ConsumerThread(ladder.DQ)"), "filters", []
    )
    worker_module._quieten_dramatiq()
    error = redis.ResponseError(words)
    consumer.critical("Consumer encountered an unexpected error.", exc_info=error)
    assert len(caplog.records) == lines
