"""Simulated tests that stop themselves: their worlds, their stops and the rows."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import stopped_tests
from stopped_tests import WORLDS, play

from meijin.ladder.statistics.sequential.sprt import Decision, Sprt


@pytest.mark.parametrize("world", WORLDS)
def test_a_world_has_the_advantage_that_is_asked_for(world: str) -> None:
    """In normalised Elo; equals score a half, whatever the openings favour."""
    level = WORLDS[world].with_advantage(0)
    assert level == pytest.approx(level[::-1])
    ahead = WORLDS[world].with_advantage(100)
    points = np.arange(5) / 4
    mean = float(ahead @ points)
    deviation = float(ahead @ (points - mean) ** 2) ** 0.5
    assert (mean - 0.5) / deviation * 347.4356 / 2**0.5 == pytest.approx(100, abs=0.01)


def test_tests_stop_where_they_are_decided_first() -> None:
    """A pair before they were not, whatever it was, in one at least of the ways to have come."""
    test = Sprt(0, 200)
    counts = play(test, WORLDS["even"].with_advantage(100), 20, np.random.default_rng(1))
    for row in counts.tolist():
        assert test.decide(test.llr(row)) is not Decision.UNDECIDED
        before = [[n - (k == last) for k, n in enumerate(row)] for last in range(5) if row[last]]
        assert any(test.decide(test.llr(each)) is Decision.UNDECIDED for each in before)


def test_the_script_prints_json() -> None:
    """One row for each case, with both estimates."""
    script = Path(stopped_tests.__file__)
    options = [
        "--runs",
        "4",
        "--bounds",
        "50",
        "--worlds",
        "even",
        "--truths",
        "1",
        "--processes",
        "1",
        "--json",
    ]
    printed = subprocess.run(
        [sys.executable, script, *options],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    (row,) = json.loads(printed.stdout.splitlines()[-1])["results"]
    assert (row["elo1"], row["world"], row["truth"], row["tests"]) == (50, "even", 50, 4)
    assert 0 <= row["stopped_holds"] <= 100
