"""Versions on ladders: their ratings and their parents."""

from dataclasses import replace
from functools import partial

from tests.store.league import League
from tests.store.made_up import LINE, publish, run_of

from meijin.store.ladders.versions import (
    BotRating,
    bot_ratings,
    parents_of,
    published_ratings,
    version_ratings,
)
from meijin.store.schema import BotId


def ratings(league: League) -> dict[BotId, BotRating]:
    return league.database.read(bot_ratings, bots=league.bots)


def test_the_newest_version_is_what_counts(any_league: League) -> None:
    """By the published run; who is in none is left out, and not looked at."""
    assert ratings(any_league) == {}
    any_league.renew(0, "2.0")
    publish(any_league, run_of(any_league, 1))
    old = run_of(any_league, 2)
    newest = [replace(LINE, version_id=any_league.versions[0], elo=1700.0), *old.ratings[2:]]
    publish(any_league, replace(old, ratings=newest))
    found = ratings(any_league)
    assert found[any_league.bots[0]] == BotRating(any_league.name, 1700.0)
    assert any_league.bots[1] not in found


def test_versions_have_ratings_of_their_own(any_league: League) -> None:
    """By the ladder's published run; those that it does not rate are left out."""
    first = any_league.versions[0]
    run = run_of(any_league, 1)
    publish(any_league, run)
    newest = any_league.renew(0, "2.0")
    find = partial(version_ratings, versions=[first, newest])
    found = any_league.database.read(find, ladder=any_league.name)
    assert found == {first: replace(run.ratings[0], run_id=found[first].run_id)}
    assert any_league.database.read(find, ladder="") == {}


def test_the_ladder_with_most_of_its_games_is_what_counts(any_league: League) -> None:
    publish(any_league, run_of(any_league, 1))
    other = type(any_league)(any_league.database, bots=0, name="standard-15x15")
    for wins, ladder in ((1, any_league.name), (50, other.name)):
        line = replace(LINE, version_id=any_league.versions[0], wins_as_black=wins, elo=1800.0)
        publish(other, replace(run_of(other, 1 + wins), ratings=[line]))
        assert ratings(any_league)[any_league.bots[0]].ladder == ladder


def published(league: League, ladder: str = "freestyle-15x15") -> dict[BotId, float]:
    return league.database.read(published_ratings, ladder=ladder)


def test_bots_are_seeded_by_their_newest_versions(any_league: League) -> None:
    """As the newest run rates them; an older version's rating is not the newest one's."""
    assert published(any_league) == {}
    publish(any_league, run_of(any_league, 1, elo=1000.0))
    publish(any_league, run_of(any_league, 2))
    rated = dict(zip(any_league.bots, (1499.0, 1498.0, 1497.0, 1496.0, 1495.0), strict=True))
    assert published(any_league) == rated
    assert published(any_league, "standard-15x15") == {}
    any_league.renew(2, "2.0")
    assert list(published(any_league).values()) == [1499.0, 1498.0, 1496.0, 1495.0]


def test_parents_are_followed_to_the_first_version(any_league: League) -> None:
    """Those who have never played too, but none that came later than who plays; of nobody none."""
    old = any_league.versions[0]
    silent = any_league.renew(0, "2.0")
    played = any_league.renew(0, "3.0")
    any_league.renew(0, "4.0")
    any_league.renew(1, "2.0")
    for versions, found in (([], []), ([played], [(silent, old), (played, silent)])):
        assert any_league.database.read(parents_of, versions) == found
