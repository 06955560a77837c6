"""The one thread that writes."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Connection, event, insert, select
from sqlalchemy.exc import IntegrityError, OperationalError

from meijin.store import Database, Writer
from meijin.store import writer as module
from meijin.store.schema import Owner

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
SECONDS = 10
GROUP = 5


def add(name: str) -> Callable[[Connection], str]:
    """Work that stores an owner and returns its name."""

    def work(connection: Connection) -> str:
        connection.execute(insert(Owner), {"name": name, "create_time": NOON})
        return name

    return work


def stored(database: Database) -> list[str]:
    """The owners there are, in the order they were stored."""
    return database.read(
        lambda connection: list(connection.scalars(select(Owner.name).order_by(Owner.id)))
    )


@pytest.fixture(autouse=True)
def group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits that are large enough for pieces that fail among others."""
    monkeypatch.setattr(module, "MAX_GROUP", GROUP)


class Gate:
    """Work that holds the writer's thread until it is opened."""

    def __init__(self, writer: Writer) -> None:
        self._entered, self._open = threading.Event(), threading.Event()
        self.future = writer.submit(self._wait)
        assert self._entered.wait(SECONDS)

    def _wait(self, _connection: Connection) -> None:
        self._entered.set()
        assert self._open.wait(SECONDS)

    def open(self) -> None:
        """Let the writer go on."""
        self._open.set()


@pytest.fixture
def writer(database: Database) -> Iterator[Writer]:
    """A running writer."""
    writer = Writer(database)
    yield writer
    writer.close()


@pytest.fixture
def commits(database: Database) -> list[object]:
    """Grows with every commit."""
    commits: list[object] = []
    event.listen(database.writer, "commit", commits.append)
    return commits


def test_the_result_comes_after_the_commit(database: Database, writer: Writer) -> None:
    """When the future is done other connections see the rows."""
    assert writer.submit(add("ada")).result(SECONDS) == "ada"
    assert stored(database) == ["ada"]


def test_what_waits_is_committed_together(
    database: Database, writer: Writer, commits: list[object]
) -> None:
    """Everything submitted during a commit shares the next one, in order."""
    gate = Gate(writer)
    names = [f"owner-{number}" for number in range(GROUP)]
    futures = [writer.submit(add(name)) for name in names]
    gate.open()
    assert [future.result(SECONDS) for future in futures] == names
    assert len(commits) == 2
    assert stored(database) == names


def test_a_group_is_bounded(writer: Writer, commits: list[object]) -> None:
    """No piece of work waits for more than a group of others."""
    gate = Gate(writer)
    futures = [writer.submit(add(f"owner-{number}")) for number in range(GROUP + 1)]
    gate.open()
    for future in futures:
        future.result(SECONDS)
    assert len(commits) == 3


def test_urgent_work_comes_first(database: Database, writer: Writer, commits: list[object]) -> None:
    """However much waits, moves wait for the commit under way, and are not held up in their own."""
    gate = Gate(writer)
    others = [writer.submit(add(f"owner-{number}")) for number in range(GROUP)]
    urgent = [writer.submit(add(name), is_urgent=True) for name in ("ada", "bob")]
    gate.open()
    for future in (*others, *urgent):
        future.result(SECONDS)
    assert stored(database)[:2] == ["ada", "bob"]
    assert len(commits) == 3


def test_a_failing_piece_fails_alone(database: Database, writer: Writer) -> None:
    """The others of its group are committed, and its own rows are not."""

    def fail(connection: Connection) -> None:
        add("lost")(connection)
        raise RuntimeError("halfway")

    gate = Gate(writer)
    before, failing, after = (
        writer.submit(add("ada")),
        writer.submit(fail),
        writer.submit(add("bob")),
    )
    double = writer.submit(add("ada"))
    gate.open()
    assert before.result(SECONDS) == "ada"
    assert after.result(SECONDS) == "bob"
    with pytest.raises(RuntimeError, match="halfway"):
        failing.result(SECONDS)
    with pytest.raises(IntegrityError):
        double.result(SECONDS)
    assert stored(database) == ["ada", "bob"]


def test_work_that_was_cancelled_while_it_waited_is_not_done(
    database: Database, writer: Writer
) -> None:
    """A caller that gave up in time leaves nothing, and the others are served."""
    gate = Gate(writer)
    cancelled, kept = writer.submit(add("gone")), writer.submit(add("kept"))
    assert cancelled.cancel()
    gate.open()
    assert kept.result(SECONDS) == "kept"
    with pytest.raises(CancelledError):
        cancelled.result(SECONDS)
    assert stored(database) == ["kept"]


def test_work_that_has_begun_can_not_be_cancelled(database: Database, writer: Writer) -> None:
    """A caller that gives up during the commit harms nobody: the thread goes on."""
    gate = Gate(writer)
    assert not gate.future.cancel()
    gate.open()
    assert writer.submit(add("next")).result(SECONDS) == "next"
    assert stored(database) == ["next"]


def test_close_commits_what_is_pending(database: Database) -> None:
    """Work submitted before the close is done when the close returns."""
    writer = Writer(database)
    gate = Gate(writer)
    futures: list[Future[str]] = [writer.submit(add(name)) for name in ("ada", "bob")]
    gate.open()
    writer.close()
    assert all(future.done() for future in futures)
    assert stored(database) == ["ada", "bob"]


@pytest.mark.parametrize("others", [0, 3])
def test_work_is_not_repeated_when_the_answer_of_its_commit_is_lost(
    database: Database,
    writer: Writer,
    monkeypatch: pytest.MonkeyPatch,
    others: int,
) -> None:
    """Nobody knows whether such work is stored, so its submitter hears of the failure."""
    gate = Gate(writer)
    runs: list[int] = []

    def work(connection: Connection) -> None:
        runs.append(1)
        add("ada")(connection)

    future = writer.submit(work)
    rest = [writer.submit(add(f"other-{number}")) for number in range(others)]
    lose_answers(database, monkeypatch)
    gate.open()
    failures = [future.exception(SECONDS), *(other.exception(SECONDS) for other in rest)]
    assert [type(failure) for failure in failures] == [OperationalError] * (1 + others)
    assert runs == [1]
    assert stored(database) == ["ada", *[f"other-{number}" for number in range(others)]]


def test_a_group_that_can_not_begin_fails_at_once(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A locked database takes seconds to refuse: one refusal is for all who wait by then."""
    gate = Gate(writer)
    futures = [writer.submit(add(f"owner-{number}")) for number in range(2 * GROUP)]
    begins: list[object] = []
    refuse_to_begin(monkeypatch, begins)
    gate.open()
    assert all(type(one.exception(SECONDS)) is OperationalError for one in futures)
    assert len(begins) == 1
    monkeypatch.undo()
    assert writer.submit(add("ada")).result(SECONDS) == "ada"


def refuse_to_begin(monkeypatch: pytest.MonkeyPatch, begins: list[object]) -> None:
    """Let no transaction begin from now on, and count the tries."""
    error = OperationalError("BEGIN", {}, Exception("locked"))

    def begin(connection: Any) -> None:
        begins.append(connection)
        raise error

    monkeypatch.setattr(Connection, "begin", begin)


@pytest.mark.parametrize("is_away", [False, True])
def test_a_database_that_is_away_twice_fails_the_group(
    database: Database, writer: Writer, *, is_away: bool
) -> None:
    """The first failure may be one piece's own; work that fails for itself fails alone."""
    error = OperationalError if is_away else IntegrityError
    runs: list[int] = []

    def fail(_connection: Connection) -> None:
        runs.append(1)
        raise error("UPDATE", {}, Exception("a lock"))

    gate = Gate(writer)
    before = writer.submit(add("ada"))
    failing = [writer.submit(fail) for _ in range(GROUP - 2)]
    after = writer.submit(add("bob"))
    gate.open()
    assert all(type(one.exception(SECONDS)) is error for one in failing)
    if is_away:
        assert type(before.exception(SECONDS)) is type(after.exception(SECONDS)) is error
        assert len(runs) == 2
        assert stored(database) == []
    else:
        assert (before.result(SECONDS), after.result(SECONDS)) == ("ada", "bob")
        assert len(runs) == GROUP - 2
        assert stored(database) == ["ada", "bob"]


def test_one_slow_piece_fails_alone(database: Database, writer: Writer) -> None:
    """What takes it too long says nothing about the others."""

    def fail(_connection: Connection) -> None:
        raise OperationalError("SELECT", {}, Exception("statement timeout"))

    gate = Gate(writer)
    before, failing, after = (
        writer.submit(add("ada")),
        writer.submit(fail),
        writer.submit(add("bob")),
    )
    gate.open()
    assert (before.result(SECONDS), after.result(SECONDS)) == ("ada", "bob")
    assert type(failing.exception(SECONDS)) is OperationalError
    assert stored(database) == ["ada", "bob"]


def lose_answers(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every commit happen and then fail."""
    dialect = database.writer.dialect
    commit = dialect.do_commit
    error = database.writer.dialect.loaded_dbapi.OperationalError

    def commit_and_fail(connection: Any) -> None:
        commit(connection)
        raise error("answer lost")

    monkeypatch.setattr(dialect, "do_commit", commit_and_fail)
