"""Whether wrong stops are counted rightly, on small pools."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import stopping
from simulated import OUTCOMES
from stopping import RULES, Pools, Task, are_sure, play

from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT
from meijin.ladder.statistics.fit.covariance import DenseCovariance
from meijin.ladder.statistics.pairing.matchmaking import Matchmaker
from meijin.ladder.statistics.pairing.online_posterior import OnlinePosterior
from meijin.ladder.statistics.pairing.stopping import StoppingRule, error_bounds

TASK = Task("couple", "within 10", "after", pools=40, most=4000, seed=3)


def played(games: int) -> Pools:
    """Three pools of five bots after some games."""
    rng = np.random.default_rng(5)
    pools = Pools(rng.normal(0, 200, (3, 5)), rng)
    while pools.games < games:
        pools.play(*pools.pick(10, [None]))
        pools.fit()
    return pools


@pytest.mark.parametrize("name", RULES)
def test_pairings_are_the_matchmakers(name: str) -> None:
    """Ten picks of each pool, one after the other."""
    pools = played(400)
    rule = RULES[name]
    ones, others = pools.pick(10, [None, rule, rule, rule])
    for number in range(3):
        matrix = ELO_PER_NAT**2 * pools.covariance[number]
        posterior = OnlinePosterior(pools.elo[number], matrix, OUTCOMES)
        maker = Matchmaker(posterior, np.zeros(5, dtype=np.int64), rule=rule)
        picks = [pick for _ in range(10) if (pick := maker.pick(~np.eye(5, dtype=bool)))]
        mine = [{one, other} for one, other in zip(ones[number], others[number], strict=True)]
        assert mine == [{pick.one, pick.other} for pick in picks]


@pytest.mark.parametrize("name", RULES)
def test_a_pool_stops_where_the_rule_is_met(name: str) -> None:
    """As the server asks it of one ladder."""
    pools = played(2000)
    rule = RULES[name]
    lead, variance, _ = pools.leads(rule)
    for confidence in (0.0, 0.5, 0.95):
        mine = replace(rule, confidence=confidence)
        for number in range(3):
            matrix = ELO_PER_NAT**2 * pools.covariance[number]
            found = mine.judge(pools.elo[number], DenseCovariance(matrix))
            assert found is not None
            sums = error_bounds(lead[number], variance[number], rule.zone).sum()
            assert found.confidence == pytest.approx(max(0.0, 1 - sums))
            if confidence == 0.95:
                sure = are_sure("after", lead, variance, rule.zone)
                assert mine.is_met(found) == sure[number]


def test_the_fit_comes_to_the_strengths() -> None:
    """Of five bots after many games."""
    pools = played(20_000)
    error = pools.elo - (pools.truth - pools.truth.mean(axis=1, keepdims=True))
    assert float(np.abs(error).max()) < 40


def test_wrong_stops_are_seen() -> None:
    """Of two who are 12 Elo apart, the posterior alone takes the weaker for the stronger often."""
    bare, bound = play(replace(TASK, way="posterior")), play(TASK)
    assert int(bare["wrong_stops"]) > 3 > int(bound["wrong_stops"])
    assert int(bare["games"]) < int(bound["games"])
    assert bound == play(TASK)


def test_a_zone_forgives_what_lies_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two within it are never in the wrong order."""
    monkeypatch.setattr(stopping, "GAP", 9.0)
    assert play(replace(TASK, way="posterior"))["wrong_stops"] == 0


def test_what_does_not_stop_counts_as_the_most_games() -> None:
    """And in the share of those that never did."""
    row = play(replace(TASK, world="normal", pools=4, most=20))
    assert (row["never_%"], row["games"]) == (100.0, 20)


def test_a_rule_is_one_of_the_products() -> None:
    """What is measured is what ends a ladder."""
    assert RULES["within 10"] == StoppingRule(0.95, 10.0)


def test_the_script_prints_json() -> None:
    """One object on the last line."""
    options = ["--pools", "3", "--most", "60", "--only", "normal", "--processes", "1", "--json"]
    printed = subprocess.run(
        [sys.executable, Path(stopping.__file__), *options],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    results = json.loads(printed.stdout.splitlines()[-1])["results"]
    ways = [(row["rule"], row["way"]) for row in results]
    assert ways[:3] == [("order", "before"), ("order", "posterior"), ("order", "after")]
    assert {row["world"] for row in results} == {"normal"}
