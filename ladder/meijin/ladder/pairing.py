"""Pairing on a ladder: who is to meet whom, by its newest run and by what has happened since."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from meijin.game import Color
from meijin.ladder.pool import BASE
from meijin.ladder.posterior import RatingPosterior
from meijin.ladder.statistics.fit.bradley_terry import Outcomes
from meijin.ladder.statistics.fit.covariance import Covariance
from meijin.ladder.statistics.fit.pair_counts import Integers, Mask, connected_components
from meijin.ladder.statistics.pairing.matchmaking import Matchmaker, Pick
from meijin.ladder.statistics.pairing.online_posterior import OnlinePosterior
from meijin.ladder.statistics.pairing.stopping_rule import OrderConfidence, StoppingRule
from meijin.ladder.tally import versions_of
from meijin.store.ladders.planning import BotPair, LadderState
from meijin.store.schema import BotId, BotVersionId
from meijin.store.tournaments.match_counts import GAMES_OF_A_PAIR, PairingResult

_NOBODY = BotId(0)


class PairingTable:
    """What a run of the ladder and the games since say of some bots."""

    def __init__(
        self,
        state: LadderState,
        bots: Sequence[BotId],
        *,
        picks: int,
        unplayed: Counter[BotPair],
        played_out: Collection[BotPair],
        rule: StoppingRule | None,
        games_left: float = math.inf,
    ) -> None:
        """Take in what the store holds.

        Args:
            bots: To be paired.
            picks: How many pairs were planned before.
            unplayed: Of each two, the planned games without a result.
            played_out: Those who are not to meet any more.
            rule: What is to be sure in the end; ``None`` where it has no end.
            games_left: How many games more may be planned.
        """
        known = {row.version_id: place for place, row in enumerate(state.table.standings)}
        versions = state.versions
        rated = _nearest_rated(state, known)
        # Those that the run knows, or whose ancestors it knows, come first, as in the posterior.
        self._bots = sorted(bots, key=lambda bot: bot not in rated)
        self._number = {bot: number for number, bot in enumerate(self._bots)}
        self._rating_posterior: RatingPosterior | None = None
        places = [rated[bot] for bot in self._bots if bot in rated]
        self._places, self._steps = np.array(places, dtype=np.int64).reshape(-1, 2).T
        if state.table.run is not None:
            self._rating_posterior = RatingPosterior.of(state.table, state.covariances)
        self._components = _components(state, [versions.get(bot, -bot) for bot in self._bots])
        posterior = self._posterior().extended(len(self._bots) - len(places))
        self._matchmaker = Matchmaker(
            posterior, self._components, picks=picks, rule=rule, games_left=games_left
        )
        self._closed = self._pairs_of(played_out)
        self.order = None if rule is None else self._judge(rule)
        """How sure the run is of what the rule asks for; ``None`` where it can't say."""
        self.is_settled = rule is not None and rule.is_met(self.order)
        """Whether that is sure enough."""
        self._catch_up(state, unplayed)

    @property
    def size(self) -> int:
        return len(self._bots)

    def has(self, bots: AbstractSet[BotId]) -> bool:
        """Whether it knows these bots; it may know others, which are away."""
        return self._number.keys() >= bots

    @property
    def is_closed(self) -> bool:
        """Whether nobody may meet anybody."""
        return bool(self._closed.all())

    def _judge(self, rule: StoppingRule) -> OrderConfidence | None:
        """By the run alone, once it knows all bots and games lead from each to each."""
        is_whole = len(self._places) == len(self._bots) and not self._steps.any()
        is_linked = len(set(self._components.tolist())) == 1
        if self._rating_posterior is None or not is_whole or not is_linked:
            return None
        matrix = self._rating_posterior.covariance.matrix[np.ix_(self._places, self._places)]
        elo = self._rating_posterior.elo[self._places]
        return rule.judge(elo, Covariance(matrix))

    @property
    def weakest(self) -> tuple[BotId, BotId] | None:
        """The two bots whose order is least sure, the one ahead first."""
        if self.order is None:
            return None
        return self._bots[self.order.ahead], self._bots[self.order.behind]

    def plan(
        self,
        *,
        free: Mapping[BotId, int],
        playing: Collection[BotId],
        ended: Sequence[PairingResult],
        most: int,
    ) -> list[tuple[BotId, BotId, Pick]]:
        """Pairs for the free bots, after results have been taken in; the most instructive first.

        Args:
            free: How many games more each bot that is here takes.
            playing: Who is in a game of this ladder, and will be free after it.
            ended: Results since the last call.
            most: The most pairs.
        """
        for result in ended:
            self._observe(result)
        left = np.array([free.get(bot, 0) for bot in self._bots], dtype=np.int64)
        soon = (left > 0) | np.array([bot in playing for bot in self._bots], dtype=np.bool_)
        picks = []
        for _ in range(most):
            pick = self._matchmaker.pick(self._may_meet(left > 0, soon))
            if pick is None:
                break
            picks.append((self._bots[pick.one], self._bots[pick.other], pick))
            left[[pick.one, pick.other]] -= GAMES_OF_A_PAIR
        return picks

    def _may_meet(self, free: Mask, soon: Mask) -> Mask:
        """Who may be paired now.

        While there are several components among those who are free, or will be after a game of this
        ladder, nobody is paired within one: two who are always free together would never
        meet others.
        """
        may_meet: Mask = free[:, None] & free & ~self._closed
        components = self._matchmaker.components
        if len(np.unique(components[soon])) > 1:
            may_meet &= components[:, None] != components
        return may_meet

    def _posterior(self) -> OnlinePosterior:
        if self._rating_posterior is None:
            nothing = Outcomes(0.0, 0.0)
            return OnlinePosterior(np.empty(0), np.empty((0, 0)), nothing, prior_mean=BASE)
        return self._rating_posterior.online(self._places, self._steps)

    def _observe(self, result: PairingResult) -> None:
        black, white = self._number.get(result.black_id), self._number.get(result.white_id)
        if black is not None and white is not None:
            points = result.result.points(Color.BLACK)
            self._matchmaker.posterior.observe(black, white, points)

    def _catch_up(self, state: LadderState, unplayed: Counter[BotPair]) -> None:
        """Take in the games since the run, and those that are to come."""
        bot_of = {version: bot for bot, version in state.versions.items()}
        for black, white, points in state.results:
            one, other = (self._number.get(bot_of.get(each, _NOBODY)) for each in (black, white))
            if one is not None and other is not None:
                self._matchmaker.posterior.observe(one, other, points)
        for (one, other), games in unplayed.items():
            if games > 0 and one in self._number and other in self._number:
                self._matchmaker.expect(self._number[one], self._number[other], games)

    def _pairs_of(self, pairs: Iterable[BotPair]) -> Mask:
        """Who may not meet: nobody meets itself, nor those played out with it."""
        closed = np.eye(len(self._bots), dtype=bool)
        for one, other in pairs:
            if one in self._number and other in self._number:
                places = self._number[one], self._number[other]
                closed[places] = closed[places[::-1]] = True
        return closed


def _nearest_rated(
    state: LadderState, known: Mapping[BotVersionId, int]
) -> dict[BotId, tuple[int, int]]:
    """Where the run has each bot's newest version, or else its nearest ancestor.

    Args:
        known: The places of the run's versions.

    Returns:
        The place, and how many versions the newest is further; nothing for bots without either.
    """
    parents = dict(state.parents)
    rated = {}
    for bot, newest in state.versions.items():
        version: BotVersionId | None = newest
        steps = 0
        while version is not None and version not in known:
            version, steps = parents.get(version), steps + 1
        if version is not None:
            rated[bot] = known[version], steps
    return rated


def _components(state: LadderState, versions: Sequence[int]) -> Integers:
    """The connected component of each version on the whole ladder; those without a game are alone.

    It takes in the run's games, and those since that the state has.
    """
    known = [(key, each.component) for key, each in versions_of(state.states).items()]
    links = np.array([*known, *(game[:2] for game in state.results)], dtype=np.int64).reshape(-1, 2)
    players = np.unique(np.concatenate((links.ravel(), np.asarray(versions, dtype=np.int64))))
    first, second = np.searchsorted(players, links).T
    components = connected_components(first, second, len(players))
    return components[np.searchsorted(players, versions)]
