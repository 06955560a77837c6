"""Matchmaking by optimal design: the pairings that reduce the ratings' variance most."""

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from meijin.ladder.statistics.fit.covariance import superiority
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, Mask
from meijin.ladder.statistics.pairing.budget import affordable
from meijin.ladder.statistics.pairing.online_posterior import OnlinePosterior
from meijin.ladder.statistics.pairing.stopping_rule import StoppingRule

GAMES_OF_A_PICK = 2
"""One with either colour."""
NEIGHBOURS = 32
"""Ranks between two who are looked at as a pair, at most: the rest inform less."""


WHOLE_ORDER = StoppingRule(0.95, 10.0)
"""Asked for where no rule is to be met."""
DOUBTS = 32
"""A game is chosen by what it does to so many orders, those of which their own game tells most."""


class Criterion(Enum):
    """The criterion that a pairing is chosen by; the value says it to people."""

    LINK = "no games lead from one to the other"
    VARIANCE = "all ratings together become surest"
    """The sum of the variances falls most (A-optimal design)."""
    ORDER = "the order becomes surest"
    """Of the pairs asked for, the sum of the chances that their order is wrong, each times the
    share of its variance that a game takes away."""


ALTERNATION = 2
"""Every so many picks one is by the variances: the order alone would leave the scale unknown."""
ALTERNATION_TO_AN_END = 16
"""The same where a stopping rule is to be met. Without any, ratings were 2.7 times as far off."""


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
        return f"{self.criterion.value} ({self.difference:+.0f} Elo, error {self.deviation:.0f})"


class Matchmaker:
    """A matchmaker: says who should meet next, pair by pair.

    Players between whom no games lead are linked first. Then one pick lowers the variance of
    all ratings and the next settles an order, in turn. Where a stopping rule is to be met,
    nearly all settle what it asks for: where games are bounded, what they can settle, from the
    easiest on. A pick counts as played at once, so that many of them at one time spread. There
    is neither time nor chance in it: the same calls lead to the same picks.

    Made anew from every run of the ladder, it has to be told of the games that still run, by
    `expect`; results between two runs go to its `posterior`.
    """

    def __init__(
        self,
        posterior: OnlinePosterior,
        components: Integers,
        *,
        picks: int = 0,
        rule: StoppingRule | None = None,
        games_left: float = math.inf,
    ) -> None:
        """Begin with what is known.

        Args:
            posterior: Changed by the picks.
            components: Everyone's, as `pair_counts.connected_components` gives them; shape (n,).
            picks: How many there have been before: whose turn it is.
            rule: What is to be sure in the end.
            games_left: How many games there may be until then.
        """
        self.posterior = posterior
        self._components = np.array(components, dtype=np.int64)
        self._picks = picks
        self._turns = ALTERNATION if rule is None else ALTERNATION_TO_AN_END
        self._rule = rule or WHOLE_ORDER
        self._games_left = games_left

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
        elif self._picks % self._turns == 0:
            pick = self._best(Criterion.VARIANCE, may_meet)
        else:
            pick = self._best(Criterion.ORDER, may_meet)
        self.expect(pick.one, pick.other, GAMES_OF_A_PICK)
        self._games_left -= GAMES_OF_A_PICK
        self._picks += 1
        return pick

    def _best(self, criterion: Criterion, open_pairs: Mask) -> Pick:
        one, other = self._near(open_pairs)
        if criterion is Criterion.ORDER:
            worth = self._lowered_doubts(one, other)
            if not worth.any():  # nothing is asked for
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
        ranked = self._ranked()
        ranked = ranked[np.count_nonzero(open_pairs, axis=0)[ranked] > 0]
        one, other = (ranked[ranks] for ranks in _near_ranks(len(ranked)))
        near = open_pairs[one, other]
        if near.any():
            return one[near], other[near]
        one, other = np.nonzero(np.triu(open_pairs))
        return one, other

    def _ranked(self) -> Integers:
        """All players, the best first."""
        return np.argsort(-self.posterior.elo, kind="stable")

    def _lowered_doubts(self, one: Integers, other: Integers) -> Floats:
        """What a game of each two does for the orders most in doubt; shape (k,)."""
        ahead, behind = self._asked()
        lead = self.posterior.elo[ahead] - self.posterior.elo[behind]
        variance = self.posterior.variances(ahead, behind)
        doubts = superiority(-lead - self._rule.zone, variance)
        doubts *= affordable(self.posterior, self._rule, ahead, behind, self._games_left)
        alone = doubts * self.posterior.variance_shares(ahead, behind)
        most = np.argsort(-alone, kind="stable")[:DOUBTS]
        lowered = self.posterior.variance_reductions(ahead[most], behind[most], one, other)
        worth: Floats = (doubts[most] / variance[most]) @ lowered
        return worth

    def _asked(self) -> tuple[Integers, Integers]:
        """The near pairs of which the rule wants to know who is the stronger, by who leads."""
        ahead, behind = _near_ranks(self.posterior.size)
        asked = self._rule.asks(ahead, behind)
        ranked = self._ranked()
        return ranked[ahead[asked]], ranked[behind[asked]]


def _near_ranks(ranks: int) -> tuple[Integers, Integers]:
    """Each two that are near, the better one first."""
    steps = range(1, max(min(NEIGHBOURS + 1, ranks), 2))
    ahead = np.concatenate([np.arange(ranks - step) for step in steps])
    behind = np.concatenate([np.arange(step, ranks) for step in steps])
    return ahead, behind
