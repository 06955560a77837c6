"""When the store is away, and as of when absences are judged: on a fake clock."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, cast

import pytest
from sqlalchemy.exc import IntegrityError, OperationalError
from structlog.testing import capture_logs
from tests.server.scenarios import scenarios

from meijin.game.arbiter.moment import NS_PER_SECOND
from meijin.server.errors import NotAllowedError, StoreAwayError
from meijin.server.match.live import store_watch as module
from meijin.server.match.live.store_watch import StoreRequest, StoreWatch
from meijin.server.match.stalls import TICK_INTERVAL_NS, StallWatch

if TYPE_CHECKING:
    from meijin.store import Writer

FAILURE = OperationalError("COMMIT", {}, Exception("disk full"))


class Bench(StoreWatch):
    """A store's watch whose time is told, and the words for what is asked of the store."""

    def __init__(self) -> None:
        self.now_ns = 0
        self._stalls = StallWatch(lambda: self.now_ns)
        super().__init__(self._stalls)
        self._open: dict[str, AbstractContextManager[Any]] = {}
        self._asked: dict[str, StoreRequest] = {}

    def carry_out(self, scenario: str) -> None:
        """Carry out steps such as ``write a; wait .5; end a``, and check claims; times in seconds."""
        for step in scenario.split(";"):
            word, *values = step.split()
            getattr(self, f"do_{word}")(*values)

    def do_read(self, name: str) -> None:
        self._enter(name, self.read())

    def do_write(self, name: str) -> None:
        self._enter(name, self.write())

    def do_arrive(self, name: str, ago: str = "0") -> None:
        self._enter(name, self.arrival(self.now_ns - _ns(ago)))

    def _enter(self, name: str, request: AbstractContextManager[Any]) -> None:
        self._open[name], self._asked[name] = request, request.__enter__()

    def do_end(self, name: str, error: BaseException | None = None) -> None:
        self._open.pop(name).__exit__(type(error) if error else None, error, None)

    def do_cancel(self, name: str) -> None:
        self.do_end(name, asyncio.CancelledError())

    def do_refuse(self, name: str) -> None:
        self.do_end(name, NotAllowedError("another bot's"))

    def do_again(self, name: str) -> None:
        self.fail(self._asked[name], str(FAILURE.orig))

    def do_fail(self) -> None:
        self.do_write("one")
        error = StoreAwayError("try again")
        error.__cause__ = FAILURE
        self.do_end("one", error)

    def do_ok(self) -> None:
        self.do_write("one")
        self.do_end("one")

    def do_wait(self, seconds: str) -> None:
        left_ns = _ns(seconds)
        while left_ns > 0:
            self._pass(min(left_ns, TICK_INTERVAL_NS))
            left_ns -= TICK_INTERVAL_NS

    def do_stall(self, seconds: str) -> None:
        self._pass(_ns(seconds))

    def _pass(self, ns: int) -> None:
        self.now_ns += ns
        self.look(self._stalls.tick())

    def do_away(self) -> None:
        assert self.is_away

    def do_here(self) -> None:
        assert not self.is_away

    def do_changed(self, *no: str) -> None:
        assert self.changed.is_set() is not bool(no)
        self.changed.clear()

    def do_judged(self, ago: str) -> None:
        moment = self._stalls.moment()
        assert moment.served_ns - self.judged_ns(moment) == _ns(ago)


def _ns(seconds: str) -> int:
    return round(float(seconds) * NS_PER_SECOND)


SCENARIOS = """\
it is away once a query has waited
    read a; wait .499999999; here; wait .000000001; away
it is away once a write has waited
    write a; wait .499999999; here; wait .000000001; away
many short waits are no outage
    write a; wait .4; end a; write b; wait .4; end b; here
the oldest request counts, though others are answered meanwhile
    read a; wait .3; write b; wait .1; end b; here; wait .1; away
a stall of the server is not the store's
    write a; stall 5; here; wait .489999999; here; wait .010000001; away
it is away from a failure to the next write, and a change wakes who waits for it
    fail; changed; fail; read a; end a; wait 5; away; changed no; ok; here; changed
a wait that is given up proves nothing
    write a; wait .5; away; cancel a; wait .5; away; ok; here
a refusal is no outage
    write a; refuse a; wait .5; here
a write that is tried again keeps it away, though others succeed
    write a; again a; away; ok; away; end a; here
absences are judged as of the arrival of the oldest bot at the door, until that is in
    wait .1; judged 0; arrive a .01; wait .1; arrive b; wait .1; judged .21; end a; judged .1;
        end b; judged 0
a token that is being checked holds the judgement
    read a; wait .1; judged .1
a stream without a hello holds the judgement for a moment
    arrive a; wait 4.4; judged 1.1; here
running time leaves stalls out
    arrive a; stall .011000001; judged .01
"""
"""What each is to show; and indented, the steps of a `Bench`."""


@pytest.mark.parametrize(("_", "steps"), scenarios(SCENARIOS), ids=dict(scenarios(SCENARIOS)))
def test_the_store_is_watched(_: str, steps: str) -> None:
    Bench().carry_out(steps)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_the_log_tells_each_change_once(bench: Bench) -> None:
    with capture_logs() as logs:
        bench.carry_out("write a; wait .5; again a; wait 1.5; end a; fail; wait 1; ok")
    told = [(each["log_level"], each["event"], each.get("error"), each["seconds"]) for each in logs]
    assert told == [
        ("error", "the database fails; games wait", "no answer", 0.5),
        ("info", "the database is back", None, 2.0),
        ("error", "the database fails; games wait", "disk full", 0.0),
        ("info", "the database is back", None, 1.0),
    ]


# -- the heartbeat ----------------------------------------------------------------


class FakeWriter:
    """Answers each piece of work with the next of its answers, and then no more."""

    def __init__(self, *answers: Exception | None) -> None:
        self._answers = list(answers)
        self.is_done = asyncio.Event()

    def submit(self, _work: Any, *, is_urgent: bool) -> Future[None]:
        assert is_urgent
        future: Future[None] = Future()
        if self._answers:
            answer = self._answers.pop(0)
            future.set_result(None) if answer is None else future.set_exception(answer)
        else:
            self.is_done.set()
        return future


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HEARTBEAT_INTERVAL", 0 * module.HEARTBEAT_INTERVAL)


async def test_a_heartbeat_that_fails_is_an_outage(bench: Bench) -> None:
    """A server without games notices too; and the next one that succeeds ends it."""
    writer = FakeWriter(None, FAILURE, FAILURE, None)
    with capture_logs() as logs:
        beating = asyncio.create_task(bench.beat(cast("Writer", writer), lambda: None))
        await writer.is_done.wait()
        beating.cancel()
    assert [each["event"] for each in logs] == [
        "the database fails; games wait",
        "the database is back",
    ]
    assert logs[0]["error"] == "disk full"


async def test_a_failure_that_does_not_pass_ends_the_heartbeat(bench: Bench) -> None:
    """And with it the server, as when the journal meets one."""
    writer = FakeWriter(IntegrityError("SELECT 1", {}, Exception("not ours")))
    with pytest.raises(IntegrityError):
        await bench.beat(cast("Writer", writer), lambda: None)
