"""A ladder's past, day by day."""

from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import select
from structlog.testing import capture_logs
from tests.ladder.sites import logged_snapshot
from tests.store.league import BLACK, DRAW, WHITE, League

from meijin.ladder import history
from meijin.ladder.history import DAY_CLOSE_DELAY, update_history
from meijin.ladder.rating_table import rate
from meijin.ladder.refresh import due_ladders, refresh
from meijin.store.rows import read_rows
from meijin.store.schema import CalibrationDay, RatingDay

FIRST = date(2026, 1, 1)
MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)


def update(league: League, *, day: int, hour: float = 12) -> bool:
    """Publish a run and bring the history up to an hour of this many days after the first."""
    refresh(league.database, league.ladder_id, lambda: MIDNIGHT)
    now = MIDNIGHT + timedelta(days=day, hours=hour)
    return update_history(league.database, league.ladder_id, now)


def kept(league: League) -> list[RatingDay]:
    """The whole history that is kept, by day and version."""
    query = select(RatingDay).order_by(RatingDay.day, RatingDay.version_id)
    return league.database.read(lambda at: read_rows(RatingDay, at.execute(query)))


def foretold(league: League) -> list[CalibrationDay]:
    """What is kept of the games that were foretold, by day and bin."""
    query = select(CalibrationDay).order_by(CalibrationDay.day, CalibrationDay.bin)
    return league.database.read(lambda at: read_rows(CalibrationDay, at.execute(query)))


def days_of(league: League) -> dict[int, int]:
    """How many versions each day has, by days after the first."""
    days = [(row.day - FIRST).days for row in kept(league)]
    return {day: days.count(day) for day in sorted(set(days))}


def rated_up_to(league: League, cutoff: int, day: int) -> list[RatingDay]:
    """What a run of the games up to an `end_sequence` says."""
    ratings = rate(logged_snapshot(league, cutoff), MIDNIGHT).ratings
    return [
        RatingDay(
            ladder_id=league.ladder_id,
            day=FIRST + timedelta(days=day),
            version_id=rating.version_id,
            elo=rating.elo,
            margin=rating.margin,
            games=rating.as_black.games + rating.as_white.games,
        )
        for rating in sorted(ratings, key=lambda rating: rating.version_id)
    ]


@pytest.mark.parametrize("anchors", [(), (1, 4)])
def test_each_day_is_a_fit_of_the_games_up_to_it(
    any_league: League, anchors: tuple[int, ...]
) -> None:
    """To the last digit; days without a game have no line, and repeats count once."""
    any_league.set_anchors(*anchors)
    any_league.finish_random(40, lines=2)
    any_league.finish_random(30, seed=2, lines=2, day=1)
    any_league.finish_random(50, seed=3, lines=2, day=4)
    assert update(any_league, day=5)
    wanted = [
        row
        for cutoff, day in ((40, 0), (70, 1), (120, 4))
        for row in rated_up_to(any_league, cutoff, day)
    ]
    assert kept(any_league) == wanted


def test_the_games_of_a_day_are_foretold_by_the_days_before(any_league: League) -> None:
    """Not those of the first, nor of newcomers, nor repeats."""
    any_league.finish(*[(0, 1, BLACK), (1, 0, WHITE)] * 20)
    any_league.finish((0, 1, BLACK), (1, 0, WHITE), (0, 1, BLACK), (0, 1, DRAW), day=2)
    any_league.finish((0, 1, BLACK), line=(7,), day=2)
    any_league.finish((0, 1, BLACK), line=(7,), day=2)
    newcomer = any_league.add_bot()
    any_league.finish((newcomer, 0, BLACK), (0, newcomer, WHITE), day=2)
    assert update(any_league, day=3)
    found = foretold(any_league)
    assert {row.day for row in found} == {FIRST + timedelta(days=2)}
    assert sum(row.games for row in found) == 5
    assert sum(row.points for row in found) == 4.5


def test_what_was_foretold_depends_on_no_order(league: League) -> None:
    """Days that are looked at one by one have the same as all at once."""
    for day in range(4):
        league.finish_random(30, seed=day, day=day)
        update(league, day=day + 1)
    found = foretold(league)
    league.set_anchors(0)
    assert update(league, day=5)
    assert foretold(league) == found
    assert len({row.day for row in found}) == 3
    league.void(40)
    update(league, day=5)
    again = foretold(league)
    assert sum(row.games for row in again) == 89
    assert again != found


def test_today_is_left_out(league: League) -> None:
    """Its games are in the published run; a day is over some minutes after midnight."""
    league.finish((0, 1, BLACK))
    league.finish((0, 1, BLACK), day=1)
    minutes = DAY_CLOSE_DELAY / timedelta(hours=1)
    update(league, day=2, hour=minutes - 0.001)
    assert days_of(league) == {0: 2}
    update(league, day=2, hour=minutes)
    assert days_of(league) == {0: 2, 1: 2}


def test_nothing_is_rebuilt_without_a_change(league: League) -> None:
    """New games of today change no day that is over; with the next look theirs is added."""
    league.finish((0, 1, BLACK))
    assert update(league, day=1)
    league.finish((1, 0, BLACK), day=1)
    with capture_logs() as logs:
        assert not update(league, day=1)
    assert [line["event"] for line in logs] == ["ladder published"]
    assert update(league, day=2)
    assert days_of(league) == {0: 2, 1: 2}


def test_a_voided_game_of_the_past_is_not_rated(league: League) -> None:
    """Every day since then is another one."""
    league.finish((0, 1, BLACK), (0, 1, WHITE), (1, 2, BLACK))
    league.finish((1, 2, BLACK), day=1)
    update(league, day=2)
    before = kept(league)
    league.void(2)
    assert update(league, day=2)
    after = kept(league)
    assert after == rated_up_to(league, 3, 0) + rated_up_to(league, 4, 1)
    assert [after[place] == before[place] for place in (0, 3)] == [False, False]


def test_a_repeat_takes_a_voided_games_place_on_its_own_day(league: League) -> None:
    league.finish((0, 1, BLACK), line=(7,))
    league.finish((0, 1, BLACK), line=(7,), day=1)
    update(league, day=2)
    assert days_of(league) == {0: 2}
    league.void(1)
    assert update(league, day=2)
    assert days_of(league) == {1: 2}


def test_new_anchors_and_algorithms_rewrite_the_past(
    league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All days are relative to the anchors of now; once."""
    league.finish((0, 1, BLACK), (1, 0, DRAW))
    update(league, day=1)
    league.set_anchors(0)
    assert update(league, day=1)
    assert kept(league)[0].elo == 1500.0
    monkeypatch.setattr(history, "ALGORITHM", "newer")
    assert update(league, day=1)
    assert not update(league, day=1)


def test_other_ladders_keep_their_history(
    league: League,
) -> None:
    other = League(league.database, name="standard-15x15")
    for each in (league, other):
        each.finish((0, 1, BLACK))
        update(each, day=1)
    league.void(1)
    due = league.database.read(lambda at: due_ladders(at, MIDNIGHT + timedelta(days=1, hours=1)))
    assert due == [league.ladder_id]
    update(league, day=1)
    assert {row.version_id for row in kept(league)} == set(other.versions[:2])
