"""The rating table of a ladder: ratings with intervals, computed from a snapshot of its games."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date, datetime

import numpy as np
from numpy.typing import NDArray

from meijin.ladder.centre import ACTIVE_DAYS, centre, is_active
from meijin.ladder.diagnose import RunDiagnosis, by_blocks
from meijin.ladder.statistics.diagnosis.diagnosis import Diagnosis
from meijin.ladder.statistics.fit.bradley_terry import Fit, Outcomes
from meijin.ladder.statistics.fit.covariance import (
    Z_95,
    Covariance,
    DenseCovariance,
    superiority_to_next,
)
from meijin.ladder.statistics.fit.empirical_bayes import PriorSensitivity, fit_with_widths
from meijin.ladder.statistics.fit.lineage import Lineage
from meijin.ladder.statistics.fit.pair_counts import (
    Floats,
    Integers,
    PairCounts,
    connected_components,
    sums,
)
from meijin.ladder.statistics.intervals.overdispersion import Overdispersion
from meijin.ladder.statistics.intervals.random_walk import STILL, RandomWalk
from meijin.ladder.statistics.intervals.robust import robust_covariance
from meijin.ladder.tally import Snapshot
from meijin.store.ladders.runs import Covariances, Line, NewRating, NewRun
from meijin.store.schema import BotVersionId

ALGORITHM = "rao-kupper-2"
"""The version of the algorithm; it changes whenever the same games would get other numbers."""
BASE = 1500.0
"""What the anchors' mean is shown as: classic Elo's start."""
DIGITS = 4
"""Decimals of a published number; what the fit leaves is in the sixth."""
MOST_SENSITIVITY_PAIRS = 100_000
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
    """The robust one."""
    model_covariance: Covariance
    """By the model alone."""
    overdispersion: Overdispersion
    walk: RandomWalk
    """Of all strengths."""
    factor: float
    """How many times as wide intervals are as if every game were independent."""
    is_anchor: NDArray[np.bool_]
    is_provisional: NDArray[np.bool_]
    is_linked: NDArray[np.bool_]
    """Games lead from it to the anchors, or to the largest component where there are none.

    A parent's games do not: without its own a version's rating is the prior's.
    """
    centre: Floats
    """The weights of the mean that is shown as `BASE`."""

    @classmethod
    def of(
        cls,
        counts: PairCounts,
        anchors: Sequence[int],
        *,
        parents: Mapping[int, int] | None = None,
        last_days: Mapping[int, date] | None = None,
        recent: PairCounts | None = None,
    ) -> "Pool":
        """Fit a pool whose ratings are relative to `anchors`, as far as those have played.

        Without any they are relative to the mean of the established and active: see `centre`.

        Args:
            parents: What versions came from, whether those have games here or not.
            last_days: The day of everyone's last rated game; without it all are active.
            recent: The newest games by pair and time, the times where openings stand; without
                them strengths are taken to stay as they are.
        """
        fitted = fit_with_widths(counts, Lineage.nearest(parents or {}, counts.players))
        walk = STILL if recent is None else _walk(fitted, recent)
        robust = robust_covariance(fitted, walk)
        scores = ScoreColumns.of(fitted.counts, len(fitted.players))
        is_anchor = np.isin(fitted.players, np.asarray(anchors, dtype=np.int64))
        is_linked = _linked(fitted.counts, is_anchor)
        is_provisional = (scores.games < ESTABLISHED) | scores.is_one_sided
        weighs = is_anchor
        if not weighs.any():
            weighs = centre(
                fitted.lineage,
                linked=is_linked,
                established=~is_provisional,
                active=is_active(fitted.players, last_days),
            )
        return cls(
            fit=fitted,
            scores=scores,
            covariance=robust.covariance,
            model_covariance=robust.model,
            overdispersion=robust.overdispersion,
            walk=walk,
            factor=robust.factor,
            is_anchor=is_anchor,
            is_provisional=is_provisional & ~is_anchor,
            is_linked=is_linked,
            centre=weighs / max(int(weighs.sum()), 1),
        )

    def elo(self) -> Floats:
        """Everyone's rating as it is shown."""
        return self.fit.elo + self._shift

    @property
    def prior_mean(self) -> float:
        """What a version without parent and games would be rated, on the scale shown."""
        return self.fit.level + self._shift

    @property
    def outcomes(self) -> Outcomes:
        """How games between any two ratings end, on the scale shown."""
        return self.fit.outcomes.shifted(self._shift)

    @property
    def _shift(self) -> float:
        return BASE - float(self.centre @ self.fit.elo)

    def margins(self) -> Floats:
        """Half of everyone's 95 % interval, in Elo."""
        return Z_95 * np.sqrt(self.covariance.from_mean(self.centre))


def _walk(fitted: Fit, recent: PairCounts) -> RandomWalk:
    """That of all games, or where older ones are not told, one that the newest surely show."""
    assert recent.openings is not None
    walk = RandomWalk.of(fitted, recent, recent.openings)
    return walk if walk.is_sure or recent.games == fitted.counts.games else STILL


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


def rate(snapshot: Snapshot, create_time: datetime) -> NewRun:
    """The rating run of a snapshot: nothing else goes into it but the time it is stamped with."""
    recent = by_blocks(snapshot.recent)
    pool = Pool.of(
        snapshot.counts,
        snapshot.anchors,
        parents=dict[int, int](snapshot.parents),
        last_days=snapshot.last_days,
        recent=recent,
    )
    outcomes, prior = pool.outcomes, pool.fit.prior
    diagnosis = _diagnosis(recent, pool)
    found = RunDiagnosis.of(diagnosis, pool.fit)
    return NewRun(
        ladder_id=snapshot.ladder_id,
        revision=snapshot.revision,
        voided=snapshot.voided,
        sequenced=snapshot.sequenced,
        cutoff=snapshot.cutoff,
        games=snapshot.games,
        repeats=snapshot.repeats,
        checksum=snapshot.checksum,
        algorithm=ALGORITHM,
        parameters={
            "advantage": round(outcomes.advantage, DIGITS),
            "draws": round(outcomes.draws, DIGITS),
            "draw_slope": round(outcomes.draw_slope, DIGITS),
            "draw_level": round(outcomes.level, DIGITS),
            "correlation": round(pool.overdispersion.correlation, DIGITS),
            "pair_deviation": round(pool.overdispersion.pair_deviation, DIGITS),
            "walk": round(pool.walk.step, DIGITS),
            "factor": round(pool.factor, DIGITS),
            "log_likelihood": round(pool.fit.log_likelihood, DIGITS),
            "base": BASE,
            "prior": prior.strength,
            "prior_mean": round(pool.prior_mean, DIGITS),
            "lineage": prior.lineage,
            "openings": prior.opening,
            "established": ESTABLISHED,
            "active_days": ACTIVE_DAYS,
            "anchors": list(snapshot.anchors),
            "diagnosis": found.summary,
            "prior_sensitivity": _prior_sensitivity(pool),
        },
        create_time=create_time,
        ratings=_ratings(snapshot, pool, diagnosis),
        covariances=_covariances(pool),
        diagnosis=found.to_json(),
    )


def _prior_sensitivity(pool: Pool) -> dict[str, float] | None:
    """What the ratings owe to the prior; ``None`` where fitting them again takes too long."""
    pairs = len(pool.fit.games.pairs.first)
    if pool.fit.information.is_large or pairs > MOST_SENSITIVITY_PAIRS:
        return None
    told = pool.is_linked & ~pool.is_provisional
    found = PriorSensitivity.of(pool.fit, pool.centre, told)
    return {name: round(value, SENSITIVITY_DIGITS) for name, value in asdict(found).items()}


def _diagnosis(recent: PairCounts, pool: Pool) -> Diagnosis:
    assert recent.openings is not None
    return Diagnosis.of(pool.fit, pool.model_covariance, recent, recent.openings)


def _ratings(snapshot: Snapshot, pool: Pool, diagnosis: Diagnosis) -> list[NewRating]:
    players = pool.fit.players
    shown, margins = np.round(pool.elo(), DIGITS), np.round(pool.margins(), DIGITS)
    order = np.lexsort((players, -shown))
    leads = superiority_to_next(pool.fit.elo, order, pool.covariance)
    chances = [*np.round(leads, DIGITS).tolist(), None]
    opponents = np.round(_opponents_elo(pool.fit.counts, shown), DIGITS)
    ratings = []
    for rank, (place, chance) in enumerate(zip(order.tolist(), chances, strict=False), start=1):
        version = BotVersionId(int(players[place]))
        state = snapshot.versions[version]
        scores = {
            field.name: int(getattr(pool.scores, field.name)[place])
            for field in fields(pool.scores)
        }
        line = Line(
            rank=rank,
            elo=float(shown[place]),
            margin=float(margins[place]),
            superiority=chance,
            classic_elo=round(state.classic_elo, DIGITS),
            opponents_elo=float(opponents[place]),
            **scores,
            faults=state.faults,
            is_anchor=bool(pool.is_anchor[place]),
            is_provisional=bool(pool.is_provisional[place]),
            is_linked=bool(pool.is_linked[place]),
            depends_on_opponents=bool(diagnosis.depends_on_opponents[place]),
            changes_over_time=bool(diagnosis.changes_over_time[place]),
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
