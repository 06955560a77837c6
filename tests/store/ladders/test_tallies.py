"""The tallies that runs go on from, on SQLite and PostgreSQL."""

from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import insert, select
from tests.query_plans import plans

from meijin.game import Result
from meijin.store.ladders import ladders
from meijin.store.ladders.log import finished_games
from meijin.store.ladders.tallies import (
    KeptTally,
    TallyMark,
    forget_tallies,
    keep_tallies,
    kept_tallies,
    last_mark,
    last_versions,
)
from meijin.store.schema import RatingDay

if TYPE_CHECKING:
    from tests.store.league import League

FIRST, SECOND, THIRD = (date(2026, 1, day) for day in (1, 2, 3))


def tally_of(day: date, cutoff: int) -> KeptTally:
    """A made-up tally of the games up to one."""
    name = f"{cutoff}".encode()
    return KeptTally(day, cutoff, name, cutoff - 1, 1, b"versions " + name, b"counts " + name)


def keep(
    league: "League", *tallies: KeptTally, after: TallyMark | None = None, voided: int = 0
) -> None:
    """Keep tallies that went on from others."""
    write = partial(keep_tallies, ladder_id=league.ladder_id, tallies=tallies)
    league.database.write(partial(write, after=after, voided=voided))


def kept(league: "League") -> Sequence[KeptTally]:
    """The tallies that are kept."""
    return league.database.read(lambda at: kept_tallies(at, league.ladder_id))


def mark(league: "League") -> TallyMark | None:
    """Where they end."""
    return league.database.read(lambda at: last_mark(at, league.ladder_id))


def test_tallies_go_on_from_the_last(any_league: "League", make_league: "type[League]") -> None:
    """Its day may be told anew; earlier ones stay, and those of other ladders."""
    other = make_league(any_league.database, name="other")
    assert (kept(any_league), mark(any_league)) == ([], None)
    keep(other, tally_of(FIRST, 9))
    keep(any_league, tally_of(FIRST, 1), tally_of(SECOND, 2))
    assert mark(any_league) == TallyMark(SECOND, 2, b"2")
    keep(any_league, tally_of(SECOND, 4), tally_of(THIRD, 5), after=mark(any_league))
    assert kept(any_league) == [tally_of(FIRST, 1), tally_of(SECOND, 4), tally_of(THIRD, 5)]
    assert kept(other) == [tally_of(FIRST, 9)]
    states = any_league.database.read(lambda at: last_versions(at, any_league.ladder_id))
    assert states == b"versions 5"


def test_tallies_that_went_on_from_others_are_dropped(any_league: "League") -> None:
    """Another worker was faster, or what they went on from was forgotten."""
    keep(any_league, tally_of(FIRST, 1))
    start = mark(any_league)
    keep(any_league, tally_of(FIRST, 3), after=start)
    keep(any_league, tally_of(FIRST, 2), after=start)
    assert kept(any_league) == [tally_of(FIRST, 3)]
    keep(any_league, tally_of(FIRST, 9), after=None)
    assert kept(any_league) == [tally_of(FIRST, 3)]


def test_tallies_with_a_voided_game_are_dropped(any_league: "League") -> None:
    """The game was voided between the count and its commit."""
    any_league.finish((0, 1, Result.DRAW))
    any_league.void(1)
    keep(any_league, tally_of(FIRST, 1), voided=0)
    assert kept(any_league) == []
    keep(any_league, tally_of(FIRST, 1), voided=1)
    assert kept(any_league) == [tally_of(FIRST, 1)]


@pytest.mark.parametrize(("end_sequence", "days"), [(3, 1), (5, 2), (6, 2), (7, 3), (1, 0), (2, 0)])
def test_a_voided_game_forgets_its_day_and_those_after(
    any_league: "League", end_sequence: int, days: int
) -> None:
    """With their ratings; one that is in no tally yet forgets none."""
    keep(any_league, tally_of(FIRST, 2), tally_of(SECOND, 4), tally_of(THIRD, 6))
    rows = [
        {"ladder_id": any_league.ladder_id, "day": day, "version_id": any_league.versions[0]}
        | {"elo": 1500.0, "margin": 1.0, "games": 1}
        for day in (FIRST, SECOND, THIRD)
    ]
    any_league.database.write(lambda to: to.execute(insert(RatingDay), rows))
    any_league.database.write(lambda to: forget_tallies(to, any_league.ladder_id, end_sequence))
    left = [FIRST, SECOND, THIRD][:days]
    assert [tally.day for tally in kept(any_league)] == left
    rated = select(RatingDay.day).order_by(RatingDay.day)
    assert any_league.database.read(lambda at: at.scalars(rated).all()) == left


def test_games_are_counted_as_they_end_and_are_voided(any_league: "League") -> None:
    """A repeat counts when the game that it repeats is voided, and not before."""

    def games() -> int:
        return any_league.database.read(lambda at: ladders.summary(at, any_league.ladder_id)).games

    any_league.finish((0, 1, Result.DRAW), (0, 1, Result.DRAW), line=(7,))
    any_league.finish((1, 2, Result.DRAW))
    assert games() == 2
    counts = []
    for number in (1, 3, 2):
        any_league.void(number)
        counts.append(games())
    assert counts == [2, 1, 0]


def test_new_games_are_found_in_an_index(league: "League") -> None:
    """In their order, so that none before is read."""
    with plans(league.database) as found:
        league.database.read(lambda at: [*finished_games(at, league.ladder_id, after=7)])
        league.database.read(lambda at: last_mark(at, league.ladder_id))
    games, day = found
    found_by = "SEARCH game USING INDEX game_order"
    assert games.startswith(f"{found_by} (ladder_id=? AND end_sequence>? AND end_sequence<?)")
    assert "SEARCH day_tally USING" in day
    assert "TEMP B-TREE" not in day
