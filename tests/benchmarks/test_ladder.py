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
from ladder import Size, count, draw_counts, draw_games, fill_database, measure


def test_games_are_drawn_of_two() -> None:
    """As many as were asked for, half of them near in rank, and none against oneself."""
    (drawn,) = draw_games(Size(100, 20_000))
    first, second, result = drawn
    assert len(first) == len(second) == len(result) == 20_000
    assert (first != second).all()
    assert set(result.tolist()) == {0, 1, 2}
    assert 0.5 < (((second - first) % 100) <= 10).mean() < 0.6


def test_both_ways_count_the_same_games(tmp_path: Path) -> None:
    """In a database and without one."""
    size = Size(7, 500)
    fill_database(tmp_path / "games.db", size)
    draw_counts(tmp_path / "counts.npz", size)
    counted = count(tmp_path / "games.db")
    assert counted.games == 500
    with np.load(tmp_path / "counts.npz") as drawn:
        assert (counted.first == drawn["first"] + 1).all()
        assert (counted.second == drawn["second"] + 1).all()
        for name in ("wins", "draws", "losses"):
            assert (getattr(counted, name) == drawn[name]).all()


def test_many_games_are_drawn_by_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost between them."""
    monkeypatch.setattr(ladder, "CHUNK", 300)
    draw_counts(tmp_path / "counts.npz", Size(7, 1000))
    row = measure(tmp_path / "counts.npz", Size(7, 1000), repeat=1)
    with np.load(tmp_path / "counts.npz") as drawn:
        assert sum(drawn[name].sum() for name in ("wins", "draws", "losses")) == 1000
    assert row["counted"] == "drawn"
    assert row["count_seconds"] == ""


def test_the_script_prints_json() -> None:
    """One row for each size, with what its process took."""
    printed = subprocess.run(
        [
            *(sys.executable, ladder.__file__, "--sizes", "10x2000,20x3000"),
            *("--sqlite", "2000", "--repeat", "1", "--json"),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    one, other = json.loads(printed.stdout.splitlines()[-1])["results"]
    assert (one["bots"], one["games"], one["counted"], one["pairs"]) == (10, 2000, "sqlite", 90)
    assert (other["bots"], other["games"], other["counted"]) == (20, 3000, "drawn")
    assert 0 < one["count_seconds"] < 60
    assert 0 < one["fit_seconds"] < 60
    assert 10 < one["peak_mb"] < 4000
