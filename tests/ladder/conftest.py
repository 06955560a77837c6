"""Ladders with made-up games, a real Valkey server, and worker processes."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert, update

from meijin.game import Ending, Party, Result
from meijin.server.embedded import EmbeddedValkey
from meijin.store import Database, Durability
from meijin.store.tables import (
    Base,
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    Game,
    GameId,
    GameState,
    Ladder,
    LadderId,
    Pairing,
    PairingId,
    Tournament,
    TournamentFormat,
    TournamentId,
    TournamentState,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
RESULTS = (Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW)

MadeUp = tuple[int, int, Result]
"""Black's and white's numbers in the league, and the result."""


class League:
    """A ladder whose games are made up, with bots of one version each."""

    def __init__(self, database: Database, *, bots: int = 5, name: str = "freestyle-15x15") -> None:
        self.database = database
        self.name = name
        self.bots: list[BotId] = []
        self.versions: list[BotVersionId] = []
        self._games = 0
        self.ladder_id = database.write(self._set_up)
        for _ in range(bots):
            self.add_bot()

    def add_bot(self) -> int:
        """Add a bot; return its number in the league."""
        number = len(self.bots)

        def add(connection: Connection) -> tuple[BotId, BotVersionId]:
            name = f"{self.name}-bot-{number}"
            bot = insert(Bot).values(name=name, create_time=NOON, is_open=False)
            bot_id = connection.execute(bot.returning(Bot.id)).scalar_one()
            return bot_id, _add_version(connection, bot_id, "1.0")

        bot_id, version_id = self.database.write(add)
        self.bots.append(bot_id)
        self.versions.append(version_id)
        return number

    def renew(self, number: int, label: str) -> BotVersionId:
        """Give a bot a new version, which plays its games from now on."""
        bot_id = self.bots[number]
        version = self.database.write(lambda connection: _add_version(connection, bot_id, label))
        self.versions[number] = version
        return version

    def finish(self, *games: MadeUp, forfeit: bool = False) -> None:
        """Finish games in one transaction, which marks the ladder dirty."""
        self.database.write(lambda connection: self._finish(connection, games, forfeit=forfeit))

    def finish_random(self, games: int, seed: int = 1) -> None:
        """Finish so many games of random bots with random results."""
        rng = random.Random(seed)
        seats = (rng.sample(range(len(self.bots)), 2) for _ in range(games))
        self.finish(*((black, white, rng.choice(RESULTS)) for black, white in seats))

    def add_unrated(self, state: GameState) -> None:
        """Add a game that doesn't count: running, or void."""
        row = self._row((0, 1, Result.NONE)) | {"state": state}
        self.database.write(lambda connection: self._add(connection, [row]))

    def _set_up(self, connection: Connection) -> LadderId:
        row = insert(Ladder).values(name=self.name, revision=0, run_revision=0)
        ladder_id = connection.execute(row.returning(Ladder.id)).scalar_one()
        tournament = insert(Tournament).values(
            name=self.name,
            format=TournamentFormat.ROUND_ROBIN,
            rounds=1,
            seed=1,
            variant=self.name,
            time_control="1+0",
            max_games=0,
            ladder_id=ladder_id,
            create_time=NOON,
            state=TournamentState.RUNNING,
        )
        self._tournament_id: TournamentId = connection.execute(
            tournament.returning(Tournament.id)
        ).scalar_one()
        bot = insert(Bot).values(name=f"{self.name}-host", create_time=NOON, is_open=False)
        self._host = connection.execute(bot.returning(Bot.id)).scalar_one()
        return ladder_id

    def _finish(self, connection: Connection, games: Sequence[MadeUp], *, forfeit: bool) -> None:
        rows = [self._row(game) for game in games]
        for row in rows:
            if forfeit:
                is_black = row["result"] is Result.WHITE_WINS
                row["ending"] = Ending.TIME
                row["at_fault"] = Party.BLACK if is_black else Party.WHITE
        self._add(connection, rows)
        ladder = update(Ladder).where(Ladder.id == self.ladder_id)
        connection.execute(ladder.values(revision=Ladder.revision + len(games)))

    def _add(self, connection: Connection, rows: list[dict[str, object]]) -> None:
        pairings = [
            {
                "id": row["pairing_id"],
                "tournament_id": self._tournament_id,
                "number": row["end_sequence"],
                "round": 1,
                "black_id": self._host,
                "white_id": self._host,
                "opening": b"",
            }
            for row in rows
        ]
        connection.execute(insert(Pairing), pairings)
        connection.execute(insert(Game), rows)

    def _row(self, game: MadeUp) -> dict[str, object]:
        black, white, result = game
        self._games += 1
        key = self.ladder_id * 1_000_000 + self._games
        return {
            "id": GameId(key),
            "pairing_id": PairingId(key),
            "tournament_id": self._tournament_id,
            "ladder_id": self.ladder_id,
            "black_id": self.versions[black],
            "white_id": self.versions[white],
            "opening_plies": 0,
            "moves": b"",
            "times": b"",
            "start_time": NOON,
            "state": GameState.FINISHED,
            "result": result,
            "ending": Ending.FIVE,
            "at_fault": Party.NOBODY,
            "detail": "",
            "end_sequence": self._games,
            "end_time": NOON,
        }


def _add_version(connection: Connection, bot_id: BotId, label: str) -> BotVersionId:
    version = insert(BotVersion).values(
        bot_id=bot_id, digest=label, label=label, configuration=[], create_time=NOON
    )
    return connection.execute(version.returning(BotVersion.id)).scalar_one()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A fresh SQLite database."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}", Durability.PROCESS) as database:
        Base.metadata.create_all(database.writer)
        yield database


@pytest.fixture
def any_database(any_database_url: str) -> Iterator[Database]:
    """A fresh database on SQLite, then on PostgreSQL."""
    with Database(any_database_url, Durability.PROCESS) as database:
        Base.metadata.create_all(database.writer)
        yield database


@pytest.fixture
def league(database: Database) -> League:
    """A ladder of five bots without a game."""
    return League(database)


@pytest.fixture
def any_league(any_database: Database) -> League:
    """A ladder of five bots without a game, on SQLite, then on PostgreSQL."""
    return League(any_database)


@pytest.fixture
def make_league() -> type[League]:
    """What makes further ladders."""
    return League


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[EmbeddedValkey]:
    """A running server of its own."""
    with EmbeddedValkey(tmp_path / "valkey") as valkey:
        yield valkey


@pytest.fixture
def no_redis(tmp_path: Path) -> str:
    """The URL of a Redis that isn't there."""
    return f"unix://{tmp_path / 'no-redis.sock'}"


Eventually = Callable[[Callable[[], bool]], None]
StartWorker = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def eventually() -> Eventually:
    """Wait until a condition holds, for 30 s at most."""

    def wait(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < deadline, "it did not come to pass in 30 s"
            time.sleep(0.01)

    return wait


@pytest.fixture
def worker_log(tmp_path: Path) -> Path:
    """Where worker processes write."""
    return tmp_path / "worker.log"


@pytest.fixture
def start_worker(database: Database, worker_log: Path) -> Iterator[StartWorker]:
    """Start worker processes on `database`; they are killed at the end."""
    with ExitStack() as stack:

        def start(redis_url: str, *, sweep: float) -> "subprocess.Popen[bytes]":
            log = stack.enter_context(worker_log.open("ab"))
            process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "meijin.cli.main", "worker"),
                    *("--database", str(database.url)),
                    *("--redis", redis_url),
                    *("--sweep", str(sweep)),
                ],
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        yield start
