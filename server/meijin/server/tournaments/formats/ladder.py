"""A continuous ladder: whoever is free meets whom the ladder learns most from.

It may settle the ladder: then its entries are closed, open tournaments leave its bots to it, and
the run that has all of its games is marked final.
"""

import asyncio
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Self

from sqlalchemy import Connection

from meijin.ladder.pairing import PairingTable
from meijin.ladder.statistics.pairing.matchmaking import Pick
from meijin.ladder.statistics.pairing.stopping import StoppingRule
from meijin.server.errors import InvalidRequestError
from meijin.server.storage import Storage
from meijin.server.tournaments.formats.base import (
    MAX_GAMES,
    Capacity,
    Format,
    GamePair,
    Plan,
    Request,
    openings_of,
)
from meijin.server.tournaments.formats.schedule import deal
from meijin.store.ladders.planning import (
    BotPair,
    LadderState,
    ladder_state,
    planned_games,
    published_run,
    rated_bots,
    unplayed_games,
)
from meijin.store.schema import BotId, LadderId, RatingRunId, TournamentId
from meijin.store.tournaments import TournamentRow, entrants
from meijin.store.tournaments.match_counts import GAMES_OF_A_PAIR, PairingResult
from meijin.wire import Options

RUN_POLL_INTERVAL = timedelta(seconds=1)
"""Between two looks for a new run of the ladder."""
MAX_PICKS = 64
"""The most pairs of games that are planned before others get a turn."""
PLAYED_OUT = 2
"""Repeated games after which two bots that have seen all openings learn nothing more."""
WIDEST_ZONE = 1000.0
"""The widest indifference zone, in Elo."""


def now() -> datetime:
    """The time of day, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class LadderSettings:
    """What ends it: certainty, a number of games, a time, or nothing."""

    confidence: float = 0.0
    """It ends when the order is right with this chance; 0 for never."""
    most_games: int = 0
    """0 for no bound."""
    within: float = 0.0
    """The indifference zone of the order, in Elo."""
    top: int = 0
    """The order is of the first so many and the rest; 0 for that of all."""
    most_seconds: int = 0
    """From its creation on; 0 for no bound."""
    final: bool = False
    """It settles the ladder."""

    @classmethod
    def parse(cls, options: Options) -> Self:
        """The settings that options say; older ones, of a confidence alone, ask for every order.

        Raises:
            InvalidRequestError: a number is out of its range, or says nothing without another.
        """
        settings = cls(
            confidence=float(options.get("confidence", 0.0)),
            most_games=int(options.get("most_games", 0)),
            within=float(options.get("within", 0.0)),
            top=int(options.get("top", 0)),
            most_seconds=int(options.get("most_seconds", 0)),
            final=bool(options.get("final", False)),
        )
        settings._check()
        return settings

    def _check(self) -> None:
        if not 0 <= self.confidence < 1:
            raise InvalidRequestError(f"ladder.confidence {self.confidence:g} is not in 0 to 1")
        if self.most_games > MAX_GAMES:
            raise InvalidRequestError(f"ladder.most_games {self.most_games} is above {MAX_GAMES}")
        if not 0 <= self.within <= WIDEST_ZONE:
            raise InvalidRequestError(
                f"ladder.within {self.within:g} is not in 0 to {WIDEST_ZONE:g}"
            )
        if not self.confidence and (self.within or self.top):
            raise InvalidRequestError("ladder.within and ladder.top need ladder.confidence")
        if self.final and not (self.confidence or self.most_games or self.most_seconds):
            raise InvalidRequestError("ladder.final: without an end there is no final run")

    @property
    def rule(self) -> StoppingRule | None:
        """What has to be sure; ``None`` where nothing has."""
        return StoppingRule(self.confidence, self.within, self.top) if self.confidence else None

    def settled(self, bots: int) -> str:
        """The verdict when certainty has ended it."""
        what = f"the first {self.top} of {bots} bots" if self.top else f"the order of {bots} bots"
        zone = f" but for differences below {self.within:g} Elo" if self.within else ""
        return f"{what} sure to {100 * self.confidence:g} %{zone}"

    def used_up(self, games: int) -> str:
        """The verdict after so many games; empty while there may be more."""
        return f"{games} games, the most there were to be" if 0 < self.most_games <= games else ""


@dataclass(frozen=True, slots=True)
class LadderStanding:
    """How sure the newest run is, with the fields of the contract's message."""

    confidence: float
    ahead: str
    behind: str
    """Of the pair that is least sure, both by their names."""
    lead: float
    deviation: float
    """Of the error of their difference, in Elo."""


NOTHING_TO_LEARN = "nothing is left to learn: whoever meets plays the same games again"
"""The verdict when nobody has new games to play."""


class LadderFormat(Format):
    """Plans by what the ladder's newest run says, and by what has happened since."""

    MAY_BE_OPEN = True
    MAY_END_EARLY = True

    def __init__(
        self,
        settings: LadderSettings,
        storage: Storage,
        ids: tuple[TournamentId, LadderId],
        bots: Sequence[BotId],
        openings: Sequence[bytes],
        *,
        seed: int,
        planned: Counter[BotPair],
        unplayed: Counter[BotPair],
        finished: int,
        create_time: datetime,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], datetime] = now,
    ) -> None:
        """Go on with a tournament.

        Args:
            ids: Of the tournament and of its ladder.
            bots: Who takes part; everyone who is there, if empty.
            planned: How many games there are already for each two.
            unplayed: How many of them have no result.
            finished: How many have one.
            create_time: Of the tournament.
            clock: Seconds; says when to look for a new run.
            wall_clock: Says when its time is over.
        """
        self._settings = settings
        self._storage = storage
        self._tournament_id, self._ladder_id = ids
        self._entrants = frozenset(bots)
        self._openings = openings
        self._seed = seed
        self._planned = planned
        self._unplayed = unplayed
        self._finished = finished
        self._decks: dict[BotPair, Iterator[bytes]] = {}
        self._clock = clock
        self._next_look = clock()
        self._run_id: RatingRunId | None = None
        self._table: PairingTable | None = None
        self._ended: list[PairingResult] = []
        self._wall_clock = wall_clock
        self._end_time: datetime | None = None
        if settings.most_seconds:
            self._end_time = create_time + timedelta(seconds=settings.most_seconds)
        self._detail: LadderStanding | None = None
        self._verdict = settings.used_up(finished)

    @classmethod
    def plan(cls, connection: Connection, request: Request) -> Plan:
        """A ladder of some bots, or of everyone who is there, without a schedule."""
        if not request.is_rated:
            raise InvalidRequestError("unrated: a ladder's games are rated")
        if request.rounds:
            raise InvalidRequestError("rounds: a ladder has none; ladder.most_games bounds it")
        settings = LadderSettings.parse(request.options or {})
        bots = request.bots
        if settings.final and not bots:
            bots = _reachable(connection, request)
        if bots and settings.top >= len(bots):
            raise InvalidRequestError(f"ladder.top {settings.top} is not below {len(bots)} bots")
        return Plan(bots, options=asdict(settings))

    @classmethod
    def load(cls, connection: Connection, row: TournamentRow, storage: Storage) -> Self:
        """With what is planned and has ended."""
        assert row.ladder_id is not None
        return cls(
            _settings(row),
            storage,
            (row.id, row.ladder_id),
            entrants(connection, row.id),
            openings_of(row),
            seed=row.seed,
            planned=planned_games(connection, row.id),
            unplayed=unplayed_games(connection, row.id),
            finished=row.finished,
            create_time=row.create_time,
        )

    @classmethod
    def planned_games(cls, row: TournamentRow) -> int:
        """The most that there may be."""
        return _settings(row).most_games

    @property
    def is_open(self) -> bool:
        """Whether everyone who is there takes part."""
        return not self._entrants

    @property
    def candidates(self) -> Collection[BotId] | None:
        """Those that take part."""
        return self._entrants or None

    @property
    def reserved(self) -> Collection[BotId]:
        """Those that it settles the order of."""
        return self._entrants if self._settings.final else ()

    @property
    def detail(self) -> LadderStanding | None:
        """How sure the newest run is; ``None`` where nothing is asked, or it can't say."""
        return self._detail

    @property
    def is_decided(self) -> bool:
        """Whether it is certain enough, played out, or its games or its time are used up."""
        return bool(self._verdict)

    @property
    def verdict(self) -> str:
        """Why no more games are needed; empty while they are."""
        return self._verdict

    def game_ended(self, result: PairingResult) -> None:
        """Learn from a game when the next are planned."""
        self._finished += 1
        self._unplayed[_pair(result.black_id, result.white_id)] -= 1
        self._ended.append(result)
        self._verdict = self._verdict or self._settings.used_up(self._finished)

    async def next_pairs(self, capacity: Capacity) -> Sequence[GamePair]:
        """A pair of games for each two free bots, the most instructive first."""
        if self._end_time is not None and self._wall_clock() >= self._end_time:
            most = timedelta(seconds=self._settings.most_seconds)
            self._verdict = self._verdict or f"{most} h, the most time that it had"
        if self._verdict:
            return ()
        table = await self._current_table(capacity)
        if table.is_settled:
            self._verdict = self._settings.settled(table.size)
            return ()
        if self._entrants and table.is_closed and not self._unplayed.total():
            self._verdict = NOTHING_TO_LEARN
            return ()
        ended, self._ended = self._ended, []
        plan = partial(
            table.plan,
            free={
                bot: seat.free - capacity.held.get(bot, 0) for bot, seat in capacity.seats.items()
            },
            playing={bot for bot, seat in capacity.seats.items() if seat.playing},
            ended=ended,
            most=self._room(capacity),
        )
        return [self._plan_pair(*picked) for picked in await asyncio.to_thread(plan)]

    def _room(self, capacity: Capacity) -> int:
        """How many pairs may be planned."""
        games = capacity.room - capacity.waiting
        if self._settings.most_games:
            games = min(games, self._settings.most_games - self._planned.total())
        return min((games + 1) // GAMES_OF_A_PAIR, MAX_PICKS)

    async def _current_table(self, capacity: Capacity) -> PairingTable:
        """What is known of the bots that take part; read again when there is a new run."""
        bots = self._entrants or capacity.seats.keys()
        table = self._table
        if table is not None and table.has(bots):
            if self._clock() < self._next_look:
                return table
            newest = await self._storage.read(published_run, ladder_id=self._ladder_id)
            self._next_look = self._clock() + RUN_POLL_INTERVAL.total_seconds()
            if newest == self._run_id:
                return table
        state = await self._storage.read(
            partial(ladder_state, ladder_id=self._ladder_id, tournament_id=self._tournament_id)
        )
        self._ended.clear()  # all but the very last are in what was read
        self._run_id = None if state.table.run is None else state.table.run.id
        picks = self._planned.total() // GAMES_OF_A_PAIR
        make = partial(
            PairingTable,
            state,
            sorted(bots),
            picks=picks,
            unplayed=self._unplayed.copy(),
            played_out=self._played_out(state),
            rule=self._settings.rule,
        )
        self._table = await asyncio.to_thread(make)
        self._detail = _standing(self._table, state)
        return self._table

    def _played_out(self, state: LadderState) -> set[BotPair]:
        """Who always plays the same games: all openings are used, and games came again."""
        return {
            pair
            for pair, repeats in state.repeats.items()
            if repeats >= PLAYED_OUT
            and self._planned[pair] >= GAMES_OF_A_PAIR * len(self._openings)
        }

    def _plan_pair(self, one: BotId, other: BotId, pick: Pick) -> GamePair:
        pair = _pair(one, other)
        dealt = (self._planned[pair] + 1) // GAMES_OF_A_PAIR
        if pair not in self._decks:
            rng = random.Random(f"{self._seed} {pair[0]} {pair[1]}")  # noqa: S311 - no secret
            self._decks[pair] = itertools.islice(deal(self._openings, rng), dealt, None)
        black, white = pair if dealt % 2 else pair[::-1]
        self._planned[pair] += GAMES_OF_A_PAIR
        self._unplayed[pair] += GAMES_OF_A_PAIR
        return GamePair(black, white, next(self._decks[pair]), pick.reason)


def _reachable(connection: Connection, request: Request) -> tuple[BotId, ...]:
    """Who enters when entries are closed: who is there of those on the ladder, if it has any."""
    rated = rated_bots(connection, request.ladder)
    bots = sorted(request.here & rated if rated else request.here)
    if len(bots) < GAMES_OF_A_PAIR:
        raise InvalidRequestError(
            f"bots: {len(bots)} of the ladder {request.ladder} are connected; it takes two"
        )
    return tuple(bots)


def _standing(table: PairingTable, state: LadderState) -> LadderStanding | None:
    found, weakest = table.order, table.weakest
    if found is None or weakest is None:
        return None
    names = {row.bot_id: row.bot for row in state.table.standings}
    ahead, behind = (names[bot] for bot in weakest)
    return LadderStanding(found.confidence, ahead, behind, found.lead, found.deviation)


def _settings(row: TournamentRow) -> LadderSettings:
    return LadderSettings.parse(row.options or {})


def _pair(one: BotId, other: BotId) -> BotPair:
    return min(one, other), max(one, other)
