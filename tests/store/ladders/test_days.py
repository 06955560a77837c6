"""A ladder's past, kept day by day, on SQLite and PostgreSQL."""

from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from tests.store.ladders.test_tallies import FIRST, SECOND, keep, tally_of

from meijin.store.ladders.days import (
    DayRating,
    NewDayRating,
    keep_day,
    rating_history,
    unrated_days,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.store.league import League


def rate(
    league: "League", day: date, ratings: "Sequence[NewDayRating]", chain: bytes, rules: str = "a"
) -> bool:
    """Keep the ratings of a day; tell whether its games were still those of the chain."""
    write = partial(keep_day, ladder_id=league.ladder_id, ratings=ratings)
    return league.database.write(partial(write, day=day, chain=chain, rated_with=rules))


def unrated(league: "League", before: date, rules: str = "a") -> "Sequence[date]":
    """The days that are to be rated."""
    read = partial(unrated_days, ladder_id=league.ladder_id)
    return league.database.read(partial(read, before=before, rated_with=rules))


def test_history_is_newest_first_and_in_pages(any_league: "League") -> None:
    """Each day has a line for each version of the bot, the newest version first."""
    old, other = any_league.versions[:2]
    new = any_league.renew(0, "2.0")
    keep(any_league, tally_of(FIRST, 1), tally_of(SECOND, 2))
    ours = [NewDayRating(FIRST, old, 1400.5, 12.5, 20)]
    assert rate(any_league, FIRST, ours, b"1")
    ours = [
        NewDayRating(SECOND, version, elo, 12.5, 20)
        for version, elo in ((old, 1410.0), (new, 1600.0), (other, 1500.0))
    ]
    assert rate(any_league, SECOND, ours, b"2")
    database, ladder_id, bot_id = any_league.database, any_league.ladder_id, any_league.bots[0]
    whole = database.read(lambda connection: rating_history(connection, ladder_id, bot_id))
    assert whole == [
        DayRating(SECOND, new, 1600.0, 12.5, 20, version="2.0"),
        DayRating(SECOND, old, 1410.0, 12.5, 20, version="1.0"),
        DayRating(FIRST, old, 1400.5, 12.5, 20, version="1.0"),
    ]
    for place in range(3):
        before = (whole[place].day, whole[place].version_id)
        page = partial(rating_history, ladder_id=ladder_id, bot_id=bot_id, limit=1)
        rest = database.read(partial(page, before=before))
        assert rest == whole[place + 1 : place + 2]


def test_a_day_is_rated_once_by_the_same_rules(any_league: "League") -> None:
    """Others rate it anew, and its old ratings are gone; days that are not over wait."""
    keep(any_league, tally_of(FIRST, 1), tally_of(SECOND, 2))
    assert unrated(any_league, SECOND) == [FIRST]
    line = NewDayRating(FIRST, any_league.versions[0], 1500.0, 10.0, 5)
    assert rate(any_league, FIRST, [line], b"1")
    assert unrated(any_league, SECOND) == []
    assert unrated(any_league, SECOND, rules="b") == [FIRST]
    assert rate(any_league, FIRST, [], b"1", rules="b")
    history = partial(rating_history, ladder_id=any_league.ladder_id, bot_id=any_league.bots[0])
    assert any_league.database.read(history) == []


def test_ratings_of_other_games_are_not_kept(any_league: "League") -> None:
    """The day's games have changed while they were computed, or are gone."""
    keep(any_league, tally_of(FIRST, 1))
    assert not rate(any_league, FIRST, [], b"other")
    assert not rate(any_league, SECOND, [], b"1")
    assert unrated(any_league, SECOND) == [FIRST]
