"""Matchmaking by optimal design: the pairings that reduce the ratings' variance most."""

from dataclasses import dataclass
from enum import Enum

import numpy as np

from meijin.ladder.statistics.fit.covariance import superiority
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, Mask
from meijin.ladder.statistics.pairing.online_posterior import OnlinePosterior
from meijin.ladder.statistics.pairing.stopping import StoppingRule

NEIGHBOURS = 32
"""Those who may meet are looked at in pairs at most so many ranks apart: the rest inform less."""


class Criterion(Enum):
    """The criterion that a pairing is chosen by; the value says it to people."""

    LINK = "no games lead from one to the other"
    VARIANCE = "all ratings together become surest"
    """The sum of the variances falls most (A-optimal design)."""
    ORDER = "who of the two is stronger is most in doubt"
    """The chance that the order is wrong, times the share of the doubt that a game takes away."""


ALTERNATION = (Criterion.VARIANCE, Criterion.ORDER)
"""Taken alternately: the order alone would leave the scale unknown, and needs fewest games."""
TO_AN_END = (Criterion.VARIANCE, Criterion.ORDER, Criterion.ORDER, Criterion.ORDER)
"""Taken in turn where a stopping rule is to be met: it asks for the order alone."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A pairing: two players to meet, and why."""

    one: int
    """By its number in the posterior."""
    other: int
    criterion: Criterion
    difference: float
    """By how many Elo `one` was thought the stronger."""
    deviation: float
    """Of that difference's error, in Elo."""

    @property
    def reason(self) -> str:
        """Why, in words and numbers."""
        return f"{self.criterion.value} ({self.difference:+.0f} Elo, error {self.deviation:.0f})"


class Matchmaker:
    """A matchmaker: says who should meet next, pair by pair.

    Players between whom no games lead are linked first. Then one pick lowers the variance of
    all ratings and the next settles an order, in turn. Where a stopping rule is to be met,
    three of four settle what it asks for. A pick counts as played at once, so that many of
    them at one time spread. There is neither time nor chance in it: the same calls lead to
    the same picks.

    Made anew from every run of the ladder, it has to be told of the games that still run, by
    `expect`; results between two runs go to its `posterior`.
    """

    def __init__(
        self,
        posterior: OnlinePosterior,
        components: Integers,
        *,
        picks: int = 0,
        games: int = 2,
        rule: StoppingRule | None = None,
    ) -> None:
        """Begin with what is known.

        Args:
            posterior: Changed by the picks.
            components: Everyone's, as `pair_counts.connected_components` gives them; shape (n,).
            picks: How many there have been before: whose turn it is.
            games: How many a pick is for, played with either colour in turn.
            rule: What is to be sure in the end.
        """
        self.posterior = posterior
        self._components = np.array(components, dtype=np.int64)
        self._picks = picks
        self._games = games
        self._rule = rule

    @property
    def components(self) -> Integers:
        """Everyone's connected component, with expected games taken as played; shape (n,)."""
        return self._components

    def expect(self, one: int, other: int, games: int) -> None:
        """Take it that two are about to play: that links them."""
        self.posterior.expect(one, other, games)
        low, high = sorted((self._components[one], self._components[other]))
        self._components[self._components == high] = low

    def pick(self, may_meet: Mask) -> Pick | None:
        """The next pair; ``None`` when nobody may meet anybody.

        Args:
            may_meet: Who may meet whom now, symmetric and false on its diagonal; shape (n, n).
        """
        if not may_meet.any():
            return None
        apart: Mask = may_meet & (self._components != self._components.reshape(-1, 1))
        if apart.any():
            pick = self._best(Criterion.LINK, apart)
        else:
            turns = ALTERNATION if self._rule is None else TO_AN_END
            pick = self._best(turns[self._picks % len(turns)], may_meet)
        self.expect(pick.one, pick.other, self._games)
        self._picks += 1
        return pick

    def _best(self, criterion: Criterion, open_pairs: Mask) -> Pick:
        one, other = self._near(open_pairs)
        if criterion is Criterion.ORDER:
            worth = self._doubts(one, other)
            if not worth.any():  # the rule asks for nothing of those who are free
                return self._best(Criterion.VARIANCE, open_pairs)
        else:
            worth = self.posterior.trace_reductions(one, other)
        best = np.argmax(worth, keepdims=True)
        one, other = one[best], other[best]
        difference = self.posterior.elo[one] - self.posterior.elo[other]
        deviation = np.sqrt(self.posterior.variances(one, other))
        return Pick(
            int(one[0]), int(other[0]), criterion, float(difference[0]), float(deviation[0])
        )

    def _near(self, open_pairs: Mask) -> tuple[Integers, Integers]:
        """The pairs of few ranks between them, where only those count who have anyone to meet."""
        ranked = np.argsort(-self.posterior.elo, kind="stable")
        ranked = ranked[np.count_nonzero(open_pairs, axis=0)[ranked] > 0]
        steps = range(1, min(NEIGHBOURS + 1, len(ranked)))
        one = np.concatenate([ranked[:-step] for step in steps])
        other = np.concatenate([ranked[step:] for step in steps])
        near = open_pairs[one, other]
        if near.any():
            return one[near], other[near]
        one, other = np.nonzero(np.triu(open_pairs))
        return one, other

    def _doubts(self, one: Integers, other: Integers) -> Floats:
        lead = np.abs(self.posterior.elo[one] - self.posterior.elo[other])
        variance = self.posterior.variances(one, other)
        shares = self.posterior.variance_shares(one, other)
        if self._rule is None:
            return superiority(-lead, variance) * shares
        doubts = superiority(-lead - self._rule.zone, variance)
        return np.where(self._asked(one, other), doubts, 0.0) * shares

    def _asked(self, one: Integers, other: Integers) -> Mask:
        """Of which pairs the rule wants to know who is the stronger."""
        assert self._rule is not None
        ranks = np.empty(self.posterior.size, dtype=np.int64)
        ranks[np.argsort(-self.posterior.elo, kind="stable")] = np.arange(self.posterior.size)
        asked = self._rule.asked(self.posterior.size)
        found: Mask = asked[ranks[one], ranks[other]] | asked[ranks[other], ranks[one]]
        return found
