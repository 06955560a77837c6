"""The log-likelihood of games and the log-posterior, with their first two derivatives."""

import math
from dataclasses import dataclass

import numpy as np

from meijin.ladder.statistics.laplacian import Laplacian, solve_bordered
from meijin.ladder.statistics.pair_counts import Floats, Integers, PairCounts, sums


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Values of all parameters, or a step of them, in nats."""

    strengths: Floats
    advantage: float
    draws: float

    def moved(self, step: "State", share: float) -> "State":
        """The state a share of a step further."""
        return State(
            self.strengths + share * step.strengths,
            self.advantage + share * step.advantage,
            self.draws + share * step.draws,
        )

    def dot(self, other: "State") -> float:
        """The scalar product."""
        common = float(self.strengths @ other.strengths)
        return common + self.advantage * other.advantage + self.draws * other.draws


@dataclass(frozen=True, slots=True, eq=False)
class Curvature:
    """The negative Hessian: a block of the strengths and a border of the others."""

    strengths: Laplacian
    border: Floats
    """Of each strength with advantage and draws; shape (n, 2)."""
    corner: Floats
    """Of these two; shape (2, 2)."""
    free: Integers
    """Which of these two are to be found."""

    def solve(self, gradient: State) -> State:
        """Newton's step.

        Raises:
            NoSolutionError: the curvature is 0 along some way.
        """
        border, corner = self._of_free()
        rest = np.array((gradient.advantage, gradient.draws))[self.free]
        strengths, found = solve_bordered(self.strengths, border, corner, gradient.strengths, rest)
        others = np.zeros(2)
        others[self.free] = found
        return State(strengths, float(others[0]), float(others[1]))

    def marginal(self) -> Laplacian:
        """The marginal information on the strengths, when the others are unknown."""
        return self.strengths.with_border(*self._of_free())

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
    precisions: tuple[float, float, float]
    """One over the variance of the prior of strengths, advantage and draws, in nats."""
    free: Integers
    """Of the advantage (0) and the draws (1), which are to be found; the others are held at 0."""

    @classmethod
    def of(
        cls,
        counts: PairCounts,
        players: int,
        precisions: tuple[float, float, float],
        *,
        has_advantage: bool,
    ) -> "LogPosterior":
        """By games of the players 0, 1, ..."""
        draws = float(counts.draws.sum())
        return cls(
            players=players,
            first=counts.first,
            second=counts.second,
            wins=counts.wins + counts.draws,
            losses=counts.losses + counts.draws,
            draws=draws,
            precisions=precisions,
            free=np.flatnonzero((has_advantage, draws > 0)),
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
        return State(odds - odds.mean() if self.players else odds, 0.0, likely)

    def odds(self, state: State) -> Floats:
        """The first player's log-odds in each row, before draws."""
        odds: Floats = state.strengths[self.first] - state.strengths[self.second]
        odds += state.advantage
        return odds

    def max_change(self, step: State) -> float:
        """The largest change of a log-odds by a step."""
        return float(np.abs(self.odds(step)).max(initial=0.0)) + abs(step.draws)

    def by_player(self, column: Floats) -> tuple[Floats, Floats]:
        """The sums of a column over each player's rows, with the first and the second move."""
        return sums(self.first, column, self.players), sums(self.second, column, self.players)


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
        squares = (float(state.strengths @ state.strengths), state.advantage**2, state.draws**2)
        penalties = zip(posterior.precisions, squares, strict=True)
        self.value = self.log_likelihood - sum(weight * square for weight, square in penalties) / 2
        """The log-posterior in nats, up to a constant."""

    def gradient(self) -> State:
        """The gradient of the value."""
        posterior, state = self._posterior, self.state
        missed, spared = posterior.wins * (1 - self._win), posterior.losses * (1 - self._loss)
        surprise = missed - spared
        strength, advantage, draws = posterior.precisions
        drawn = 0.0
        if posterior.draws:
            seen = -2 * posterior.draws / math.expm1(-2 * state.draws)
            drawn = seen - float(missed.sum() + spared.sum()) - draws * state.draws
        as_first, as_second = posterior.by_player(surprise)
        return State(
            as_first - as_second - strength * state.strengths,
            float(surprise.sum()) - advantage * state.advantage,
            drawn,
        )

    def curvature(self) -> Curvature:
        """The negative Hessian of the value."""
        posterior = self._posterior
        from_wins = posterior.wins * self._win * (1 - self._win)
        from_losses = posterior.losses * self._loss * (1 - self._loss)
        weight, twist = from_wins + from_losses, from_losses - from_wins
        strength, advantage, draws = posterior.precisions
        total, twisted = float(weight.sum()), float(twist.sum())
        drawn = total + draws
        if posterior.draws:
            drawn += posterior.draws / math.sinh(self.state.draws) ** 2
        border = [np.subtract(*posterior.by_player(column)) for column in (weight, twist)]
        return Curvature(
            strengths=Laplacian(
                posterior.first, posterior.second, weight, np.full(posterior.players, strength)
            ),
            border=np.column_stack(border),
            corner=np.array(((total + advantage, twisted), (twisted, drawn))),
            free=posterior.free,
        )
