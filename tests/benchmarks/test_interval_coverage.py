"""Whether coverage is judged rightly, on small ladders of worlds that are not the model's."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import interval_coverage
import numpy as np
import pytest
from interval_coverage import SCENARIOS, calibration, coverage_row, judge, los_row, simulate
from scenarios import World, WorldGames

from meijin.ladder.statistics.fit.bradley_terry import fit
from meijin.ladder.statistics.fit.covariance import DenseCovariance


def test_an_interval_holds_what_lies_in_it() -> None:
    """Around the mean, and from each bot as the anchor."""
    games = played(World(bots=3), 60)
    known = fit(games.counts)
    sure = DenseCovariance(100.0 * np.eye(3))
    right = calibration(known, sure, known.elo + 70)
    assert (right.from_mean, right.from_anchor) == (1, 1)
    wrong = calibration(known, sure, known.elo + np.array([0, 0, 60.0]))
    assert wrong.from_mean == 0
    assert wrong.from_anchor == pytest.approx(1 / 3)


def played(world: World, games: int, seed: int = 1) -> WorldGames:
    """So many games of a world, paired by lot."""
    rng = np.random.default_rng(seed)
    made = WorldGames(world, rng)
    while made.count < games:
        made.play_both(*rng.choice(world.bots, 2, replace=False).tolist())
    return made


@pytest.mark.parametrize("pairing", interval_coverage.PAIRINGS)
def test_a_ladder_is_judged_at_its_checkpoints(pairing: str) -> None:
    """Equal seeds give equal ladders."""
    scenario = replace(SCENARIOS["cycle"], world=World(bots=5, cycle=100), checkpoints=(20, 60))
    first, last = simulate(scenario, pairing, "robust", seed=1)
    assert (first.games, last.games) == (20, 60)
    again = simulate(scenario, pairing, "robust", seed=1)[1]
    assert again.overdispersion == last.overdispersion
    assert last.by["robust"].width >= last.by["model"].width > 0
    assert len(last.by["model"].told) == 10


def test_a_scenario_holds_where_intervals_do_or_pools_are_flagged() -> None:
    """93 to 97 in a hundred, from the mean and from an anchor; or 95 pools in a hundred."""
    judged = judge(played(World(bots=4), 40), 40)
    row = coverage_row("model", "random", [judged])
    shares = {row["robust_mean"], row["robust_anchor"]}
    assert row["holds"] == ("yes" if shares <= set(range(93, 98)) else "no")
    flagged = coverage_row("model", "random", [replace(judged, is_flagged=True)])
    assert (flagged["flagged"], flagged["holds"]) == (100, "yes")


def test_the_los_is_compared_by_bands() -> None:
    """Where nobody was told such a chance, there is nothing to say."""
    judged = judge(played(World(bots=4), 40), 40)
    sure = replace(judged.by["model"], told=np.array([0.96, 0.98, 0.5]), is_right=np.eye(3)[0])
    row = los_row("model", "random", [replace(judged, by={"model": sure, "robust": sure})])
    assert (row["model_95"], row["model_99"]) == (50, "-")


def test_the_script_prints_json() -> None:
    """One object on the last line, with a row of either table for each moment."""
    options = ("--ladders", "1", "--only", "few-8", "--pairing", "random", "--json")
    printed = subprocess.run(
        [sys.executable, Path(interval_coverage.__file__), *options],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    results = json.loads(printed.stdout.splitlines()[-1])["results"]
    assert [(row["table"], row["games"]) for row in results] == [
        ("coverage", 1000),
        ("coverage", 3000),
        ("LOS", 1000),
        ("LOS", 3000),
    ]
