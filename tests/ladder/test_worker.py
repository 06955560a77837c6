"""Worker processes, killed and left without Redis."""

import logging
import signal
import threading
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import dramatiq
import pytest
import redis
from dramatiq import Worker
from sqlalchemy import select, update
from tests.conftest import locked
from tests.ladder.sites import NEVER, Site, assert_published, kill
from tests.processes import eventually
from typer.testing import CliRunner

from meijin.cli.main import app
from meijin.game import Result
from meijin.ladder import jobs
from meijin.ladder import worker as worker_module
from meijin.ladder.job_queue import connect
from meijin.ladder.jobs import Jobs, make_broker
from meijin.ladder.rating_table import ALGORITHM
from meijin.ladder.refresh import refresh
from meijin.ladder.refresh_queue import DedupKeys
from meijin.ladder.worker import run_worker
from meijin.server.process.valkey import EmbeddedValkey
from meijin.store import Database
from meijin.store.ladders.openings import counted_games, next_rechecks
from meijin.store.schema import RatingRun

GAME = (0, 1, Result.BLACK_WINS)


def test_a_worker_counts_openings(site: Site) -> None:
    """At its start those that there are, and then those that end, without any message."""
    site.league.finish(GAME, line=[112])
    site.start_worker(sweep=0.1)
    eventually(lambda: site.league.database.read(counted_games) == 1)
    site.league.finish(GAME, line=[113])
    site.league.void(1)
    eventually(lambda: not site.league.database.read(partial(next_rechecks, limit=1)))
    eventually(lambda: site.league.database.read(counted_games) == 1)


def test_a_consumer_outlives_a_redis_that_takes_no_delayed_job(
    valkey: EmbeddedValkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It dies as the first of two is due; what comes when it is back is done."""
    monkeypatch.setattr(jobs, "RESTART_DELAY_S", 0.05)
    late, gone, done = (threading.Event() for _ in range(3))
    monkeypatch.setattr(dramatiq.worker, "current_millis", lambda: 2**60 if late.is_set() else 0)
    with connect(valkey.url) as client:
        broker = make_broker(client, "ladder")
        work = dramatiq.actor(broker=broker, queue_name="ladder", actor_name="work")(done.set)
        worker = Worker(broker, worker_timeout=50, worker_threads=1)
        worker.start()
        try:
            for _ in range(2):
                work.send_with_options(delay=1)
            eventually(lambda: worker.consumers["ladder.DQ"].delay_queue.qsize() == 2)
            enqueue = broker.enqueue

            def die(*given: Any, **options: Any) -> Any:
                if not gone.is_set():
                    kill(valkey)
                    gone.set()
                return enqueue(*given, **options)

            monkeypatch.setattr(broker, "enqueue", die)
            late.set()
            eventually(gone.is_set)
            valkey.stop()
            valkey.start()
            eventually(lambda: work.send_with_options(delay=1))
            eventually(done.is_set)
        finally:
            worker.stop()


def test_a_killed_workers_job_goes_to_another(
    site: Site, valkey: EmbeddedValkey, tmp_path: Path
) -> None:
    """A job that dies before it publishes is delivered again, without any sweep."""
    victim = site.start_worker(sweep=NEVER)
    eventually(site.is_up)
    site.league.finish_random(50)
    with locked(tmp_path / "meijin.db"):
        assert site.enqueue()
        eventually(lambda: not site.is_enqueued())
        victim.kill()
    assert site.count_runs() == 0
    assert site.has_messages()
    with connect(valkey.url) as client:
        broker = make_broker(client, "ladder")
        Jobs(broker, site.league.database, DedupKeys(client))
        worker = Worker(broker, worker_timeout=200, worker_threads=1)
        worker.start()
        eventually(lambda: not site.has_messages())
        worker.stop()
    assert site.count_runs() == 1
    assert_published(site.league)


def test_a_killed_redis_loses_nothing(site: Site, valkey: EmbeddedValkey) -> None:
    """Games finish while Redis is killed and comes back: every one is rated, and once."""
    site.start_worker(sweep=0.5)
    delivered = []
    for number in range(90):
        if number == 30:
            kill(valkey)
        if number == 60:
            eventually(lambda: "no Redis" in site.log)
            valkey.stop()
            valkey.start()
        result = (Result.BLACK_WINS, Result.DRAW, Result.WHITE_WINS)[number % 3]
        site.league.finish((number % 5, (number + 1 + number % 4) % 5, result))
        delivered.append(site.enqueue())
    assert delivered == [True] * 30 + [False] * 30 + [True] * 30
    eventually(site.is_current)
    eventually(lambda: "Redis is back" in site.log)
    eventually(lambda: not site.has_messages())
    assert_published(site.league)
    assert site.log.count("no Redis") == 1


def test_without_redis_the_sweep_publishes(alone: Site) -> None:
    """A worker starts and works without Redis, and says so once."""
    worker = alone.start_worker(sweep=0.1)
    for _ in range(3):
        alone.league.finish(GAME)
        eventually(alone.is_current)
    assert_published(alone.league)
    assert worker.stop() == 0
    log = alone.log
    assert log.count("no Redis; ladders follow more slowly") == 1
    assert log.count("ladder published") == 3
    assert "Traceback" not in log
    assert "connection error" not in log


def test_a_new_release_computes_its_ladders_anew(alone: Site) -> None:
    """A worker that starts finds the runs of an older one, though no game has ended since."""
    league = alone.league
    league.finish_random(30)
    refresh(league.database, league.ladder_id)
    older = update(RatingRun).values(algorithm="older", checksum="0" * 64)
    league.database.write(lambda connection: connection.execute(older))
    alone.start_worker(sweep=NEVER)
    query = select(RatingRun.algorithm).order_by(RatingRun.id.desc()).limit(1)
    eventually(lambda: league.database.read(lambda at: at.scalar(query)) == ALGORITHM)
    assert_published(league)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_worker_finishes_its_job(
    site: Site, number: signal.Signals, tmp_path: Path
) -> None:
    """The running job publishes, then the process exits with 0."""
    worker = site.start_worker(sweep=NEVER)
    eventually(site.is_up)
    site.league.finish_random(50)
    with locked(tmp_path / "meijin.db"):
        assert site.enqueue()
        eventually(lambda: not site.is_enqueued())
        worker.send(number)
    assert worker.wait() == 0
    assert site.is_current()
    assert not site.has_messages()
    assert "worker stopped" in site.log


def test_a_locked_database_is_waited_for(alone: Site, tmp_path: Path) -> None:
    """From the worker's start on: it says so once, in a line, and publishes after the outage."""
    league = alone.league
    league.finish_random(30)
    league.database.url = league.database.url.update_query_dict({"timeout": "0.1"})
    with locked(tmp_path / "meijin.db"):
        worker = alone.start_worker(sweep=0.1)
        worker.wait_for("the database fails; ladders wait")
    worker.wait_for("worker started")
    eventually(alone.is_current)
    assert worker.stop() == 0
    log = alone.log
    assert log.count("the database fails; ladders wait") == 1
    assert "the database is back" in log
    assert "Traceback" not in log


def test_a_worker_with_a_dead_thread_starts_anew(
    database: Database,
    no_redis: str,
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
    monkeypatch.setattr(jobs, "RESTART_DELAY_S", 0.05)
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
    ("error", "lines"),
    [
        (redis.ResponseError("MISCONF Errors writing to the AOF file: No space left on device"), 0),
        (redis.ConnectionError("Error 2 connecting to unix:///valkey.sock"), 0),
        (redis.ResponseError("NOSCRIPT"), 1),
    ],
)
@pytest.mark.parametrize(
    "name", ["worker.ConsumerThread(one)", "worker.ConsumerThread(one.DQ)", "broker.RedisBroker"]
)
def test_dramatiq_is_silent_about_an_outage(
    caplog: pytest.LogCaptureFixture, name: str, error: redis.RedisError, lines: int
) -> None:
    """An outage of Redis is told of once, elsewhere; what nobody expects is told in full."""
    make_broker(redis.Redis(), "one")
    logging.getLogger(f"dramatiq.{name}").critical("An unexpected error.", exc_info=error)
    assert len(caplog.records) == lines
