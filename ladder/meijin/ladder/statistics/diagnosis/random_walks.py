"""Random walks of strengths: how far each is now from its mean over the games that rate it.

A player's strength stays as it is, or takes a normal step after each of its games; nobody is known
to do either. The cosine transform of a player's residuals over its own games is white where it
stays, and has the spectrum of a Brownian bridge beside that where it walks (Karhunen 1946 & Loève
1948): so the likelihoods of both are sums over a few frequencies. A pool in which nobody walks is a
spike in the prior; in others each of the players does by itself, so that one who changes makes the
others hardly less sure.
"""

import numpy as np

from meijin.ladder.statistics.diagnosis.over_time import bridges, is_looked_at
from meijin.ladder.statistics.diagnosis.residuals import Points
from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT
from meijin.ladder.statistics.fit.pair_counts import Floats

FREQUENCIES = np.arange(1, 13)
"""Half waves over all of a player's games. Those left out have 5 % of a walk's variance."""
STEPS = np.geomspace(0.5, 64.0, 15) / ELO_PER_NAT
"""Deviations of a step that are as likely as each other, in nats: from half an Elo on."""
NOBODY = 0.5
"""The chance that nobody of a pool walks, before games tell."""
SHARES, CHANCES = np.array([0.2, 1.0]), np.array([0.95, 0.05])
"""Of the players of another pool who walk, and how likely these are."""
MEAN_SQUARE = 1 / 3
"""Of the distance between a walk's end and its mean, for each unit of its variance."""
MOST = 600.0
"""Of the logarithm of a likelihood ratio: e to this power is a float."""


def walked(over: Points) -> Floats:
    """The expected square of each strength's distance from its mean by now, in Elo squared; (n,).

    Args:
        over: See `points_over_time`.
    """
    ratios, is_known = _likelihood_ratios(over), is_looked_at(over)
    # By share and step, and for the chances by player.
    shares = SHARES[:, None, None]
    mixtures = np.log1p(shares * np.expm1(ratios))
    pool = mixtures[:, :, is_known].sum(axis=2)
    highest = max(float(pool.max(initial=0.0)), 0.0)
    likely = (1 - NOBODY) / len(STEPS) * CHANCES[:, None] * np.exp(pool - highest)
    likely /= likely.sum() + NOBODY * np.exp(-highest)
    likely *= -np.expm1(-np.maximum(pool, 0.0))  # what games have not spoken for is left out
    chances = likely[:, :, None] * shares * np.exp(ratios - mixtures)
    squares = (STEPS[:, None] ** 2 * chances).sum(axis=(0, 1))
    squares *= over.games.sum(axis=1) * MEAN_SQUARE
    return ELO_PER_NAT**2 * np.where(is_known, squares, 0.0)


def _likelihood_ratios(over: Points) -> Floats:
    """The logarithm of how much likelier each walk makes the residuals than none; (steps, n)."""
    whole = np.maximum(over.variance.sum(axis=1), np.finfo(float).tiny)
    share = over.variance / whole[:, None]
    bridge, passed = bridges(over)
    waves = np.sqrt(2) * np.cos(np.pi * FREQUENCIES * (passed - share / 2)[:, :, None])
    waves -= (share[:, :, None] * waves).sum(axis=1, keepdims=True)
    # A walk's deviation in each wave falls with its frequency. Where many games are of one time, the
    # waves are not independent of each other.
    waves /= np.pi * FREQUENCIES
    seen = np.swapaxes(waves, 1, 2)
    spread, ways = np.linalg.eigh(seen @ (share[:, :, None] * waves))
    residuals = np.diff(bridge, axis=1, prepend=0.0)
    spectrum = (np.swapaxes(ways, 1, 2) @ (seen @ residuals[:, :, None]))[:, :, 0] ** 2
    information = over.slope.sum(axis=1) ** 2 / whole
    walks = np.multiply.outer(STEPS**2, over.games.sum(axis=1) * information)[:, :, None]
    signal = walks * np.maximum(spread, 0.0)
    found = (spectrum * walks / (1 + signal) - np.log1p(signal)).sum(axis=2) / 2
    ratios: Floats = np.minimum(found, MOST)
    return ratios
