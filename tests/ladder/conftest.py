"""Ladders with made-up games, a real Valkey server, and worker processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ladder.sites import Site
from tests.processes import Processes
from tests.store.league import League

from meijin.server.process.valkey import EmbeddedValkey
from meijin.store import Database, Durability


@pytest.fixture
def any_database(any_database_url: str) -> Iterator[Database]:
    """A fresh database on SQLite, then on PostgreSQL."""
    with Database(any_database_url, Durability.PROCESS) as database:
        database.migrate()
        yield database


@pytest.fixture
def league(database: Database) -> League:
    return League(database)


@pytest.fixture
def any_league(any_database: Database) -> League:
    """A ladder of five bots without a game, on SQLite, then on PostgreSQL."""
    return League(any_database)


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[EmbeddedValkey]:
    with EmbeddedValkey(tmp_path / "valkey") as valkey:
        yield valkey


@pytest.fixture
def no_redis(tmp_path: Path) -> str:
    return f"unix://{tmp_path / 'no-redis.sock'}"


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    processes = Processes(tmp_path)
    yield processes
    processes.kill_all()


@pytest.fixture
def site(league: League, valkey: EmbeddedValkey, processes: Processes) -> Iterator[Site]:
    """A league with everything that keeps its ladder fresh, whose games end as those of a server."""
    league.are_games_sequenced = False
    site = Site(league, valkey.url, processes)
    yield site
    site.queue.close()


@pytest.fixture
def alone(league: League, no_redis: str, processes: Processes) -> Site:
    """The same without a Redis."""
    return Site(league, no_redis, processes)
