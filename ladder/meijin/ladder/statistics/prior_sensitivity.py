"""Prior sensitivity of a fit: how far ratings move when the prior is another one."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from meijin.ladder.statistics.bradley_terry import Fit, fit
from meijin.ladder.statistics.pair_counts import Floats, PairCounts, sums

NARROW = 400.0
"""The other deviation of the strengths' prior, in Elo."""
WEAK = 1e5
"""A deviation that holds groups without games between them where they are, and does no more."""
VIRTUAL_DRAWS = 2.0
"""Of each player, in BayesElo's prior."""


@dataclass(frozen=True, slots=True)
class PriorSensitivity:
    """The largest change of a rating under each of two other priors, in Elo."""

    normal_400: float
    """A normal prior with a deviation of 400 Elo."""
    virtual_draws: float
    """BayesElo's: two drawn games of each player, spread over those it has met."""

    @classmethod
    def of(cls, fitted: Fit, centre: Floats, is_told: NDArray[np.bool_]) -> "PriorSensitivity":
        """Fit the games again, beginning at the fit, and without effects of openings.

        Args:
            fitted: With the usual prior.
            centre: The weights of the mean that ratings are relative to; shape (n,).
            is_told: Whose ratings are looked at; shape (n,).
        """
        again = partial(fit, lineage=fitted.lineage, levels=fitted.levels)
        counts = fitted.games.pairs
        prior, here = replace(fitted.prior, opening=0.0), fitted
        if len(fitted.openings):
            here = again(counts, prior, near=fitted)
        narrow = again(counts, replace(prior, strength=NARROW), near=here)
        drawn = with_virtual_draws(counts, len(fitted.players))
        weak = again(drawn, replace(prior, strength=WEAK), near=here)
        return cls(
            *(_largest_change(here.elo - each.elo, centre, is_told) for each in (narrow, weak))
        )


def _largest_change(change: Floats, centre: Floats, is_told: NDArray[np.bool_]) -> float:
    shifted = np.abs(change - centre @ change)
    return float(shifted[is_told].max(initial=0.0))


def with_virtual_draws(counts: PairCounts, players: int) -> PairCounts:
    """Games and BayesElo's prior (Coulom 2005): `VIRTUAL_DRAWS` of each of the players 0, 1, ...

    A pair has half of what each of its two gives it by its share of games, half with each colour.
    """
    games = counts.wins + counts.draws + counts.losses
    total = sums(counts.first, games, players) + sums(counts.second, games, players)
    per_game = VIRTUAL_DRAWS / 4 * (1 / total[counts.first] + 1 / total[counts.second])
    half = games * per_game
    drawn = replace(
        counts, wins=np.zeros_like(half), draws=half, losses=np.zeros_like(half), openings=None
    )
    turned = replace(drawn, first=drawn.second, second=drawn.first)
    return replace(counts, openings=None).joined(drawn).joined(turned)
