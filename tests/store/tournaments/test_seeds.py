"""The published ratings that bots are seeded by, on SQLite and PostgreSQL."""

from functools import partial
from typing import TYPE_CHECKING

from tests.query_plans import plans
from tests.store.made_up import publish, run_of

from meijin.store import Database
from meijin.store.schema import BotId
from meijin.store.tournaments.seeds import published_ratings

if TYPE_CHECKING:
    from tests.store.league import League


def ratings(league: "League", ladder: str = "freestyle-15x15") -> dict[BotId, float]:
    """What is published."""
    return league.database.read(partial(published_ratings, ladder=ladder))


def test_they_are_those_of_the_published_run(any_league: "League") -> None:
    """None before the first, and those of the newest after it."""
    assert ratings(any_league) == {}
    publish(any_league, run_of(any_league, 1, elo=1000.0))
    publish(any_league, run_of(any_league, 2))
    assert ratings(any_league) == dict(
        zip(any_league.bots, (1499.0, 1498.0, 1497.0, 1496.0, 1495.0), strict=True)
    )
    assert ratings(any_league, "standard-15x15") == {}


def test_a_new_version_has_none_yet(any_league: "League") -> None:
    """An older one's is not its own."""
    publish(any_league, run_of(any_league, 1))
    any_league.renew(2, "2.0")
    assert list(ratings(any_league).values()) == [1499.0, 1498.0, 1496.0, 1495.0]


def test_versions_that_are_not_rated_are_not_looked_at(sqlite_url: str) -> None:
    """The run's lines are read, and of each its bot's newest version, by indexes."""
    with Database(sqlite_url) as database:
        database.migrate()
        with plans(database) as found:
            database.read(partial(published_ratings, ladder="freestyle-15x15"))
    (plan,) = found
    assert "SCAN" not in plan
    assert "bot_version_order" in plan
