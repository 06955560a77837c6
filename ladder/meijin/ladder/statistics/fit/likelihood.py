"""The log-likelihood of games and the log-posterior, with their first two derivatives.

An opening favours who moves first by an effect of its own. It is a random effect, drawn from a
normal distribution once for each two players and opening, whose games are a unit; the likelihood of
a unit is integrated over it. Since both have moved first, units tell of it though no opening comes
again, as pairs of games do in a pentanomial test.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from meijin.ladder.statistics.fit.laplacian import Laplacian, solve_bordered
from meijin.ladder.statistics.fit.lineage import Lineage
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, Units, sums

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
    units: Units
    edges: Integers
    """The two ends of each edge between strengths: units, and then children with parents; shape
    (2, units + links)."""
    firsts: Integers
    """The first unit of those that stand together and have the same first player; shape (m,)."""
    effects: Floats
    """Values of an opening's effect that are added up, in nats; shape (k,)."""
    weights: Floats
    """Of these; their sum is 1; shape (k,)."""
    wins: Floats
    """The first player's, row by row; a draw counts as a win and a loss, and once more for itself."""
    losses: Floats
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
        units: Units,
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
            opening: The deviation of the openings' effects, in nats.
            levels: Everyone's, which draws depend on, in nats; shape (n,).
            lineage: Of these players.
        """
        counts = units.counts
        has_draws = bool(counts.draws.any())
        ridge = np.full(players, precisions.strength)
        ridge[lineage.child] = 0.0
        nodes, weights = normal_nodes(opening, float(units.games.max(initial=0.0)))
        ends = units.ends
        return cls(
            players=players,
            units=units,
            edges=np.concatenate((ends, (lineage.child, lineage.parent)), axis=1),
            firsts=np.flatnonzero(np.diff(ends[0], prepend=-1)),
            effects=opening * nodes,
            weights=weights,
            wins=counts.wins + counts.draws,
            losses=counts.losses + counts.draws,
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
        times = self.units.row_times
        wins, losses = times * self.wins, times * self.losses
        draws = float(times @ self.units.counts.draws)
        games = float(wins.sum() + losses.sum()) - draws
        likely = math.log1p(4 * draws / games) / 2 if draws else 0.0
        won_as_first, lost_as_second = self.by_player(wins)
        lost_as_first, won_as_second = self.by_player(losses)
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
    def is_root(self) -> NDArray[np.bool_]:
        """Who has no parent; shape (n,)."""
        is_root = np.ones(self.players, dtype=bool)
        is_root[self.lineage.child] = False
        return is_root

    def odds(self, state: State) -> Floats:
        """The first player's log-odds in each row, before draws and without the opening."""
        counts = self.units.counts
        return state.strengths[counts.first] - state.strengths[counts.second] + state.advantage

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

    def by_player(self, column: Floats) -> tuple[Floats, Floats]:
        """The sums of a column over each player's rows, with the first and the second move."""
        counts = self.units.counts
        return sums(counts.first, column, self.players), sums(counts.second, column, self.players)

    def pulled(self, column: Floats) -> Floats:
        """The sums of a column of units over each player's as the first of the two, less the others.

        By `np.add.reduceat` where units stand together: `np.bincount` takes 2.1 ms for 600,000 and
        this 0.1, since no sum waits for the one before it in memory.
        """
        first, second = self.edges[:, : len(column)]
        together = np.add.reduceat(column, self.firsts)
        return sums(first[self.firsts], together, self.players) - sums(second, column, self.players)


STEP = 1.2
"""Of the rule, in deviations of the narrowest integrand: it errs by e^(-2 pi^2 / 1.2^2), 1e-6."""
REACH = 5.0
"""Deviations of an effect beyond which nothing is added up."""


def normal_nodes(deviation: float, games: float) -> tuple[Floats, Floats]:
    """Nodes and weights that integrate over a standard normal variable; shapes (k,).

    By the trapezoidal rule, whose error falls exponentially (Trefethen & Weideman, The exponentially
    convergent trapezoidal rule, 2014).

    Args:
        deviation: By which the variable is multiplied in log-odds; 0 for no variable at all.
        games: The most that one value of it has a say in.
    """
    if not deviation:
        return np.zeros(1), np.ones(1)
    narrowest = 1 / math.sqrt(1 + deviation**2 * games / 4)  # a game informs by 1 / 4 at most
    half = math.ceil(REACH / (STEP * narrowest))
    nodes = np.linspace(-REACH, REACH, 2 * half + 1)
    weights = np.exp(-(nodes**2) / 2)
    return nodes, weights / weights.sum()


class Point:
    """The posterior and its derivatives at one state.

    Columns by opening effect and row have the shape (k, rows), those by unit (k, units).
    """

    def __init__(self, posterior: LogPosterior, state: State) -> None:
        self.state = state
        self._posterior = posterior
        self._factors = np.exp(state.draw_slope * posterior.levels)
        self._draws = state.draws * self._factors
        odds = posterior.odds(state) + posterior.effects[:, None]
        self._against_win = np.exp(self._draws - odds)
        self._against_loss = np.exp(2 * self._draws) / self._against_win
        self._win = 1 / (1 + self._against_win)
        self._loss = 1 / (1 + self._against_loss)

    @cached_property
    def _log_likelihoods(self) -> tuple[Floats, Floats]:
        """Of each unit, and the share of each effect in it; shapes (units,) and (k, units)."""
        posterior = self._posterior
        rows = -posterior.wins * np.log1p(self._against_win)
        rows -= posterior.losses * np.log1p(self._against_loss)
        if posterior.has_draws:
            rows += posterior.units.counts.draws * np.log(np.expm1(2 * self._draws))
        by_unit = posterior.units.added_up(rows) + np.log(posterior.weights)[:, None]
        if len(by_unit) == 1:
            return by_unit[0], np.ones_like(by_unit)
        highest = by_unit.max(axis=0)
        shares = np.exp(by_unit - highest)
        total = shares.sum(axis=0)
        return highest + np.log(total), shares / total

    @property
    def log_likelihood(self) -> float:
        """Of the games alone, in nats."""
        return float(self._posterior.units.times @ self._log_likelihoods[0])

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
        by_odds, by_draws = self._mean(self._by_odds), self._mean(self._by_draws)
        pull = posterior.pulled(posterior.units.added_up(posterior.units.signs * by_odds))
        pull -= posterior.ridge * state.strengths + self._pull()
        found = (by_odds.sum(), self._factors @ by_draws, self._per_slope @ by_draws)
        others = np.array(found) - np.array(posterior.precisions[1 : COMMON + 1]) * state.others
        return State(pull, *others.tolist())

    def _mean(self, column: Floats) -> Floats:
        """The mean of a column over the effects as the unit's results weigh them, for all its likes."""
        return self._weighed(column) * self._posterior.units.row_times

    def _weighed(self, column: Floats) -> Floats:
        """The same for one of them."""
        weighed: Floats = column[0]
        if len(column) > 1:
            weighed = (self._posterior.units.per_row(self._log_likelihoods[1]) * column).sum(axis=0)
        return weighed

    @cached_property
    def _by_odds(self) -> Floats:
        """The derivative of the log-likelihood by the first player's log-odds."""
        posterior = self._posterior
        return posterior.wins * (1 - self._win) - posterior.losses * (1 - self._loss)

    @cached_property
    def _by_draws(self) -> Floats:
        """The same by the draw parameter of each row."""
        posterior = self._posterior
        if not posterior.has_draws:
            return np.zeros_like(self._win)
        missed = posterior.wins * (1 - self._win) + posterior.losses * (1 - self._loss)
        return -2 * posterior.units.counts.draws / np.expm1(-2 * self._draws) - missed

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
        of the draw parameter, whose factor is 0 on average. Then it is positive definite anywhere.
        """
        posterior, times = self._posterior, self._posterior.units.times
        free, by_unit = posterior.free, self._information()
        border = [posterior.pulled(times * row[0]) for row in by_unit[1:]]
        corner = np.diag(np.array(posterior.precisions[1 : COMMON + 1])[free])
        for one, row in enumerate(by_unit[1:]):
            corner[one, : one + 1] += [times @ column for column in row[1:]]
        corner += np.tril(corner, -1).T
        if is_exact:
            levels, by_draws = posterior.levels, self._mean(self._by_draws)
            bent = np.zeros((COMMON, COMMON))
            bent[DRAWS, DRAW_SLOPE] = bent[DRAW_SLOPE, DRAWS] = (by_draws * self._factors) @ levels
            bent[DRAW_SLOPE, DRAW_SLOPE] = (by_draws * self._per_slope) @ levels
            corner -= bent[np.ix_(free, free)]
        first, second = posterior.edges
        weights = np.concatenate((times * by_unit[0][0], posterior.link_weights))
        return Curvature(
            strengths=Laplacian(first, second, weights, posterior.ridge),
            border=np.reshape(border, (len(free), posterior.players)).T,
            corner=corner,
            free=free,
        )

    @property
    def _by_free(self) -> tuple[list[Floats | None], list[Floats | None]]:
        """By how much log-odds and draw parameter of a row rise with each of the others to be found."""
        odds, draws = (np.ones(1), None, None), (None, self._factors, self._per_slope)
        free = self._posterior.free.tolist()
        return [odds[place] for place in free], [draws[place] for place in free]

    def _information(self) -> list[list[Floats]]:
        """What each unit tells of its difference and of the others, were its effect known, less `_lost`.

        The lower half of a matrix of 1 + k rows, whose entries have the shape (units,).
        """
        posterior, units = self._posterior, self._posterior.units
        from_wins = posterior.wins * self._win * (1 - self._win)
        from_losses = posterior.losses * self._loss * (1 - self._loss)
        weights = self._weighed(from_wins + from_losses)
        twists, of_draws = self._weighed(from_losses - from_wins), weights
        if posterior.has_draws:
            of_draws = weights + units.counts.draws / np.sinh(self._draws) ** 2
        by_odds, by_draws = self._by_free
        odds, draws = [units.signs, *by_odds], [None, *by_draws]

        def entry(one: int, other: int) -> Floats:
            terms = (
                (weights, odds[one], odds[other]),
                (twists, odds[one], draws[other]),
                (twists, draws[one], odds[other]),
                (of_draws, draws[one], draws[other]),
            )
            found = [a * (b * c) for a, b, c in terms if b is not None and c is not None]
            return units.added_up(np.asarray(sum(found[1:], start=found[0])))

        lower = [[entry(one, other) for other in range(one + 1)] for one in range(len(odds))]
        if len(posterior.effects) > 1:
            lost = self._lost()
            lower = [
                [each - lost[a, b] for b, each in enumerate(row)] for a, row in enumerate(lower)
            ]
        return lower

    def _lost(self) -> Floats:
        """What not knowing the effects takes of that: the scatter of the scores by them (Louis 1982)."""
        units = self._posterior.units
        shares = self._log_likelihoods[1]
        scores = [units.signs * self._by_odds]
        scores += [
            self._by_odds if way is None else self._by_draws * way for way in self._by_free[1]
        ]
        by_unit = np.stack([units.added_up(column) for column in scores])
        by_unit -= (shares * by_unit).sum(axis=1, keepdims=True)
        lost: Floats = np.einsum("ku,aku,bku->abu", shares, by_unit, by_unit, optimize=True)
        return lost
