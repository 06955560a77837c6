"""Clusters of games that may hang together: a fit's residuals by opening, and by pair."""

from dataclasses import dataclass

import numpy as np

from meijin.ladder.statistics.bradley_terry import Fit
from meijin.ladder.statistics.opening_effects import effect_of_rows
from meijin.ladder.statistics.pair_counts import Floats, Integers, sums


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The games of two players that began alike: same colours, same opening; shapes (k,).

    Where openings are unknown, a cluster is all that two have played with the same colours. The
    score of a game is the derivative of its log-likelihood by how much the one is the stronger: 0
    on average, with the game's information as its variance. All is in nats.
    """

    pair: Integers
    """The place in the pairs."""
    games: Floats
    information: Floats
    """Expected of all games of the cluster: that of the results there were would tell of them."""
    score: Floats
    """The sum of the games' scores, from the side of the pair's first."""
    single: Floats
    """The sum of the squares of the games' scores: what the square of `score` would be if no two
    games had anything in common."""

    @property
    def most_alike(self) -> Floats:
        """What the variance of each score is greater by if all games of a cluster are the same."""
        extra: Floats = self.information * (self.games - 1)
        return extra

    @property
    def squares(self) -> Floats:
        """The sum of the squares of each game's information."""
        squares: Floats = self.information**2 / self.games
        return squares


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredPairs:
    """Each two who have met, whoever moved first; shapes (p,)."""

    clusters: Clusters
    first: Integers
    """Places in the fit; `first` < `second`."""
    second: Integers
    information: Floats
    """Expected of all games of the pair."""
    score: Floats
    """The sum of the games' scores, from the side of `first`."""
    single: Floats
    """The sum of the squares of the games' scores."""
    most_alike: Floats
    """What the variance of the pair's score is greater by if each cluster repeats one game."""
    squares: Floats
    """The sum of the squares of each game's information."""

    @property
    def shared(self) -> Floats:
        """What the variance of each score is greater by for an effect of variance 1 on all games.

        The sum of the products of two different games' information, in either order: an only game
        scatters no more for it.
        """
        shared: Floats = self.information**2 - self.squares
        return shared

    def sums(self, column: Floats) -> Floats:
        """The sums of a column of the clusters by pair."""
        return sums(self.clusters.pair, column, len(self.first))


def clustered_pairs(fit: Fit) -> ClusteredPairs:
    """The games of a fit by cluster and by pair, those with two who have met."""
    counts = fit.counts
    games = counts.wins + counts.draws + counts.losses
    played = games > 0
    first, second, games = counts.first[played], counts.second[played], games[played]
    wins, draws, losses = (column[played] for column in (counts.wins, counts.draws, counts.losses))
    effects = effect_of_rows(counts, fit.openings, fit.opening_elo)[played]
    difference = fit.elo[first] - fit.elo[second] + effects
    chances = fit.chances(first, second)
    win, loss = chances.wins(difference), chances.losses(difference)
    # A draw is a win and a loss at once.
    score = wins * (1 - win) + draws * (loss - win) - losses * (1 - loss)
    single = wins * (1 - win) ** 2 + draws * (loss - win) ** 2 + losses * (1 - loss) ** 2
    ends = np.sort((first, second), axis=0)
    keys, pair = np.unique(ends[0] * len(fit.players) + ends[1], return_inverse=True)
    clusters = Clusters(
        pair=pair,
        games=games,
        information=games * (1 - win) * (1 - loss) * (win + loss),
        score=np.where(first < second, score, -score),
        single=single,
    )
    return _by_pair(clusters, *np.divmod(keys, max(len(fit.players), 1)))


def _by_pair(clusters: Clusters, first: Integers, second: Integers) -> ClusteredPairs:
    def total(column: Floats) -> Floats:
        return sums(clusters.pair, column, len(first))

    information = total(clusters.information)
    return ClusteredPairs(
        clusters=clusters,
        first=first,
        second=second,
        information=information,
        score=total(clusters.score),
        single=total(clusters.single),
        most_alike=total(clusters.most_alike),
        squares=total(clusters.squares),
    )
