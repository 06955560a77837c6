"""What a number of games can settle."""

import math
from collections import Counter

import numpy as np
import pytest
from tests.ladder.statistics.made_games import OUTCOMES

from meijin.ladder.statistics.fit.bradley_terry import Prior
from meijin.ladder.statistics.pairing.budget import affordable
from meijin.ladder.statistics.pairing.matchmaking import Matchmaker
from meijin.ladder.statistics.pairing.online_posterior import OnlinePosterior
from meijin.ladder.statistics.pairing.stopping_rule import StoppingRule

RULE = StoppingRule(0.95, 10.0)


def settled(elo: list[float], deviation: float, games_left: float) -> list[bool]:
    """Which neighbours of a ranking are worth games."""
    posterior = OnlinePosterior(np.array(elo), np.eye(len(elo)) * deviation**2, OUTCOMES)
    ahead, behind = np.arange(len(elo) - 1), np.arange(1, len(elo))
    return [bool(each) for each in affordable(posterior, RULE, ahead, behind, games_left)]


@pytest.mark.parametrize(
    ("deviation", "games_left", "wanted"),
    [
        (20, math.inf, [True, True, True]),
        # All may become half sure, which is better than that two of three are sure.
        (20, 200, [True, True, True]),
        (20, 150, [True, False, True]),
        (60, 20, [True, False, False]),
        # The easiest of those in doubt is never given up.
        (20, 0, [True, False, True]),
        (60, 0, [True, False, False]),
    ],
)
def test_the_easiest_orders_come_first(
    deviation: float, games_left: float, wanted: list[bool]
) -> None:
    """Of leads of 200, 1 and 60 Elo."""
    assert settled([500.0, 300.0, 299.0, 239.0], deviation, games_left) == wanted


def test_nothing_is_affordable_where_nothing_is_asked() -> None:
    assert settled([0.0], 20.0, 10) == []


def played(strengths: list[float], games: int, games_left: float) -> Counter[frozenset[int]]:
    """How often each two meet, where the stronger by 100 Elo wins, and black of two others."""
    n = len(strengths)
    posterior = OnlinePosterior(np.zeros(n), np.eye(n) * Prior().strength ** 2, OUTCOMES)
    maker = Matchmaker(posterior, np.arange(n), rule=RULE, games_left=games_left)
    met: Counter[frozenset[int]] = Counter()
    for _ in range(games // 2):
        pick = maker.pick(~np.eye(n, dtype=np.bool_))
        assert pick is not None
        met[frozenset((pick.one, pick.other))] += 2
        for black, white in ((pick.one, pick.other), (pick.other, pick.one)):
            lead = strengths[black] - strengths[white]
            points = float(lead > 0 or abs(lead) < 100)
            posterior.observe(black, white, points)
    return met


def test_a_small_budget_leaves_equals_alone() -> None:
    """Two bots 6 Elo apart, and one that beats both: 24 games tell who is the best."""
    strengths, equals = [0.0, 6.0, 700.0], frozenset((0, 1))
    assert played(strengths, 24, 24)[equals] <= 12
    assert played(strengths, 24, math.inf)[equals] >= 16
