"""Databases of both kinds, and the rows that other rows need."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection
from tests.store.league import League

from meijin.game import GOMOKU, TimeControl, encode_moves
from meijin.store import Database
from meijin.store.bots import EngineRow, add_bot, bot_version
from meijin.store.journal import GameStart
from meijin.store.schema import (
    BotId,
    BotVersionId,
    FormatName,
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

    def start(self, pairing: int, game_id: int) -> GameStart:
        """The beginning of a game of the pairing with this index."""
        plan = self.pairings[pairing]
        versions = dict(zip(self.bots, self.versions, strict=True))
        return GameStart(
            id=GameId(game_id),
            pairing_id=plan.id,
            tournament_id=self.tournament_id,
            ladder_id=self.ladder_id,
            black_id=versions[plan.black_id],
            white_id=versions[plan.white_id],
            opening=plan.opening,
            time=self.now,
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
        is_rated: bool = True,
        request_id: str | None = None,
        openings: tuple[bytes, ...] = (),
        options: dict[str, Any] | None = None,
    ) -> NewTournament:
        """A tournament of these bots."""
        first, second = bots[:2]
        schedule = tuple(
            PlannedGame(number, *((first, second) if number % 2 else (second, first)), OPENING)
            for number in range(1, games + 1)
        )
        return NewTournament(
            name="spring",
            format=FormatName("sprt" if options else "round-robin"),
            rounds=games,
            seed=7,
            variant=GOMOKU,
            time_control=TimeControl(timedelta(seconds=60), timedelta(milliseconds=500)),
            max_games=3,
            is_rated=is_rated,
            bots=bots,
            schedule=schedule,
            request_id=request_id,
            openings=openings,
            options=options,
        )

    def add(self, plan: NewTournament) -> TournamentId:
        """Store a tournament."""
        return self.database.write(lambda connection: add_tournament(connection, plan, NOON))

    def get(self, tournament_id: TournamentId) -> TournamentRow:
        """Read a tournament."""
        row = self.database.read(lambda connection: get_tournament(connection, tournament_id))
        assert row is not None
        return row


@pytest.fixture
def database(any_database_url: str) -> Iterator[Database]:
    """A migrated database, once of each kind."""
    with Database(any_database_url) as database:
        database.migrate()
        yield database


@pytest.fixture
def sqlite_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of an empty SQLite database."""
    return f"sqlite:///{tmp_path_factory.mktemp('sqlite') / 'meijin.db'}"


@pytest.fixture
def league(sqlite_url: str) -> Iterator[League]:
    """A ladder of five bots without a game, on SQLite."""
    with Database(sqlite_url) as database:
        database.migrate()
        yield League(database)


@pytest.fixture
def any_league(database: Database) -> League:
    """A ladder of five bots without a game, once on each kind of database."""
    return League(database)


@pytest.fixture
def make_league() -> type[League]:
    """What makes further ladders."""
    return League


@pytest.fixture
def planner(database: Database) -> Planner:
    """Plans and stores tournaments."""
    return Planner(database)


@pytest.fixture
def add_bots(database: Database) -> Callable[..., tuple[BotId, ...]]:
    """Registers bots with these names."""

    def add(*names: str) -> tuple[BotId, ...]:
        return database.write(
            lambda connection: tuple(add_bot(connection, name, NOON) for name in names)
        )

    return add


@pytest.fixture
def scene(database: Database, planner: Planner) -> Scene:
    """Two bots and their tournament, stored."""
    bots, versions = database.write(_add_bots)
    tournament_id = planner.add(planner.plan(bots))
    row = planner.get(tournament_id)
    assert row.ladder_id is not None
    pairings = database.read(lambda connection: pending_pairings(connection, tournament_id))
    return Scene(bots, versions, tournament_id, row.ladder_id, tuple(pairings), NOON)


def _add_bots(
    connection: Connection,
) -> tuple[tuple[BotId, BotId], tuple[BotVersionId, BotVersionId]]:
    bots = (add_bot(connection, "ada", NOON), add_bot(connection, "bob", NOON))
    engine = EngineRow("1.0", "digest")
    first = bot_version(connection, bots[0], engine, NOON)
    return bots, (first, bot_version(connection, bots[1], engine, NOON))
