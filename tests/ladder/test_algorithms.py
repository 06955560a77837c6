"""Runs of earlier releases: each is what the algorithm that it names makes of its games."""

import gzip
import hashlib
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from meijin.ladder.algorithms import rao_kupper_2
from meijin.ladder.verification.verify import verify
from meijin.store import Database
from meijin.store.schema import LadderId, RatingRunId

ROOT = Path(__file__).parents[2]
ROWS = Path(__file__).with_name("rao_kupper_2.sql.gz")
"""Four days, 300 games and as many runs: new versions, anchors, forfeits, repeats, effects of
openings, a walk, a game voided before the last run and one after it."""
LADDER = LadderId(1)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("kept") / "meijin.db"
    with Database(f"sqlite:///{path}") as database:
        database.migrate()
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(gzip.decompress(ROWS.read_bytes()).decode())
        yield database


@pytest.mark.parametrize("run_id", [1, 2, 3, 4])
def test_old_runs_verify_byte_for_byte(kept: Database, run_id: int) -> None:
    assert verify(kept, LADDER, RatingRunId(run_id)).differences == ()


def test_the_frozen_source_is_that_of_its_revision(tmp_path: Path) -> None:
    """Whoever has the history makes the zip again, with the same digest."""
    archive = Path(rao_kupper_2.__file__).with_suffix(".zip")
    made = tmp_path / archive.name
    known = ("git", "cat-file", "-e", rao_kupper_2.REVISION)
    if subprocess.run(known, cwd=ROOT, check=False).returncode:
        pytest.skip("the history of this copy does not reach back to the revision")
    command = (sys.executable, "scripts/freeze.py", rao_kupper_2.REVISION, str(made))
    subprocess.run(command, cwd=ROOT, check=True)
    digests = [hashlib.sha256(each.read_bytes()).hexdigest() for each in (archive, made)]
    assert digests[0] == digests[1]
