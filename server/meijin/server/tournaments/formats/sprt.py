"""A sequential test: two bots meet until it has decided between them.

A game that repeats an earlier one of the test is left out, and pairs on an opening that comes
again count for less the more alike they end: else bots that always play the same, or nearly so,
would have each opening counted as often as it is dealt. What is left out does not depend on which
of the two is called first, so that two equal bots keep equal chances.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Self

from sqlalchemy import Connection

from meijin.game import GOMOKU, Variant
from meijin.game.openings.deck import OpeningDeck
from meijin.ladder.statistics.sequential.sprt import likelihood_ratios
from meijin.server.errors import InvalidRequestError
from meijin.server.storage import Storage
from meijin.server.tournaments.formats.base import AWAY, BotIds, Capacity, Format, GamePair
from meijin.server.tournaments.formats.match_tally import MatchTally, Tallied
from meijin.server.tournaments.formats.sprt_settings import (
    LEAST_GAIN,
    STALE_PAIRS,
    SprtDecision,
    SprtSettings,
    SprtStanding,
)
from meijin.store.schema import BotId, TournamentState
from meijin.store.tournaments import NewTournament, TournamentRow
from meijin.store.tournaments.match_counts import (
    GAMES_OF_A_PAIR,
    PairingResult,
    dealt_openings,
    pairing_results,
)

MAX_AHEAD = 1024
"""The most games that are planned before they are needed."""


class SprtRun:
    """A test's results, up to the pair that decides it.

    Args:
        first: The bot that is tested.
        openings: Of each pair, in the order in which they are dealt; it may grow.
    """

    def __init__(
        self, settings: SprtSettings, first: BotId, variant: Variant, openings: Sequence[bytes]
    ) -> None:
        self._settings = settings
        self._tally = MatchTally(first, variant, openings)
        self._stale = 0
        """Pairs in a row that have added next to nothing."""
        self._last, self._llr = Tallied(), 0.0
        self._decision = SprtDecision.OPEN

    @classmethod
    def load(cls, connection: Connection, row: TournamentRow) -> Self:
        """Without any results."""
        openings = dealt_openings(connection, row.id)
        (first, _), _ = row.bots
        return cls(SprtSettings.parse(row.options), first, row.variant, openings)

    def add(
        self, results: Iterable[PairingResult], *, is_over: bool = False
    ) -> Sequence[tuple[Tallied, float]]:
        """Count results, in any order; the test with its ratio after each pair whose turn has come.

        A ratio alone takes 0.5 ms, of many each some 10 us.

        Args:
            is_over: What is missing does not come any more.
        """
        found = list(self._tally.add(results, is_over=is_over))
        if not found or self._decision is not SprtDecision.OPEN:
            return ()
        used = [self._settings.used(each.evidence) for each in found]
        ratios = likelihood_ratios(self._settings.test, used).tolist()
        seen = []
        for last in zip(found, ratios, strict=True):
            seen.append(last)
            self._judge(*last)
            if self._decision is not SprtDecision.OPEN:
                break
        return seen

    def _judge(self, tallied: Tallied, llr: float) -> None:
        self._last, self._llr = tallied, llr
        self._stale = 0 if tallied.gain >= LEAST_GAIN else self._stale + 1
        self._decision = SprtDecision(self._settings.test.decide(llr))
        if self._decision is SprtDecision.OPEN and self._stale >= STALE_PAIRS:
            self._decision = SprtDecision.NOTHING_NEW

    def standing(self, *, is_live: bool = False) -> SprtStanding:
        return self._settings.standing(self._last, self._llr, self._decision, is_live=is_live)


class SprtFormat(Format):
    """Deals the openings in an order that the seed gives, each to a pair of games.

    Args:
        bots: Ids and names; the test is the first one's.
        dealt: The opening of each pair that there is already.
        results: Of those that have ended, in any order.
    """

    MAY_END_EARLY = True
    detail: SprtStanding

    def __init__(
        self,
        settings: SprtSettings,
        bots: Sequence[tuple[BotId, str]],
        deck: OpeningDeck,
        *,
        seed: int,
        variant: Variant = GOMOKU,
        dealt: Sequence[bytes] = (),
        results: Iterable[PairingResult] = (),
    ) -> None:
        (self._first, self._name), (self._second, _) = bots
        self.candidates = (self._first, self._second)
        self._settings = settings
        self._dealt = list(dealt)
        missing = settings.most_games // GAMES_OF_A_PAIR - len(self._dealt)
        openings = deck.deal(seed, Counter(self._dealt))
        self._pairs = itertools.islice(self._deal(openings), missing)
        self._run = SprtRun(settings, self._first, variant, self._dealt)
        self._add(results)

    @classmethod
    def plan(cls, connection: Connection, asked: NewTournament, here: BotIds) -> NewTournament:
        if asked.options is None:
            raise InvalidRequestError("sprt: the format SPRT needs the test's hypotheses")
        if len(asked.bots) != 2:  # noqa: PLR2004 - one against the other
            raise InvalidRequestError(f"bots: a test is between two, not {len(asked.bots)}")
        if asked.rounds:
            raise InvalidRequestError("rounds: a test has none; sprt.most_games bounds it")
        return replace(asked, options=SprtSettings.parse(asked.options).to_options())

    @classmethod
    def load(cls, connection: Connection, row: TournamentRow) -> Self:
        return cls(
            SprtSettings.parse(row.options),
            row.bots,
            OpeningDeck.of(row.variant, row.openings),
            seed=row.seed,
            variant=row.variant,
            dealt=dealt_openings(connection, row.id),
            results=pairing_results(connection, row.id),
        )

    @classmethod
    def planned_games(cls, row: TournamentRow) -> int:
        return SprtSettings.parse(row.options).most_games

    @classmethod
    def stored_detail(cls, connection: Connection, row: TournamentRow) -> SprtStanding:
        """Where a stored test stands."""
        run = SprtRun.load(connection, row)
        is_over = row.state is not TournamentState.RUNNING
        run.add(pairing_results(connection, row.id), is_over=is_over)
        return run.standing()

    def _deal(self, openings: Iterator[bytes]) -> Iterator[GamePair]:
        """Every pair that is still to come; who begins with black alternates."""
        bots = (self._first, self._second)
        for number, opening in enumerate(openings, len(self._dealt)):
            self._dealt.append(opening)
            yield GamePair(bots[number % 2], bots[1 - number % 2], opening, "the test is undecided")

    def game_ended(self, result: PairingResult) -> None:
        """Count a game, and what it says unless the test was decided already."""
        if not self.verdict:
            self._add([result])

    def _add(self, results: Iterable[PairingResult]) -> None:
        """Count results, and see whether the test is decided or its games are used up."""
        self._run.add(results)
        self.detail = self._run.standing(is_live=True)
        self.verdict = self._settings.verdict(self.detail, self._name)

    async def next_pairs(self, capacity: Capacity, storage: Storage) -> Sequence[GamePair]:
        """As many that both bots have their next game planned when one ends.

        One pair waits while a bot is away, so that it can be told who is waited for.
        """
        seats = [capacity.seats.get(bot, AWAY) for bot in (self._first, self._second)]
        ahead = min(MAX_AHEAD, max(1, min(seat.altogether for seat in seats)))
        missing = max(0, ahead - capacity.waiting)
        return list(itertools.islice(self._pairs, (missing + 1) // 2))
