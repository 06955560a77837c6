"""A budget of games: the orders that it can settle."""

import math
from dataclasses import replace

import numpy as np

from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, Mask
from meijin.ladder.statistics.pairing.online_posterior import OnlinePosterior
from meijin.ladder.statistics.pairing.stopping_rule import StoppingRule

HALF = 0.5
"""A confidence in the whole that is worth more than that some pairs are sure."""
LENIENCE = 2.0
"""It is aimed at though it seem to take so many times the games left: leads that look smaller by
luck than they are seem to want many more games."""


def affordable(
    posterior: OnlinePosterior,
    rule: StoppingRule,
    ahead: Integers,
    behind: Integers,
    games_left: float,
) -> Mask:
    """Which orders are worth games: those that the games left settle, and at least one of them.

    These are all as long as all together may become half sure.

    Args:
        posterior: What is known.
        rule: What it is to come to.
        ahead: The pairs that the rule asks for, by who leads; shape (k,).
        behind: Likewise.
        games_left: How many there may be, all in all.
    """
    everything = np.ones(len(ahead), dtype=np.bool_)
    if math.isinf(games_left) or not len(ahead):
        return everything
    half_sure = replace(rule, confidence=HALF)
    games = _games_until_settled(posterior, half_sure, ahead, behind)
    if games.max() <= LENIENCE * games_left:
        return everything
    games = _games_until_settled(posterior, rule, ahead, behind)
    first = games[games > 0].min(initial=math.inf)
    settled: Mask = games <= max(games_left, first)
    return settled


def _games_until_settled(
    posterior: OnlinePosterior, rule: StoppingRule, ahead: Integers, behind: Integers
) -> Floats:
    """How many games it takes until a pair and all that are easier are settled; shape (k,).

    A lead is taken for the root mean square of what it may be. Of the pairs with the same player
    behind the hardest counts: its games settle the others.
    """
    lead = posterior.elo[ahead] - posterior.elo[behind]
    variance = posterior.variances(ahead, behind)
    wanted = rule.wanted_variance(np.sqrt(lead**2 + variance), len(lead))
    games = posterior.games_until(ahead, behind, wanted)
    easiest = np.lexsort((games, behind))
    more = games[easiest]
    is_same = behind[easiest[1:]] == behind[easiest[:-1]]
    more[1:] -= np.where(is_same, games[easiest[:-1]], 0.0)
    in_all = np.empty_like(games)
    in_all[easiest] = more
    order = np.argsort(games, kind="stable")
    in_all[order] = np.cumsum(in_all[order])
    return in_all
