"""Bradley-Terry strengths with Rao-Kupper draws and a first-move advantage, fitted to counts."""

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from meijin.ladder.statistics.fit.laplacian import Laplacian, NoSolutionError
from meijin.ladder.statistics.fit.likelihood import (
    TINY,
    LogPosterior,
    Point,
    Precisions,
    State,
    normal_nodes,
)
from meijin.ladder.statistics.fit.lineage import Lineage
from meijin.ladder.statistics.fit.pair_counts import (
    Floats,
    GroupedCounts,
    Integers,
    PairCounts,
    connected_components,
    sums,
)

ELO_PER_NAT = 400 / math.log(10)
"""Elo in one natural unit of log-odds: 400 Elo are odds of ten to one."""
TOLERANCE = 1e-4
"""A step that moves no log-odds further is the last; it leaves about its square: 2e-6 Elo."""
MAX_STEPS = 200
LONGEST_STEP = 3.0
"""The most that a step may move a log-odds: far from the top, the curvature here says little."""
TRUSTED_STEP = 0.1
"""A step that moves no log-odds further, and no draw parameter by a larger share, climbs: the
curvature changes by little more than that share (Bach, Self-concordant analysis for logistic
regression, 2010)."""
LEAST_DRAWS = 1e-6
"""What a player has to be better by, at least, where a draw has come; Elo."""
MAX_LOG_ODDS = 30.0
"""Log-odds on the way to infinity, where there is no prior: 1 / (1 + e^-30) is nearly 1 itself."""


class NoFitError(ValueError):
    """The counts have no finite fit.

    Without a prior the games must connect everybody, and everybody needs a point won and one lost.
    """


@dataclass(frozen=True, slots=True)
class Prior:
    """The prior: normal distributions by their deviations in Elo, around 0 but for children.

    They keep perfect scorers, several components and pools of nothing but draws finite. `math.inf`
    leaves a parameter free.
    """

    strength: float = 600.0
    """Of those without a parent."""
    advantage: float = 600.0
    """0 holds it at 0."""
    draws: float = 600.0
    draw_slope: float = 0.0
    """Of what each nat of mean level adds to the draw parameter's logarithm; a plain number, and 0
    holds it at 0."""
    lineage: float = 150.0
    """Of a version from its parent, a step away; `math.inf` takes it as one without a parent."""
    opening: float = 0.0
    """Of an opening's own share of the advantage, which is integrated out; 0 for none."""

    @property
    def precisions(self) -> Precisions:
        """One over each variance, in nats; 0 for what is free or held at 0."""
        in_elo = (self.strength, self.advantage, self.draws, self.lineage)
        strength, advantage, draws, lineage = (_precision(each, ELO_PER_NAT) for each in in_elo)
        return Precisions(strength, advantage, draws, _precision(self.draw_slope, 1.0), lineage)


def _precision(deviation: float, unit: float) -> float:
    return (unit / deviation) ** 2 if deviation else 0.0


@dataclass(frozen=True, slots=True)
class Chances:
    """Outcome probabilities of games between given players, from the first one's side.

    With d = (difference + advantage) / 173.7 in Elo, and s the logistic function, the first
    player wins with probability s(d - draws) and loses with s(-d - draws) (Rao & Kupper, Ties
    in paired-comparison experiments, 1967; the form is that of Coulom's BayesElo). Where openings
    differ, these are means over all openings.
    """

    advantage: float
    """What moving first is worth, in Elo."""
    draws: float | Floats
    """What a player has to be better by, in Elo, to win every second game; 0 for no draws."""
    opening: float = 0.0
    """The deviation of the advantage among openings, in Elo."""

    def by_opening(self, difference: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """The probabilities that the first player wins and loses by some effects of an opening.

        Returns:
            Both, with one axis for the effects before those of `difference`, and the effects'
            weights; shape (k,).
        """
        nodes, weights = normal_nodes(self.opening / ELO_PER_NAT)
        lead = np.add.outer(self.opening * nodes, np.asarray(difference) + self.advantage)
        wins, losses = (logistic((sign * lead - self.draws) / ELO_PER_NAT) for sign in (1.0, -1.0))
        return wins, losses, weights

    def wins(self, difference: ArrayLike) -> Floats:
        """The probability that the first player wins, by how many Elo it is the stronger."""
        wins, _, weights = self.by_opening(difference)
        return np.tensordot(weights, wins, axes=1)

    def losses(self, difference: ArrayLike) -> Floats:
        _, losses, weights = self.by_opening(difference)
        return np.tensordot(weights, losses, axes=1)

    def score(self, difference: ArrayLike) -> Floats:
        return (1 + self.wins(difference) - self.losses(difference)) / 2

    def score_with_both(self, difference: ArrayLike) -> Floats:
        """The expected score of a player so much stronger who moves first every second time."""
        difference = np.asarray(difference)
        return (self.score(difference) + 1 - self.score(-difference)) / 2

    def information(self, difference: ArrayLike) -> Floats:
        """The Fisher information on the difference of a game, colours drawn by lot; per nat^2."""
        difference = np.asarray(difference)
        return (self._information(difference) + self._information(-difference)) / 2

    def _information(self, difference: Floats) -> Floats:
        total = np.zeros(np.shape(difference))
        for chance, slope, _ in self.results(difference):
            total = total + slope**2 / np.maximum(chance, TINY)
        return total

    def results(self, difference: ArrayLike) -> list[tuple[Floats, Floats, Floats]]:
        """The chances of a win, a draw and a loss, and their first two derivatives by nats."""
        wins, losses, weights = self.by_opening(difference)
        # By Rao and Kupper a draw is as likely as a win and a loss at once, times a constant.
        drawn = wins * losses * np.expm1(2 * np.asarray(self.draws) / ELO_PER_NAT)
        lead = losses - wins
        columns = (
            (wins, wins * (1 - wins), wins * (1 - wins) * (1 - 2 * wins)),
            (drawn, drawn * lead, drawn * (lead**2 - wins * (1 - wins) - losses * (1 - losses))),
            (losses, losses * (losses - 1), losses * (1 - losses) * (1 - 2 * losses)),
        )
        return [
            (mean[0], mean[1], mean[2])
            for mean in ([np.tensordot(weights, each, axes=1) for each in row] for row in columns)
        ]

    def derivatives(self, difference: float, points: float) -> tuple[float, float]:
        """The gradient and the curvature of a result's log-likelihood, by the difference.

        Args:
            difference: By how many Elo the first player is thought the stronger.
            points: The first player's: 1, 0.5 or 0.

        Returns:
            The first derivative, and the negative second one; in nats.
        """
        if points not in {0.0, 0.5, 1.0}:
            raise ValueError(f"a game gives 1, 0.5 or 0 points, not {points:g}")
        # Where nobody draws, a draw tells what it would if few did.
        likely = replace(self, draws=np.maximum(self.draws, LEAST_DRAWS))
        chance, slope, bend = likely.results(difference)[(1.0, 0.5, 0.0).index(points)]
        gradient = float(slope / chance)
        return gradient, gradient**2 - float(bend / chance)


@dataclass(frozen=True, slots=True)
class Outcomes(Chances):
    """Outcome probabilities of a game between any two players.

    The stronger the two, the more they may draw (Glickman, Parameter estimation in large dynamic
    paired comparison experiments, 1999): the draw parameter is multiplied by
    10^(draw_slope * (mean - level) / 400), where mean is that of the two ratings.
    """

    draws: float
    draw_slope: float = 0.0
    """0 where draws depend on no strength."""
    level: float = 0.0
    """The mean rating of two who draw as `draws` says; Elo."""

    def between(self, one: ArrayLike, other: ArrayLike) -> Chances:
        """The probabilities between players of given ratings, pair by pair."""
        if not self.draw_slope:
            return self
        mean = (np.asarray(one) + np.asarray(other)) / 2
        factor = np.exp(self.draw_slope * (mean - self.level) / ELO_PER_NAT)
        return Chances(self.advantage, self.draws * factor, self.opening)

    def shifted(self, elo: float) -> Self:
        """The same where all ratings are higher by `elo`."""
        return replace(self, level=self.level + elo)


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The maximum a posteriori (MAP) strengths."""

    games: GroupedCounts
    prior: Prior
    lineage: Lineage
    """Of those in it, named by their places."""
    elo: Floats
    """Their strengths in Elo, with mean 0; shape (n,)."""
    levels: Floats
    """The strengths that draws depend on, as an earlier fit has them; shape (n,)."""
    outcomes: Outcomes
    log_likelihood: float
    """Of the games, in nats; without the prior."""
    level: float
    """The mean of the prior of those without a parent, on the scale of `elo`."""
    steps: int
    """How many steps Newton's method took."""
    information: Laplacian
    """The information of the games and the prior on the strengths: the inverse of their
    covariance, in nats, at the fit and with the advantage and the draws unknown."""

    @property
    def players(self) -> Integers:
        """Everyone in the counts, ascending; shape (n,)."""
        return self.games.players

    @property
    def counts(self) -> PairCounts:
        """The games, merged, each player named by its place; with their openings, where known."""
        return self.games.counts

    @property
    def state(self) -> State:
        outcomes = self.outcomes
        advantage, draws = outcomes.advantage / ELO_PER_NAT, outcomes.draws / ELO_PER_NAT
        return State(self.elo / ELO_PER_NAT, advantage, draws, outcomes.draw_slope)

    @property
    def games_of_players(self) -> Floats:
        """How many games everyone has; shape (n,)."""
        pairs, players = self.games.pairs, len(self.players)
        games = pairs.wins + pairs.draws + pairs.losses
        return sums(pairs.first, games, players) + sums(pairs.second, games, players)

    def chances(self, first: Integers, second: Integers) -> Chances:
        """How games end between players, given by their places in the fit."""
        return self.outcomes.between(self.levels[first], self.levels[second])


def logistic(odds: Floats) -> Floats:
    """The logistic function, 1 / (1 + e^-odds), for any odds.

    On arrays, ``scipy.special.expit`` takes 1.5 to 3 times as long.
    """
    return (1 + np.tanh(odds / 2)) / 2


def fit(
    counts: PairCounts | GroupedCounts,
    prior: Prior | None = None,
    *,
    lineage: Lineage | None = None,
    levels: Floats | None = None,
    near: Fit | None = None,
    tolerance: float = TOLERANCE,
) -> Fit:
    """Fit strengths, first-move advantage and draws to `counts`, as `Outcomes` says.

    It is the maximum of the posterior, by Newton's method (the likelihood is concave, and
    this climbs it in fewer steps than Hunter's MM algorithms for generalized Bradley-Terry
    models, 2004). The draw parameter is 0 when no game was drawn. Equal games give equal
    bytes, in whatever rows and order they come.

    Where the prior gives openings no effects, it is the same fit, to the byte, whether they are
    known or not.

    Args:
        lineage: Which players came from which; who is not in the counts is left out.
        levels: What draws depend on where the prior lets them: everyone's strength in Elo, as
            another fit has it, with mean 0; shape (n,). Without it they are all 0.
        near: A fit of the same players to begin at. What is found differs in the sixth decimal.
        tolerance: What moves no log-odds further is the last step.

    Raises:
        NoFitError: without a prior, the counts pull a difference to infinity.
    """
    games = counts if isinstance(counts, GroupedCounts) else GroupedCounts.of(counts)
    prior = prior or Prior()
    players = games.players
    linked = Lineage.none()
    if lineage is not None and math.isfinite(prior.lineage):
        linked = lineage.places(players)
    has_draw_slope = prior.draw_slope > 0 and levels is not None
    levels = np.zeros(len(players)) if levels is None else levels
    posterior = LogPosterior.of(
        games.pairs,
        len(players),
        prior.precisions,
        opening=prior.opening / ELO_PER_NAT,
        has_advantage=prior.advantage > 0,
        has_draw_slope=has_draw_slope,
        levels=levels / ELO_PER_NAT,
        lineage=linked,
    )
    limit = math.inf
    if math.isinf(prior.strength):
        limit = MAX_LOG_ODDS
        _check_connected(games.pairs, linked, len(players))
    start = _start_near(posterior, near)
    point, steps = _newton(posterior, start, limit=limit, tolerance=tolerance)
    curvature, state = point.curvature(), point.state
    elo = state.strengths * ELO_PER_NAT
    mean = float(elo.mean()) if len(players) else 0.0
    return Fit(
        games=games,
        prior=prior,
        lineage=linked,
        elo=elo - mean,
        levels=levels,
        outcomes=Outcomes(
            state.advantage * ELO_PER_NAT,
            state.draws * ELO_PER_NAT,
            opening=prior.opening,
            draw_slope=state.draw_slope,
        ),
        log_likelihood=point.log_likelihood,
        level=-mean,
        steps=steps,
        information=curvature.marginal(),
    )


def _check_connected(counts: PairCounts, lineage: Lineage, players: int) -> None:
    first = np.concatenate((counts.first, lineage.child))
    second = np.concatenate((counts.second, lineage.parent))
    if connected_components(first, second, players).any():
        raise NoFitError("the games do not connect everybody; give the strengths a prior")


def _start_near(posterior: LogPosterior, near: Fit | None) -> State:
    """The state of another fit of the same games; not of one without draws where here are some."""
    if near is None or (posterior.has_draws and not near.outcomes.draws):
        return posterior.start()
    slope = near.outcomes.draw_slope if posterior.has_draw_slope else 0.0
    return posterior.levelled(replace(near.state, draw_slope=slope))


def _newton(
    posterior: LogPosterior, start: State, *, limit: float, tolerance: float
) -> tuple[Point, int]:
    """The maximum of the posterior by a damped Newton's method, and the number of its steps."""
    point = Point(posterior, start)
    is_concave = not (posterior.has_draw_slope or posterior.has_effects)
    for steps in range(1, MAX_STEPS + 1):
        gradient = point.gradient()
        try:
            step = _step(point, gradient, is_concave=is_concave)
        except NoSolutionError:
            break
        largest = posterior.max_change(step)
        if largest < tolerance:
            return Point(posterior, point.state.moved(step, 1.0)), steps
        point = _line_search(posterior, point, step, gradient.dot(step), largest)
        if posterior.max_change(point.state) > limit:
            break
    raise NoFitError("the counts pull a difference to infinity; give the strengths a prior")


def _step(point: Point, gradient: State, *, is_concave: bool) -> State:
    """Newton's step; where the posterior need not be concave and that step falls, the sounder one."""
    if not is_concave:
        with suppress(NoSolutionError):
            step = point.curvature(is_exact=True).solve(gradient)
            if gradient.dot(step) > 0:
                return step
    return point.curvature().solve(gradient)


def _line_search(
    posterior: LogPosterior, point: Point, step: State, gain: float, largest: float
) -> Point:
    """Backtracking line search (Armijo): along a step as far as it climbs enough, with room for draws left above 0."""
    share, draws = min(1.0, LONGEST_STEP / largest), point.state.draws
    if step.draws < 0:
        share = min(share, 0.9 * draws / -step.draws)
    # No draw parameter grows by more than e times: far out they leave what a float can hold.
    share = min(share, 1 / max(posterior.max_draw_change(step), TINY))
    while True:
        moved = Point(posterior, point.state.moved(step, share))
        is_short = max(share * largest, share * abs(step.draws) / max(draws, TINY)) < TRUSTED_STEP
        if is_short or moved.value >= point.value + 1e-4 * share * gain:
            return moved
        share /= 2
