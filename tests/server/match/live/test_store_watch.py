"""When the store is away, and as of when absences are judged: on a fake clock."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, cast

import pytest
from sqlalchemy.exc import IntegrityError, OperationalError
from structlog.testing import capture_logs

from meijin.server.errors import NotAllowedError, StoreAwayError
from meijin.server.match.arbiter.stalls import TICK_INTERVAL_NS, TIMER_RESOLUTION_NS, StallWatch
from meijin.server.match.live import store_watch as module
from meijin.server.match.live.store_watch import AWAY_AFTER_NS, MAX_HOLD_NS, StoreWatch

if TYPE_CHECKING:
    from meijin.store import Writer

MS = 1_000_000
FAILURE = OperationalError("COMMIT", {}, Exception("disk full"))


class Bench:
    """A store's watch whose time is told."""

    def __init__(self) -> None:
        self.now_ns = 0
        self._stalls = StallWatch(lambda: self.now_ns)
        self.watch = StoreWatch(self._stalls)

    def wait(self, ns: int) -> bool:
        """Let time pass in which the server runs; tell whether the store is away after it."""
        while ns > 0:
            self.now_ns += min(ns, TICK_INTERVAL_NS)
            ns -= TICK_INTERVAL_NS
            self.watch.look(self._stalls.tick())
        return self.watch.is_away

    def stall(self, ns: int) -> bool:
        """Have the server stand still; tell whether the store is away after it."""
        self.now_ns += ns
        self.watch.look(self._stalls.tick())
        return self.watch.is_away

    @property
    def served_ns(self) -> int:
        """The server's running time."""
        return self._stalls.moment().served_ns

    @property
    def judged_ns(self) -> int:
        """The instant as of which absences are judged."""
        return self.watch.judged_ns(self._stalls.moment())

    def fail(self) -> None:
        """Have a write fail because the store is away."""
        with pytest.raises(StoreAwayError), self.watch.write():
            raise StoreAwayError("try again") from FAILURE

    def succeed(self) -> None:
        """Have a write succeed."""
        with self.watch.write():
            pass


@pytest.fixture
def bench() -> Bench:
    """A watch at rest."""
    return Bench()


@pytest.mark.parametrize("kind", ["read", "write"])
def test_it_is_away_once_something_has_waited(bench: Bench, kind: str) -> None:
    """For half a second, to the nanosecond."""
    with getattr(bench.watch, kind)():
        assert not bench.wait(AWAY_AFTER_NS - 1)
        assert bench.wait(1)


def test_the_oldest_request_counts(bench: Bench) -> None:
    """Others that are answered meanwhile do not hide one that is not."""
    with bench.watch.read():
        bench.wait(300 * MS)
        with bench.watch.write():
            bench.wait(100 * MS)
        assert bench.wait(100 * MS)


def test_many_short_waits_are_no_outage(bench: Bench) -> None:
    """A busy store is one that answers."""
    for _ in range(10):
        with bench.watch.write():
            assert not bench.wait(AWAY_AFTER_NS - 1)


def test_a_stall_of_the_server_is_not_the_stores(bench: Bench) -> None:
    """An answer that could not be read is not missing."""
    with bench.watch.write():
        assert not bench.stall(10 * AWAY_AFTER_NS)
        assert not bench.wait(AWAY_AFTER_NS - TICK_INTERVAL_NS - 1)
        assert bench.wait(1 + TICK_INTERVAL_NS)


def test_it_is_away_from_a_failure_to_the_next_write(bench: Bench) -> None:
    """Neither time nor a read brings it back."""
    bench.fail()
    assert bench.watch.is_away
    with bench.watch.read():
        pass
    assert bench.wait(10 * AWAY_AFTER_NS)
    bench.succeed()
    assert not bench.watch.is_away


def test_a_wait_that_is_given_up_proves_nothing(bench: Bench) -> None:
    """When a bot takes its hello back the store is still away."""

    def give_up() -> None:
        with bench.watch.write():
            assert bench.wait(AWAY_AFTER_NS)
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        give_up()
    assert bench.wait(AWAY_AFTER_NS)
    bench.succeed()
    assert not bench.watch.is_away


def test_a_refusal_is_no_outage(bench: Bench) -> None:
    """The store has answered, and a bot may not come in."""
    with pytest.raises(NotAllowedError), bench.watch.write():
        raise NotAllowedError("another bot's")
    assert not bench.watch.is_away


def test_a_write_that_is_tried_again_keeps_it_away(bench: Bench) -> None:
    """A heartbeat succeeds where a full disk refuses the journal; both must."""
    with bench.watch.write() as request:
        bench.watch.fail(request, str(FAILURE.orig))
        assert bench.watch.is_away
        bench.succeed()
        assert bench.watch.is_away
    assert not bench.watch.is_away


def test_the_log_tells_each_change_once(bench: Bench) -> None:
    """With the reason, and how long it took."""
    with capture_logs() as logs:
        with bench.watch.write() as request:
            bench.wait(AWAY_AFTER_NS)
            bench.watch.fail(request, str(FAILURE.orig))
            bench.wait(1_500 * MS)
        bench.fail()
        bench.wait(1_000 * MS)
        bench.succeed()
    assert logs == [
        {
            "event": "the database fails; games wait",
            "log_level": "error",
            "error": "no answer",
            "seconds": 0.5,
        },
        {"event": "the database is back", "log_level": "info", "seconds": 2.0},
        {
            "event": "the database fails; games wait",
            "log_level": "error",
            "error": "disk full",
            "seconds": 0.0,
        },
        {"event": "the database is back", "log_level": "info", "seconds": 1.0},
    ]


def test_changes_wake_who_waits_for_them(bench: Bench) -> None:
    """Once when it goes, and once when it is back."""
    changed = bench.watch.changed
    bench.fail()
    assert changed.is_set()
    changed.clear()
    bench.fail()
    assert not changed.is_set()
    bench.succeed()
    assert changed.is_set()


# -- as of when absences are judged -----------------------------------------------


def test_absences_are_judged_as_of_now(bench: Bench) -> None:
    """When nobody is at the door."""
    bench.wait(100 * MS)
    assert bench.judged_ns == bench.served_ns


def test_a_bot_at_the_door_holds_the_judgement(bench: Bench) -> None:
    """As of the arrival of the oldest, until that is in; a later one can't prolong it."""
    bench.wait(100 * MS)
    first, second = bench.watch.arrival(90 * MS), bench.watch.arrival(200 * MS)
    with second:
        with first:
            bench.wait(200 * MS)
            assert bench.judged_ns == 90 * MS
        assert bench.judged_ns == 200 * MS
    assert bench.judged_ns == bench.served_ns


def test_a_token_that_is_being_checked_holds_the_judgement(bench: Bench) -> None:
    """Nobody knows yet whose it is."""
    with bench.watch.read():
        bench.wait(100 * MS)
        assert bench.judged_ns == 0


def test_a_stream_without_a_hello_holds_the_judgement_for_a_moment(bench: Bench) -> None:
    """A peer that says nothing saves nobody from a forfeit."""
    with bench.watch.arrival(0):
        bench.wait(4 * MAX_HOLD_NS)
        assert bench.judged_ns == bench.served_ns - MAX_HOLD_NS
        assert not bench.watch.is_away


def test_running_time_leaves_stalls_out(bench: Bench) -> None:
    """A server that stood still has let nobody in."""
    bench.stall(TIMER_RESOLUTION_NS + TICK_INTERVAL_NS + 1)
    assert bench.judged_ns == TICK_INTERVAL_NS


# -- the heartbeat ----------------------------------------------------------------


class FakeWriter:
    """Answers each piece of work with the next of its answers, and then no more."""

    def __init__(self, *answers: Exception | None) -> None:
        self._answers = list(answers)
        self.is_done = asyncio.Event()

    def submit(self, _work: Any, *, is_urgent: bool) -> Future[None]:
        """An answer, if there is one."""
        assert is_urgent
        future: Future[None] = Future()
        if self._answers:
            answer = self._answers.pop(0)
            future.set_result(None) if answer is None else future.set_exception(answer)
        else:
            self.is_done.set()
        return future


async def beat(bench: Bench, writer: FakeWriter) -> None:
    """Let the heart beat until the writer has no answer left."""
    async with asyncio.TaskGroup() as tasks:
        beating = tasks.create_task(bench.watch.beat(cast("Writer", writer), lambda: None))
        waiting = tasks.create_task(writer.is_done.wait())
        await asyncio.wait((beating, waiting), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if not beating.done():
            beating.cancel()


@pytest.fixture
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HEARTBEAT_INTERVAL", 0 * module.HEARTBEAT_INTERVAL)


@pytest.mark.usefixtures("_no_pause")
async def test_a_heartbeat_that_fails_is_an_outage(bench: Bench) -> None:
    """A server without games notices too; and the next one that succeeds ends it."""
    with capture_logs() as logs:
        await beat(bench, FakeWriter(None, FAILURE, FAILURE, None))
    assert [entry["event"] for entry in logs] == [
        "the database fails; games wait",
        "the database is back",
    ]
    assert logs[0]["error"] == "disk full"


@pytest.mark.usefixtures("_no_pause")
async def test_a_failure_that_does_not_pass_ends_the_heartbeat(bench: Bench) -> None:
    """And with it the server, as when the journal meets one."""
    failure = IntegrityError("SELECT 1", {}, Exception("not ours"))
    with pytest.RaisesGroup(IntegrityError):
        await beat(bench, FakeWriter(failure))
