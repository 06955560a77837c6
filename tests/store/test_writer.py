"""The one thread that writes."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import closing, contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, event
from sqlalchemy.exc import IntegrityError, OperationalError
from tests.conftest import PATIENCE
from tests.store.conftest import NOON
from tests.store.stored import stored

from meijin.store import Database, Writer
from meijin.store import writer as module
from meijin.store.rows import add_row
from meijin.store.schema import Owner

GROUP = 5


def add(name: str) -> Callable[[Connection], str]:
    """Work that stores an owner and returns its name."""
    return lambda connection: add_row(connection, Owner(name=name, create_time=NOON)).name


def add_many(writer: Writer, count: int) -> list[Future[str]]:
    return [writer.submit(add(f"owner-{number}")) for number in range(count)]


def fail_by(error: Exception, runs: list[int] | None = None) -> Callable[[Connection], None]:
    def fail(connection: Connection) -> None:
        if runs is not None:
            runs.append(1)
        add("lost")(connection)
        raise error

    return fail


@pytest.fixture(autouse=True)
def _group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits that are large enough for pieces that fail among others."""
    monkeypatch.setattr(module, "MAX_GROUP", GROUP)


@contextmanager
def held(writer: Writer) -> Iterator[Future[None]]:
    """Hold the writer's thread by a piece of work: what is submitted inside waits."""
    entered, opened = threading.Event(), threading.Event()

    def wait(_connection: Connection) -> None:
        entered.set()
        assert opened.wait(PATIENCE)

    work = writer.submit(wait)
    assert entered.wait(PATIENCE)
    try:
        yield work
    finally:
        opened.set()


@pytest.fixture(name="writer")
def _writer(database: Database) -> Iterator[Writer]:
    with closing(Writer(database)) as writer:
        yield writer


@pytest.fixture(name="commits")
def _commits(database: Database) -> list[object]:
    commits: list[object] = []
    event.listen(database.writer, "commit", commits.append)
    return commits


def owners(database: Database) -> list[str]:
    return stored(database, Owner.name)


def test_what_waits_is_committed_together(
    database: Database, writer: Writer, commits: list[object]
) -> None:
    """Everything submitted during a commit shares the next one, in order, before it is done."""
    with held(writer):
        futures = add_many(writer, GROUP)
    names = [future.result(PATIENCE) for future in futures]
    assert owners(database) == names == [f"owner-{number}" for number in range(GROUP)]
    assert len(commits) == 2


def test_a_group_is_bounded(writer: Writer, commits: list[object]) -> None:
    """No piece of work waits for more than a group of others."""
    with held(writer):
        futures = add_many(writer, GROUP + 1)
    for future in futures:
        future.result(PATIENCE)
    assert len(commits) == 3


def test_urgent_work_comes_first(database: Database, writer: Writer, commits: list[object]) -> None:
    """However much waits, moves wait for the commit under way, and are not held up in their own."""
    with held(writer):
        others = add_many(writer, GROUP)
        urgent = [writer.submit(add(name), is_urgent=True) for name in ("ada", "bob")]
    for future in (*others, *urgent):
        future.result(PATIENCE)
    assert owners(database)[:2] == ["ada", "bob"]
    assert len(commits) == 3


@pytest.mark.parametrize(
    "error", [RuntimeError("halfway"), OperationalError("SELECT", {}, Exception("a timeout"))]
)
def test_a_failing_piece_fails_alone(database: Database, writer: Writer, error: Exception) -> None:
    """The others of its group are committed, and its own rows are not; one that is slow too."""
    with held(writer):
        before, failing, after = (
            writer.submit(work) for work in (add("ada"), fail_by(error), add("bob"))
        )
        double = writer.submit(add("ada"))
    assert (before.result(PATIENCE), after.result(PATIENCE)) == ("ada", "bob")
    assert failing.exception(PATIENCE) is error
    assert isinstance(double.exception(PATIENCE), IntegrityError)
    assert owners(database) == ["ada", "bob"]


def test_work_that_was_cancelled_while_it_waited_is_not_done(
    database: Database, writer: Writer
) -> None:
    """A caller that gave up in time leaves nothing, and the others are served."""
    with held(writer):
        cancelled, kept = writer.submit(add("gone")), writer.submit(add("kept"))
        assert cancelled.cancel()
    assert kept.result(PATIENCE) == "kept"
    with pytest.raises(CancelledError):
        cancelled.result(PATIENCE)
    assert owners(database) == ["kept"]


def test_work_that_has_begun_can_not_be_cancelled(database: Database, writer: Writer) -> None:
    """A caller that gives up during the commit harms nobody: the thread goes on."""
    with held(writer) as work:
        assert not work.cancel()
    assert writer.submit(add("next")).result(PATIENCE) == "next"
    assert owners(database) == ["next"]


def test_close_commits_what_is_pending(database: Database) -> None:
    """Work submitted before the close is done when the close returns."""
    writer = Writer(database)
    with held(writer):
        futures = add_many(writer, 2)
    assert writer.close()
    assert all(future.done() for future in futures)
    assert owners(database) == ["owner-0", "owner-1"]


@pytest.mark.parametrize("others", [0, 3])
def test_work_is_not_repeated_when_the_answer_of_its_commit_is_lost(
    database: Database, writer: Writer, monkeypatch: pytest.MonkeyPatch, others: int
) -> None:
    """Nobody knows whether such work is stored, so its submitter hears of the failure."""
    runs: list[int] = []

    def work(connection: Connection) -> None:
        runs.append(1)
        add("ada")(connection)

    with held(writer):
        futures: list[Future[Any]] = [writer.submit(work), *add_many(writer, others)]
        lose_answers(database, monkeypatch)
    failures = [type(future.exception(PATIENCE)) for future in futures]
    assert failures == [OperationalError] * (1 + others)
    assert runs == [1]
    assert owners(database) == ["ada", *(f"owner-{number}" for number in range(others))]


def lose_answers(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    dialect = database.writer.dialect
    commit = dialect.do_commit

    def commit_and_fail(connection: Any) -> None:
        commit(connection)
        raise dialect.loaded_dbapi.OperationalError("answer lost")

    monkeypatch.setattr(dialect, "do_commit", commit_and_fail)


def test_a_group_that_can_not_begin_fails_at_once(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A locked database takes seconds to refuse: one refusal is for all who wait by then."""
    begins: list[object] = []

    def refuse(connection: Any) -> None:
        begins.append(connection)
        raise OperationalError("BEGIN", {}, Exception("locked"))

    with held(writer):
        futures = add_many(writer, 2 * GROUP)
        monkeypatch.setattr(Connection, "begin", refuse)
    assert all(type(one.exception(PATIENCE)) is OperationalError for one in futures)
    assert len(begins) == 1
    monkeypatch.undo()
    assert writer.submit(add("ada")).result(PATIENCE) == "ada"


@pytest.mark.parametrize(("kind", "is_away"), [(IntegrityError, False), (OperationalError, True)])
def test_a_database_that_is_away_twice_fails_the_group(
    database: Database, writer: Writer, kind: type[Exception], *, is_away: bool
) -> None:
    """The first failure may be one piece's own; work that fails for itself fails alone."""
    runs: list[int] = []
    fail = fail_by(kind("UPDATE", {}, Exception("a lock")), runs)
    with held(writer):
        before = writer.submit(add("ada"))
        failing = [writer.submit(fail) for _ in range(GROUP - 2)]
        after = writer.submit(add("bob"))
    assert all(type(one.exception(PATIENCE)) is kind for one in failing)
    ends = [type(one.exception(PATIENCE)) for one in (before, after)]
    assert ends == [kind if is_away else type(None)] * 2
    assert len(runs) == (2 if is_away else GROUP - 2)
    assert owners(database) == ([] if is_away else ["ada", "bob"])
