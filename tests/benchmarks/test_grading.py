"""Simulated grades: their marks, and the rows."""

import json
import subprocess
import sys
from pathlib import Path

import grading
from grading import mark
from stopped_tests import WORLDS


def test_a_bot_that_is_far_ahead_passes() -> None:
    """With few games; one that is far behind fails, and nobody does both."""
    ahead = mark(WORLDS["even"], 400, 50, 100, seed=1)
    assert ahead.passed.all()
    assert ahead.games.max() < 60
    behind = mark(WORLDS["even"], -400, 50, 100, seed=1)
    assert behind.failed.all()
    level = mark(WORLDS["even"], 0, 200, 100, seed=1)
    assert not (level.passed & level.failed).any()
    assert 0.15 < 1 - (level.passed | level.failed).mean() < 0.45


def test_rows() -> None:
    """One for each advantage, and one for a class."""
    script = Path(grading.__file__)
    options = ["--students", "20", "--games", "10", "--worlds", "even", "--advantages", "0", "400"]
    done = subprocess.run(
        [sys.executable, str(script), *options, "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = json.loads(done.stdout.splitlines()[-1])["results"]
    assert [row["advantage"] for row in rows] == ["0", "400", "a class"]
    assert rows[1]["wrong_percent"] == 0
