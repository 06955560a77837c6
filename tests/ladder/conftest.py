"""Ladders with made-up games, a real Valkey server, and worker processes."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert, update
from tests.ladder.sites import Site

from meijin.game import Ending, Party, Result, encode_moves
from meijin.server.process.valkey import EmbeddedValkey
from meijin.store import Database, Durability
from meijin.store.ladders import ladders, rated_games
from meijin.store.ladders.rated_games import Snapshot
from meijin.store.ladders.repeats import fingerprint, mark_games
from meijin.store.ladders.runs import Standings, standings
from meijin.store.schema import (
    Base,
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    FormatName,
    Game,
    GameId,
    GameState,
    Ladder,
    LadderId,
    Pairing,
    PairingId,
    Tournament,
    TournamentId,
    TournamentState,
)
from meijin.store.voids import GameVoid, void_game

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

    def finish(
        self,
        *games: MadeUp,
        line: Sequence[int] | None = None,
        opening_plies: int = 0,
        day: int = 0,
        forfeit: bool = False,
    ) -> None:
        """Finish games in one transaction, which marks the ladder dirty.

        Args:
            line: The moves of each, so that they repeat each other; else no two are alike.
            day: How many days after `NOON` they end.
        """
        rows = [self._row(game) for game in games]
        for row in rows:
            row["opening_plies"] = opening_plies
            row["end_time"] = NOON + timedelta(days=day)
            if line is not None:
                row["moves"] = encode_moves(line)
            if forfeit:
                is_black = row["result"] is Result.WHITE_WINS
                row["ending"] = Ending.TIME
                row["at_fault"] = Party.BLACK if is_black else Party.WHITE
        self.database.write(lambda connection: self._finish(connection, rows))

    def finish_random(self, games: int, seed: int = 1, *, lines: int = 0, day: int = 0) -> None:
        """Finish so many games of random bots with random results.

        Args:
            lines: From so many lines of moves, one is drawn for each; 0 makes no two alike.
            day: How many days after `NOON` they end.
        """
        rng = random.Random(seed)
        rows = []
        for _ in range(games):
            black, white = rng.sample(range(len(self.bots)), 2)
            rows.append(self._row((black, white, rng.choice(RESULTS))))
        for row in rows:
            row["end_time"] = NOON + timedelta(days=day)
            if lines:
                row["moves"] = encode_moves((rng.randrange(lines),))
        self.database.write(lambda connection: self._finish(connection, rows))

    def void(self, number: int) -> None:
        """Void the finished game of this number; the first is 1."""
        void = GameVoid(self._key(number), "a test", NOON)
        assert self.database.write(lambda connection: void_game(connection, void))

    def change_game(self, number: int, **values: Any) -> None:
        """Tamper with the row of the game of this number."""
        change = update(Game).where(Game.id == self._key(number)).values(**values)
        self.database.write(lambda connection: connection.execute(change))

    def set_anchors(self, *numbers: int) -> None:
        """Make these bots' versions the ladder's anchors."""
        keys = [self.versions[number] for number in numbers]
        self.database.write(
            lambda connection: ladders.set_anchors(connection, self.ladder_id, keys)
        )

    def add_unrated(self, state: GameState) -> None:
        """Add a game that doesn't count: running, or void."""
        row = self._row((0, 1, Result.NONE)) | {"state": state}
        self.database.write(lambda connection: self._add(connection, [row]))

    def snapshot(self) -> Snapshot:
        """The league's games now, as a run takes them."""

        def read(connection: Connection) -> Snapshot:
            anchors = ladders.anchors(connection, self.ladder_id)
            return rated_games.snapshot(connection, self.ladder_id, anchors)

        return self.database.read(read)

    def standings(self) -> Standings:
        """What is published of the league."""
        return self.database.read(lambda connection: standings(connection, self.ladder_id))

    def _set_up(self, connection: Connection) -> LadderId:
        row = insert(Ladder).values(name=self.name, revision=0, run_revision=0, voided=0)
        ladder_id = connection.execute(row.returning(Ladder.id)).scalar_one()
        tournament = insert(Tournament).values(
            name=self.name,
            format=FormatName("round-robin"),
            rounds=1,
            seed=1,
            variant=self.name,
            time_control="1+0",
            max_games=0,
            ladder_id=ladder_id,
            create_time=NOON,
            state=TournamentState.RUNNING,
            openings=b"",
            verdict="",
        )
        self._tournament_id: TournamentId = connection.execute(
            tournament.returning(Tournament.id)
        ).scalar_one()
        bot = insert(Bot).values(name=f"{self.name}-host", create_time=NOON, is_open=False)
        self._host = connection.execute(bot.returning(Bot.id)).scalar_one()
        return ladder_id

    def _finish(self, connection: Connection, rows: list[dict[str, Any]]) -> None:
        self._add(connection, rows)
        mark_games(connection, [row["id"] for row in rows])
        ladder = update(Ladder).where(Ladder.id == self.ladder_id)
        connection.execute(ladder.values(revision=Ladder.revision + len(rows)))

    def _add(self, connection: Connection, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            parts = (row["black_id"], row["white_id"], row["opening_plies"], row["moves"])
            row["fingerprint"] = fingerprint(*parts)
        pairings = [
            {
                "id": row["pairing_id"],
                "tournament_id": self._tournament_id,
                "number": row["end_sequence"],
                "round": 1,
                "black_id": self._host,
                "white_id": self._host,
                "opening": b"",
                "reason": "",
            }
            for row in rows
        ]
        connection.execute(insert(Pairing), pairings)
        connection.execute(insert(Game), rows)

    def _key(self, number: int) -> GameId:
        return GameId(self.ladder_id * 1_000_000 + number)

    def _row(self, game: MadeUp) -> dict[str, Any]:
        black, white, result = game
        self._games += 1
        key = self._key(self._games)
        return {
            "id": key,
            "pairing_id": PairingId(key),
            "tournament_id": self._tournament_id,
            "ladder_id": self.ladder_id,
            "black_id": self.versions[black],
            "white_id": self.versions[white],
            "opening_plies": 0,
            "moves": encode_moves((*divmod(self._games, 1000), 0)),
            "times": b"",
            "start_time": NOON,
            "state": GameState.FINISHED,
            "result": result,
            "ending": Ending.FIVE,
            "at_fault": Party.NOBODY,
            "detail": "",
            "end_sequence": self._games,
            "end_time": NOON,
            "is_repeat": False,
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


@pytest.fixture
def site(
    league: League, valkey: EmbeddedValkey, start_worker: "StartWorker", worker_log: Path
) -> Iterator[Site]:
    """A league with everything that keeps its ladder fresh."""
    site = Site(league, valkey, start_worker, worker_log)
    yield site
    site.queue.close()


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
                    *(sys.executable, "-m", "meijin", "worker"),
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
