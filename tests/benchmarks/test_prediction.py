"""Models of a game: their chances, their fits, and the rows."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import prediction
import pytest
from prediction import MODELS, Games, davidson, fit_model, rao_kupper, simulate

from meijin.ladder.statistics.fit import bradley_terry
from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT
from meijin.ladder.statistics.fit.pair_counts import PairCounts


@pytest.mark.parametrize("chances", [rao_kupper, davidson])
def test_chances_are_of_three_results(chances: prediction.Chances) -> None:
    """They sum to one, and equals win as often as they lose."""
    found = chances(np.array([0.0, 1.5]), np.array([0.4, 0.4]))
    assert found.sum(axis=1) == pytest.approx([1, 1])
    assert found[0, 0] == pytest.approx(found[0, 2])
    assert found[1, 2] > found[1, 0]


def test_rao_kupper_is_fitted_as_the_ladder_does() -> None:
    """Without a first-move advantage, to the priors of the draws."""
    games = simulate("constant")
    losses, draws, wins = games.results.T
    counts = PairCounts(games.one, games.other, wins, draws, losses)
    ladder = bradley_terry.fit(counts, bradley_terry.Prior(advantage=0.0))
    found = fit_model(MODELS["rao-kupper 600"], games)
    ours = found.strengths - found.strengths.mean()
    assert ours * ELO_PER_NAT == pytest.approx(ladder.elo, abs=0.05)


def test_draws_that_rise_with_strength_are_found() -> None:
    """The slope is about the one that the games were made with."""
    model = MODELS["rao-kupper by strength"]
    assert fit_model(model, simulate("rising")).slope == pytest.approx(0.5, abs=0.15)
    assert fit_model(model, simulate("constant")).slope == pytest.approx(0.0, abs=0.15)


def test_the_ladder_predicts_draws_that_rise_as_the_whole_fit_does() -> None:
    """Though it takes the levels from a fit before."""
    games = simulate("rising")
    ladder = prediction.LadderFit.of(games).log_likelihood(games).sum()
    whole = fit_model(MODELS["rao-kupper by strength"], games).log_likelihood(games).sum()
    plain = fit_model(MODELS["rao-kupper 600"], games).log_likelihood(games).sum()
    assert ladder - plain > 0.97 * (whole - plain) > 100


def test_each_pairing_is_held_out_once_a_repeat() -> None:
    """With all of its games."""
    task = prediction.Task("constant", Path(), folds=5, repeats=2)
    cuts = list(prediction._cuts(23, task))
    assert np.bincount(np.concatenate([test for _, test in cuts])).tolist() == [2] * 23
    assert all(set(train).isdisjoint(test) for train, test in cuts)


def test_held_out_players_are_taken_for_average() -> None:
    """One who has no game in a fold has the prior's strength."""
    games = Games(3, np.array([0]), np.array([1]), np.array([[1.0, 1.0, 6.0]]))
    found = fit_model(MODELS["rao-kupper 600"], games)
    assert found.strengths[2] == 0
    assert found.strengths[0] > found.strengths[1]


def test_the_script_tells_what_is_not_there(tmp_path: Path) -> None:
    """Sets without a file are left out."""
    script = Path(prediction.__file__)
    options = ["--golden", str(tmp_path), "--sets", "gomocup_2026_renju", "--json"]
    printed = subprocess.run(
        [sys.executable, script, *options],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    told, rows = printed.stdout.splitlines()
    assert told.startswith("gomocup_2026_renju left out: there is no")
    assert json.loads(rows) == {"results": []}
