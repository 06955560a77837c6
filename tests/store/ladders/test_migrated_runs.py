"""Runs that were published before ladders had a sequencer."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import insert, select
from tests.store.steps import migrate_to

from meijin.ladder.refresh import refresh
from meijin.ladder.verify import verify
from meijin.store import Database
from meijin.store.ladders import ladders
from meijin.store.ladders.runs import list_runs
from meijin.store.schema import Game, Ladder, LadderId, RatingRunId

ROWS = Path(__file__).parent / "ladder_0022.sql"
LADDER = LadderId(1)
RUNS = [RatingRunId(number) for number in (1, 2, 3)]
LATER = datetime(2026, 1, 3, 15, tzinfo=UTC)


@pytest.fixture
def migrated(tmp_path: Path) -> Iterator[Database]:
    """A database of the schema before, as its release left it, brought to the current one."""
    path = tmp_path / "meijin.db"
    with Database(f"sqlite:///{path}") as database:
        migrate_to(database, "0022")
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(ROWS.read_text())
        database.migrate()
        yield database


@pytest.mark.parametrize("run_id", RUNS)
def test_old_runs_verify_byte_for_byte(migrated: Database, run_id: RatingRunId) -> None:
    """From the log as it is now, and as it was before games were voided."""
    found = verify(migrated, LADDER, run_id)
    assert (found.run.id, found.differences) == (run_id, ())


def test_all_that_has_ended_is_in_the_log(migrated: Database) -> None:
    """No game is counted again, and the ladder is as current as it was."""
    query = select(Ladder.sequenced, Ladder.revision, Ladder.games)
    assert migrated.read(lambda at: at.execute(query).one()) == (29, 32, 26)
    assert not migrated.read(lambda at: ladders.is_dirty(at, LADDER))
    assert refresh(migrated, LADDER, lambda: LATER) is None


def test_the_next_run_goes_on_from_the_old_tallies(migrated: Database) -> None:
    """A game that ends now, the same as an old one, is marked; the run of both can be verified."""

    def repeat(number: int) -> None:
        with migrated.writer.begin() as to:
            row = to.execute(select(Game.__table__).where(Game.end_sequence == 29)).mappings().one()
            keys = {"id": row["id"] + number, "pairing_id": row["pairing_id"] + number}
            to.exec_driver_sql(
                "INSERT INTO pairing (id, tournament_id, number, round, black_id, white_id,"
                f" opening, reason) SELECT {keys['pairing_id']}, 1, {99 + number}, 1, black_id,"
                f" white_id, opening, reason FROM pairing WHERE id = {row['pairing_id']}"
            )
            new = dict(row) | keys | {"end_sequence": 29 + number}
            new["moves"] = row["moves"] if number == 1 else row["moves"] + b"\1\0"
            to.execute(insert(Game), [new])

    repeat(1)
    repeat(2)
    run = refresh(migrated, LADDER, lambda: LATER)
    assert run is not None
    assert (run.revision, run.games, run.repeats, run.cutoff) == (34, 27, 2, 31)
    assert verify(migrated, LADDER).differences == ()
    assert [verify(migrated, LADDER, run_id).differences for run_id in RUNS] == [(), (), ()]
    assert len(migrated.read(lambda at: list_runs(at, LADDER, limit=9))) == 4
