"""The log-likelihood of games and the log-posterior, with their first two derivatives."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from meijin.ladder.statistics.fit.laplacian import Laplacian, solve_bordered
from meijin.ladder.statistics.fit.lineage import Lineage
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, PairCounts, sums

N = TypeVar("N", np.int64, np.float64)

ADVANTAGE, DRAWS, DRAW_SLOPE = range(3)
"""The columns of a border before those of openings."""
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
    opening: float
    """Of an opening's own effect around 0."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Values of all parameters, or a step of them, in nats."""

    strengths: Floats
    advantage: float
    draws: float
    """Of two whose mean level is 0."""
    draw_slope: float = 0.0
    """By how much its logarithm rises with the mean level of the two."""
    openings: Floats = field(default_factory=lambda: np.empty(0))
    """What each opening adds to the advantage; shape (k,)."""

    @property
    def others(self) -> Floats:
        """All but the strengths, in the order of the border's columns; shape (3 + k,)."""
        return np.concatenate(((self.advantage, self.draws, self.draw_slope), self.openings))

    def moved(self, step: "State", share: float) -> "State":
        """The state a share of a step further."""
        return State(
            self.strengths + share * step.strengths,
            self.advantage + share * step.advantage,
            self.draws + share * step.draws,
            self.draw_slope + share * step.draw_slope,
            self.openings + share * step.openings,
        )

    def dot(self, other: "State") -> float:
        return float(self.strengths @ other.strengths + self.others @ other.others)


@dataclass(frozen=True, slots=True, eq=False)
class Curvature:
    """The negative Hessian: a block of the strengths and a border of the others."""

    strengths: Laplacian
    border: Floats
    """Of each strength with advantage, draws, their slope and openings; shape (n, 3 + k)."""
    corner: Floats
    """Of these among themselves; shape (3 + k, 3 + k)."""
    free: Integers
    """Which of these are to be found."""

    def solve(self, gradient: State) -> State:
        """Newton's step.

        Raises:
            NoSolutionError: the curvature is 0 along some way.
        """
        border, corner = self._of_free()
        rest = gradient.others[self.free]
        strengths, found = solve_bordered(self.strengths, border, corner, gradient.strengths, rest)
        others = np.zeros(len(self.corner))
        others[self.free] = found
        advantage, draws, draw_slope = others[:COMMON].tolist()
        return State(strengths, advantage, draws, draw_slope, others[COMMON:])

    def marginal(self) -> Laplacian:
        """The marginal information on the strengths, when the others are unknown."""
        border, corner = self._of_free()
        return replace(self.strengths, border=border, corner=corner)

    def opening_information(self) -> Floats:
        """The marginal information on the openings' effects, when all else is unknown; (k, k).

        Only for pools that are not large.
        """
        border, corner = self._of_free()
        rest = corner - border.T @ np.linalg.solve(self.strengths.held(), border)
        common = int((self.free < COMMON).sum())
        known = np.linalg.solve(rest[:common, :common], rest[:common, common:])
        return rest[common:, common:] - rest[common:, :common] @ known

    def _of_free(self) -> tuple[Floats, Floats]:
        return self.border[:, self.free], self.corner[np.ix_(self.free, self.free)]


@dataclass(frozen=True, slots=True, eq=False)
class LogPosterior:
    """The log-posterior of a `State`, by the games and a prior.

    The levels that draws depend on are constants, close to the strengths: what a draw would tell of
    the strength of both is not heard, and games tell of differences alone.
    """

    players: int
    first: Integers
    """Places in the strengths, pair by pair; shape (p,)."""
    second: Integers
    movers: Integers
    """The first pair of each player who moved first, whose pairs stand together; shape (m,)."""
    edges: Integers
    """The two ends of each edge between strengths: pairs, and then children with parents; shape
    (2, p + links)."""
    drawn: Floats
    """Games that each pair drew; shape (p,)."""
    levels: Floats
    """The mean of the two players' levels; shape (p,)."""
    starts: Integers
    """The first row of each pair, whose rows stand together; shape (p,)."""
    wins: Floats
    """The first player's, row by row; a draw counts as a win and a loss, and once more for itself."""
    losses: Floats
    precisions: Precisions
    free: Integers
    """The columns of the border that are to be found; the others are held at 0."""
    ridge: Floats
    """The precision of each strength around 0: nothing for those with a parent; shape (n,)."""
    lineage: Lineage
    """Of places in the strengths."""
    opening: Integers | None
    """Row by row, the place of its opening's effect, and `effects` where it has none; ``None``
    where no opening has one."""
    effects: int
    """How many openings have an effect of their own."""

    @classmethod
    def of(
        cls,
        counts: PairCounts,
        players: int,
        precisions: Precisions,
        *,
        has_advantage: bool,
        has_draw_slope: bool,
        levels: Floats,
        lineage: Lineage,
        effects: int,
    ) -> "LogPosterior":
        """By games of the players 0, 1, ...

        Args:
            counts: Sorted by pair, with openings 0, 1, ... where some have effects; those from
                `effects` on have none.
            levels: Everyone's, which draws depend on, in nats; shape (n,).
            lineage: Of these players.
        """
        has_draws = bool(counts.draws.any())
        starts = _starts(counts)
        first, second = counts.first[starts], counts.second[starts]
        ridge = np.full(players, precisions.strength)
        ridge[lineage.child] = 0.0
        return cls(
            players=players,
            first=first,
            second=second,
            movers=np.flatnonzero(np.diff(first, prepend=-1)),
            edges=np.concatenate(((first, second), (lineage.child, lineage.parent)), axis=1),
            drawn=np.add.reduceat(counts.draws, starts),
            levels=(levels[first] + levels[second]) / 2,
            starts=starts,
            wins=counts.wins + counts.draws,
            losses=counts.losses + counts.draws,
            precisions=precisions,
            free=np.flatnonzero(
                (has_advantage, has_draws, has_draws and has_draw_slope, *[True] * effects)
            ),
            ridge=ridge,
            lineage=lineage,
            opening=counts.openings if effects else None,
            effects=effects,
        )

    def start(self) -> State:
        """The starting point: scores when all opponents are equal, and draws as often as they came.

        With one game more for everyone, won and lost, that is finite.
        """
        draws = float(self.drawn.sum())
        games = float(self.wins.sum() + self.losses.sum()) - draws
        likely = math.log1p(4 * draws / games) / 2 if draws else 0.0
        won_as_first, lost_as_second = self.by_player(self.by_pair(self.wins))
        lost_as_first, won_as_second = self.by_player(self.by_pair(self.losses))
        odds = np.log1p(won_as_first + won_as_second) - np.log1p(lost_as_first + lost_as_second)
        return self.levelled(State(odds, 0.0, likely, openings=np.zeros(self.effects)))

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
        """The first player's log-odds in each row, before draws."""
        odds = self.per_row(self._pair_odds(state))
        if self.opening is not None:
            odds = odds + np.append(state.openings, 0.0)[self.opening]
        return odds

    def _pair_odds(self, state: State) -> Floats:
        """The same for each pair, without its openings; shape (p,)."""
        return state.strengths[self.first] - state.strengths[self.second] + state.advantage

    def steps(self, strengths: Floats) -> Floats:
        """By how much everyone with a parent is the stronger of the two; shape (links,)."""
        return strengths[self.lineage.child] - strengths[self.lineage.parent]

    @property
    def link_weights(self) -> Floats:
        """The precision of each of these; shape (links,)."""
        return self.precisions.lineage / self.lineage.steps

    def max_change(self, step: State) -> float:
        """A bound of the change of a log-odds, and of a version from its parent, by a step."""
        of_games = float(np.abs(self._pair_odds(step)).max(initial=0.0)) + abs(step.draws)
        of_games += float(np.abs(step.openings).max(initial=0.0))
        of_games += self.max_draw_change(step)
        return max(of_games, float(np.abs(self.steps(step.strengths)).max(initial=0.0)))

    def max_draw_change(self, step: State) -> float:
        """The largest change of the logarithm of a draw parameter by a step of the slope."""
        return abs(step.draw_slope) * float(np.abs(self.levels).max(initial=0.0))

    @property
    def _is_one_row_a_pair(self) -> bool:
        return len(self.starts) == len(self.wins)

    def per_row(self, column: NDArray[N]) -> NDArray[N]:
        """A column of the pairs, row by row."""
        if self._is_one_row_a_pair:
            return column
        return np.repeat(column, np.diff(self.starts, append=len(self.wins)))

    def by_pair(self, column: Floats) -> Floats:
        """The sums of a column over the rows of each pair; shape (p,)."""
        return column if self._is_one_row_a_pair else np.add.reduceat(column, self.starts)

    def by_player(self, column: Floats) -> tuple[Floats, Floats]:
        """The sums of a column over each player's pairs, with the first and the second move.

        By `np.add.reduceat` where pairs stand together: `np.bincount` takes 2.1 ms for 600,000 and
        this 0.1, since no sum waits for the one before it in memory.
        """
        as_first = np.zeros(self.players)
        as_first[self.first[self.movers]] = np.add.reduceat(column, self.movers)
        return as_first, sums(self.second, column, self.players)

    def by_opening(self, column: Floats) -> Floats:
        """The sums of a column over the rows of each opening with an effect; shape (k,)."""
        if self.opening is None:
            return np.empty(0)
        return sums(self.opening, column, self.effects + 1)[:-1]

    def opening_border(self, weight: Floats) -> Floats:
        """The border's columns of the openings' effects; shape (n, k)."""
        if self.opening is None:
            return np.empty((self.players, 0))
        shape = (self.effects + 1, self.players)
        size, row = shape[0] * shape[1], self.opening * self.players
        first, second = self.per_row(self.first), self.per_row(self.second)
        border = sums(row + first, weight, size) - sums(row + second, weight, size)
        return border.reshape(shape)[:-1].T


def _starts(counts: PairCounts) -> Integers:
    is_first = np.ones(len(counts.first), dtype=np.bool_)
    is_first[1:] = (counts.first[1:] != counts.first[:-1]) | (
        counts.second[1:] != counts.second[:-1]
    )
    return np.flatnonzero(is_first)


class Point:
    """The posterior and its derivatives at one state."""

    def __init__(self, posterior: LogPosterior, state: State) -> None:
        self.state = state
        self._posterior = posterior
        self._factors = np.exp(state.draw_slope * posterior.levels)
        self._draws = state.draws * self._factors
        self._against_win = np.exp(posterior.per_row(self._draws) - posterior.odds(state))
        self._against_loss = posterior.per_row(np.exp(2 * self._draws)) / self._against_win
        self._win = 1 / (1 + self._against_win)
        self._loss = 1 / (1 + self._against_loss)

    @cached_property
    def log_likelihood(self) -> float:
        """Of the games alone, in nats."""
        posterior = self._posterior
        value = -float(posterior.wins @ np.log1p(self._against_win))
        value -= float(posterior.losses @ np.log1p(self._against_loss))
        if posterior.has_draws:
            value += float(posterior.drawn @ np.log(np.expm1(2 * self._draws)))
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
        penalty += precisions.advantage * state.advantage**2 + precisions.draws * state.draws**2
        penalty += precisions.draw_slope * state.draw_slope**2
        return penalty + precisions.opening * float(state.openings @ state.openings)

    def gradient(self) -> State:
        posterior, state = self._posterior, self.state
        missed, spared = posterior.wins * (1 - self._win), posterior.losses * (1 - self._loss)
        surprise = missed - spared
        by_pair, precisions = posterior.by_pair(surprise), posterior.precisions
        by_draws = self._by_draws
        as_first, as_second = posterior.by_player(by_pair)
        return State(
            as_first - as_second - posterior.ridge * state.strengths - self._pull(),
            float(by_pair.sum()) - precisions.advantage * state.advantage,
            float(by_draws @ self._factors) - precisions.draws * state.draws,
            float(by_draws @ self._per_slope) - precisions.draw_slope * state.draw_slope,
            posterior.by_opening(surprise) - precisions.opening * state.openings,
        )

    @cached_property
    def _by_draws(self) -> Floats:
        """The derivative of the log-likelihood by the draw parameter of each pair; shape (p,)."""
        posterior = self._posterior
        if not posterior.has_draws:
            return np.zeros_like(self._draws)
        missed = posterior.wins * (1 - self._win) + posterior.losses * (1 - self._loss)
        seen = -2 * posterior.drawn / np.expm1(-2 * self._draws)
        return seen - posterior.by_pair(missed)

    @property
    def _per_slope(self) -> Floats:
        """By how much the draw parameter of each pair rises with the slope; shape (p,)."""
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
        posterior, precisions = self._posterior, self._posterior.precisions
        from_wins = posterior.wins * self._win * (1 - self._win)
        from_losses = posterior.losses * self._loss * (1 - self._loss)
        weights, twists = from_wins + from_losses, from_losses - from_wins
        weight, twist = posterior.by_pair(weights), posterior.by_pair(twists)
        of_draws = weight
        if posterior.has_draws:
            of_draws = weight + posterior.drawn / np.sinh(self._draws) ** 2
        ways = (self._factors, self._per_slope)
        columns = [weight, *(twist * way for way in ways)]
        border = np.zeros((COMMON, posterior.players))
        for place in posterior.free[posterior.free < COMMON].tolist():
            border[place] = np.subtract(*posterior.by_player(columns[place]))
        by_opening = np.array(
            [
                posterior.by_opening(weights),
                *(posterior.by_opening(twists * posterior.per_row(way)) for way in ways),
            ]
        )
        corner = np.diag(np.concatenate((np.zeros(COMMON), by_opening[0] + precisions.opening)))
        corner[0, :COMMON] = corner[:COMMON, 0] = [column.sum() for column in columns]
        corner[1:COMMON, 1:COMMON] = [[way @ (of_draws * other) for other in ways] for way in ways]
        if is_exact:
            bent = float((self._by_draws * self._factors) @ posterior.levels)
            corner[DRAWS, DRAW_SLOPE] -= bent
            corner[DRAW_SLOPE, DRAWS] -= bent
            corner[DRAW_SLOPE, DRAW_SLOPE] -= (self._by_draws * self._per_slope) @ posterior.levels
        corner[:COMMON, COMMON:], corner[COMMON:, :COMMON] = by_opening, by_opening.T
        corner[range(COMMON), range(COMMON)] += precisions[1 : COMMON + 1]
        return Curvature(
            strengths=self._strengths(weight),
            border=np.column_stack((border.T, posterior.opening_border(weights))),
            corner=corner,
            free=posterior.free,
        )

    def _strengths(self, weight: Floats) -> Laplacian:
        """The strengths' block: an edge for each row of games and for each parent."""
        posterior = self._posterior
        weights = np.concatenate((weight, posterior.link_weights))
        first, second = posterior.edges
        return Laplacian(first, second, weights, posterior.ridge)
