"""The rating pool of a ladder: its fit, the centre of the scale, and how sure everybody's rating is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date

import numpy as np

from meijin.ladder.statistics.diagnosis.over_time import points_over_time
from meijin.ladder.statistics.diagnosis.random_walks import walked
from meijin.ladder.statistics.diagnosis.residuals import Points
from meijin.ladder.statistics.fit.bradley_terry import Fit, Outcomes
from meijin.ladder.statistics.fit.covariance import Z_95, Covariance
from meijin.ladder.statistics.fit.empirical_bayes import fit_with_widths
from meijin.ladder.statistics.fit.lineage import Lineage
from meijin.ladder.statistics.fit.pair_counts import (
    Floats,
    Integers,
    Mask,
    PairCounts,
    connected_components,
    sums,
)
from meijin.ladder.statistics.intervals.overdispersion import Overdispersion
from meijin.ladder.statistics.intervals.robust import robust_covariance

BASE = 1500.0
"""What the anchors' mean is shown as: classic Elo's start."""
DIGITS = 4
"""Decimals of a published number; what the fit leaves is in the sixth."""
ESTABLISHED = 20
"""Games after which a rating is no more provisional, unless all were won or all lost."""
ACTIVE_DAYS = 30
"""A version is active whose last rated game was at most this many days (UTC) before the newest."""


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The rating pool: a fit with what it means for each player.

    All shapes are (n,), by places in the fit. What has the name of a field of a published line is
    that column of the table.
    """

    fit: Fit
    scores: "ScoreColumns"
    covariance: Covariance
    """The robust one."""
    model_covariance: Covariance
    """By the model alone."""
    overdispersion: Overdispersion
    over_time: Points | None
    """Everyone's points by time, as far as times are told."""
    factor: float
    """How many times as wide intervals are as if every game were independent."""
    is_anchor: Mask
    is_provisional: Mask
    is_linked: Mask
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
        over = None if recent is None else points_over_time(fitted, recent)
        robust = robust_covariance(fitted, None if over is None else walked(over))
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
            over_time=over,
            factor=robust.factor,
            is_anchor=is_anchor,
            is_provisional=is_provisional,
            is_linked=is_linked,
            centre=weighs / max(int(weighs.sum()), 1),
        )

    @property
    def elo(self) -> Floats:
        """Everyone's rating as it is shown."""
        return self.fit.elo + self.shift

    @property
    def margin(self) -> Floats:
        """Half of everyone's 95 % interval, in Elo."""
        return Z_95 * np.sqrt(self.covariance.from_mean(self.centre))

    @property
    def opponents_elo(self) -> Floats:
        """The mean of the published ratings of everyone's opponents over the games."""
        counts, shown, players = self.fit.counts, np.round(self.elo, DIGITS), len(self.fit.players)
        first, second = counts.first, counts.second
        games = counts.wins + counts.draws + counts.losses
        met = sums(first, games * shown[second], players)
        met += sums(second, games * shown[first], players)
        return met / self.fit.games_of_players

    @property
    def prior_mean(self) -> float:
        """What a version without parent and games would be rated, on the scale shown."""
        return self.fit.level + self.shift

    @property
    def outcomes(self) -> Outcomes:
        """How games between any two ratings end, on the scale shown."""
        return self.fit.outcomes.shifted(self.shift)

    @property
    def shift(self) -> float:
        """By how many Elo the ratings that are shown are above those of the fit."""
        return BASE - float(self.centre @ self.fit.elo)


def _linked(counts: PairCounts, is_anchor: Mask) -> Mask:
    components = connected_components(counts.first, counts.second, len(is_anchor))
    is_linked: Mask = components == np.bincount(components, minlength=1).argmax()
    if is_anchor.any():
        is_linked = np.isin(components, components[is_anchor])
    return is_linked


def is_active(players: Integers, last_days: Mapping[int, date] | None) -> Mask:
    """Who has played of late; everybody where nobody tells the days; shape (n,).

    Args:
        last_days: The day of everyone's last rated game.
    """
    if last_days is None or not players.size:
        return np.ones(len(players), dtype=bool)
    days = np.array([last_days[player].toordinal() for player in players.tolist()])
    active: Mask = days >= days.max() - ACTIVE_DAYS
    return active


def centre(lineage: Lineage, *, linked: Mask, established: Mask, active: Mask) -> Mask:
    """Who weighs in the mean: the newest of each bot's versions that are all three; shape (n,).

    Where nobody is active too, the established do; where nobody is, all who are linked.
    """
    chosen = linked & established & active
    for fewer in (linked & established, linked):
        if chosen.any():
            break
        chosen = fewer
    return _newest(lineage, chosen)


def _newest(lineage: Lineage, chosen: Mask) -> Mask:
    """The last of the chosen versions of each bot, which its first version stands for."""
    founders = lineage.founders(len(chosen))
    last = np.full(len(chosen), -1)
    np.maximum.at(last, founders[chosen], np.flatnonzero(chosen))
    return np.isin(np.arange(len(chosen)), last)


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
        games: Integers = sum(getattr(self, field.name) for field in fields(self))
        return games

    @property
    def is_one_sided(self) -> Mask:
        wins = self.wins_as_black + self.wins_as_white
        losses = self.losses_as_black + self.losses_as_white
        is_one_sided: Mask = (wins == self.games) | (losses == self.games)
        return is_one_sided
