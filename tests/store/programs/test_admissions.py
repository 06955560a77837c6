"""Programs taken to be examined, and what becomes of them."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
from tests.store.conftest import NOON, AddBots
from tests.store.programs.test_programs import add, get, new

from meijin.store import Database
from meijin.store.access import versions
from meijin.store.access.versions import versions_of
from meijin.store.errors import TooManyVersionsError
from meijin.store.programs import admissions, programs
from meijin.store.programs.programs import ProgramRow
from meijin.store.schema import BotId, Finding, FindingStatus, ProgramState

LEASE = timedelta(minutes=2)
HELLO = {"botName": "ada", "capabilities": {"maxGames": 1}}
FOUND = (
    Finding("archive", FindingStatus.PASSED, "3 files"),
    Finding("doctor", FindingStatus.FAILED, "no hello", "connect", ("Traceback", "ImportError")),
)


@pytest.fixture
def ada(add_bots: AddBots) -> BotId:
    (bot_id,) = add_bots("ada")
    return bot_id


def take(database: Database, after: timedelta = timedelta(0)) -> ProgramRow | None:
    now = NOON + after
    return database.write(admissions.take_program, now, now + LEASE)


def taken(database: Database, after: timedelta = timedelta(0)) -> ProgramRow:
    found = take(database, after)
    assert found is not None
    return found


def test_each_program_is_taken_once(database: Database, ada: BotId) -> None:
    """That which waits longest first, or the one that is asked for."""
    ids = [add(database, new(ada, digit * 64)).id for digit in "123"]
    asked = database.write(admissions.take_program, NOON, NOON + LEASE, ids[1])
    assert asked is not None
    assert asked.state is ProgramState.CHECKING
    assert [asked.id, taken(database).id, taken(database).id] == [ids[1], ids[0], ids[2]]
    assert take(database) is None
    assert database.write(admissions.take_program, NOON, NOON + LEASE, ids[1]) is None


def test_the_program_of_a_dead_worker_is_taken_again(database: Database, ada: BotId) -> None:
    """When its lease is over; what the first worker says from then on is not heard."""
    add(database, new(ada))
    first = taken(database)
    assert take(database, LEASE - timedelta(seconds=1)) is None
    second = taken(database, LEASE)
    assert (second.id, second.attempts) == (first.id, 2)
    end = NOON + 2 * LEASE
    assert not database.write(admissions.set_findings, first, FOUND, end)
    assert not database.write(admissions.admit, first, FOUND, HELLO, NOON)
    assert not database.write(admissions.refuse, first, FOUND, "no hello", NOON)
    assert database.write(admissions.set_findings, second, FOUND, end)
    assert get(database, first.id).state is ProgramState.CHECKING


def test_findings_keep_the_lease(database: Database, ada: BotId) -> None:
    """They are read as they were written, and the worker has the program longer."""
    add(database, new(ada))
    first = taken(database)
    assert database.write(admissions.set_findings, first, FOUND, NOON + 2 * LEASE)
    assert get(database, first.id).findings == FOUND
    assert take(database, LEASE) is None


def test_an_admitted_program_is_played_with(database: Database, ada: BotId) -> None:
    """With what its hello said."""
    add(database, new(ada))
    first = taken(database)
    assert database.write(admissions.admit, first, FOUND[:1], HELLO, NOON + LEASE)
    found = database.read(programs.current_program, ada)
    assert found is not None
    assert (found.id, found.hello, found.findings) == (first.id, HELLO, FOUND[:1])
    assert found.update_time == NOON + LEASE


def test_an_admitted_program_has_its_version(database: Database, ada: BotId) -> None:
    """That which it plays as, of the time of its upload; its uploader's label is before its own."""
    for digit, label in (("1", "mine"), ("2", "")):
        add(database, new(ada, digit * 64, label=label))
        admit = partial(admissions.admit, label="its own")
        assert database.write(admit, taken(database), (), HELLO, NOON + LEASE)
        (version,) = database.read(versions_of, ada, digit * 64)
        assert (version.label, version.is_hosted) == (label or "its own", True)
        assert (version.create_time, version.doctor_time) == (NOON, NOON + LEASE)


def test_a_program_that_would_be_one_version_too_many_stays_as_it_was(
    database: Database, ada: BotId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "MAX_VERSIONS", 1)
    for digit in "12":
        add(database, new(ada, digit * 64))
    assert database.write(admissions.admit, taken(database), (), HELLO, NOON)
    second = taken(database)
    with pytest.raises(TooManyVersionsError):
        database.write(admissions.admit, second, (), HELLO, NOON)
    assert get(database, second.id).state is ProgramState.CHECKING


def test_a_newer_program_stays_the_bots(database: Database, ada: BotId) -> None:
    """An older one that is admitted after it does not take its place."""
    older = add(database, new(ada, "1" * 64))
    newer, _ = database.write(programs.add_program, new(ada, "2" * 64), NOON + LEASE)
    first, second = taken(database), taken(database)
    assert [first.id, second.id] == [older.id, newer.id]
    for each in (second, first):
        assert database.write(admissions.admit, each, FOUND[:1], HELLO, NOON + LEASE)
    found = database.read(programs.current_program, ada)
    assert found is not None
    assert found.id == newer.id


def test_a_refused_program_says_why(database: Database, ada: BotId) -> None:
    """The bot plays with what it had before."""
    before = add(database, new(ada, "1" * 64))
    database.write(admissions.admit, taken(database), (), HELLO, NOON)
    add(database, new(ada, "2" * 64))
    second = taken(database)
    assert database.write(admissions.refuse, second, FOUND, "x" * 300, NOON)
    refused = get(database, second.id)
    assert (refused.state, refused.reason) == (ProgramState.REFUSED, "x" * 200)
    assert get(database, before.id).is_current


def test_a_program_that_was_suspended_is_not_admitted(database: Database, ada: BotId) -> None:
    """The worker that had it has it no more."""
    add(database, new(ada))
    first = taken(database)
    assert database.write(programs.set_state, first, ProgramState.SUSPENDED, NOON)
    assert not database.write(admissions.admit, first, (), HELLO, NOON)
    assert get(database, first.id).state is ProgramState.SUSPENDED


def test_open_admissions_are_in_their_order(database: Database, ada: BotId) -> None:
    """Others come after them where they are asked for."""
    one, two, three = (add(database, new(ada, digit * 64)).id for digit in "123")
    first = taken(database)
    database.write(admissions.refuse, first, (), "no", NOON)
    found = database.read(admissions.open_admissions)
    assert [row.id for row in found] == [two, three]
    found = database.read(admissions.open_admissions, [one, three])
    assert [row.id for row in found] == [two, three, one]
