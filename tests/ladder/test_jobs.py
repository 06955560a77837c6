"""Jobs on a stub broker."""

import logging
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from unittest.mock import Mock, call

import pytest
import redis
from dramatiq import Worker
from dramatiq.brokers.stub import StubBroker
from dramatiq.middleware import Retries
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError, ProgrammingError
from structlog.testing import capture_logs
from tests.store.league import NOON, League

from meijin.game import Result
from meijin.ladder import jobs as jobs_module
from meijin.ladder.jobs import COOLDOWN_FACTOR, DATABASE_WORDS, MAX_COOLDOWN_S, Jobs
from meijin.ladder.refresh import refresh
from meijin.ladder.refresh_queue import QUEUE, DedupKeys
from meijin.store.errors import UnknownLadderError
from meijin.store.ladders.runs import NewRun
from meijin.store.schema import RatingDay, RatingRun

GAME = (0, 1, Result.BLACK_WINS)


class FakeTime:
    """A clock that stands still, and a stop that moves it by as long as it is waited for."""

    def __init__(self) -> None:
        self.now = 100.0
        self.wall_time = NOON
        self.waits: list[float] = []
        self.stop = threading.Event()
        self.stop.wait = self._wait  # type: ignore[assignment,method-assign]

    def _wait(self, timeout: float) -> bool:
        self.waits.append(timeout)
        self.now += timeout
        return False


@pytest.fixture
def broker() -> StubBroker:
    return StubBroker(middleware=[Retries()])


@pytest.fixture
def dedup_keys() -> Mock:
    return Mock(spec=DedupKeys)


@pytest.fixture
def fake_time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def jobs(league: League, broker: StubBroker, dedup_keys: Mock, fake_time: FakeTime) -> Jobs:
    return Jobs(
        broker,
        league.database,
        dedup_keys,
        stop=fake_time.stop,
        clock=lambda: fake_time.now,
        wall_clock=lambda: fake_time.wall_time,
    )


@pytest.fixture
def worker(jobs: Jobs, broker: StubBroker) -> Iterator[Worker]:
    assert jobs.refresh_ladder.broker is broker
    worker = Worker(broker, worker_timeout=10, worker_threads=2)
    worker.start()
    yield worker
    worker.stop()


def runs(league: League) -> int:
    query = select(func.count()).where(RatingRun.ladder_id == league.ladder_id)
    return league.database.read(lambda connection: connection.scalar(query) or 0)


def work_off(broker: StubBroker, worker: Worker) -> None:
    """Wait until every message is done; raise what a job raised."""
    broker.join(QUEUE, timeout=20_000)
    worker.join()


def test_a_job_publishes_once(
    league: League, jobs: Jobs, broker: StubBroker, worker: Worker, dedup_keys: Mock
) -> None:
    """A message with a ladder's id has it refreshed; the same again finds a clean ladder."""
    league.finish(GAME)
    message = jobs.refresh_ladder.message(league.ladder_id)
    for _ in range(3):
        broker.enqueue(message)
    work_off(broker, worker)
    assert runs(league) == 1
    assert dedup_keys.clear.mock_calls == [call(league.ladder_id)] * 3


def test_the_dedup_key_is_cleared_before_the_ladder_is_read(
    league: League, jobs: Jobs, dedup_keys: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A game that finishes while the ladder is read finds the key clear, and sends a message."""
    refresh = Mock(
        side_effect=lambda *_: dedup_keys.clear.assert_called_once_with(league.ladder_id)
    )
    monkeypatch.setattr(jobs_module, "refresh", refresh)
    jobs.refresh_ladder(league.ladder_id)
    refresh.assert_called_once()


def test_a_job_works_without_redis(league: League, jobs: Jobs, dedup_keys: Mock) -> None:
    """A Redis that dies after it delivered a job takes nothing with it."""
    dedup_keys.clear.side_effect = redis.ConnectionError("no Redis")
    league.finish(GAME)
    jobs.refresh_ladder(league.ladder_id)
    assert runs(league) == 1


def test_a_failed_job_is_tried_again(
    league: League,
    jobs: Jobs,
    broker: StubBroker,
    worker: Worker,
    *,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A database that fails once costs a second, and is told of in one line."""
    league.finish(GAME)
    failures = [OperationalError("", None, Exception("database is locked"))]
    read = league.database.read

    def fail_once(*query: Any, **arguments: Any) -> object:
        if failures:
            raise failures.pop()
        return read(*query, **arguments)

    monkeypatch.setattr(league.database, "read", fail_once)
    with capture_logs() as logs, caplog.at_level(logging.WARNING):
        options: dict[str, Any] = {"min_backoff": 1, "max_backoff": 1}
        jobs.refresh_ladder.send_with_options(args=(league.ladder_id,), **options)
        work_off(broker, worker)
    assert failures == []
    assert runs(league) == 1
    warnings = [line["error"] for line in logs if line["log_level"] == "warning"]
    assert warnings == ["database is locked"]
    assert [record for record in caplog.records if record.exc_info] == []


def test_an_unknown_ladder_is_not_tried_again(
    jobs: Jobs, broker: StubBroker, worker: Worker
) -> None:
    """Its message is set aside at once."""
    jobs.refresh_ladder.send(999)
    with pytest.raises(UnknownLadderError):
        work_off(broker, worker)
    assert len(broker.dead_letters) == 1


def test_a_busy_ladder_has_a_cooldown(
    league: League, jobs: Jobs, fake_time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a run the next job waits several times as long, and no sweep takes the ladder.

    Some seconds are the most, however long a run took.
    """
    run_time = 2.0

    def refresh_slowly(*given: Any) -> NewRun | None:
        fake_time.now += run_time
        return refresh(*given)

    monkeypatch.setattr(jobs_module, "refresh", refresh_slowly)
    league.finish(GAME)
    jobs.refresh_ladder(league.ladder_id)
    league.finish(GAME)
    fake_time.now += 1.0
    jobs.sweep()
    assert runs(league) == 1
    run_time = 1e6
    for number in (2, 3):
        jobs.refresh_ladder(league.ladder_id)
        assert runs(league) == number
        league.finish(GAME)
    assert fake_time.waits == [0.0, 2.0 * COOLDOWN_FACTOR - 1.0, MAX_COOLDOWN_S]


def test_a_sweep_publishes_what_no_job_came_for(
    league: League, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every dirty ladder, and no other; one's trouble is logged and holds up nobody else."""
    others = [League(league.database, name=name) for name in ("standard-15x15", "renju-15x15")]
    for each in (league, others[0]):
        each.finish(GAME)

    def fail_for_one(*given: Any) -> NewRun | None:
        if given[1] == league.ladder_id:
            raise ZeroDivisionError
        return refresh(*given)

    with monkeypatch.context() as failing, capture_logs() as logs:
        failing.setattr(jobs_module, "refresh", fail_for_one)
        jobs.sweep()
    assert [runs(each) for each in (league, *others)] == [0, 1, 0]
    events = [line["event"] for line in logs]
    assert events == ["can't refresh a ladder", "ladder published"]
    jobs.sweep()
    assert [runs(each) for each in (league, *others)] == [1, 1, 0]


def test_a_sweep_ends_the_day_of_a_ladder_at_rest(
    league: League, jobs: Jobs, fake_time: FakeTime
) -> None:
    """Nobody has to play for yesterday's ratings to be kept."""
    league.finish(GAME)
    query = select(RatingDay.day).where(RatingDay.ladder_id == league.ladder_id)
    for days in (set(), {NOON.date()}):
        jobs.sweep()
        assert league.database.read(lambda at: set(at.scalars(query))) == days
        fake_time.wall_time += timedelta(days=1)
    assert runs(league) == 1


def test_a_sweep_survives_the_database(
    league: League, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is gone is logged in one line, and in another when it is back.

    A query that fails is no outage, and may be another defect each time.
    """

    def sweep_failing(error: type[Exception]) -> None:
        def fail(*_query: object) -> None:
            raise error("", None, Exception("gone"))

        with monkeypatch.context() as away:
            away.setattr(league.database, "read", fail)
            for _ in range(2):
                jobs.sweep()

    with capture_logs() as logs:
        sweep_failing(OperationalError)
        for _ in range(2):
            jobs.sweep()
        sweep_failing(ProgrammingError)
    defects = ["can't look for ladders to refresh"] * 2
    assert [line["event"] for line in logs] == [*DATABASE_WORDS, *defects]
