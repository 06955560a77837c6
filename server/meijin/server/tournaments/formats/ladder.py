"""A continuous ladder: whoever is free meets whom the ladder learns most from."""

import asyncio
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from typing import Self

from sqlalchemy import Connection

from meijin.ladder.pairing import PairingTable
from meijin.ladder.statistics.matchmaking import Pick
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


@dataclass(frozen=True, slots=True)
class LadderSettings:
    """What ends it: certainty, a number of games, or neither."""

    confidence: float = 0.0
    """It ends when every bot is stronger than the next in rank with a higher chance; 0 for never.
    """
    most_games: int = 0
    """0 for no bound."""

    @classmethod
    def parse(cls, options: Options) -> Self:
        """The settings that options say.

        Raises:
            InvalidRequestError: a number is out of its range.
        """
        confidence = float(options.get("confidence", 0.0))
        most_games = int(options.get("most_games", 0))
        if not 0 <= confidence < 1:
            raise InvalidRequestError(f"ladder.confidence {confidence:g} is not in 0 to 1")
        if most_games > MAX_GAMES:
            raise InvalidRequestError(f"ladder.most_games {most_games} is above {MAX_GAMES}")
        return cls(confidence, most_games)

    def settled(self) -> str:
        """The verdict when certainty has ended it."""
        return f"each bot is the stronger of its neighbours with a chance above {self.confidence:g}"

    def used_up(self, games: int) -> str:
        """The verdict after so many games; empty while there may be more."""
        return f"{games} games, the most there were to be" if 0 < self.most_games <= games else ""


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
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Go on with a tournament.

        Args:
            ids: Of the tournament and of its ladder.
            bots: Who takes part; everyone who is there, if empty.
            planned: How many games there are already for each two.
            unplayed: How many of them have no result.
            finished: How many have one.
            clock: Seconds; says when to look for a new run.
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
        self._verdict = settings.used_up(finished)

    @classmethod
    def plan(cls, connection: Connection, request: Request) -> Plan:
        """A ladder of some bots, or of everyone who is there, without a schedule."""
        if not request.is_rated:
            raise InvalidRequestError("unrated: a ladder's games are rated")
        if request.rounds:
            raise InvalidRequestError("rounds: a ladder has none; ladder.most_games bounds it")
        settings = LadderSettings.parse(request.options or {})
        return Plan(request.bots, options=asdict(settings))

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
        )

    @classmethod
    def planned_games(cls, row: TournamentRow) -> int:
        """The most that there may be."""
        return _settings(row).most_games

    @property
    def is_decided(self) -> bool:
        """Whether it is certain enough, played out, or its games are used up."""
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
        if self._verdict:
            return ()
        table = await self._current_table(capacity)
        if table.is_settled:
            self._verdict = self._settings.settled()
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
            newest = await self._storage.read(partial(published_run, ladder_id=self._ladder_id))
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
            confidence=self._settings.confidence,
        )
        self._table = await asyncio.to_thread(make)
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


def _settings(row: TournamentRow) -> LadderSettings:
    return LadderSettings.parse(row.options or {})


def _pair(one: BotId, other: BotId) -> BotPair:
    return min(one, other), max(one, other)
