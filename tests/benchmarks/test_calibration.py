"""Whether calibration is judged rightly, on small ladders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import calibration
import numpy as np
import pytest
from calibration import Judgement, Race, coverage_rows, los_rows, race, race_rows, simulate_ladder


def judgement(games: int, anchored: list[float], predicted: list[float]) -> Judgement:
    """One in which all favourites were the stronger."""
    return Judgement(
        games,
        np.array(anchored),
        np.array([*anchored, 1.0]),
        np.array(predicted),
        np.ones(len(predicted)),
    )


def test_coverage_is_counted_over_intervals() -> None:
    """Each moment has a row, over all ladders."""
    judgements = [judgement(100, [1, 1, 0], []), judgement(100, [1], []), judgement(200, [0], [])]
    assert list(coverage_rows(judgements)) == [
        {
            "table": "coverage",
            "games": 100,
            "ladders": 2,
            "intervals": 4,
            "from_anchor": 75.0,
            "from_mean": 83.33,
        },
        {
            "table": "coverage",
            "games": 200,
            "ladders": 1,
            "intervals": 1,
            "from_anchor": 0.0,
            "from_mean": 50.0,
        },
    ]


def test_the_los_is_compared_by_bins() -> None:
    """A bin holds its lower end, the last one both; empty ones are left out."""
    rows = list(los_rows([judgement(100, [], [0.5, 0.58, 0.6, 1.0])]))
    assert [(row["from"], row["to"], row["pairs"]) for row in rows] == [
        (0.5, 0.6, 2),
        (0.6, 0.7, 1),
        (0.99, 1.0, 1),
    ]
    assert rows[0]["predicted"] == 0.54
    assert rows[0]["observed"] == 1.0


def test_a_ladder_is_judged_at_its_checkpoints() -> None:
    """Everyone has joined by the last; the anchor has no interval of its own."""
    first, last = simulate_ladder(1, bots=10, checkpoints=(60, 300))
    assert (first.games, last.games) == (60, 300)
    assert len(first.centred) < len(last.centred) == 10
    assert len(last.anchored) == 9
    assert len(last.predicted) == len(last.observed) == 45
    assert (last.predicted >= 0.5).all()
    assert last.anchored.mean() > 0.5


@pytest.mark.parametrize("policy", calibration.POLICIES)
def test_every_policy_comes_to_an_order(policy: str) -> None:
    """Of four bots, in some hundred games; equal seeds give equal races."""
    run = race(policy, seed=1, bots=4)
    assert 20 <= run.ordered <= run.settled < 10_000
    assert run.stopped <= run.settled
    assert race(policy, seed=1, bots=4) == run


def test_a_race_may_be_given_up() -> None:
    """What is not settled counts as the most games."""
    assert race("round robin", seed=1, bots=20, most=100).settled == 100


def test_races_are_summed_up() -> None:
    """By medians and quartiles; all but the first were sure of a wrong order before."""
    races = [Race("ours", 10 * each, 100 * each, 90 * each + 10) for each in range(1, 6)]
    assert list(race_rows(races)) == [
        {
            "table": "matchmaking",
            "policy": "ours",
            "seeds": 5,
            "right_order": 30,
            "sure_order": 300,
            "lower_quartile": 200,
            "upper_quartile": 400,
            "wrong_stops": 4,
        }
    ]


def test_the_script_prints_json() -> None:
    """One object on the last line."""
    script = Path(calibration.__file__)
    printed = subprocess.run(
        [
            sys.executable,
            script,
            "--ladders",
            "1",
            "--only",
            "coverage",
            "--processes",
            "1",
            "--json",
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    results = json.loads(printed.stdout.splitlines()[-1])["results"]
    assert [row["games"] for row in results if row["table"] == "coverage"] == [2000, 5000, 10000]
    assert "Coverage of the 95 % intervals" in printed.stdout
