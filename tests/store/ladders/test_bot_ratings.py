"""What bots are rated, for a list of them, on SQLite and PostgreSQL."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tests.query_plans import plans
from tests.store.made_up import LINE, publish, run_of

from meijin.store.ladders.bot_ratings import (
    BotRating,
    VersionRating,
    bot_ratings,
    version_ratings,
)
from meijin.store.ladders.runs import NewRating
from meijin.store.schema import BotId

if TYPE_CHECKING:
    from tests.store.league import League


def ratings(league: League) -> dict[BotId, BotRating]:
    """Those of its bots."""
    return league.database.read(partial(bot_ratings, bots=league.bots))


def test_the_newest_version_is_what_counts(any_league: League) -> None:
    """By the published run; who is in none is left out."""
    assert ratings(any_league) == {}
    any_league.renew(0, "2.0")
    publish(any_league, run_of(any_league, 1))
    old = run_of(any_league, 2)
    newest = [NewRating(any_league.versions[0], replace(LINE, elo=1700.0)), *old.ratings[2:]]
    publish(any_league, replace(old, ratings=newest))
    found = ratings(any_league)
    assert found[any_league.bots[0]] == BotRating(any_league.name, 1700.0)
    assert any_league.bots[1] not in found


def test_versions_have_ratings_of_their_own(any_league: League) -> None:
    """By the ladder's published run; those that it does not rate are left out."""
    first = any_league.versions[0]
    publish(any_league, run_of(any_league, 1))
    newest = any_league.renew(0, "2.0")
    find = partial(version_ratings, versions=[first, newest])
    found = any_league.database.read(partial(find, ladder=any_league.name))
    assert found == {first: VersionRating(1499.0, 50.25, 6)}
    assert any_league.database.read(partial(find, ladder="")) == {}


def test_the_ladder_with_most_of_its_games_is_what_counts(any_league: League) -> None:
    """All of its versions' games there are counted."""
    publish(any_league, run_of(any_league, 1))
    other = type(any_league)(any_league.database, bots=0, name="standard-15x15")
    (version, *_) = any_league.versions
    for wins, ladder in ((1, any_league.name), (50, other.name)):
        line = replace(LINE, wins_as_black=wins, elo=1800.0)
        publish(other, replace(run_of(other, 1 + wins), ratings=[NewRating(version, line)]))
        assert ratings(any_league)[any_league.bots[0]].ladder == ladder


def test_ratings_are_looked_up_by_version(any_league: League) -> None:
    """Nobody's rating is read who is not asked for."""
    publish(any_league, run_of(any_league, 1))
    if any_league.database.reader.dialect.name == "sqlite":
        with plans(any_league.database) as found:
            ratings(any_league)
        assert "SCAN rating" not in found[0]
