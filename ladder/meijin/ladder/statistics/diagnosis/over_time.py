"""Residuals of each player over time: trends and steps of its strength."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from meijin.ladder.statistics.diagnosis.residuals import Points, two_sided
from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit
from meijin.ladder.statistics.fit.pair_counts import (
    Floats,
    Integers,
    Mask,
    PairCounts,
    numbered,
)

FEWEST_GAMES = 20
"""Of a player whose changes are looked for."""
FEWEST_BESIDE = 8
"""Games before a step, and after it, at least."""


def points_over_time(fit: Fit, counts: PairCounts) -> Points:
    """The points of each player in each time, and first of all games before those; shapes (n, t).

    Args:
        fit: Of all games.
        counts: The newest games by pair and time; its players are named as in `fit.players`, and
            times stand where openings do: days, or blocks of games in order; larger is later.
    """
    assert counts.openings is not None
    first, second = counts.places(fit.players)
    _, time = numbered(counts.openings)
    rows = PairCounts(first, second, counts.wins, counts.draws, counts.losses)
    over = _by_player(fit, rows, time)
    if counts.games == fit.counts.games:
        return over
    pairs = fit.games.pairs
    whole = _by_player(fit, pairs, np.zeros(len(pairs.first), dtype=np.int64))
    columns = zip(whole.columns, over.columns, strict=True)
    return Points(
        *(
            np.column_stack((total - known.sum(axis=1, keepdims=True), known))
            for total, known in columns
        )
    )


def _by_player(fit: Fit, counts: PairCounts, time: Integers) -> Points:
    players, span = max(len(fit.players), 1), int(time.max(initial=0)) + 1
    ours = Points.of(fit, counts)
    theirs = ours.reversed_where(np.ones(len(time), dtype=bool))
    places = counts.first * span + time
    starts = np.flatnonzero(np.diff(places, prepend=-1))  # far fewer, where all is one time
    as_first = ours.mapped(lambda column: np.add.reduceat(column, starts))
    as_first = as_first.added_up(places[starts], players * span)
    as_second = theirs.added_up(counts.second * span + time, players * span)
    sides = zip(as_first.columns, as_second.columns, strict=True)
    return Points(*((one + other).reshape(players, span) for one, other in sides))


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """A linear trend of each player's strength over its own games; shapes (n,)."""

    elo_per_game: Floats
    deviations: Floats
    """The score test of no trend: standard normal where there is none; 0 for whom it is not done."""
    is_tested: Mask

    @classmethod
    def of(cls, over: Points) -> Self:
        """The drift over time, see `points_over_time`.

        A score test (Rao 1948; Cox & Hinkley, Theoretical statistics, 1974, 9.3): the sum of
        the residuals times how many games the player had before, centred, so that its strength
        is no part of it. That the opponents' strengths are fitted too is left out, which makes
        the variance a little too large.
        """
        games, slopes, variances = over.games, over.slope, over.variance
        before = np.cumsum(games, axis=1) - games / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = (slopes * before).sum(axis=1) / slopes.sum(axis=1)
            lever = before - middle[:, None]
            trend = (over.residual * lever).sum(axis=1)
            per_nat = (slopes * lever**2).sum(axis=1)
            variance = (variances * lever**2).sum(axis=1)
            is_tested = is_looked_at(over) & (variance > 0)
            deviations = np.where(is_tested, trend / np.sqrt(variance), 0.0)
            elo = np.where(is_tested, ELO_PER_NAT * trend / per_nat, 0.0)
        return cls(elo, deviations, is_tested)

    @property
    def p_values(self) -> Floats:
        return two_sided(self.deviations)


def is_looked_at(over: Points) -> Mask:
    """Whose changes are looked for; shape (n,)."""
    looked: Mask = (over.games.sum(axis=1) >= FEWEST_GAMES) & (over.variance.sum(axis=1) > 0)
    return looked


def bridges(over: Points) -> tuple[Floats, Floats]:
    """The cumulated residuals after each time, less what all of them would be by then.

    Where strengths stay this is a Brownian bridge by the share of the variance (Brown, Durbin &
    Evans, Techniques for testing the constancy of regression relationships over time, 1975).

    Returns:
        It over the deviation of all residuals, and the share; shapes (n, t).
    """
    whole = np.maximum(over.variance.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    passed = np.cumsum(over.variance, axis=1) / whole
    residuals = over.residual
    bridge = np.cumsum(residuals, axis=1) - passed * residuals.sum(axis=1, keepdims=True)
    return bridge / np.sqrt(whole), passed


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The surest step of each player's strength, by a CUSUM test over its own games; shapes (n,)."""

    games: Floats
    """The player's since the step."""
    elo: Floats
    """Its size: later less earlier."""
    deviations: Floats
    """Of the residuals before and after it from each other; 0 for whom it is not looked for."""
    p_values: Floats
    """The chance of one as sure at any time, where strength stays."""
    is_tested: Mask

    @classmethod
    def of(cls, over: Points) -> Self:
        """The step over time, see `points_over_time`.

        The largest of all times' standardised contrasts, whose tail is that of Miller & Siegmund
        (Maximally selected chi square statistics, 1982).
        """
        bridge, passed = (each[:, :-1] for each in bridges(over))
        before = np.cumsum(over.games, axis=1)[:, :-1]
        after = over.games.sum(axis=1, keepdims=True) - before
        inner = (before >= FEWEST_BESIDE) & (after >= FEWEST_BESIDE)
        inner &= (passed > 0) & (passed < 1) & is_looked_at(over)[:, None]
        spread = np.where(inner, passed * (1 - passed), 1.0)
        contrast = np.where(inner, -bridge / np.sqrt(spread), 0.0)
        if not contrast.size:
            nothing = np.zeros(len(over.games))
            return cls(nothing, nothing, nothing, nothing + 1, nothing > 0)
        rows = np.arange(len(contrast))
        place = np.argmax(np.round(np.abs(contrast), 6), axis=1)
        deviations, is_tested = contrast[rows, place], inner.any(axis=1)
        whole = np.maximum(over.variance.sum(axis=1), np.finfo(float).tiny)
        slope = np.maximum(over.slope.sum(axis=1), np.finfo(float).tiny)
        step = deviations * np.sqrt(whole / spread[rows, place]) / slope
        odds = np.log(np.where(inner, passed, 0.5) / np.where(inner, 1 - passed, 0.5))
        span = np.where(inner, odds, -np.inf).max(axis=1) - np.where(inner, odds, np.inf).min(
            axis=1
        )
        return cls(
            games=after[rows, place],
            elo=ELO_PER_NAT * step,
            deviations=deviations,
            p_values=np.where(is_tested, _tail(np.abs(deviations), np.maximum(span, 0.0)), 1.0),
            is_tested=is_tested,
        )


def _tail(largest: Floats, span: Floats) -> Floats:
    """The chance that a standardised Brownian bridge is ever so far from 0.

    Args:
        largest: Deviations.
        span: The log-odds of the last share of the variance looked at less those of the first.
    """
    b = np.maximum(largest, 1.0)
    density = np.exp(-(b**2) / 2) / math.sqrt(2 * math.pi)
    return np.clip(density * (4 / b + (b - 1 / b) * span), two_sided(b), 1.0)
