"""The rating table of a ladder: ratings with intervals, computed from a snapshot of its games."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from meijin.ladder.statistics import elo
from meijin.ladder.statistics.bradley_terry import Fit, Prior, fit
from meijin.ladder.statistics.covariance import (
    Z_95,
    Covariance,
    DenseCovariance,
    covariance,
    superiority_to_next,
)
from meijin.ladder.statistics.pair_counts import (
    Floats,
    Integers,
    PairCounts,
    connected_components,
    sums,
)
from meijin.ladder.statistics.prior_sensitivity import PriorSensitivity
from meijin.store.ladders.rated_games import CountedPairs, Snapshot
from meijin.store.ladders.runs import Covariances, Line, NewRating, NewRun
from meijin.store.schema import BotVersionId

ALGORITHM = "rao-kupper-1"
"""The version of the algorithm; it changes whenever the same games would get other numbers."""
BASE = 1500.0
"""What the anchors' mean is shown as: classic Elo's start."""
DIGITS = 4
"""Decimals of a published number; what the fit leaves is in the sixth."""
MOST_SENSITIVITY_ROWS = 100_000
"""Of pair counts, up to which a run tells what its ratings owe to the prior: that takes 0.15 s."""
SENSITIVITY_DIGITS = 2
"""Decimals of what ratings owe to the prior."""
ESTABLISHED = 20
"""Games after which a rating is no more provisional, unless all were won or all lost."""


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The rating pool: a fit with what it means for each player; all shapes are (n,), by places in the fit."""

    fit: Fit
    scores: "ScoreColumns"
    covariance: Covariance
    is_anchor: NDArray[np.bool_]
    is_provisional: NDArray[np.bool_]
    is_linked: NDArray[np.bool_]
    """Games lead from it to the anchors, or to the largest component where there are none."""
    centre: Floats
    """The weights of the mean that is shown as `BASE`."""

    @classmethod
    def of(cls, counts: PairCounts, anchors: Sequence[int]) -> "Pool":
        """Fit a pool whose ratings are relative to `anchors`, as far as those have played.

        Without any they are relative to the mean of the established: those who are linked
        and not provisional, or to all who are linked where nobody is.
        """
        fitted = fit(counts)
        scores = ScoreColumns.of(fitted.counts, len(fitted.players))
        is_anchor = np.isin(fitted.players, np.asarray(anchors, dtype=np.int64))
        is_linked = _linked(fitted.counts, is_anchor)
        is_provisional = (scores.games < ESTABLISHED) | scores.is_one_sided
        centre = is_anchor
        if not centre.any():
            centre = is_linked & ~is_provisional
        if not centre.any():
            centre = is_linked
        return cls(
            fit=fitted,
            scores=scores,
            covariance=covariance(fitted),
            is_anchor=is_anchor,
            is_provisional=is_provisional & ~is_anchor,
            is_linked=is_linked,
            centre=centre / max(int(centre.sum()), 1),
        )

    def elo(self) -> Floats:
        """Everyone's rating as it is shown."""
        shown: Floats = BASE + self.fit.elo - self.centre @ self.fit.elo
        return shown

    def margins(self) -> Floats:
        """Half of everyone's 95 % interval, in Elo."""
        return Z_95 * np.sqrt(self.covariance.from_mean(self.centre))


def _linked(counts: PairCounts, is_anchor: NDArray[np.bool_]) -> NDArray[np.bool_]:
    components = connected_components(counts.first, counts.second, len(is_anchor))
    is_linked: NDArray[np.bool_] = components == np.bincount(components, minlength=1).argmax()
    if is_anchor.any():
        is_linked = np.isin(components, components[is_anchor])
    return is_linked


@dataclass(frozen=True, slots=True, eq=False)
class ScoreColumns:
    """The score of each player: wins, draws and losses by colour; shapes (n,)."""

    wins_as_black: Integers
    draws_as_black: Integers
    losses_as_black: Integers
    wins_as_white: Integers
    draws_as_white: Integers
    losses_as_white: Integers

    @classmethod
    def of(cls, counts: PairCounts, players: int) -> "ScoreColumns":
        """Add up the rows of each of the players 0, 1, ..."""
        columns = (
            (counts.first, counts.wins),
            (counts.first, counts.draws),
            (counts.first, counts.losses),
            (counts.second, counts.losses),
            (counts.second, counts.draws),
            (counts.second, counts.wins),
        )
        return cls(*(sums(side, count, players).astype(np.int64) for side, count in columns))

    @property
    def games(self) -> Integers:
        """How many games everyone has."""
        games: Integers = np.sum([getattr(self, field.name) for field in fields(self)], axis=0)
        return games

    @property
    def is_one_sided(self) -> NDArray[np.bool_]:
        """Who has won all games, or lost all."""
        wins = self.wins_as_black + self.wins_as_white
        losses = self.losses_as_black + self.losses_as_white
        is_one_sided: NDArray[np.bool_] = (wins == self.games) | (losses == self.games)
        return is_one_sided


def columns(pairs: CountedPairs) -> PairCounts:
    """Counted games as arrays."""
    first, second, *results = np.array(pairs.numbers, dtype=np.int64).reshape(-1, 5).T
    wins, draws, losses = (column.astype(np.float64) for column in results)
    return PairCounts(
        np.ascontiguousarray(first), np.ascontiguousarray(second), wins, draws, losses
    )


def rate(snapshot: Snapshot, create_time: datetime) -> NewRun:
    """The rating run of a snapshot: nothing else goes into it but the time it is stamped with."""
    pool = Pool.of(columns(snapshot.pair_counts), snapshot.anchors)
    outcomes, prior = pool.fit.outcomes, Prior()
    return NewRun(
        ladder_id=snapshot.ladder_id,
        revision=snapshot.revision,
        voided=snapshot.voided,
        cutoff=snapshot.cutoff,
        games=snapshot.games,
        repeats=snapshot.repeats,
        checksum=snapshot.checksum,
        algorithm=ALGORITHM,
        parameters={
            "advantage": round(outcomes.advantage, DIGITS),
            "draws": round(outcomes.draws, DIGITS),
            "log_likelihood": round(pool.fit.log_likelihood, DIGITS),
            "base": BASE,
            "prior": prior.strength,
            "established": ESTABLISHED,
            "anchors": list(snapshot.anchors),
            "prior_sensitivity": _prior_sensitivity(pool),
        },
        create_time=create_time,
        ratings=_ratings(snapshot, pool),
        covariances=_covariances(pool),
    )


def _prior_sensitivity(pool: Pool) -> dict[str, float] | None:
    """What the ratings owe to the prior; ``None`` where fitting them again takes too long."""
    counts = pool.fit.counts
    if pool.fit.information.is_large or len(counts.first) > MOST_SENSITIVITY_ROWS:
        return None
    told = pool.is_linked & ~pool.is_provisional
    found = PriorSensitivity.of(pool.fit, pool.centre, told)
    return {name: round(value, SENSITIVITY_DIGITS) for name, value in asdict(found).items()}


def _ratings(snapshot: Snapshot, pool: Pool) -> list[NewRating]:
    players = pool.fit.players
    shown, margins = np.round(pool.elo(), DIGITS), np.round(pool.margins(), DIGITS)
    order = np.lexsort((players, -shown))
    leads = superiority_to_next(pool.fit.elo, order, pool.covariance)
    chances = [*np.round(leads, DIGITS).tolist(), None]
    opponents = np.round(_opponents_elo(pool.fit.counts, shown), DIGITS)
    classic = elo.replay(snapshot.results)
    faults = dict(snapshot.fault_counts)
    ratings = []
    for rank, (place, chance) in enumerate(zip(order.tolist(), chances, strict=False), start=1):
        version = BotVersionId(int(players[place]))
        scores = {
            field.name: int(getattr(pool.scores, field.name)[place])
            for field in fields(pool.scores)
        }
        line = Line(
            rank=rank,
            elo=float(shown[place]),
            margin=float(margins[place]),
            superiority=chance,
            classic_elo=round(classic[version], DIGITS),
            opponents_elo=float(opponents[place]),
            **scores,
            faults=faults.get(version, 0),
            is_anchor=bool(pool.is_anchor[place]),
            is_provisional=bool(pool.is_provisional[place]),
            is_linked=bool(pool.is_linked[place]),
        )
        ratings.append(NewRating(version, line))
    return ratings


def _opponents_elo(counts: PairCounts, elo: Floats) -> Floats:
    """The mean rating of everyone's opponents over the games."""
    first, second, players = counts.first, counts.second, len(elo)
    games = counts.wins + counts.draws + counts.losses
    met = sums(first, games * elo[second], players) + sums(second, games * elo[first], players)
    mean: Floats = met / (sums(first, games, players) + sums(second, games, players))
    return mean


def _covariances(pool: Pool) -> Covariances | None:
    if not isinstance(pool.covariance, DenseCovariance):
        return None
    return Covariances(
        pool.fit.players.astype("<i8").tobytes(), pool.covariance.matrix.astype("<f4").tobytes()
    )
