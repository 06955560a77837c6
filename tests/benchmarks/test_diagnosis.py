"""Whether the diagnosis of pools is judged rightly, on small ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import diagnosis
import numpy as np
import pytest
from diagnosis import SCENARIOS, Circles, Finding, diagnose, row


@pytest.mark.parametrize("pairing", diagnosis.PAIRINGS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_world_is_played_and_judged(scenario: str, pairing: str) -> None:
    """Equal seeds give equal findings."""
    task = (scenario, pairing, 1, 6, 200)
    assert diagnose(task) == diagnose(task)


def test_all_change_where_all_have_a_trend() -> None:
    """Six bots of 500 games each, 1,000 Elo from where they began: nobody misses that."""
    found = diagnose(("trend", "random", 1, 6, 1_500))
    assert found.found == found.drift == 1
    assert found.by_drift > 0.3


def test_rock_beats_scissors() -> None:
    """By 100 Elo, which nobody gains on its own kind."""
    world = Circles(6, np.random.default_rng(1))
    assert [world.bonus(0, other) for other in range(4)] == [0, 100, -100, 0]
    assert all(
        world.bonus(one, two) == -world.bonus(two, one) for one in range(6) for two in range(6)
    )


def test_findings_are_shares_of_pools() -> None:
    """In percent."""
    findings = [Finding(1, 1, 0, 0, 0, 0.5, 0), Finding(0, 0, 0, 0, 0, 0, 0)]
    assert row("holds", "ours", findings) == {
        "scenario": "holds",
        "pairing": "ours",
        "pools": 2,
        "found": 50,
        "fit": 50,
        "pair": 0,
        "triple": 0,
        "drift": 0,
        "by_opponents": 25,
        "by_drift": 0,
    }


def test_the_script_prints_json() -> None:
    """One object on the last line."""
    options = ["--pools", "1", "--bots", "5", "--games", "100", "--processes", "1", "--json"]
    printed = subprocess.run(
        [sys.executable, diagnosis.__file__, *options, "--pairing", "random"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    results = json.loads(printed.stdout.splitlines()[-1])["results"]
    assert [each["scenario"] for each in results] == list(SCENARIOS)
