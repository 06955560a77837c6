"""Days of ladders: the tallies that are kept, and the ratings at their ends."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial

import pytest
from tests.store.league import League
from tests.store.stored import stored

from meijin.game import Result
from meijin.store.ladders.days import (
    CalibrationBin,
    TallyMark,
    calibration,
    forget_tallies,
    keep_day,
    keep_tallies,
    kept_tallies,
    last_foretold_day,
    last_mark,
    last_versions,
    rating_history,
    unrated_days,
)
from meijin.store.schema import BotVersionId, CalibrationDay, DayTally, LadderId, RatingDay

FIRST, SECOND, THIRD = (date(2026, 1, day) for day in (1, 2, 3))


def tally_of(day: date, cutoff: int) -> DayTally:
    name = f"{cutoff}".encode()
    return DayTally(
        day=day,
        cutoff=cutoff,
        chain=name,
        games=cutoff - 1,
        repeats=1,
        versions=b"versions " + name,
        counts=b"counts " + name,
    )


def keep(
    league: League, *tallies: DayTally, after: TallyMark | None = None, voided: int = 0
) -> list[DayTally]:
    """Keep tallies that went on from others; return what is kept then."""
    write = partial(keep_tallies, after=after, voided=voided)
    league.database.write(write, league.ladder_id, tallies)
    return kept(league)


def kept(league: League) -> list[DayTally]:
    found = league.database.read(kept_tallies, league.ladder_id)
    return [replace(each, ladder_id=LadderId(0)) for each in found]


def mark(league: League) -> TallyMark | None:
    return league.database.read(last_mark, league.ladder_id)


def line_of(day: date, version: BotVersionId, elo: float) -> RatingDay:
    return RatingDay(day=day, version_id=version, elo=elo, margin=12.5, games=20)


def foretold(day: date, place: int, games: int, expected: float, points: float) -> CalibrationDay:
    return CalibrationDay(day=day, bin=place, games=games, expected=expected, points=points)


def rate(
    league: League,
    day: date,
    ratings: Sequence[RatingDay],
    chain: bytes,
    rules: str = "a",
    *,
    calibration: Sequence[CalibrationDay] = (),
) -> bool:
    """Keep what was made of a day; tell whether its games were still those of the chain."""
    write = partial(keep_day, ladder_id=league.ladder_id, ratings=ratings, calibration=calibration)
    return league.database.write(write, day=day, chain=chain, rated_with=rules)


def unrated(league: League, rules: str = "a") -> Sequence[date]:
    """The days before the second that are to be rated."""
    read = partial(unrated_days, before=SECOND, rated_with=rules)
    return league.database.read(read, league.ladder_id)


def test_history_is_newest_first_and_in_pages(any_league: League) -> None:
    """Each day has a line for each version of the bot, the newest version first."""
    old, other = any_league.versions[:2]
    new = any_league.renew(0, "2.0")
    keep(any_league, tally_of(FIRST, 1), tally_of(SECOND, 2))
    assert rate(any_league, FIRST, [line_of(FIRST, old, 1400.5)], b"1")
    second = ((old, 1410.0), (new, 1600.0), (other, 1500.0))
    assert rate(any_league, SECOND, [line_of(SECOND, *each) for each in second], b"2")
    history = partial(
        rating_history, ladder_id=any_league.ladder_id, bot_id=any_league.bots[0], limit=1
    )
    whole = any_league.database.read(history, limit=9)
    assert [(row.day, row.version_id, row.elo, row.version) for row in whole] == [
        (SECOND, new, 1600.0, "2.0"),
        (SECOND, old, 1410.0, "1.0"),
        (FIRST, old, 1400.5, "1.0"),
    ]
    assert {(row.margin, row.games) for row in whole} == {(12.5, 20)}
    for place, line in enumerate(whole):
        rest = any_league.database.read(history, before=(line.day, line.version_id))
        assert rest == whole[place + 1 : place + 2]


def test_a_day_is_rated_once_by_the_same_rules(any_league: League) -> None:
    """Others rate it anew, and its old ratings are gone; days that are not over wait."""
    keep(any_league, tally_of(FIRST, 1), tally_of(SECOND, 2))
    assert unrated(any_league) == [FIRST]
    assert rate(any_league, FIRST, [line_of(FIRST, any_league.versions[0], 1500.0)], b"1")
    assert unrated(any_league) == []
    assert unrated(any_league, rules="b") == [FIRST]
    assert rate(any_league, FIRST, [], b"1", rules="b")
    assert stored(any_league.database, RatingDay.day) == []


def test_what_days_were_told_is_added_up(any_league: League) -> None:
    """Of those that are kept; a day that is rated anew, or forgotten, counts for what it is then."""
    other = League(any_league.database, name="other")
    for each in (any_league, other):
        keep(each, tally_of(FIRST, 1), tally_of(SECOND, 2), tally_of(THIRD, 3))

    def found() -> tuple[Sequence[date], Sequence[CalibrationBin]]:
        return any_league.database.read(calibration, any_league.ladder_id)

    assert found() == ([], [])
    assert any_league.database.read(last_foretold_day, any_league.ladder_id) is None
    second = [foretold(SECOND, 4, 10, 7.5, 7.0), foretold(SECOND, 0, 4, 2.1, 1.5)]
    third = [foretold(THIRD, 4, 30, 22.0, 24.0)]
    assert rate(any_league, SECOND, [], b"2", calibration=second)
    assert rate(any_league, THIRD, [], b"3", calibration=third)
    assert rate(other, THIRD, [], b"3", calibration=third)
    since = any_league.database.read(calibration, any_league.ladder_id, THIRD)
    assert since == ([THIRD], [CalibrationBin(4, 30, 22.0, 24.0)])
    assert any_league.database.read(last_foretold_day, any_league.ladder_id) == THIRD
    both = [CalibrationBin(0, 4, 2.1, 1.5), CalibrationBin(4, 40, 29.5, 31.0)]
    assert found() == ([SECOND, THIRD], both)
    assert rate(any_league, SECOND, [], b"2", calibration=second[1:])
    assert found() == ([SECOND, THIRD], [both[0], CalibrationBin(4, 30, 22.0, 24.0)])
    any_league.database.write(forget_tallies, any_league.ladder_id, 3)
    assert found() == ([SECOND], [both[0]])


def test_ratings_of_other_games_are_not_kept(any_league: League) -> None:
    """The day's games have changed while they were computed, or are gone."""
    keep(any_league, tally_of(FIRST, 1))
    assert not rate(any_league, FIRST, [], b"other")
    assert not rate(any_league, SECOND, [], b"1")
    assert unrated(any_league) == [FIRST]


def test_tallies_go_on_from_the_last(any_league: League) -> None:
    """Its day may be told anew; earlier ones stay, and those of other ladders."""
    other = League(any_league.database, name="other")
    assert (kept(any_league), mark(any_league)) == ([], None)
    keep(other, tally_of(FIRST, 9))
    keep(any_league, tally_of(FIRST, 1), tally_of(SECOND, 2))
    assert mark(any_league) == TallyMark(SECOND, 2, b"2")
    found = keep(any_league, tally_of(SECOND, 4), tally_of(THIRD, 5), after=mark(any_league))
    assert found == [tally_of(FIRST, 1), tally_of(SECOND, 4), tally_of(THIRD, 5)]
    assert kept(other) == [tally_of(FIRST, 9)]
    assert any_league.database.read(last_versions, any_league.ladder_id) == b"versions 5"


def test_tallies_that_went_on_from_others_are_dropped(any_league: League) -> None:
    """Another worker was faster, or what they went on from was forgotten."""
    keep(any_league, tally_of(FIRST, 1))
    start = mark(any_league)
    for number, after in ((3, start), (2, start), (9, None)):
        assert keep(any_league, tally_of(FIRST, number), after=after) == [tally_of(FIRST, 3)]


def test_tallies_with_a_voided_game_are_dropped(any_league: League) -> None:
    """The game was voided between the count and its commit."""
    any_league.finish((0, 1, Result.DRAW))
    any_league.void(1)
    assert keep(any_league, tally_of(FIRST, 1), voided=0) == []
    assert keep(any_league, tally_of(FIRST, 1), voided=1) == [tally_of(FIRST, 1)]


@pytest.mark.parametrize(("end_sequence", "days"), [(3, 1), (5, 2), (6, 2), (7, 3), (1, 0), (2, 0)])
def test_a_voided_game_forgets_its_day_and_those_after(
    any_league: League, end_sequence: int, days: int
) -> None:
    """With their ratings; one that is in no tally yet forgets none."""
    all_days = [FIRST, SECOND, THIRD]
    keep(any_league, *(tally_of(day, 2 * place) for place, day in enumerate(all_days, start=1)))
    for place, day in enumerate(all_days, start=1):
        line = line_of(day, any_league.versions[0], 1500.0)
        assert rate(any_league, day, [line], f"{2 * place}".encode())
    any_league.database.write(forget_tallies, any_league.ladder_id, end_sequence)
    for column in (DayTally.day, RatingDay.day):
        assert stored(any_league.database, column) == all_days[:days]
