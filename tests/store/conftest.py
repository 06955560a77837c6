"""Databases of both kinds, and the rows that other rows need."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection
from tests.store.league import League

from meijin.game import GOMOKU, TimeControl, encode_moves
from meijin.store import Database
from meijin.store.access.versions import EngineRow, arrive
from meijin.store.bots import add_bot
from meijin.store.ladders.games import opening_key
from meijin.store.schema import (
    BotId,
    BotVersionId,
    FormatName,
    Game,
    GameId,
    LadderId,
    TournamentId,
)
from meijin.store.tournaments import (
    NewTournament,
    PendingPairing,
    PlannedGame,
    TournamentRow,
    add_tournament,
    get_tournament,
    pending_pairings,
)

AddBots = Callable[..., tuple[BotId, ...]]
NOON = datetime(2026, 3, 4, 12, 0, 0, 123456, tzinfo=UTC)
OPENING = encode_moves((112, 113))


@dataclass(frozen=True, slots=True)
class Scene:
    """Two bots with a version each and a rated tournament of four games between them."""

    bots: tuple[BotId, BotId]
    """``ada`` and ``bob``."""
    versions: tuple[BotVersionId, BotVersionId]
    tournament_id: TournamentId
    ladder_id: LadderId
    pairings: tuple[PendingPairing, ...]
    """``ada`` has black in the first and third."""
    now: datetime

    def start(self, pairing: int, game_id: int) -> Game:
        plan = self.pairings[pairing]
        versions = dict(zip(self.bots, self.versions, strict=True))
        return Game(
            id=GameId(game_id),
            pairing_id=plan.id,
            tournament_id=self.tournament_id,
            ladder_id=self.ladder_id,
            black_id=versions[plan.black_id],
            white_id=versions[plan.white_id],
            opening_plies=len(plan.opening) // 2,
            opening=opening_key(plan.opening),
            moves=plan.opening,
            start_time=self.now,
        )


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans tournaments whose games alternate colours between the first two bots."""

    database: Database

    def plan(
        self,
        bots: tuple[BotId, ...],
        *,
        games: int = 4,
        **changes: Any,
    ) -> NewTournament:
        first, second = bots[:2]
        schedule = tuple(
            PlannedGame(number, *((first, second) if number % 2 else (second, first)), OPENING)
            for number in range(1, games + 1)
        )
        plan = NewTournament(
            name="spring",
            format=FormatName("round-robin"),
            rounds=games,
            seed=7,
            variant=GOMOKU,
            time_control=TimeControl(timedelta(seconds=60), timedelta(milliseconds=500)),
            max_games=3,
            is_rated=True,
            bots=bots,
            schedule=schedule,
        )
        return replace(plan, **changes)

    def add(self, plan: NewTournament) -> TournamentId:
        return self.database.write(add_tournament, plan, NOON)

    def get(self, tournament_id: TournamentId) -> TournamentRow:
        return self.database.read(get_tournament, tournament_id)


@pytest.fixture
def database(any_database_url: str) -> Iterator[Database]:
    with Database(any_database_url) as database:
        database.migrate()
        yield database


@pytest.fixture
def sqlite_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('sqlite') / 'meijin.db'}"


@pytest.fixture
def sqlite(sqlite_url: str) -> Iterator[Database]:
    with Database(sqlite_url) as database:
        database.migrate()
        yield database


@pytest.fixture
def league(sqlite: Database) -> League:
    """A ladder of five bots without a game, on SQLite."""
    return League(sqlite)


@pytest.fixture
def any_league(database: Database) -> League:
    """A ladder of five bots without a game, once on each kind of database."""
    return League(database)


@pytest.fixture
def planner(database: Database) -> Planner:
    return Planner(database)


@pytest.fixture
def add_bots(database: Database) -> AddBots:
    def add(*names: str) -> tuple[BotId, ...]:
        return database.write(
            lambda connection: tuple(add_bot(connection, name, NOON) for name in names)
        )

    return add


@pytest.fixture
def scene(database: Database, planner: Planner) -> Scene:
    bots, versions = database.write(_add_bots)
    tournament_id = planner.add(planner.plan(bots))
    row = planner.get(tournament_id)
    assert row.ladder_id is not None
    pairings = database.read(pending_pairings, tournament_id)
    return Scene(bots, versions, tournament_id, row.ladder_id, tuple(pairings), NOON)


def _add_bots(
    connection: Connection,
) -> tuple[tuple[BotId, BotId], tuple[BotVersionId, BotVersionId]]:
    bots = (add_bot(connection, "ada", NOON), add_bot(connection, "bob", NOON))
    engine = EngineRow("1.0", "digest")
    first, second = (arrive(connection, each, engine, NOON).version.id for each in bots)
    return bots, (first, second)
