"""The walk to better values, on games that are drawn by lot with known chances."""

import random

import pytest

from meijin.local.tuning.parameter import parse_parameters
from meijin.local.tuning.spsa import Spsa
from meijin.local.tuning.trial import Trial

PARAMETERS = parse_parameters(["depth=1..9", "margin=0.5..2.5"], {"depth": "8", "margin": "0.6"})
BEST = {"depth": 4.0, "margin": 1.8}
WIDTH = {"depth": 4.0, "margin": 1.0}
"""At which a player has lost 200 Elo."""


def elo(values: dict[str, str]) -> float:
    return sum(-200 * ((float(values[key]) - BEST[key]) / WIDTH[key]) ** 2 for key in BEST)


def played(trial: Trial) -> int:
    """The same for the same trial."""
    rng = random.Random(str(trial))
    chance = 1 / (1 + 10 ** ((elo(dict(trial.minus)) - elo(dict(trial.plus))) / 400))
    return sum(1 if rng.random() < chance else -1 for _ in range(2))


def walk(spsa: Spsa, order: random.Random) -> None:
    """Play to the end; results come in any order."""
    while not spsa.is_over:
        trial = order.choice(spsa.open_trials)
        spsa.note(trial.number, played(trial))


def test_the_walk_comes_to_the_best_values() -> None:
    """From far off, by noisy games, several at once."""
    spsa = Spsa(PARAMETERS, 2000, seed=1, window=8)
    assert spsa.values == (8, 0.6)
    walk(spsa, random.Random(0))
    depth, margin = spsa.values
    assert depth == pytest.approx(4, abs=0.6)
    assert margin == pytest.approx(1.8, abs=0.15)
    assert all(0 < spread < 0.5 for spread in spsa.spread())
    assert len(spsa.path) == 2001


def test_the_order_of_results_does_not_matter() -> None:
    """Nor how many were played at once by the machine, as long as the window is the same."""
    paths = []
    for order in range(3):
        spsa = Spsa(PARAMETERS, 60, seed=5, window=6)
        walk(spsa, random.Random(order))
        paths.append(spsa.path)
    assert paths[0] == paths[1] == paths[2]
    other = Spsa(PARAMETERS, 60, seed=6, window=6)
    walk(other, random.Random(0))
    assert other.path != paths[0]


def test_neighbours_differ_and_stay_in_the_range() -> None:
    """Integers too, however narrow their range, and at its very end."""
    spsa = Spsa(
        parse_parameters(["k=0..2", "x=0..1.0"], {"k": "2", "x": "1"}), 50, seed=2, window=50
    )
    trials = spsa.open_trials
    assert len(trials) == 50
    for trial in trials:
        for values in (trial.plus, trial.minus):
            assert values["k"] in {"0", "1", "2"}
            assert 0 <= float(values["x"]) <= 1
        assert trial.plus != trial.minus


def test_a_trial_has_one_result() -> None:
    """A second one, and one of a trial that can't be played yet, are refused."""
    spsa = Spsa(PARAMETERS, 10, seed=1, window=2)
    assert [trial.number for trial in spsa.open_trials] == [0, 1]
    spsa.note(1, 2)
    assert [trial.number for trial in spsa.open_trials] == [0]
    for number in (1, 2):
        with pytest.raises(ValueError, match="not open"):
            spsa.note(number, 0)
    spsa.note(0, -2)
    assert len(spsa.path) == 3
