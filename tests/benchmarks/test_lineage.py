"""Whether the benchmark of lineage and openings judges rightly, on few ladders."""

import json
import os
import subprocess
import sys
from pathlib import Path

import lineage
import numpy as np
import pytest
from lineage import Judgement, Kind, judge, lineage_ladder, openings_ladder, rows

from meijin.ladder.statistics.fit.bradley_terry import fit
from meijin.ladder.statistics.fit.pair_counts import PairCounts


def test_a_judgement_is_relative_to_the_mean_of_some() -> None:
    """A shift of all strengths changes nothing, and the error is the rating's less the truth's."""
    counts = PairCounts(*np.array([(0, 1), (1, 2)]).T, *np.array([(3.0, 0, 1), (2, 1, 2)]).T)
    found, all_three = fit(counts), np.arange(3)
    kind = Kind("lineage", 0, 0.0, "without")
    judged = judge(kind, found, found.elo + 700 + np.array([0, 0, 30]), all_three, np.array([0, 1]))
    assert judged.errors == pytest.approx([0, 0, -30])
    assert judged.scale == pytest.approx(1)
    assert (judged.margins > 0).all()


def test_rows_sum_up_what_is_judged() -> None:
    """Coverage in percent and the root mean square of all errors of a kind."""
    kind = Kind("openings", 10, 150.0, "with")
    one = Judgement(kind, np.array([3.0, -4.0]), np.array([3.5, 3.5]), 0.9, 100.0)
    other = Judgement(kind, np.array([0.0, 0.0]), np.array([1.5, 3.5]), 1.0, 140.0)
    [row] = rows([one, other])
    assert (row["intervals"], row["coverage"], row["rms_error"]) == (4, 75.0, 2.5)
    assert (row["margin"], row["scale"], row["width"]) == (3.0, 0.95, 120.0)


def test_equal_seeds_give_equal_ladders() -> None:
    """By both models, and for each number of games."""
    one, other = list(rows(lineage_ladder(5))), list(rows(lineage_ladder(5)))
    assert one == other
    assert [(row["games"], row["model"]) for row in one] == [
        (games, model) for games in lineage.NEW_GAMES for model in ("with", "without")
    ]


def test_openings_are_judged_by_both_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no effects has no width."""
    monkeypatch.setattr(lineage, "GAMES_AND_BIASES", ((2_000, 150.0),))
    both, neither = rows(openings_ladder(5))
    assert (both["model"], neither["model"]) == ("with", "without")
    assert float(both["width"]) > 50 > float(neither["width"]) == 0


def test_the_script_prints_json() -> None:
    """One object on the last line."""
    script = Path(lineage.__file__)
    options = ("--ladders", "1", "--only", "lineage", "--processes", "1", "--json")
    printed = subprocess.run(
        [sys.executable, script, *options],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    results = json.loads(printed.stdout.splitlines()[-1])["results"]
    assert [row["games"] for row in results] == [0, 0, 10, 10, 50, 50]
