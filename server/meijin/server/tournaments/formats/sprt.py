"""A sequential test: two bots meet until it has decided between them.

A game that repeats an earlier one of the test is left out, and a pair of games counts when both
are new: else a bot that always plays the same would have each opening counted as often as it is
dealt. What is left out does not depend on which of the two is called first, so that two equal
bots keep equal chances.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from functools import lru_cache
from types import MappingProxyType
from typing import Self

from sqlalchemy import Connection

from meijin.game.openings.deck import OpeningDeck
from meijin.ladder.statistics.sequential.sprt import (
    Decision,
    Estimate,
    Scale,
    Sprt,
    estimate_of_match,
)
from meijin.ladder.statistics.sequential.stopped import estimate_of
from meijin.server.errors import InvalidRequestError, invalid_request
from meijin.server.storage import Storage
from meijin.server.tournaments.formats.base import (
    AWAY,
    MAX_GAMES,
    BotIds,
    Capacity,
    Format,
    GamePair,
)
from meijin.server.tournaments.formats.match_tally import MatchTally
from meijin.store.schema import BotId, TournamentState
from meijin.store.tournaments import NewTournament, TournamentRow
from meijin.store.tournaments.match_counts import (
    GAMES_OF_A_PAIR,
    MatchCounts,
    PairingResult,
    dealt_openings,
    match_counts,
    pairing_results,
)
from meijin.wire.formats import Options

MAX_AHEAD = 1024
"""The most games that are planned before they are needed."""

STALE_PAIRS = 50
"""Pairs in a row with nothing in them that counts, after which a test ends. Bots of which every
other game is new play them with a chance of 6e-7."""

DEFAULT_MOST_GAMES = 100_000
DEFAULT_RISK = 0.05

SCALE_WORDS = {Scale.NORMALISED: "nElo", Scale.LOGISTIC: "Elo"}


class Unit(Enum):
    """What the test counts."""

    PAIRS = "pairs"
    """Complete pairs of games on one opening."""
    GAMES = "games"


class SprtDecision(Enum):
    """What a test has decided, as the contract says it."""

    OPEN = Decision.UNDECIDED
    ELO0 = Decision.H0_ACCEPTED
    ELO1 = Decision.H1_ACCEPTED
    NOTHING_NEW = "nothing new"
    """Undecided, and more games would be the same as those before."""


@dataclass(frozen=True, slots=True)
class SprtStanding:
    """Where a test stands, with the fields of the contract's message."""

    wins: int
    draws: int
    losses: int
    """Games of the first bot that repeat no earlier one."""
    pairs: tuple[int, ...]
    """Complete pairs of such games by its half points, from none to four."""
    llr: float
    lower: float
    upper: float
    decision: SprtDecision
    estimate: Estimate | None
    """``None`` while all results are the same, and in a live format once it has decided."""
    repeats: int = 0
    """Games that are left out of all these, since they repeat an earlier one."""

    @property
    def played(self) -> int:
        return self.wins + self.draws + self.losses + self.repeats


@dataclass(frozen=True, slots=True)
class SprtSettings:
    """What is tested of a match's first bot against its second, and how."""

    test: Sprt
    unit: Unit = Unit.PAIRS
    most_games: int = DEFAULT_MOST_GAMES
    """Even. After these the match ends undecided."""

    @classmethod
    def parse(cls, given: Options | None) -> Self:
        """The settings that options say; those that are 0 or left out have their defaults.

        Raises:
            InvalidRequestError: a number is out of its range.
        """
        options = given or {}
        most_games = int(options.get("most_games") or DEFAULT_MOST_GAMES)
        if most_games % 2:
            raise InvalidRequestError(f"sprt.most_games {most_games} is odd; games come in pairs")
        if most_games > MAX_GAMES:
            raise InvalidRequestError(f"sprt.most_games {most_games} is above {MAX_GAMES}")
        with invalid_request("sprt"):
            test = Sprt(
                float(options.get("elo0", 0.0)),
                float(options.get("elo1", 0.0)),
                alpha=float(options.get("alpha") or DEFAULT_RISK),
                beta=float(options.get("beta") or DEFAULT_RISK),
                scale=Scale(options.get("scale", Scale.NORMALISED)),
            )
        return cls(test, Unit(options.get("unit", Unit.PAIRS)), most_games)

    def to_options(self) -> Options:
        return {
            **asdict(self.test),
            "scale": self.test.scale.value,
            "unit": self.unit.value,
            "most_games": self.most_games,
        }

    def used(self, counts: MatchCounts) -> tuple[int, ...]:
        """What the test counts of the results, from the worst to the best."""
        return counts.pairs if self.unit is Unit.PAIRS else counts.games

    def standing(
        self, counts: MatchCounts, *, is_stale: bool = False, is_live: bool = False
    ) -> SprtStanding:
        """What results say, however they came about.

        Args:
            is_stale: Nothing new comes any more.
            is_live: It is asked for on the event loop. The estimate of a decided test takes up to
                0.16 s, too long for that; whoever reads the stored test is told it.
        """
        used = self.used(counts)
        has_any = any(used)
        llr = _llr(self.test, used) if has_any else 0.0
        losses, draws, wins = counts.games
        decision = SprtDecision(self.test.decide(llr))
        estimate = None
        if decision is SprtDecision.OPEN or not is_live:
            estimate = estimate_of_match(counts.games, counts.pairs)
        if decision is not SprtDecision.OPEN and estimate and sum(map(bool, used)) > 1:
            estimate = estimate_of(self.test, used)
        if is_stale and decision is SprtDecision.OPEN:
            decision = SprtDecision.NOTHING_NEW
        return SprtStanding(
            wins=wins,
            draws=draws,
            losses=losses,
            pairs=counts.pairs,
            llr=llr,
            lower=self.test.lower,
            upper=self.test.upper,
            decision=decision,
            estimate=estimate,
            repeats=counts.repeats,
        )

    def verdict(self, standing: SprtStanding, first: str) -> str:
        """Why a match with this standing is over, in words; empty while it is not."""
        played = standing.played
        if standing.decision is SprtDecision.NOTHING_NEW:
            return (
                f"undecided: nothing new in the last {STALE_PAIRS} pairs of games; "
                f"{standing.repeats} of {played} games repeat earlier ones"
            )
        if standing.decision is SprtDecision.OPEN:
            is_used_up = played >= self.most_games
            return (
                f"undecided after {played} games, the most there were to be" if is_used_up else ""
            )
        is_better = standing.decision is SprtDecision.ELO1
        accepted, bound = ("H1", standing.upper) if is_better else ("H0", standing.lower)
        rejected = self.test.elo0 if is_better else self.test.elo1
        claim = _claim(rejected, SCALE_WORDS[self.test.scale], is_above=is_better)
        ratio = f"LLR {standing.llr:.2f} of {bound:.2f}"
        return f"{accepted} accepted: {first} is {claim} ({ratio})"


def _claim(elo: float, unit: str, *, is_above: bool) -> str:
    """What a bot is whose advantage is above this one, or below."""
    if not elo:
        return "better" if is_above else "not better"
    degree = "more than" if is_above == (elo > 0) else "not"
    return f"{degree} {abs(elo):g} {unit} {'better' if elo > 0 else 'weaker'}"


@lru_cache(maxsize=64)
def _llr(test: Sprt, counts: tuple[int, ...]) -> float:
    """A ratio takes 0.5 ms, and half of the games and all repeats leave the counts as they are."""
    return test.llr(counts)


class SprtFormat(Format):
    """Deals the openings in an order that the seed gives, each to a pair of games.

    Args:
        bots: Ids and names; the test is the first one's.
        planned: How many games there are already.
        dealt: How many pairs of these there are on each opening.
        results: Of those that have ended.
    """

    MAY_END_EARLY = True
    detail: SprtStanding

    def __init__(
        self,
        settings: SprtSettings,
        bots: Sequence[tuple[BotId, str]],
        openings: OpeningDeck,
        *,
        seed: int,
        planned: int = 0,
        dealt: Mapping[bytes, int] = MappingProxyType({}),
        results: Iterable[PairingResult] = (),
    ) -> None:
        (self._first, self._name), (self._second, _) = bots
        self.candidates = (self._first, self._second)
        self._settings = settings
        missing = (settings.most_games - planned) // GAMES_OF_A_PAIR
        self._pairs = itertools.islice(self._deal(openings.deal(seed, dealt), dealt), missing)
        self._tally = MatchTally(self._first)
        self._stale = 0
        """Pairs in a row, by their ends, with nothing in them that the test counts."""
        for result in results:
            self._add(result)
        self._judge()

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
            planned=row.planned,
            dealt=dealt_openings(connection, row.id),
            results=pairing_results(connection, row.id),
        )

    @classmethod
    def planned_games(cls, row: TournamentRow) -> int:
        return SprtSettings.parse(row.options).most_games

    @classmethod
    def stored_detail(cls, connection: Connection, row: TournamentRow) -> SprtStanding:
        """Where a stored test stands.

        One that has finished undecided, though there might have been more games, found nothing
        new.
        """
        settings = SprtSettings.parse(row.options)
        counts = match_counts(connection, row.id)
        is_stale = row.state is TournamentState.FINISHED and counts.played < settings.most_games
        return settings.standing(counts, is_stale=is_stale)

    def _deal(self, openings: Iterator[bytes], dealt: Mapping[bytes, int]) -> Iterator[GamePair]:
        """Every pair that is still to come; who begins with black alternates."""
        bots = (self._first, self._second)
        for number, opening in enumerate(openings, sum(dealt.values())):
            yield GamePair(bots[number % 2], bots[1 - number % 2], opening, "the test is undecided")

    def game_ended(self, result: PairingResult) -> None:
        """Count a game, and what it says unless the test was decided already."""
        if not self.verdict:
            self._add(result)
            self._judge()

    def _add(self, result: PairingResult) -> None:
        pair = self._tally.add(result)
        if pair is None:
            return
        new = [halves for halves in pair if halves is not None]
        needed = GAMES_OF_A_PAIR if self._settings.unit is Unit.PAIRS else 1
        self._stale = 0 if len(new) >= needed else self._stale + 1

    def _judge(self) -> None:
        """See whether the test is decided, the games are used up, or nothing new comes any more."""
        is_stale = self._stale >= STALE_PAIRS
        counts = self._tally.counts
        self.detail = self._settings.standing(counts, is_stale=is_stale, is_live=True)
        self.verdict = self._settings.verdict(self.detail, self._name)

    async def next_pairs(self, capacity: Capacity, storage: Storage) -> Sequence[GamePair]:
        """As many that both bots have their next game planned when one ends.

        One pair waits while a bot is away, so that it can be told who is waited for.
        """
        seats = [capacity.seats.get(bot, AWAY) for bot in (self._first, self._second)]
        ahead = min(MAX_AHEAD, max(1, min(seat.altogether for seat in seats)))
        missing = max(0, ahead - capacity.waiting)
        return list(itertools.islice(self._pairs, (missing + 1) // 2))
