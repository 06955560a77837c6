"""The log-likelihood of games and the log-posterior, with their first two derivatives."""

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from meijin.ladder.statistics.laplacian import Laplacian, solve_bordered
from meijin.ladder.statistics.lineage import Lineage
from meijin.ladder.statistics.pair_counts import Floats, Integers, PairCounts, sums

COMMON = 2
"""Advantage and draws: the columns of a border before those of openings."""


class Precisions(NamedTuple):
    """One over the variance of each prior, in nats; 0 for what is free or held at 0."""

    strength: float
    """Of a strength around 0."""
    advantage: float
    draws: float
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
    openings: Floats = field(default_factory=lambda: np.empty(0))
    """What each opening adds to the advantage; shape (k,)."""

    @property
    def others(self) -> Floats:
        """All but the strengths, in the order of the border's columns; shape (2 + k,)."""
        return np.concatenate(((self.advantage, self.draws), self.openings))

    def moved(self, step: "State", share: float) -> "State":
        """The state a share of a step further."""
        return State(
            self.strengths + share * step.strengths,
            self.advantage + share * step.advantage,
            self.draws + share * step.draws,
            self.openings + share * step.openings,
        )

    def dot(self, other: "State") -> float:
        """The scalar product."""
        return float(self.strengths @ other.strengths + self.others @ other.others)


@dataclass(frozen=True, slots=True, eq=False)
class Curvature:
    """The negative Hessian: a block of the strengths and a border of the others."""

    strengths: Laplacian
    border: Floats
    """Of each strength with advantage, draws and openings; shape (n, 2 + k)."""
    corner: Floats
    """Of these among themselves; shape (2 + k, 2 + k)."""
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
        return State(strengths, float(others[0]), float(others[1]), others[2:])

    def marginal(self) -> Laplacian:
        """The marginal information on the strengths, when the others are unknown."""
        return self.strengths.with_border(*self._of_free())

    def opening_information(self) -> Floats:
        """The marginal information on the openings' effects, when all else is unknown; (k, k).

        Only for pools that are not large.
        """
        border, corner = self._of_free()
        rest = corner - border.T @ np.linalg.solve(self.strengths.held(), border)
        common = int((self.free < COMMON).sum())
        known = np.linalg.solve(rest[:common, :common], rest[:common, common:])
        information: Floats = rest[common:, common:] - rest[common:, :common] @ known
        return information

    def _of_free(self) -> tuple[Floats, Floats]:
        return self.border[:, self.free], self.corner[np.ix_(self.free, self.free)]


@dataclass(frozen=True, slots=True, eq=False)
class LogPosterior:
    """The log-posterior of a `State`, by the games and a prior."""

    players: int
    first: Integers
    """Row by row, places in the strengths."""
    second: Integers
    wins: Floats
    """The first player's; a draw counts as a win and a loss, and once more for itself."""
    losses: Floats
    draws: float
    """Of all rows."""
    precisions: Precisions
    free: Integers
    """Of advantage (0), draws (1) and openings, which are to be found; the others are held at 0."""
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
        lineage: Lineage | None = None,
        effects: int = 0,
    ) -> "LogPosterior":
        """By games of the players 0, 1, ...

        Args:
            counts: With openings 0, 1, ... where some have effects; those from `effects` on have
                none.
            lineage: Of these players.
        """
        draws = float(counts.draws.sum())
        lineage = lineage or Lineage.none()
        ridge = np.full(players, precisions.strength)
        ridge[lineage.child] = 0.0
        return cls(
            players=players,
            first=counts.first,
            second=counts.second,
            wins=counts.wins + counts.draws,
            losses=counts.losses + counts.draws,
            draws=draws,
            precisions=precisions,
            free=np.flatnonzero((has_advantage, draws > 0, *[True] * effects)),
            ridge=ridge,
            lineage=lineage,
            opening=counts.openings if effects else None,
            effects=effects,
        )

    def start(self) -> State:
        """The starting point: scores when all opponents are equal, and draws as often as they came.

        With one game more for everyone, won and lost, that is finite.
        """
        games = float(self.wins.sum() + self.losses.sum()) - self.draws
        likely = math.log1p(4 * self.draws / games) / 2 if self.draws else 0.0
        won_as_first, lost_as_second = self.by_player(self.wins)
        lost_as_first, won_as_second = self.by_player(self.losses)
        odds = np.log1p(won_as_first + won_as_second) - np.log1p(lost_as_first + lost_as_second)
        return self.levelled(State(odds, 0.0, likely, np.zeros(self.effects)))

    def levelled(self, state: State) -> State:
        """The state with the mean that the priors want: 0 over those without a parent.

        Games and lineage tell of differences alone, so no step leaves that level.
        """
        if not self.players:
            return state
        level = float(state.strengths[self.is_root].mean())
        return replace(state, strengths=state.strengths - level)

    @property
    def is_root(self) -> NDArray[np.bool_]:
        """Who has no parent; shape (n,)."""
        is_root = np.ones(self.players, dtype=bool)
        is_root[self.lineage.child] = False
        return is_root

    def odds(self, state: State) -> Floats:
        """The first player's log-odds in each row, before draws."""
        odds: Floats = state.strengths[self.first] - state.strengths[self.second]
        odds += state.advantage
        if self.opening is not None:
            odds += np.append(state.openings, 0.0)[self.opening]
        return odds

    def steps(self, strengths: Floats) -> Floats:
        """By how much everyone with a parent is the stronger of the two; shape (links,)."""
        steps: Floats = strengths[self.lineage.child] - strengths[self.lineage.parent]
        return steps

    @property
    def link_weights(self) -> Floats:
        """The precision of each of these; shape (links,)."""
        weights: Floats = self.precisions.lineage / self.lineage.steps
        return weights

    def max_change(self, step: State) -> float:
        """The largest change of a log-odds, or of a version from its parent, by a step."""
        of_games = float(np.abs(self.odds(step)).max(initial=0.0)) + abs(step.draws)
        return max(of_games, float(np.abs(self.steps(step.strengths)).max(initial=0.0)))

    def by_player(self, column: Floats) -> tuple[Floats, Floats]:
        """The sums of a column over each player's rows, with the first and the second move."""
        return sums(self.first, column, self.players), sums(self.second, column, self.players)

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
        border = sums(row + self.first, weight, size) - sums(row + self.second, weight, size)
        return border.reshape(shape)[:-1].T


class Point:
    """The posterior and its derivatives at one state."""

    def __init__(self, posterior: LogPosterior, state: State) -> None:
        self.state = state
        self._posterior = posterior
        against_win = np.exp(state.draws - posterior.odds(state))
        against_loss = math.exp(2 * state.draws) / against_win
        self._win = 1 / (1 + against_win)
        self._loss = 1 / (1 + against_loss)
        self.log_likelihood = -float(
            posterior.wins @ np.log1p(against_win) + posterior.losses @ np.log1p(against_loss)
        )
        """Of the games alone, in nats."""
        if posterior.draws:
            self.log_likelihood += posterior.draws * math.log(math.expm1(2 * state.draws))
        self.value = self.log_likelihood - self._penalty() / 2
        """The log-posterior in nats, up to a constant."""

    def _penalty(self) -> float:
        """What the priors take off, doubled."""
        posterior, state, precisions = self._posterior, self.state, self._posterior.precisions
        penalty = float(posterior.ridge @ state.strengths**2)
        penalty += float(posterior.link_weights @ posterior.steps(state.strengths) ** 2)
        penalty += precisions.advantage * state.advantage**2 + precisions.draws * state.draws**2
        return penalty + precisions.opening * float(state.openings @ state.openings)

    def gradient(self) -> State:
        """The gradient of the value."""
        posterior, state = self._posterior, self.state
        missed, spared = posterior.wins * (1 - self._win), posterior.losses * (1 - self._loss)
        surprise = missed - spared
        precisions = posterior.precisions
        drawn = 0.0
        if posterior.draws:
            seen = -2 * posterior.draws / math.expm1(-2 * state.draws)
            drawn = seen - float(missed.sum() + spared.sum()) - precisions.draws * state.draws
        as_first, as_second = posterior.by_player(surprise)
        return State(
            as_first - as_second - posterior.ridge * state.strengths - self._pull(),
            float(surprise.sum()) - precisions.advantage * state.advantage,
            drawn,
            posterior.by_opening(surprise) - precisions.opening * state.openings,
        )

    def _pull(self) -> Floats:
        """What draws everyone to its parent and to its children; shape (n,)."""
        posterior = self._posterior
        pull = posterior.link_weights * posterior.steps(self.state.strengths)
        lineage, players = posterior.lineage, posterior.players
        return sums(lineage.child, pull, players) - sums(lineage.parent, pull, players)

    def curvature(self) -> Curvature:
        """The negative Hessian of the value."""
        posterior, precisions = self._posterior, self._posterior.precisions
        from_wins = posterior.wins * self._win * (1 - self._win)
        from_losses = posterior.losses * self._loss * (1 - self._loss)
        weight, twist = from_wins + from_losses, from_losses - from_wins
        total, twisted = float(weight.sum()), float(twist.sum())
        drawn = total + precisions.draws
        if posterior.draws:
            drawn += posterior.draws / math.sinh(self.state.draws) ** 2
        border = [np.subtract(*posterior.by_player(column)) for column in (weight, twist)]
        by_opening = posterior.by_opening(weight)
        corner = np.diag(np.concatenate(((0.0, 0.0), by_opening + precisions.opening)))
        corner[:2, :2] = (total + precisions.advantage, twisted), (twisted, drawn)
        corner[:2, 2:] = by_opening, posterior.by_opening(twist)
        corner[2:, :2] = corner[:2, 2:].T
        return Curvature(
            strengths=self._strengths(weight),
            border=np.column_stack((*border, posterior.opening_border(weight))),
            corner=corner,
            free=posterior.free,
        )

    def _strengths(self, weight: Floats) -> Laplacian:
        """The strengths' block: an edge for each row of games and for each parent."""
        posterior, lineage = self._posterior, self._posterior.lineage
        return Laplacian(
            np.concatenate((posterior.first, lineage.child)),
            np.concatenate((posterior.second, lineage.parent)),
            np.concatenate((weight, posterior.link_weights)),
            posterior.ridge,
        )
