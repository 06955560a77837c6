"""The games of two bots until a test has decided between them."""

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence

from meijin.game import Color
from meijin.server.tournaments.formats.base import AWAY, Capacity, GamePair
from meijin.server.tournaments.formats.schedule import deal
from meijin.server.tournaments.formats.sprt_plan import SprtPlan, Standing
from meijin.store.match_counts import MatchCounts, PairingResult
from meijin.store.schema import BotId

MAX_AHEAD = 1024
"""The most games that are planned before they are needed."""


class SprtSupply:
    """Deals the openings in an order that the seed gives, each to a pair of games.

    Args:
        bots: Ids and names; the test is the first one's.
        planned: How many games there are already.
        results: Of those that have ended.
    """

    def __init__(
        self,
        plan: SprtPlan,
        bots: Sequence[tuple[BotId, str]],
        openings: Sequence[bytes],
        *,
        seed: int,
        planned: int = 0,
        results: Iterable[PairingResult] = (),
    ) -> None:
        (self._first, self._name), (self._second, self._other_name) = bots
        self.plan = plan
        self._pairs = itertools.islice(
            self._deal(openings, seed), planned // 2, plan.most_games // 2
        )
        self._games = [0] * 3
        self._halves = [0] * 5
        self._open: dict[int, int] = {}
        """By pair: the half points of its one game that has ended."""
        for result in results:
            self._add(result)
        self._judge()

    def _deal(self, openings: Sequence[bytes], seed: int) -> Iterator[GamePair]:
        """Every pair there may be; who begins with black alternates."""
        bots = (self._first, self._second)
        deck = deal(openings, random.Random(seed))  # noqa: S311 - a schedule is no secret
        for number, opening in enumerate(deck):
            yield GamePair(bots[number % 2], bots[1 - number % 2], opening, "the test is undecided")

    @property
    def verdict(self) -> str:
        """Why no more games are needed; empty while they are."""
        return self._verdict

    @property
    def standing(self) -> Standing:
        """Where the test stands."""
        return self._standing

    def game_ended(self, result: PairingResult) -> None:
        """Count a game, and what it says unless the test was decided already."""
        if not self._verdict:
            self._add(result)
            self._judge()

    def _add(self, result: PairingResult) -> None:
        color = Color.BLACK if result.black_id == self._first else Color.WHITE
        halves = round(2 * result.result.points(color))
        self._games[halves] += 1
        pair = (result.number + 1) // 2
        if pair in self._open:
            self._halves[halves + self._open.pop(pair)] += 1
        else:
            self._open[pair] = halves

    def _judge(self) -> None:
        counts = MatchCounts(tuple(self._games), tuple(self._halves))
        self._standing = self.plan.standing(counts)
        self._verdict = self.plan.verdict(self._standing, self._name, self._other_name)

    async def next_pairs(self, demand: Capacity) -> Sequence[GamePair]:
        """As many that both bots have their next game planned when one ends.

        One pair waits while a bot is away, so that it can be told who is waited for.
        """
        seats = [demand.seats.get(bot, AWAY) for bot in (self._first, self._second)]
        ahead = min(MAX_AHEAD, max(1, min(seat.altogether for seat in seats)))
        missing = max(0, ahead - demand.waiting)
        return list(itertools.islice(self._pairs, (missing + 1) // 2))
