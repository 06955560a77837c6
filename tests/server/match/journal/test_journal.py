"""Collect, commit, send: against a real store that fails when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError
from structlog.testing import capture_logs
from tests.conftest import PATIENCE
from tests.server.match.journal.desk import Desk, owning, stored
from tests.server.rows import live_game

from meijin.game import Seat
from meijin.server.match.journal import group_commit
from meijin.server.match.journal.group_commit import SLOW_COMMIT, CommitSpans
from meijin.store import Database, Writer
from meijin.store.journal import LostUpdateError
from meijin.store.schema import GameId, JournalRow
from meijin.store.voids import GameVoid

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import PostgreSQL
    from tests.server.conftest import RecordingTracer

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        database.migrate()
        writer = Writer(database)
        yield Desk(database, writer)
        writer.close()


@pytest.fixture
def trouble(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the next commits do, first come first served: ``fail``, or ``lose`` their answer."""
    monkeypatch.setattr(group_commit, "FIRST_RETRY", timedelta(milliseconds=1))
    monkeypatch.setattr(group_commit, "LAST_RETRY", timedelta(milliseconds=2))
    troubles: list[str] = []
    dialect = desk.database.writer.dialect
    commit, error = dialect.do_commit, dialect.loaded_dbapi.OperationalError

    def do_commit(connection: Any) -> None:
        trouble = troubles.pop(0) if troubles else "none"
        if trouble == "fail":
            raise error("disk full")
        commit(connection)
        if trouble == "lose":
            raise error("answer lost")

    monkeypatch.setattr(dialect, "do_commit", do_commit)
    return troubles


async def test_nothing_is_told_before_it_is_committed(desk: Desk) -> None:
    """One entry holds everything that was added before it began."""
    async with desk.running():
        for number in range(0, 18, 3):
            await desk.commit(number, number + 1, number + 2)
    assert desk.told == stored(desk.database) == list(range(18))
    assert desk.stored_when_told == [desk.told[:count] for count in range(3, 21, 3)]
    assert desk.ids() == [*range(1, 7)]


async def test_numbers_go_on_from_the_last(tmp_path: Path) -> None:
    """A restarted server's entries follow those of the one before."""
    async with owning(f"sqlite:///{tmp_path / 'meijin.db'}", last=41) as desk:
        await desk.commit(1)
        assert desk.ids() == [42]


async def test_an_empty_entry_is_not_stored(desk: Desk) -> None:
    """A bot that sends nothing of consequence makes the store no larger."""
    async with desk.running():
        for _ in range(5):
            await desk.journal.drained()
        assert desk.ids() == []
        await desk.commit(1)
    assert len(desk.ids()) == 1
    assert desk.told == [1]


@pytest.mark.parametrize("what", ["fail", "lose"])
@pytest.mark.parametrize("times", [1, 4])
async def test_a_failing_store_is_tried_again(
    desk: Desk, trouble: list[str], what: str, times: int
) -> None:
    """Nothing is lost, nothing is told early, nothing is stored twice, and others see it fail."""
    trouble += [what] * times
    with capture_logs() as logs:
        async with desk.running():
            desk.add(1)
            await asyncio.sleep(0)
            await desk.commit(2)
            await desk.commit(3)
    assert stored(desk.database) == desk.told == [1, 2, 3]
    assert desk.stored_when_told[0]
    assert trouble == []
    assert not desk.store_watch.is_away
    events = [entry["event"] for entry in logs]
    assert events[0] == "the database fails; games wait"
    assert events[-1] == "the database is back"


async def test_other_work_has_no_part_in_an_entrys_trouble(desk: Desk, trouble: list[str]) -> None:
    """It waited for longer, and comes after: neither is written again for the other's sake."""
    gate, started, loop = Event(), asyncio.Event(), asyncio.get_running_loop()

    def hold(_connection: Any) -> None:
        loop.call_soon_threadsafe(started.set)
        gate.wait(PATIENCE)

    async with desk.running():
        held = desk.writer.submit(hold)
        await started.wait()
        other = desk.writer.submit(lambda _: None)
        desk.add(1)
        while desk.writer._queue.qsize() < 2:  # noqa: ASYNC110 - a queue of threads has no event
            await asyncio.sleep(0)
        trouble[:] = ["none", "lose"]
        gate.set()
        await asyncio.wrap_future(held)
        await desk.journal.drained()
        await asyncio.wrap_future(other)
    assert stored(desk.database) == desk.told == [1]
    assert trouble == []


async def test_a_database_that_was_restarted_is_waited_for(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL may crash at any time: nothing is lost and nothing is doubled."""
    monkeypatch.setattr(group_commit, "FIRST_RETRY", timedelta(milliseconds=50))
    server: PostgreSQL = request.getfixturevalue("postgresql")
    async with owning(server.new_database()) as desk:
        await desk.commit(1)
        for number in (2, 3):
            server.stop("immediate")
            desk.add(number)
            while not desk.store_watch.is_away:  # noqa: ASYNC110 - a flag has no event
                await asyncio.sleep(0.001)
            assert desk.told == list(range(1, number))
            server.start()
            await desk.journal.drained()
        assert stored(desk.database) == desk.told == [1, 2, 3]


def take_its_number(desk: Desk) -> None:
    """Another server has an entry of the number that the next one here has."""
    desk.database.write(
        lambda to: to.execute(insert(JournalRow), {"epoch": 0, "id": 1, "moves": b""})
    )
    desk.add(1)


def end_an_unknown_game(desk: Desk) -> None:
    game = live_game(9, end_time=NOON)
    game.arbiter.resign(Seat.FIRST)
    desk.journal.add_end(game)


def void_an_unknown_game(desk: Desk) -> None:
    desk.journal.add_void(GameVoid(GameId(9), "why", NOON))


@pytest.mark.parametrize(
    ("do", "error"),
    [
        (take_its_number, IntegrityError),
        (end_an_unknown_game, LostUpdateError),
        (void_an_unknown_game, LostUpdateError),
    ],
)
async def test_what_can_never_be_committed_ends_the_journal(
    desk: Desk, do: Callable[[Desk], None], error: type[Exception]
) -> None:
    """Two servers share the store, or a game is not in it as it is here: no passing trouble."""
    with pytest.RaisesGroup(error):
        async with desk.running():
            do(desk)
            await desk.journal.drained()
    assert desk.told == []


async def test_drained_comes_to_an_end_on_a_busy_server(desk: Desk) -> None:
    """It waits for what was added before, not for what comes all the time."""
    numbers = iter(range(2, 1_000_000))
    desk.again = lambda: desk.add(next(numbers))
    async with desk.running():
        await desk.commit(1)
        assert 1 in desk.told


# -- spans ------------------------------------------------------------------------


def test_one_commit_a_second_is_a_span(tracer: RecordingTracer) -> None:
    """It counts those before it too, so that none is left out."""
    spans = CommitSpans(tracer)
    for number in range(1001):
        now = number / 1000
        spans.committed(now, now, moves=2, starts=1, ends=0)
    first, second = tracer.spans
    assert first.attributes["meijin.since.commits"] == 1
    assert second.attributes["meijin.since.commits"] == 1000
    assert second.attributes["meijin.since.moves"] == 2000
    assert second.attributes["meijin.since.starts"] == 1000
    assert second.attributes["meijin.moves"] == 2
    assert first.trace_id != second.trace_id


def test_a_slow_commit_is_a_span(tracer: RecordingTracer) -> None:
    spans, slow = CommitSpans(tracer), SLOW_COMMIT.total_seconds()
    spans.committed(0.0, 0.0, moves=1, starts=0, ends=0)
    spans.committed(0.0, slow / 2, moves=1, starts=0, ends=0)
    spans.committed(slow / 2, 2 * slow, moves=7, starts=0, ends=1)
    _, span = tracer.spans
    assert span.end_ns - span.start_ns == int(1.5 * slow * 1e9)
    assert (span.attributes["meijin.moves"], span.attributes["meijin.since.moves"]) == (7, 8)
