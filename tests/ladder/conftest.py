"""Ladders with made-up games, a real Valkey server, and worker processes."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.ladder.sites import Site
from tests.store.league import League

from meijin.server.process.valkey import EmbeddedValkey
from meijin.store import Database, Durability


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A fresh SQLite database."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}", Durability.PROCESS) as database:
        database.migrate()
        yield database


@pytest.fixture
def any_database(any_database_url: str) -> Iterator[Database]:
    """A fresh database on SQLite, then on PostgreSQL."""
    with Database(any_database_url, Durability.PROCESS) as database:
        database.migrate()
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
    """A league with everything that keeps its ladder fresh, whose games end as those of a server."""
    league.are_games_sequenced = False
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
