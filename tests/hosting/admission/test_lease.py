"""Leases of admissions, renewed while a worker is at it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest
from sqlalchemy.exc import OperationalError
from tests.conftest import PATIENCE
from tests.hosting.admission.test_worker import uploaded

from meijin.hosting.admission import lease as lease_module
from meijin.hosting.admission.lease import LEASE_TIME, Lease, LeaseLostError
from meijin.store.programs import admissions, programs
from meijin.store.programs.programs import ProgramRow
from meijin.store.schema import ProgramState

if TYPE_CHECKING:
    from meijin.store import Database

NOW = datetime.now(UTC)
OFTEN = timedelta(milliseconds=1)


class Store:
    """A database that notes what each write has come to, and is away as often as it is told."""

    def __init__(self, database: Database, outages: int = 0) -> None:
        self.results: list[object] = []
        self.has_written = threading.Semaphore(0)
        self._database = database
        self._outages = outages

    def write(self, work: Callable[..., Any], *args: Any) -> Any:
        try:
            self._outages -= 1
            if self._outages >= 0:
                raise OperationalError("UPDATE", None, Exception("locked"))
            self.results.append(self._database.write(work, *args))
            return self.results[-1]
        finally:
            self.has_written.release()


def taken(database: Database, begin: datetime = NOW) -> ProgramRow:
    row = uploaded(database)
    taken = database.write(admissions.take_program, begin, begin + LEASE_TIME, row.id)
    assert taken is not None
    return taken


@contextmanager
def kept(store: Store, row: ProgramRow) -> Iterator[Lease]:
    with Lease(cast("Database", store), row, OFTEN) as lease:
        yield lease


def test_a_worker_that_is_at_it_keeps_its_program(database: Database) -> None:
    """However long it takes: its lease would have ended an hour ago."""
    row, store = taken(database, NOW - timedelta(hours=1)), Store(database)
    with kept(store, row):
        assert store.has_written.acquire(timeout=PATIENCE)
        assert database.write(admissions.take_program, NOW, NOW + LEASE_TIME, row.id) is None


def test_the_program_of_a_dead_worker_is_taken_within_a_minute(database: Database) -> None:
    """Of its last renewal."""
    row, store = taken(database), Store(database)
    with kept(store, row):
        assert store.has_written.acquire(timeout=PATIENCE)
    later = datetime.now(UTC) + timedelta(minutes=1)
    assert database.write(admissions.take_program, later, later + LEASE_TIME, row.id)


def test_a_database_that_was_away_ends_no_lease(database: Database) -> None:
    row, store = taken(database), Store(database, outages=2)
    with kept(store, row):
        for _ in range(3):
            assert store.has_written.acquire(timeout=PATIENCE)
    assert all(store.results)
    assert store.results


def test_a_program_that_was_suspended_is_given_up(database: Database) -> None:
    """Nothing renews it any more, and the next finding tells."""
    row, store = taken(database), Store(database)
    assert database.write(programs.set_state, row, ProgramState.SUSPENDED, NOW)
    with kept(store, row) as lease:
        assert store.has_written.acquire(timeout=PATIENCE)
        with pytest.raises(LeaseLostError):
            lease.tell(())
    assert store.results == [False, False]


def test_a_worker_that_hangs_loses_its_program(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not renewed without end."""
    monkeypatch.setattr(lease_module, "MOST_RENEWALS", 2)
    store = Store(database)
    with kept(store, taken(database)) as lease:
        lease._thread.join(PATIENCE)
        assert store.results == [True, True]
