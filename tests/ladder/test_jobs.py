"""Jobs on a stub broker."""

import logging
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
import redis
from dramatiq import Worker
from dramatiq.brokers.stub import StubBroker
from dramatiq.middleware import Retries
from sqlalchemy import func, select, update
from sqlalchemy.exc import OperationalError, ProgrammingError
from structlog.testing import capture_logs

from meijin.game import Result
from meijin.ladder import jobs as jobs_module
from meijin.ladder.jobs import COOLDOWN_FACTOR, DATABASE_WORDS, MAX_COOLDOWN_S, Jobs
from meijin.ladder.refresh import refresh
from meijin.ladder.refresh_queue import QUEUE, DedupKeys
from meijin.ladder.tally_cache import TallyCache
from meijin.store import Database
from meijin.store.errors import UnknownLadderError
from meijin.store.ladders.runs import NewRun
from meijin.store.schema import Ladder, LadderId, RatingDay, RatingRun

if TYPE_CHECKING:
    from tests.store.league import League

GAME = (0, 1, Result.BLACK_WINS)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
Clock = Callable[[], datetime]


class StubDedupKeys(DedupKeys):
    """Dedup keys without a Redis: it remembers which were cleared."""

    def __init__(self) -> None:
        self.cleared: list[LadderId] = []
        self.is_down = False

    def clear(self, ladder_id: LadderId) -> None:
        """Note the key, or fail as without a Redis."""
        if self.is_down:
            raise redis.ConnectionError("no Redis")
        self.cleared.append(ladder_id)


class FakeTime:
    """A clock that stands still, and a stop that moves it by as long as it is waited for."""

    def __init__(self) -> None:
        self.now = 100.0
        self.wall_time = NOON
        self.waits: list[float] = []
        self.stop = threading.Event()
        self.stop.wait = self._wait  # type: ignore[assignment,method-assign]

    def clock(self) -> float:
        """The time now."""
        return self.now

    def _wait(self, timeout: float) -> bool:
        self.waits.append(timeout)
        self.now += timeout
        return False


@pytest.fixture
def broker() -> StubBroker:
    """A broker in memory."""
    return StubBroker(middleware=[Retries()])


@pytest.fixture
def dedup_keys() -> StubDedupKeys:
    """Dedup keys that are clear."""
    return StubDedupKeys()


@pytest.fixture
def fake_time() -> FakeTime:
    """A clock that stands still."""
    return FakeTime()


@pytest.fixture
def jobs(
    league: "League", broker: StubBroker, dedup_keys: StubDedupKeys, fake_time: FakeTime
) -> Jobs:
    """The jobs of a league."""
    return Jobs(
        broker,
        league.database,
        dedup_keys,
        stop=fake_time.stop,
        clock=fake_time.clock,
        wall_clock=lambda: fake_time.wall_time,
    )


@pytest.fixture
def worker(jobs: Jobs, broker: StubBroker) -> Iterator[Worker]:
    """A worker of the broker's messages."""
    assert jobs.refresh_ladder.broker is broker
    worker = Worker(broker, worker_timeout=10, worker_threads=2)
    worker.start()
    yield worker
    worker.stop()


def runs(league: "League") -> int:
    """How many runs were published."""
    query = select(func.count()).where(RatingRun.ladder_id == league.ladder_id)
    return league.database.read(lambda connection: connection.scalar(query) or 0)


def days(league: "League") -> set[date]:
    """The days of the league's history."""
    query = select(RatingDay.day).where(RatingDay.ladder_id == league.ladder_id)
    return league.database.read(lambda connection: set(connection.scalars(query)))


def work_off(broker: StubBroker, worker: Worker) -> None:
    """Wait until every message is done; raise what a job raised."""
    broker.join(QUEUE, timeout=20_000)
    worker.join()


def test_a_job_publishes(
    league: "League", jobs: Jobs, broker: StubBroker, worker: Worker, dedup_keys: StubDedupKeys
) -> None:
    """A message with a ladder's id has the ladder refreshed."""
    league.finish(GAME)
    jobs.refresh_ladder.send(league.ladder_id)
    work_off(broker, worker)
    assert runs(league) == 1
    assert dedup_keys.cleared == [league.ladder_id]


def test_a_job_delivered_twice_changes_nothing(
    league: "League", jobs: Jobs, broker: StubBroker, worker: Worker
) -> None:
    """The same message again finds a clean ladder."""
    league.finish(GAME)
    message = jobs.refresh_ladder.message(league.ladder_id)
    for _ in range(3):
        broker.enqueue(message)
    work_off(broker, worker)
    assert runs(league) == 1


def test_the_dedup_key_is_cleared_before_the_ladder_is_read(
    league: "League", jobs: Jobs, dedup_keys: StubDedupKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A game that finishes while the ladder is read finds the key clear, and sends a message."""

    def look(_database: Database, ladder_id: LadderId, _clock: Clock, _cache: TallyCache) -> bool:
        assert dedup_keys.cleared == [ladder_id]
        return False

    monkeypatch.setattr(jobs_module, "refresh", look)
    jobs.refresh_ladder(league.ladder_id)
    assert dedup_keys.cleared == [league.ladder_id]


def test_a_job_works_without_redis(league: "League", jobs: Jobs, dedup_keys: StubDedupKeys) -> None:
    """A Redis that dies after it delivered a job takes nothing with it."""
    dedup_keys.is_down = True
    league.finish(GAME)
    jobs.refresh_ladder(league.ladder_id)
    assert runs(league) == 1


def test_a_failed_job_is_tried_again(
    league: "League",
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

    def fail_once(query: object) -> object:
        if failures:
            raise failures.pop()
        return read(query)  # type: ignore[arg-type]

    monkeypatch.setattr(league.database, "read", fail_once)
    with capture_logs() as logs, caplog.at_level(logging.WARNING):
        jobs.refresh_ladder.send_with_options(
            args=(league.ladder_id,), min_backoff=1, max_backoff=1
        )
        work_off(broker, worker)
    assert failures == []
    assert runs(league) == 1
    assert [line["error"] for line in logs if line["log_level"] == "warning"] == [
        "database is locked"
    ]
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
    league: "League", jobs: Jobs, fake_time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a run the next job waits several times as long, with its dedup key still set."""

    def refresh_slowly(
        database: Database, ladder_id: LadderId, clock: Clock, cache: TallyCache
    ) -> NewRun | None:
        fake_time.now += 2.0
        return refresh(database, ladder_id, clock, cache)

    monkeypatch.setattr(jobs_module, "refresh", refresh_slowly)
    league.finish(GAME)
    jobs.refresh_ladder(league.ladder_id)
    league.finish(GAME)
    fake_time.now += 1.0
    jobs.sweep()
    assert runs(league) == 1
    jobs.refresh_ladder(league.ladder_id)
    assert runs(league) == 2
    assert fake_time.waits == [0.0, 2.0 * COOLDOWN_FACTOR - 1.0]


def test_no_cooldown_is_long(
    league: "League", jobs: Jobs, fake_time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long a run took, the next one comes within seconds."""

    def refresh_forever(
        database: Database, ladder_id: LadderId, clock: Clock, cache: TallyCache
    ) -> NewRun | None:
        league.finish(GAME)
        fake_time.now += 1e6
        return refresh(database, ladder_id, clock, cache)

    monkeypatch.setattr(jobs_module, "refresh", refresh_forever)
    jobs.refresh_ladder(league.ladder_id)
    jobs.refresh_ladder(league.ladder_id)
    assert fake_time.waits == [0.0, MAX_COOLDOWN_S]


def test_a_sweep_publishes_what_no_job_came_for(
    league: "League", make_league: "type[League]", jobs: Jobs
) -> None:
    """Every dirty ladder, and no other."""
    other = make_league(league.database, name="standard-15x15")
    clean = make_league(league.database, name="renju-15x15")
    league.finish(GAME)
    other.finish(GAME)
    jobs.sweep()
    assert [runs(each) for each in (league, other, clean)] == [1, 1, 0]


def test_a_sweep_goes_on_after_a_failure(
    league: "League",
    make_league: "type[League]",
    jobs: Jobs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One ladder's trouble is logged and holds up no other."""
    other = make_league(league.database, name="standard-15x15")
    league.finish(GAME)
    other.finish(GAME)

    def fail_for_one(
        database: Database, ladder_id: LadderId, clock: Clock, cache: TallyCache
    ) -> NewRun | None:
        if ladder_id == league.ladder_id:
            raise ZeroDivisionError
        return refresh(database, ladder_id, clock, cache)

    monkeypatch.setattr(jobs_module, "refresh", fail_for_one)
    with capture_logs() as logs:
        jobs.sweep()
    assert (runs(league), runs(other)) == (0, 1)
    events = [line["event"] for line in logs]
    assert events == ["can't refresh a ladder", "ladder published"]


def test_a_sweep_ends_the_day_of_a_ladder_at_rest(
    league: "League", jobs: Jobs, fake_time: FakeTime
) -> None:
    """Nobody has to play for yesterday's ratings to be kept."""
    league.finish(GAME)
    jobs.sweep()
    assert days(league) == set()
    fake_time.wall_time += timedelta(days=1)
    jobs.sweep()
    assert days(league) == {NOON.date()}
    assert runs(league) == 1


def test_a_sweep_survives_the_database(
    league: "League", jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that is gone is logged in one line, and in another when it is back."""

    def fail(_query: object) -> None:
        raise OperationalError("", None, Exception("gone"))

    with capture_logs() as logs:
        with monkeypatch.context() as away:
            away.setattr(league.database, "read", fail)
            for _ in range(3):
                jobs.sweep()
        for _ in range(2):
            jobs.sweep()
    assert [line["event"] for line in logs] == list(DATABASE_WORDS)


def test_a_sweep_survives_a_query_that_fails(
    league: "League", jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is no outage, and may be another defect each time."""

    def fail(_query: object) -> None:
        raise ProgrammingError("", None, Exception("no such table"))

    monkeypatch.setattr(league.database, "read", fail)
    with capture_logs() as logs:
        jobs.sweep()
    assert [line["event"] for line in logs] == ["can't look for ladders to refresh"]


def test_a_changed_revision_alone_has_a_ladder_computed_anew(league: "League", jobs: Jobs) -> None:
    """Whoever wants a new run of the same games raises the revision."""
    league.finish(GAME)
    jobs.sweep()
    ladder = update(Ladder).values(revision=Ladder.revision + 1)
    league.database.write(lambda connection: connection.execute(ladder))
    jobs.refresh_ladder(league.ladder_id)
    assert runs(league) == 2
