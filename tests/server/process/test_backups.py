"""Automatic backups."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from meijin.server.process.backups import Backups
from meijin.store.backup import backup_name, backups_in

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> Mock:
    """A clock at noon; it is set by what it returns."""
    return Mock(return_value=NOON)


@pytest.fixture
def backups(tmp_path: Path, clock: Mock) -> Backups:
    """Daily backups, of which two are kept, of a database with one table."""
    with closing(sqlite3.connect(tmp_path / "meijin.db")) as database, database:
        database.execute("CREATE TABLE stones (cell INTEGER)")
    return Backups(tmp_path / "meijin.db", tmp_path / "backups", every=DAY, keep=2, clock=clock)


def test_a_start_does_not_put_the_next_one_off(backups: Backups, clock: Mock) -> None:
    """The first is due at once, the next when the newest is old enough, whoever took that."""
    assert backups.pause() == timedelta(0)
    assert backups.take()
    clock.return_value = NOON + timedelta(hours=20)
    assert backups.pause() == timedelta(hours=4)
    clock.return_value = NOON + timedelta(days=9)
    assert backups.pause() == timedelta(0)


def test_old_ones_are_deleted(backups: Backups, clock: Mock, tmp_path: Path) -> None:
    """And the log tells what was done."""
    for _ in range(3):
        clock.return_value += DAY
        with capture_logs() as logs:
            assert backups.take()
    kept = [each.time for each in backups_in(tmp_path / "backups")]
    assert kept == [NOON + 3 * DAY, NOON + 2 * DAY]
    (line,) = logs
    assert (line["event"], line["deleted"]) == ("backed up", 1)
    assert line["file"].endswith(backup_name(NOON + 3 * DAY))


def test_a_failure_is_loud_and_ends_nothing(backups: Backups, clock: Mock, tmp_path: Path) -> None:
    """It is logged as an error and counted; earlier backups stay."""
    registry = CollectorRegistry()
    registry.register(backups)
    assert backups.take()
    (tmp_path / "meijin.db").unlink()
    clock.return_value += DAY
    with capture_logs() as logs:
        assert not backups.take()
    assert [(line["event"], line["log_level"]) for line in logs] == [("the backup failed", "error")]
    assert registry.get_sample_value("meijin_backup_failures_total") == 1
    assert registry.get_sample_value("meijin_backup_age_seconds") == DAY.total_seconds()


async def test_they_are_taken_while_it_runs(backups: Backups, tmp_path: Path) -> None:
    """Off the event loop, until it is cancelled."""
    running = asyncio.create_task(backups.run())
    async with asyncio.timeout(20):
        while not backups_in(tmp_path / "backups"):  # noqa: ASYNC110 - a file has no event
            await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
