"""How a ladder's run is timed, on small ladders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import ladder
import numpy as np
import pytest
from ladder import LADDER, Size, draw_counts, draw_games, fill_database, measure, measure_job

from meijin.store import Database
from meijin.store.ladders.days import rating_history
from meijin.store.ladders.runs import standings
from meijin.store.schema import BotId


def test_games_are_drawn_of_two() -> None:
    """As many as were asked for, half of them near in rank, and none against oneself."""
    (drawn,) = draw_games(Size(100, 20_000))
    first, second, result = drawn
    assert len(first) == len(second) == len(result) == 20_000
    assert (first != second).all()
    assert set(result.tolist()) == {0, 1, 2}
    assert 0.5 < (((second - first) % 100) <= 10).mean() < 0.6


def test_a_database_is_a_ladder_that_can_be_refreshed(tmp_path: Path) -> None:
    """Whatever is timed is done to it, and its last run is verified."""
    path, size = tmp_path / "games.db", Size(4, 60)
    fill_database(path, size, days=3)
    rows = measure_job(path, size, days=3)
    assert [row["step"] for row in rows][:2] == ["sequencing", "first run"]
    assert rows[-1]["step"] == "verify"
    assert all(float(row["cpu_seconds"]) >= 0 for row in rows)
    with Database(f"sqlite:///{path}") as database:
        found = database.read(lambda at: standings(at, LADDER))
        days = database.read(lambda at: rating_history(at, LADDER, BotId(1)))
    assert found.run is not None
    played = ladder.REPEATS * sum(ladder.NEW_GAMES.values()) + 2
    assert found.run.games == found.ladder.games == 60 + played - 2
    assert len(days) == 3


def test_many_games_are_drawn_by_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost between them."""
    monkeypatch.setattr(ladder, "CHUNK", 300)
    draw_counts(tmp_path / "counts.npz", Size(7, 1000))
    row = measure(tmp_path / "counts.npz", Size(7, 1000), repeat=1)
    with np.load(tmp_path / "counts.npz") as drawn:
        assert sum(drawn[name].sum() for name in ("wins", "draws", "losses")) == 1000
    assert (row["bots"], row["games"]) == (7, 1000)


def test_the_script_prints_json() -> None:
    """One row for each size, with what its process took."""
    printed = subprocess.run(
        [
            *(sys.executable, ladder.__file__, "--sizes", "10x2000", "--jobs", "3x20"),
            *("--days", "2", "--repeat", "1", "--json"),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    fits, jobs = (
        json.loads(line)["results"] for line in printed.stdout.splitlines() if line.startswith("{")
    )
    assert [(row["bots"], row["games"], row["pairs"]) for row in fits] == [(10, 2000, 90)]
    assert 0 < fits[0]["fit_seconds"] < 60
    assert len(jobs) == 13
    assert all(10 < row["peak_mb"] < 4000 for row in jobs)
