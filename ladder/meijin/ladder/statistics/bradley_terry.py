"""Bradley-Terry strengths with Rao-Kupper draws and a first-move advantage, fitted to counts."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from meijin.ladder.statistics.laplacian import Laplacian, NoSolutionError
from meijin.ladder.statistics.likelihood import LogPosterior, Point, State
from meijin.ladder.statistics.pair_counts import Floats, Integers, PairCounts, connected_components

ELO_PER_NAT = 400 / math.log(10)
"""Elo in one natural unit of log-odds: 400 Elo are odds of ten to one."""
TOLERANCE = 1e-4
"""A step that moves no log-odds further is the last; it leaves about its square: 2e-6 Elo."""
MAX_STEPS = 200
LONGEST_STEP = 3.0
"""The most that a step may move a log-odds: far from the top, the curvature here says little."""
TRUSTED_STEP = 1e-3
"""A step that moves no log-odds further climbs: the curvature changes less than that."""
MAX_LOG_ODDS = 30.0
"""Log-odds on the way to infinity, where there is no prior: 1 / (1 + e^-30) is nearly 1 itself."""


class NoFitError(ValueError):
    """The counts have no finite fit.

    Without a prior the games must connect everybody, and everybody needs a point won and one lost.
    """


@dataclass(frozen=True, slots=True)
class Prior:
    """The prior: normal distributions around 0, by their deviations in Elo.

    They keep perfect scorers, several components and pools of nothing but draws finite. `math.inf`
    leaves a parameter free.
    """

    strength: float = 600.0
    advantage: float = 600.0
    """0 holds it at 0."""
    draws: float = 600.0

    @property
    def precisions(self) -> tuple[float, float, float]:
        """One over each variance, in nats; 0 for what is free or held at 0."""
        deviations = (self.strength, self.advantage, self.draws)
        strength, advantage, draws = (
            (ELO_PER_NAT / each) ** 2 if each else 0.0 for each in deviations
        )
        return strength, advantage, draws


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Outcome probabilities of a game between any two players, from the first one's side.

    With d = (difference + advantage) / 173.7 in Elo, and s the logistic function, the first
    player wins with probability s(d - draws) and loses with s(-d - draws) (Rao & Kupper, Ties
    in paired-comparison experiments, 1967; the form is that of Coulom's BayesElo).
    """

    advantage: float
    """What moving first is worth, in Elo."""
    draws: float
    """What a player has to be better by, in Elo, to win every second game; 0 for no draws."""

    def wins(self, difference: ArrayLike) -> Floats:
        """The probability of a win of the first player, when it is stronger by so many Elo."""
        return logistic((np.asarray(difference) + self.advantage - self.draws) / ELO_PER_NAT)

    def losses(self, difference: ArrayLike) -> Floats:
        """The probability of a loss of the first player."""
        return logistic((-np.asarray(difference) - self.advantage - self.draws) / ELO_PER_NAT)

    def score(self, difference: ArrayLike) -> Floats:
        """The expected score of the first player."""
        points: Floats = (1 + self.wins(difference) - self.losses(difference)) / 2
        return points

    def score_with_both(self, difference: ArrayLike) -> Floats:
        """The expected score of a player so much stronger who moves first every second time."""
        difference = np.asarray(difference)
        return (self.score(difference) + 1 - self.score(-difference)) / 2

    def information(self, difference: ArrayLike) -> Floats:
        """The Fisher information on the difference of a game, colours drawn by lot; per nat^2."""
        difference = np.asarray(difference)
        return (self._information(difference) + self._information(-difference)) / 2

    def _information(self, difference: Floats) -> Floats:
        wins, losses = self.wins(difference), self.losses(difference)
        information: Floats = (1 - wins) * (1 - losses) * (wins + losses)
        return information

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
        wins, losses = float(self.wins(difference)), float(self.losses(difference))
        gradient = curvature = 0.0
        if points > 0:  # a draw is a win and a loss at once
            gradient, curvature = 1 - wins, wins * (1 - wins)
        if points < 1:
            gradient, curvature = gradient - (1 - losses), curvature + losses * (1 - losses)
        return gradient, curvature


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The maximum a posteriori (MAP) strengths."""

    players: Integers
    """Everyone in the counts, ascending; shape (n,)."""
    counts: PairCounts
    """The games, merged, each player named by its place."""
    elo: Floats
    """Their strengths in Elo, with mean 0; shape (n,)."""
    outcomes: Outcomes
    log_likelihood: float
    """Of the games, in nats; without the prior."""
    steps: int
    """How many steps Newton's method took."""
    information: Laplacian
    """The information of the games and the prior on the strengths: the inverse of their
    covariance, in nats, at the fit and with the advantage and the draws unknown."""

    @property
    def state(self) -> State:
        """What was found, in nats."""
        outcomes = self.outcomes
        return State(
            self.elo / ELO_PER_NAT, outcomes.advantage / ELO_PER_NAT, outcomes.draws / ELO_PER_NAT
        )


def logistic(odds: Floats) -> Floats:
    """The logistic function, 1 / (1 + e^-odds), for any odds.

    On arrays, ``scipy.special.expit`` takes 1.5 to 3 times as long.
    """
    value: Floats = (1 + np.tanh(odds / 2)) / 2
    return value


def fit(counts: PairCounts, prior: Prior | None = None, *, near: Fit | None = None) -> Fit:
    """Fit strengths, first-move advantage and draws to `counts`, as `Outcomes` says.

    It is the maximum of the posterior, by Newton's method (the likelihood is concave, and
    this climbs it in fewer steps than Hunter's MM algorithms for generalized Bradley-Terry
    models, 2004). The draw parameter is 0 when no game was drawn. Equal games give equal
    bytes, in whatever rows and order they come.

    Args:
        counts: The games.
        prior: `Prior()` where it is left out.
        near: A fit of the same players to begin with. What is found differs in the sixth decimal.

    Raises:
        NoFitError: without a prior, the counts pull a difference to infinity.
    """
    prior = prior or Prior()
    players, indexed = counts.indexed()
    posterior = LogPosterior.of(
        indexed, len(players), prior.precisions, has_advantage=prior.advantage > 0
    )
    limit = math.inf
    if math.isinf(prior.strength):
        limit = MAX_LOG_ODDS
        if connected_components(indexed.first, indexed.second, len(players)).any():
            raise NoFitError("the games do not connect everybody; give the strengths a prior")
    point, steps = _newton(posterior, limit, _start(posterior, near))
    elo = point.state.strengths * ELO_PER_NAT
    return Fit(
        players=players,
        counts=indexed,
        elo=elo - elo.mean() if len(players) else elo,
        outcomes=Outcomes(point.state.advantage * ELO_PER_NAT, point.state.draws * ELO_PER_NAT),
        log_likelihood=point.log_likelihood,
        steps=steps,
        information=point.curvature().marginal(),
    )


def _start(posterior: LogPosterior, near: Fit | None) -> State:
    """Where to begin: at the other fit, unless that has no draws, and here there are some."""
    if near is None or (posterior.draws and not near.outcomes.draws):
        return posterior.start()
    return near.state


def _newton(posterior: LogPosterior, limit: float, start: State) -> tuple[Point, int]:
    """The maximum of the posterior by a damped Newton's method, and the number of its steps."""
    point = Point(posterior, start)
    for steps in range(1, MAX_STEPS + 1):
        gradient = point.gradient()
        try:
            step = point.curvature().solve(gradient)
        except NoSolutionError:
            break
        largest = posterior.max_change(step)
        if largest < TOLERANCE:
            return Point(posterior, point.state.moved(step, 1.0)), steps
        point = _line_search(posterior, point, step, gradient.dot(step), largest)
        if posterior.max_change(point.state) > limit:
            break
    raise NoFitError("the counts pull a difference to infinity; give the strengths a prior")


def _line_search(
    posterior: LogPosterior, point: Point, step: State, gain: float, largest: float
) -> Point:
    """Backtracking line search (Armijo): along a step as far as it climbs enough, with room for draws left above 0."""
    share = min(1.0, LONGEST_STEP / largest)
    if step.draws < 0:
        share = min(share, 0.9 * point.state.draws / -step.draws)
    while True:
        moved = Point(posterior, point.state.moved(step, share))
        if share * largest < TRUSTED_STEP or moved.value >= point.value + 1e-4 * share * gain:
            return moved
        share /= 2
