"""The log-likelihood of games and the log-posterior, with their first two derivatives.

An opening favours who moves first by an effect of its own, a random one. The chances of a game are
means over all openings, and games are taken for independent: a composite likelihood (Varin, Reid &
Firth, An overview of composite likelihood methods, 2011). What games of one opening have in common
is left to the covariance, as a pentanomial test has it in the variance of pairs.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from meijin.ladder.statistics.fit.laplacian import Laplacian, solve_bordered
from meijin.ladder.statistics.fit.lineage import Lineage
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, PairCounts, sums

ADVANTAGE, DRAWS, DRAW_SLOPE = range(3)
"""The columns of a border."""
COMMON = 3
"""How many these are."""


class Precisions(NamedTuple):
    """One over the variance of each prior, in nats; 0 for what is free or held at 0."""

    strength: float
    """Of a strength around 0."""
    advantage: float
    draws: float
    draw_slope: float
    """Of the slope of the draw parameter's logarithm."""
    lineage: float
    """Of a version's strength around its parent's, a step away."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Values of all parameters, or a step of them, in nats."""

    strengths: Floats
    advantage: float
    draws: float
    """Of two whose mean level is 0."""
    draw_slope: float = 0.0
    """By how much its logarithm rises with the mean level of the two."""

    @property
    def others(self) -> Floats:
        """All but the strengths, in the order of the border's columns; shape (3,)."""
        return np.array((self.advantage, self.draws, self.draw_slope))

    def moved(self, step: "State", share: float) -> "State":
        """The state a share of a step further."""
        return State(
            self.strengths + share * step.strengths,
            self.advantage + share * step.advantage,
            self.draws + share * step.draws,
            self.draw_slope + share * step.draw_slope,
        )

    def dot(self, other: "State") -> float:
        return float(self.strengths @ other.strengths + self.others @ other.others)


@dataclass(frozen=True, slots=True, eq=False)
class Curvature:
    """The negative Hessian: a block of the strengths and a border of the others."""

    strengths: Laplacian
    border: Floats
    """Of each strength with those of the others that are to be found; shape (n, k)."""
    corner: Floats
    """Of these among themselves; shape (k, k)."""
    free: Integers
    """Which of advantage, draws and their slope these are; shape (k,)."""

    def solve(self, gradient: State) -> State:
        """Newton's step.

        Raises:
            NoSolutionError: the curvature is 0 along some way.
        """
        rest = gradient.others[self.free]
        strengths, found = solve_bordered(
            self.strengths, self.border, self.corner, gradient.strengths, rest
        )
        others = np.zeros(COMMON)
        others[self.free] = found
        return State(strengths, *others.tolist())

    def marginal(self) -> Laplacian:
        """The marginal information on the strengths, when the others are unknown."""
        return replace(self.strengths, border=self.border, corner=self.corner)


@dataclass(frozen=True, slots=True, eq=False)
class LogPosterior:
    """The log-posterior of a `State`, by the games and a prior.

    The levels that draws depend on are constants, close to the strengths: what a draw would tell of
    the strength of both is not heard, and games tell of differences alone.
    """

    players: int
    counts: PairCounts
    """One row for each two and who moved first, sorted by who did."""
    edges: Integers
    """The two ends of each edge between strengths: rows, and then children with parents; shape
    (2, rows + links)."""
    firsts: Integers
    """The first row of each player who moved first; shape (m,)."""
    effects: Floats
    """Values of an opening's effect that are added up, in nats; shape (k,)."""
    weights: Floats
    """Of these; their sum is 1; shape (k,)."""
    levels: Floats
    """The mean of the two players' levels, row by row."""
    precisions: Precisions
    free: Integers
    """The columns of the border that are to be found; the others are held at 0."""
    ridge: Floats
    """The precision of each strength around 0: nothing for those with a parent; shape (n,)."""
    lineage: Lineage
    """Of places in the strengths."""

    @classmethod
    def of(
        cls,
        counts: PairCounts,
        players: int,
        precisions: Precisions,
        *,
        opening: float,
        has_advantage: bool,
        has_draw_slope: bool,
        levels: Floats,
        lineage: Lineage,
    ) -> "LogPosterior":
        """By games of the players 0, 1, ...

        Args:
            counts: Merged, whatever games began with.
            opening: The deviation of the openings' effects, in nats.
            levels: Everyone's, which draws depend on, in nats; shape (n,).
            lineage: Of these players.
        """
        has_draws = bool(counts.draws.any())
        ridge = np.full(players, precisions.strength)
        ridge[lineage.child] = 0.0
        nodes, weights = normal_nodes(opening)
        ends = counts.first, counts.second
        return cls(
            players=players,
            counts=counts,
            edges=np.concatenate((ends, (lineage.child, lineage.parent)), axis=1),
            firsts=np.flatnonzero(np.diff(counts.first, prepend=-1)),
            effects=opening * nodes,
            weights=weights,
            levels=(levels[counts.first] + levels[counts.second]) / 2,
            precisions=precisions,
            free=np.flatnonzero((has_advantage, has_draws, has_draws and has_draw_slope)),
            ridge=ridge,
            lineage=lineage,
        )

    def start(self) -> State:
        """The starting point: scores when all opponents are equal, and draws as often as they came.

        With one game more for everyone, won and lost, that is finite.
        """
        counts = self.counts
        wins, losses = counts.wins + counts.draws, counts.losses + counts.draws
        draws = float(counts.draws.sum())
        games = float(wins.sum() + losses.sum()) - draws
        likely = math.log1p(4 * draws / games) / 2 if draws else 0.0
        won_as_first, lost_as_second = self._by_player(wins)
        lost_as_first, won_as_second = self._by_player(losses)
        odds = np.log1p(won_as_first + won_as_second) - np.log1p(lost_as_first + lost_as_second)
        return self.levelled(State(odds, 0.0, likely))

    def levelled(self, state: State) -> State:
        """The state with the mean that the priors want: 0 over those without a parent.

        Games and lineage tell of differences alone, so no step leaves that level.
        """
        if not self.players:
            return state
        level = float(state.strengths[self.is_root].mean())
        return replace(state, strengths=state.strengths - level)

    @property
    def has_draws(self) -> bool:
        return DRAWS in self.free

    @property
    def has_draw_slope(self) -> bool:
        return DRAW_SLOPE in self.free

    @property
    def has_effects(self) -> bool:
        """Whether openings differ."""
        return len(self.effects) > 1

    @property
    def is_root(self) -> NDArray[np.bool_]:
        """Who has no parent; shape (n,)."""
        is_root = np.ones(self.players, dtype=bool)
        is_root[self.lineage.child] = False
        return is_root

    def odds(self, state: State) -> Floats:
        """The first player's log-odds in each row, before draws and without the opening."""
        first, second = self.edges[:, : len(self.counts.first)]
        odds: Floats = state.strengths[first] - state.strengths[second] + state.advantage
        return odds

    def steps(self, strengths: Floats) -> Floats:
        """By how much everyone with a parent is the stronger of the two; shape (links,)."""
        return strengths[self.lineage.child] - strengths[self.lineage.parent]

    @property
    def link_weights(self) -> Floats:
        """The precision of each of these; shape (links,)."""
        return self.precisions.lineage / self.lineage.steps

    def max_change(self, step: State) -> float:
        """A bound of the change of a log-odds, and of a version from its parent, by a step."""
        of_games = float(np.abs(self.odds(step)).max(initial=0.0)) + abs(step.draws)
        of_games += self.max_draw_change(step)
        return max(of_games, float(np.abs(self.steps(step.strengths)).max(initial=0.0)))

    def max_draw_change(self, step: State) -> float:
        """The largest change of the logarithm of a draw parameter by a step of the slope."""
        return abs(step.draw_slope) * float(np.abs(self.levels).max(initial=0.0))

    def pulled(self, column: Floats) -> Floats:
        """The sums of a column over each player's rows as the first of the two, less the others."""
        as_first, as_second = self._by_player(column)
        return as_first - as_second

    def _by_player(self, column: Floats) -> tuple[Floats, Floats]:
        """The sums of a column over each player's rows, with the first and the second move.

        By `np.add.reduceat` where rows stand together: `np.bincount` takes 2.1 ms for 600,000 and
        this 0.1, since no sum waits for the one before it in memory.
        """
        counts = self.counts
        together = np.add.reduceat(column, self.firsts) if len(column) else column
        as_first = sums(counts.first[self.firsts], together, self.players)
        return as_first, sums(counts.second, column, self.players)


REACH, NODES = 4.5, 11
"""Deviations to either side that a normal variable is integrated over, and in how many places: with
openings of 400 Elo the chance of a win is right to 1e-4."""


def normal_nodes(deviation: float) -> tuple[Floats, Floats]:
    """Nodes and weights that integrate over a standard normal variable; shapes (k,).

    By the trapezoidal rule, whose error falls exponentially (Trefethen & Weideman, The exponentially
    convergent trapezoidal rule, 2014).

    Args:
        deviation: By which the variable is multiplied; where it is 0, one node will do.
    """
    if not deviation:
        return np.zeros(1), np.ones(1)
    nodes = np.linspace(-REACH, REACH, NODES)
    weights = np.exp(-(nodes**2) / 2)
    return nodes, weights / weights.sum()


TINY = 1e-300
"""Stands for 0 in a denominator: the chance of a draw where there is none."""


class Point:
    """The posterior and its derivatives at one state; columns of rows, in nats.

    With w and l for the chances that the first player wins and loses, and ' for derivatives by the
    log-odds that belong to each, the draw parameter has the derivatives -w' and -l'.
    """

    def __init__(self, posterior: LogPosterior, state: State) -> None:
        self.state = state
        self._posterior = posterior
        self._factors = np.exp(state.draw_slope * posterior.levels)
        self._draws = state.draws * self._factors
        odds = posterior.odds(state) + posterior.effects[:, None]
        against_win = np.exp(self._draws - odds)
        wins, losses = 1 / (1 + against_win), 1 / (1 + np.exp(2 * self._draws) / against_win)
        self._win, self._loss, both = self._mean(wins), self._mean(losses), wins * losses
        self._draw = np.maximum(self._mean(both) * np.expm1(2 * self._draws), TINY)
        win_slopes, loss_slopes = wins * (1 - wins), losses * (1 - losses)
        self._win_slope, self._loss_slope = self._mean(win_slopes), self._mean(loss_slopes)
        self._win_bend = self._mean(win_slopes * (1 - 2 * wins))
        self._loss_bend = self._mean(loss_slopes * (1 - 2 * losses))

    def _mean(self, column: Floats) -> Floats:
        """Over the effects of openings."""
        weights = self._posterior.weights
        mean: Floats = column[0] if len(weights) == 1 else weights @ column
        return mean

    @cached_property
    def log_likelihood(self) -> float:
        """Of the games alone, in nats."""
        counts = self._posterior.counts
        value = float(counts.wins @ np.log(self._win) + counts.losses @ np.log(self._loss))
        if self._posterior.has_draws:
            value += float(counts.draws @ np.log(self._draw))
        return value

    @cached_property
    def value(self) -> float:
        """The log-posterior in nats, up to a constant."""
        return self.log_likelihood - self._penalty() / 2

    def _penalty(self) -> float:
        """What the priors take off, doubled."""
        posterior, state, precisions = self._posterior, self.state, self._posterior.precisions
        penalty = float(posterior.ridge @ state.strengths**2)
        penalty += float(posterior.link_weights @ posterior.steps(state.strengths) ** 2)
        return penalty + float(np.array(precisions[1 : COMMON + 1]) @ state.others**2)

    def gradient(self) -> State:
        posterior, state = self._posterior, self.state
        by_odds, by_draws = self._scores
        pull = posterior.pulled(by_odds) - posterior.ridge * state.strengths - self._pull()
        found = (by_odds.sum(), self._factors @ by_draws, self._per_slope @ by_draws)
        others = np.array(found) - np.array(posterior.precisions[1 : COMMON + 1]) * state.others
        return State(pull, *others.tolist())

    @cached_property
    def _scores(self) -> tuple[Floats, Floats]:
        """The derivatives of the log-likelihood by the first player's log-odds and by the draws."""
        counts = self._posterior.counts
        won = counts.wins * self._win_slope / self._win
        lost = counts.losses * self._loss_slope / self._loss
        by_odds, by_draws = self._draw_slopes
        return won - lost + counts.draws * by_odds, counts.draws * by_draws - won - lost

    @property
    def _draw_slopes(self) -> tuple[Floats, Floats]:
        """The same of the logarithm of a draw's chance."""
        by_odds = (self._loss_slope - self._win_slope) / self._draw
        return by_odds, (self._loss_slope + self._win_slope) / self._draw

    @property
    def _per_slope(self) -> Floats:
        """By how much the draw parameter of each row rises with the slope."""
        return self._draws * self._posterior.levels

    def _pull(self) -> Floats:
        """What draws everyone to its parent and to its children; shape (n,)."""
        posterior = self._posterior
        pull = posterior.link_weights * posterior.steps(self.state.strengths)
        lineage, players = posterior.lineage, posterior.players
        return sums(lineage.child, pull, players) - sums(lineage.parent, pull, players)

    def curvature(self, *, is_exact: bool = False) -> Curvature:
        """The negative Hessian of the value.

        Where it is not exact, that of the slope is Gauss and Newton's: without the second derivatives
        of the draw parameter, whose factor is 0 on average; and where openings differ it is what
        games are expected to tell (Fisher's scoring). Then it is positive definite anywhere.
        """
        posterior, free = self._posterior, self._posterior.free
        weights, twists, of_draws = self._information(is_exact=is_exact)
        told = ((weights, twists), (twists, of_draws))
        factors = (np.ones_like(weights), self._factors, self._per_slope)
        # What is to be found moves the log-odds of a row or its draw parameter, by these factors.
        found = [(min(place, DRAWS), factors[place]) for place in free.tolist()]
        border = [posterior.pulled(told[ADVANTAGE][kind] * factor) for kind, factor in found]
        corner = np.diag(np.array(posterior.precisions[1 : COMMON + 1])[free])
        for one, (kind, factor) in enumerate(found):
            corner[one] += [factor @ (told[kind][other] * by) for other, by in found]
        if is_exact:
            levels, by_draws = posterior.levels, self._scores[1]
            bent = np.zeros((COMMON, COMMON))
            bent[DRAWS, DRAW_SLOPE] = bent[DRAW_SLOPE, DRAWS] = (by_draws * self._factors) @ levels
            bent[DRAW_SLOPE, DRAW_SLOPE] = (by_draws * self._per_slope) @ levels
            corner -= bent[np.ix_(free, free)]
        first, second = posterior.edges
        strengths = np.concatenate((weights, posterior.link_weights))
        return Curvature(
            strengths=Laplacian(first, second, strengths, posterior.ridge),
            border=np.reshape(border, (len(free), posterior.players)).T,
            corner=corner,
            free=free,
        )

    def _information(self, *, is_exact: bool) -> tuple[Floats, Floats, Floats]:
        """What each row tells of its difference, of that and the draws together, and of the draws."""
        counts = self._posterior.counts
        wins, losses, drawn = counts.wins, counts.losses, counts.draws
        if self._posterior.has_effects and not is_exact:
            games = wins + losses + drawn
            wins, losses, drawn = games * self._win, games * self._loss, games * self._draw
        won = wins * ((self._win_slope / self._win) ** 2 - self._win_bend / self._win)
        lost = losses * ((self._loss_slope / self._loss) ** 2 - self._loss_bend / self._loss)
        weights, twists = won + lost, lost - won
        if not self._posterior.has_draws:
            return weights, twists, weights
        by_odds, by_draws = self._draw_slopes
        bend = (self._win_bend + self._loss_bend) / self._draw
        between = by_odds * by_draws - (self._win_bend - self._loss_bend) / self._draw
        return (
            weights + drawn * (by_odds**2 + bend),
            twists + drawn * between,
            weights + drawn * (by_draws**2 + bend),
        )
