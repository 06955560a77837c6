"""A ladder's past, kept day by day, on SQLite and PostgreSQL."""

from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from meijin.store.ladders.days import (
    DayRating,
    NewDayRating,
    history_state,
    rating_history,
    replace_history,
)

if TYPE_CHECKING:
    from tests.store.league import League


def test_history_is_newest_first_and_in_pages(any_league: "League") -> None:
    """Each day has a line for each version of the bot, the newest version first."""
    old, other = any_league.versions[:2]
    new = any_league.renew(0, "2.0")
    first, second = date(2025, 12, 31), date(2026, 1, 1)
    days = [
        NewDayRating(day, version, elo, 12.5, 20)
        for day, version, elo in (
            (first, old, 1400.5),
            (second, old, 1410.0),
            (second, new, 1600.0),
            (second, other, 1500.0),
        )
    ]
    database, ladder_id, bot_id = any_league.database, any_league.ladder_id, any_league.bots[0]
    database.write(lambda connection: replace_history(connection, ladder_id, days, {"a": [1]}))
    whole = database.read(lambda connection: rating_history(connection, ladder_id, bot_id))
    assert whole == [
        DayRating(second, new, 1600.0, 12.5, 20, version="2.0"),
        DayRating(second, old, 1410.0, 12.5, 20, version="1.0"),
        DayRating(first, old, 1400.5, 12.5, 20, version="1.0"),
    ]
    for place in range(3):
        before = (whole[place].day, whole[place].version_id)
        page = partial(rating_history, ladder_id=ladder_id, bot_id=bot_id, limit=1)
        rest = database.read(partial(page, before=before))
        assert rest == whole[place + 1 : place + 2]


def test_a_new_history_replaces_the_old(any_league: "League", make_league: "type[League]") -> None:
    """On its own ladder alone, together with what it was made from."""
    other = make_league(any_league.database, name="standard-15x15")
    database = any_league.database
    for league in (any_league, other):
        lines = [NewDayRating(date(2026, 1, 1), league.versions[0], 1500.0, 10.0, 5)]
        write = partial(replace_history, ladder_id=league.ladder_id)
        database.write(partial(write, days=lines, state={"days": 1}))
    replace_ours = partial(replace_history, ladder_id=any_league.ladder_id)
    database.write(partial(replace_ours, days=[], state={}))

    def state(league: "League") -> tuple[object, int]:
        key, bot = league.ladder_id, league.bots[0]
        return database.read(
            lambda connection: (
                history_state(connection, key),
                len(rating_history(connection, key, bot)),
            )
        )

    assert (state(any_league), state(other)) == (({}, 0), ({"days": 1}, 1))
