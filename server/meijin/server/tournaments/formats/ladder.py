"""A continuous ladder: whoever is free meets whom the ladder learns most from.

It may settle the ladder: then its entries are closed, open tournaments leave its bots to it, and
the run that has all of its games is marked final.
"""

import asyncio
import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from sqlalchemy import Connection

from meijin.ladder.final_order import least_sure, order_words
from meijin.ladder.pairing import PairingTable
from meijin.ladder.statistics.pairing.matchmaking import Pick
from meijin.ladder.statistics.pairing.stopping_rule import StoppingRule
from meijin.server.errors import InvalidRequestError
from meijin.server.storage import Storage
from meijin.server.tournaments.formats.base import (
    MAX_GAMES,
    BotIds,
    Capacity,
    Format,
    GamePair,
    openings_of,
)
from meijin.server.tournaments.formats.schedule import deal
from meijin.store.ladders.ladders import ladder_row
from meijin.store.ladders.planning import (
    BotPair,
    LadderState,
    ladder_state,
    planned_games,
    unplayed_games,
)
from meijin.store.ladders.versions import rated_bots
from meijin.store.schema import BotId, RatingRunId
from meijin.store.tournaments import NewTournament, TournamentRow, entrants
from meijin.store.tournaments.match_counts import GAMES_OF_A_PAIR, PairingResult
from meijin.wire.formats import Options

RUN_POLL_INTERVAL = timedelta(seconds=1)
"""Between two looks for a new run of the ladder."""
MAX_PICKS = 64
"""The most pairs of games that are planned before others get a turn."""
PLAYED_OUT = 2
"""Repeated games after which two bots that have seen all openings learn nothing more."""
WIDEST_ZONE = 1000.0
"""The widest indifference zone, in Elo."""


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
    """How many of the first have to be told from the rest; 0 for the order of all."""
    most_seconds: int = 0
    """From its creation on; 0 for no bound."""
    final: bool = False
    """It settles the ladder."""

    @classmethod
    def parse(cls, options: Options | None) -> Self:
        """The settings that options say; those that are left out have their defaults.

        Raises:
            InvalidRequestError: a number is out of its range, or says nothing without another.
        """
        given = options or {}
        known: dict[str, Any] = {
            each.name: given[each.name] for each in fields(cls) if each.name in given
        }
        settings = cls(**known)
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

    def used_up(self, games: int) -> str:
        """The verdict when this was the last game that there may be; else empty."""
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
        row: TournamentRow,
        bots: Sequence[BotId],
        *,
        planned: Counter[BotPair],
        unplayed: Counter[BotPair],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Go on with a tournament.

        Args:
            bots: Who takes part; everyone who is there, if empty.
            planned: How many games there are already for each two.
            unplayed: How many of them have no result.
            clock: Says when its time is over.
        """
        assert row.ladder_id is not None
        self._settings = settings = LadderSettings.parse(row.options)
        self._row = row
        self._ladder_id = row.ladder_id
        self._entrants = frozenset(bots)
        self._openings = openings_of(row)
        self._planned = planned
        self._unplayed = unplayed
        self._finished = row.finished
        self._decks: dict[BotPair, Iterator[bytes]] = {}
        self._clock = clock
        self._next_look = time.monotonic()
        self._run_id: RatingRunId | None = None
        self._table: PairingTable | None = None
        self._order = ""
        """How sure the newest run is of what was asked for, in words."""
        self._ended: list[PairingResult] = []
        self.is_open = not bots
        self.candidates = self._entrants or None
        self.reserved = self._entrants if settings.final else ()
        self.verdict = settings.used_up(row.finished)

    @classmethod
    def plan(cls, connection: Connection, asked: NewTournament, here: BotIds) -> NewTournament:
        if not asked.is_rated:
            raise InvalidRequestError("unrated: a ladder's games are rated")
        if asked.rounds:
            raise InvalidRequestError("rounds: a ladder has none; ladder.most_games bounds it")
        settings = LadderSettings.parse(asked.options)
        bots = asked.bots
        if settings.final and not bots:
            bots = _reachable(connection, asked, here)
        if bots and settings.top >= len(bots):
            raise InvalidRequestError(f"ladder.top {settings.top} is not below {len(bots)} bots")
        return replace(asked, bots=bots, options=asdict(settings))

    @classmethod
    def load(cls, connection: Connection, row: TournamentRow) -> Self:
        return cls(
            row,
            entrants(connection, row.id),
            planned=planned_games(connection, row.id),
            unplayed=unplayed_games(connection, row.id),
        )

    @classmethod
    def planned_games(cls, row: TournamentRow) -> int:
        return LadderSettings.parse(row.options).most_games

    def game_ended(self, result: PairingResult) -> None:
        """Learn from a game when the next are planned."""
        self._finished += 1
        self._unplayed[_pair(result.black_id, result.white_id)] -= 1
        self._ended.append(result)
        self.verdict = self.verdict or self._settings.used_up(self._finished)

    async def next_pairs(self, capacity: Capacity, storage: Storage) -> Sequence[GamePair]:
        """A pair of games for each two free bots, the most instructive first."""
        most = timedelta(seconds=self._settings.most_seconds)
        if most and self._clock() >= self._row.create_time + most:
            self.verdict = self.verdict or f"{most} h, the most time that it had"
        if self.verdict:
            return ()
        table = await self._current_table(capacity, storage)
        if table.is_settled:
            self.verdict = self._settled()
            return ()
        if self._entrants and table.is_closed and not self._unplayed.total():
            self.verdict = NOTHING_TO_LEARN
            return ()
        ended, self._ended = self._ended, []
        seats, held = capacity.seats, capacity.held
        picks = await asyncio.to_thread(
            table.plan,
            free={bot: seat.free - held.get(bot, 0) for bot, seat in seats.items()},
            playing={bot for bot, seat in seats.items() if seat.playing},
            ended=ended,
            most=self._room(capacity),
        )
        return [self._plan_pair(*picked) for picked in picks]

    def _settled(self) -> str:
        """The verdict when the newest run is sure; what the final one is sure of comes behind."""
        enough = f"{self._finished} games were enough"
        return enough if self._settings.final else f"{enough}; {self._order}"

    def _room(self, capacity: Capacity) -> int:
        """How many pairs may be planned."""
        games = min(capacity.room - capacity.waiting, self._games_left)
        return min((int(games) + 1) // GAMES_OF_A_PAIR, MAX_PICKS)

    @property
    def _games_left(self) -> float:
        """How many games may be planned in all."""
        most = self._settings.most_games
        return most - self._planned.total() if most else math.inf

    async def _current_table(self, capacity: Capacity, storage: Storage) -> PairingTable:
        """What is known of the bots that take part; read again when there is a new run."""
        bots = self._entrants or capacity.seats.keys()
        table = self._table
        if table is not None and table.has(bots):
            if time.monotonic() < self._next_look:
                return table
            ladder = await storage.read(ladder_row, ladder_id=self._ladder_id)
            self._next_look = time.monotonic() + RUN_POLL_INTERVAL.total_seconds()
            if ladder.run_id == self._run_id:
                return table
        state = await storage.read(
            ladder_state, ladder_id=self._ladder_id, tournament_id=self._row.id
        )
        self._ended.clear()  # all but the very last are in what was read
        self._run_id = None if state.table.run is None else state.table.run.id
        self._table = await asyncio.to_thread(
            PairingTable,
            state,
            sorted(bots),
            picks=self._planned.total() // GAMES_OF_A_PAIR,
            unplayed=self._unplayed.copy(),
            played_out=self._played_out(state),
            rule=self._settings.rule,
            games_left=self._games_left,
        )
        self.detail = _standing(self._table, state)
        if self._settings.rule is not None:
            self._order = order_words(self._table, state, self._settings.rule)
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
        dealt = self._planned[pair] // GAMES_OF_A_PAIR
        if pair not in self._decks:
            openings = deal(self._openings, self._row.seed, *pair)
            self._decks[pair] = itertools.islice(openings, dealt, None)
        black, white = pair if dealt % 2 else pair[::-1]
        self._planned[pair] += GAMES_OF_A_PAIR
        self._unplayed[pair] += GAMES_OF_A_PAIR
        return GamePair(black, white, next(self._decks[pair]), pick.reason)


def _reachable(connection: Connection, asked: NewTournament, here: BotIds) -> tuple[BotId, ...]:
    """Who enters when entries are closed: who is there of those on the ladder, if it has any."""
    rated = rated_bots(connection, asked.ladder)
    bots = sorted(here & rated if rated else here)
    if len(bots) < GAMES_OF_A_PAIR:
        raise InvalidRequestError(
            f"bots: {len(bots)} of the ladder {asked.ladder} are connected; it takes two"
        )
    return tuple(bots)


def _standing(table: PairingTable, state: LadderState) -> LadderStanding | None:
    found, weakest = table.order, least_sure(table, state)
    if found is None or weakest is None:
        return None
    return LadderStanding(found.confidence, *weakest, found.lead, found.deviation)


def _pair(one: BotId, other: BotId) -> BotPair:
    return min(one, other), max(one, other)
