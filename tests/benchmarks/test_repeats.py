"""Whether the simulated bots repeat themselves as told, and errors are counted rightly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
import repeats
from repeats import SCENARIOS, EqualBots, Run, Scenario, rows_of, run_test

from meijin.game import Result
from meijin.server.tournaments.formats.sprt import SprtDecision

ONE, OTHER = repeats.PLAYERS
OPENING = b"\x07\x00"


def test_deterministic_bots_play_an_opening_once() -> None:
    """With each colour; dice never play it again."""
    for replay, games in ((1.0, 2), (0.0, 20)):
        bots = EqualBots(replay, Random(1))
        played = [bots.play(OPENING, black) for _ in range(10) for black in (ONE, OTHER)]
        assert len({game.number for game in played}) == games


def test_nearly_deterministic_bots_repeat_nine_in_ten() -> None:
    """And otherwise play another game."""
    bots = EqualBots(0.9, Random(1))
    first = bots.play(OPENING, ONE)
    again = [bots.play(OPENING, ONE) for _ in range(4000)]
    assert again.count(first) / 4000 == pytest.approx(0.9, abs=0.015)


def test_neither_bot_is_the_stronger() -> None:
    """A result depends on the opening and not on who has black; one in ten or so is drawn."""
    bots = EqualBots(0.0, Random(1))
    openings = [bytes((number, 0)) for number in range(200)]
    results = [bots.play(opening, ONE).result for opening in openings for _ in range(50)]
    assert 0.5 < results.count(Result.BLACK_WINS) / len(results) < 0.6
    assert 0.04 < results.count(Result.DRAW) / len(results) < 0.1


def test_a_run_ends_with_nothing_new() -> None:
    """Forty openings and fifty pairs that repeat them, where it was not decided before."""
    run = run_test(SCENARIOS[1], seed=1, most_games=1000)
    assert (run.decision, run.games) == (SprtDecision.NOTHING_NEW, 180)
    assert run_test(SCENARIOS[1], seed=1, most_games=1000) == run


def test_errors_are_counted_by_scenario() -> None:
    """In percent, with how sure that is."""
    one, other = Scenario(1.0, "40", "all"), Scenario(1.0, "40", "new")
    runs = [Run(one, SprtDecision.ELO1, 10)] * 2 + [Run(one, SprtDecision.ELO0, 30)] * 6
    rows = list(rows_of([*runs, Run(other, SprtDecision.NOTHING_NEW, 80)]))
    assert [(row["counted"], row["runs"], row["games"]) for row in rows] == [
        ("all", 8, 30),
        ("new", 1, 80),
    ]
    names = ("elo1", "margin", "elo0", "nothing", "used_up")
    assert [[row[name] for name in names] for row in rows] == [
        [25.0, 30.0, 75.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 100.0, 0.0],
    ]


def test_the_script_prints_every_scenario() -> None:
    """With --json as one object on the last line."""
    options = ("--runs=1", "--most-games=60", "--processes=1", "--json")
    done = subprocess.run(
        [sys.executable, Path(repeats.__file__), *options],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
        timeout=240,
    )
    assert len(json.loads(done.stdout.splitlines()[-1])["results"]) == len(SCENARIOS)
