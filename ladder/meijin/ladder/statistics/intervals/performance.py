"""Performance ratings: what some games alone say of a player, its opponents taken as rated.

The interval of recent form and the bounds of perfect scorers have the luck of these games in them,
and two things not: the errors of the opponents' ratings, which are common to all of them, and what
games of one opening or of one pair have in common.
"""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Chances, Fit, logistic
from meijin.ladder.statistics.fit.covariance import Z_95
from meijin.ladder.statistics.fit.likelihood import TINY
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, Mask, Masked, sums

MOST_GAMES, FEWEST_GAMES = 100, 20
"""Of a player, that form is over."""
LONGEST_STEP = 1.0
"""In nats: beyond, the curvature here says little."""
ENOUGH = 1e-9
"""A step that moves no strength further, in nats, is the last."""
MAX_STEPS = 100
BOUND_CHANCE = 0.05
"""Of winning, or losing, every game with the strength of a bound."""


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """Games by rows, each from the side of one of its two players; shapes (k,)."""

    player: Integers
    """By its place in the fit."""
    lead: Floats
    """What its log-odds are beside its own strength, in nats: the opponent's and the advantage."""
    draws: Floats
    """The draw parameter, in nats."""

    @classmethod
    def of(cls, fit: Fit, first: Integers, second: Integers) -> Self:
        """Both sides of games by places in the fit: those of who moved first, then the others."""
        advantage = fit.outcomes.advantage
        lead = np.concatenate((advantage - fit.elo[second], -advantage - fit.elo[first]))
        draws = np.broadcast_to(fit.chances(first, second).draws, first.shape)
        both = np.concatenate((draws, draws))
        return cls(np.concatenate((first, second)), lead / ELO_PER_NAT, both / ELO_PER_NAT)

    def at(self, rows: Integers | Mask) -> Self:
        return replace(self, player=self.player[rows], lead=self.lead[rows], draws=self.draws[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Performance:
    """Recent form and one-sided bounds; shapes (n,), masked where there are none.

    Form is what a fit of a player's last games alone would be, with the prior of who has no parent,
    so that it is finite for who has won them all.
    """

    form: Masked
    """In Elo; masked where the games are few."""
    form_margin: Masked
    """Half of the 95 % interval; Elo."""
    form_games: Masked
    bound: Masked
    """The one-sided 95 % bound of who has won, or lost, every game; Elo."""

    @classmethod
    def of(
        cls, fit: Fit, first: Integers, second: Integers, points: Floats, *, bounded: Mask
    ) -> Self:
        """The performance on the scale of a fit.

        Games are told one by one, the newest last.

        Args:
            fit: Of these games, and maybe others.
            first: Who moved first, as `fit.players` names them; shape (games,).
            second: Likewise.
            points: Of `first`: 1, 0.5 or 0.
            bounded: Whose bounds are asked for; shape (n,).
        """
        first, second = (np.searchsorted(fit.players, each) for each in (first, second))
        sides, both = Sides.of(fit, first, second), np.concatenate((points, 1 - points))
        newest = _newest(sides.player, np.tile(np.arange(len(first)), 2))
        sides, both = sides.at(newest), both[newest]
        games = sums(sides.player, np.ones(len(both)), len(fit.players)).astype(np.int64)
        strength, information = _performance(fit, sides, both)
        few = games < FEWEST_GAMES
        return cls(
            np.ma.masked_array(ELO_PER_NAT * strength, few),
            np.ma.masked_array(Z_95 * ELO_PER_NAT / np.sqrt(information), few),
            np.ma.masked_array(games, few),
            one_sided_bounds(fit, bounded),
        )

    def shifted(self, elo: float) -> Self:
        """The same where all ratings are higher by `elo`."""
        return replace(self, form=self.form + elo, bound=self.bound + elo)


def _newest(player: Integers, time: Integers) -> Integers:
    """The rows of everyone's last `MOST_GAMES`, the newest of each player first."""
    order = np.lexsort((-time, player))
    ordered = player[order]
    place = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return order[place < MOST_GAMES]


def _performance(fit: Fit, sides: Sides, points: Floats) -> tuple[Floats, Floats]:
    """Everyone's most likely strength by some games, in nats, and their information on it.

    By Fisher's scoring, each player for itself.
    """
    players, precision = len(fit.players), fit.prior.precisions.strength
    level, strength = fit.level / ELO_PER_NAT, fit.elo / ELO_PER_NAT
    chances = Chances(0.0, ELO_PER_NAT * sides.draws, fit.prior.opening)
    for _ in range(MAX_STEPS):
        results = chances.results(ELO_PER_NAT * (strength[sides.player] + sides.lead))
        told = [slope / np.maximum(chance, TINY) for chance, slope, _ in results]
        gradient = np.select([points == each for each in (1.0, 0.5, 0.0)], told)
        expected = sum(slope * each for (_, slope, _), each in zip(results, told, strict=True))
        information = sums(sides.player, np.asarray(expected), players) + precision
        slope = sums(sides.player, gradient, players) - precision * (strength - level)
        step = np.clip(slope / information, -LONGEST_STEP, LONGEST_STEP)
        strength = strength + step
        if np.abs(step).max(initial=0.0) < ENOUGH:
            break
    return strength, information


def one_sided_bounds(fit: Fit, bounded: Mask) -> Masked:
    """The one-sided 95 % bounds of who has won, or lost, every game; in Elo, masked for others.

    With less strength the former would have done so with a chance below `BOUND_CHANCE`, with more
    strength the latter (Clopper and Pearson, The use of confidence or fiducial limits illustrated
    in the case of the binomial, 1934). On the scale of the fit; shape (n,).

    Args:
        bounded: Whose are asked for; shape (n,).
    """
    players, pairs = len(fit.players), fit.games.pairs
    counts = pairs.at(bounded[pairs.first] | bounded[pairs.second])
    sides = Sides.of(fit, counts.first, counts.second)
    games = np.tile(counts.wins + counts.draws + counts.losses, 2)
    won, lost, all_games = (
        sums(sides.player, column, players)
        for column in (
            np.concatenate((counts.wins, counts.losses)),
            np.concatenate((counts.losses, counts.wins)),
            games,
        )
    )
    sign = bounded * ((won == all_games).astype(float) - (lost == all_games))
    rows = np.flatnonzero(sign[sides.player])
    bounds = sign * _sure_of_all(sides.at(rows), games[rows], sign)
    return np.ma.masked_array(ELO_PER_NAT * bounds, sign == 0)


def _sure_of_all(sides: Sides, games: Floats, sign: Floats) -> Floats:
    """The strength in nats at which everyone's games are all won with the chance of a bound.

    The logarithm of that chance is concave and rises with the strength, so that Newton's method
    comes to it from everywhere.

    Args:
        sign: -1 for who has lost them all: then it is that of the weakness; shape (n,).
    """
    lead = sign[sides.player] * sides.lead - sides.draws
    strength, is_asked = np.zeros(len(sign)), sign != 0
    for _ in range(MAX_STEPS):
        odds = strength[sides.player] + lead
        logarithm = -sums(sides.player, games * np.logaddexp(0.0, -odds), len(sign))
        slope = sums(sides.player, games * logistic(-odds), len(sign))
        step = (math.log(BOUND_CHANCE) - logarithm)[is_asked] / slope[is_asked]
        strength[is_asked] += step
        if np.abs(step).max(initial=0.0) < ENOUGH:
            break
    return strength
