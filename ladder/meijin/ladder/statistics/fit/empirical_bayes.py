"""Empirical Bayes: the fit with the widths of its lineage and opening priors estimated from the games.

A width is that at which the estimated effects and their variances agree with it, which is where
the expectation-maximisation algorithm (Dempster, Laird & Rubin 1977) rests for the penalised
quasi-likelihood of Breslow & Clayton (Approximate inference in generalized linear mixed models,
1993). It is found by Schall's iteration (Estimation in generalized linear models with random
effects, 1991), which is MacKay's of Bayesian interpolation (1992): the effects' squares are
divided by the number of effects that the games determine. From 150 Elo it came to within half an
Elo in 3 to 8 fits where the expectation-maximisation algorithm takes 10 to 60.
"""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit, Prior, fit
from meijin.ladder.statistics.fit.covariance import covariance
from meijin.ladder.statistics.fit.lineage import Lineage
from meijin.ladder.statistics.fit.pair_counts import GroupedCounts, PairCounts
from meijin.ladder.statistics.fit.shared_openings import SharedOpenings

LINKS_OF_PRIOR = 1.0
"""Links, known exactly, that the default width of the lineage weighs as much as."""
LEAST_LINEAGE, MOST_LINEAGE = 10.0, 600.0
"""In Elo. Beyond the most a parent would say less than the prior of those without one."""
LEAST_OPENING, MOST_OPENING = 2.0, 600.0
"""In Elo, of those that openings show."""
SHOWN = 2.326347874040841
"""Deviations above its mean at which the score statistic shows effects: 1 % without any."""
DRAW_SLOPE = 0.5
"""The deviation of the draws' slope around 0: in Gomocup's tournaments it is 0.24 to 0.6."""
SURE, SURE_SLOPE = 3.0, 4.5
"""Deviations off 0 at which a difference of openings and the draws' slope are surer than chance; the
latter's are too large by half where nearly all games are drawn."""
MOST_ROWS = 40_000
"""Of games that widths are estimated from where openings differ: of more than twice as many a share
says enough."""
MOST_FITS = 30
ENOUGH = 0.25
"""A width that changes by no more Elo is found."""
ROUGH = 0.01
"""The tolerance of the fits on the way there, in nats: what is left is about its square."""


def fit_with_widths(
    counts: PairCounts, lineage: Lineage | None = None, prior: Prior | None = None
) -> Fit:
    """Fit strengths with the widths of lineage and openings that the games show.

    Draws depend on strength: on the levels of a fit before, of the games without openings.

    Widths are rounded to whole Elo, which is finer than any ladder tells, and the fit is made
    with those: of the way there it keeps nothing that a published digit shows.

    Args:
        lineage: Which players came from which.
        prior: Its lineage is the default width; its widths of openings and of the draws' slope
            are not read.
    """
    prior = replace(prior or Prior(), opening=0.0, draw_slope=DRAW_SLOPE)
    games = GroupedCounts.of(counts)
    fitted = _with_levels(games, prior, lineage)
    again = partial(fit, lineage=lineage, levels=fitted.levels)
    told, plain, shared = games, fitted, SharedOpenings.of(fitted)
    if shared.deviations > SHOWN:
        told = games.sample(MOST_ROWS)
        wide = replace(prior, opening=max(ELO_PER_NAT * shared.ratio**0.5, LEAST_OPENING))
        fitted = again(told, wide, near=plain, tolerance=ROUGH)
    elif not len(fitted.lineage):
        return fitted
    for _ in range(MOST_FITS):
        before, after = fitted.prior, _updated(fitted, prior.lineage)
        if max(abs(after.lineage - before.lineage), abs(after.opening - before.opening)) <= ENOUGH:
            break
        fitted = again(told, after, near=fitted, tolerance=ROUGH)
    found = replace(after, lineage=float(round(after.lineage)), opening=float(round(after.opening)))
    return again(games, found, near=fitted if told is games else plain)


def _with_levels(games: GroupedCounts, prior: Prior, lineage: Lineage | None) -> Fit:
    """The fit whose draws depend on the strengths of the one that takes all draws for alike.

    Not on its own again and again: who has lost one game would then be taken for weak, all of the
    weak for drawing much, and the loss for the more of a sign.
    """
    fitted = fit(games, prior, lineage=lineage)
    if not fitted.outcomes.draws:
        return fitted
    return fit(games, prior, lineage=lineage, levels=fitted.elo, near=fitted)


def shows_draw_slope(fitted: Fit) -> bool:
    """Whether draws surely depend on strength, by Wald's test.

    What the strengths' errors add to that of the slope is left out: some 2 %.
    """
    slope = fitted.outcomes.draw_slope
    if not slope:
        return False
    variance = np.linalg.inv(fitted.information.corner)[-1, -1]
    return bool(slope**2 > SURE_SLOPE**2 * variance)


def shows_openings(fitted: Fit) -> bool:
    """Whether openings surely differ in what moving first is worth."""
    return fitted.prior.opening > 0 and SharedOpenings.of(fitted).deviations > SURE


def _updated(fitted: Fit, default: float) -> Prior:
    """The prior with the widths that a fit speaks for."""
    prior = fitted.prior
    width, opening = prior.lineage, prior.opening
    if len(fitted.lineage):
        width = _lineage_width(fitted, default)
    if opening:
        opening *= SharedOpenings.of(fitted).ratio ** 0.5
        opening = min(max(opening, LEAST_OPENING), MOST_OPENING)
    return replace(prior, lineage=width, opening=opening)


def _lineage_width(fitted: Fit, default: float) -> float:
    """Schall's update of the width, with `LINKS_OF_PRIOR` more links that have the default one."""
    width, lineage = fitted.prior.lineage, fitted.lineage
    variances = covariance(fitted).of_differences(lineage.child, lineage.parent) / lineage.steps
    steps = fitted.elo[lineage.child] - fitted.elo[lineage.parent]
    determined = float(np.maximum(1 - variances / width**2, 0.0).sum()) + LINKS_OF_PRIOR
    squares = float((steps**2 / lineage.steps).sum()) + LINKS_OF_PRIOR * default**2
    return min(max(math.sqrt(squares / determined), LEAST_LINEAGE), MOST_LINEAGE)
