"""A ladder's past, day by day."""

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Connection, select
from structlog.testing import capture_logs

from meijin.game import Result
from meijin.ladder import history
from meijin.ladder.history import DAY_CLOSE_DELAY, update_history
from meijin.ladder.rating_table import rate
from meijin.ladder.refresh import due_ladders, refresh
from meijin.ladder.tally import Snapshot, Tally
from meijin.store.ladders import ladders
from meijin.store.ladders.days import NewDayRating
from meijin.store.ladders.lineage import parents_of
from meijin.store.ladders.log import logged_games
from meijin.store.schema import RatingDay

if TYPE_CHECKING:
    from tests.store.league import League

FIRST = date(2026, 1, 1)
MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW


def rebuild(league: "League", day: int) -> bool:
    """Publish a run and bring the history up to noon of so many days after the first."""
    return update(league, MIDNIGHT + timedelta(days=day, hours=12))


def update(league: "League", now: datetime) -> bool:
    """Publish a run, and then bring the history up to a moment."""
    refresh(league.database, league.ladder_id, lambda: MIDNIGHT)
    return update_history(league.database, league.ladder_id, now)


def kept(league: "League") -> list[NewDayRating]:
    """The whole history that is kept, by day and version."""
    query = select(
        RatingDay.day, RatingDay.version_id, RatingDay.elo, RatingDay.margin, RatingDay.games
    ).order_by(RatingDay.day, RatingDay.version_id)
    return league.database.read(
        lambda connection: [NewDayRating(*row) for row in connection.execute(query)]
    )


def days_of(league: "League") -> dict[int, int]:
    """How many versions each day has, by days after the first."""
    days = [(row.day - FIRST).days for row in kept(league)]
    return {day: days.count(day) for day in sorted(set(days))}


def rated_up_to(league: "League", cutoff: int, day: int) -> list[NewDayRating]:
    """What a run of the games up to an `end_sequence` says."""
    ladder_id = league.ladder_id

    def read(connection: Connection) -> Snapshot:
        anchors = ladders.anchors(connection, ladder_id)
        voided = ladders.voided_games(connection, ladder_id)
        games = logged_games(connection, ladder_id, cutoff=cutoff, voided=voided)
        ladder = ladders.ladder_row(connection, ladder_id)
        tally = Tally.of(games)
        return Snapshot.of(ladder, tally, anchors, parents_of(connection, tally.versions))

    ratings = rate(league.database.read(read), MIDNIGHT).ratings
    return [
        NewDayRating(
            FIRST + timedelta(days=day),
            rating.version_id,
            rating.line.elo,
            rating.line.margin,
            rating.line.as_black.games + rating.line.as_white.games,
        )
        for rating in sorted(ratings, key=lambda rating: rating.version_id)
    ]


@pytest.mark.parametrize("anchors", [(), (1, 4)])
def test_each_day_is_a_fit_of_the_games_up_to_it(
    any_league: "League", anchors: tuple[int, ...]
) -> None:
    """To the last digit; days without a game have no line, and repeats count once."""
    any_league.set_anchors(*anchors)
    any_league.finish_random(40, lines=2)
    any_league.finish_random(30, seed=2, lines=2, day=1)
    any_league.finish_random(50, seed=3, lines=2, day=4)
    assert rebuild(any_league, 5)
    wanted = [
        row
        for cutoff, day in ((40, 0), (70, 1), (120, 4))
        for row in rated_up_to(any_league, cutoff, day)
    ]
    assert kept(any_league) == wanted


def test_a_bot_is_there_from_its_first_game_on(league: "League") -> None:
    """And stays, with its later ratings, when it plays no more."""
    league.finish((0, 1, BLACK))
    league.finish((2, 3, DRAW), day=1)
    assert rebuild(league, 2)
    assert days_of(league) == {0: 2, 1: 4}


def test_today_is_left_out(league: "League") -> None:
    """Its games are in the published run; a day is over some minutes after midnight."""
    league.finish((0, 1, BLACK))
    league.finish((0, 1, BLACK), day=1)
    midnight = MIDNIGHT + timedelta(days=2)
    update(league, midnight + DAY_CLOSE_DELAY - timedelta(seconds=1))
    assert days_of(league) == {0: 2}
    update(league, midnight + DAY_CLOSE_DELAY)
    assert days_of(league) == {0: 2, 1: 2}


def test_nothing_is_rebuilt_without_a_change(league: "League") -> None:
    """New games of today change no day that is over."""
    league.finish((0, 1, BLACK))
    assert rebuild(league, 1)
    league.finish((1, 0, BLACK), day=1)
    with capture_logs() as logs:
        assert not rebuild(league, 1)
    assert [line["event"] for line in logs] == ["ladder published"]


def test_a_day_that_has_ended_is_added(league: "League") -> None:
    """With the next look."""
    league.finish((0, 1, BLACK))
    rebuild(league, 1)
    league.finish((1, 0, BLACK), day=1)
    assert rebuild(league, 2)
    assert days_of(league) == {0: 2, 1: 2}


def test_a_voided_game_of_the_past_is_not_rated(league: "League") -> None:
    """Every day since then is another one."""
    league.finish((0, 1, BLACK), (0, 1, WHITE), (1, 2, BLACK))
    league.finish((1, 2, BLACK), day=1)
    rebuild(league, 2)
    before = kept(league)
    league.void(2)
    assert rebuild(league, 2)
    after = kept(league)
    assert after == rated_up_to(league, 3, 0) + rated_up_to(league, 4, 1)
    assert [after[place] == before[place] for place in (0, 3)] == [False, False]


def test_a_repeat_takes_a_voided_games_place_on_its_own_day(league: "League") -> None:
    """The day that it was played on, not the voided one's."""
    league.finish((0, 1, BLACK), line=(7,))
    league.finish((0, 1, BLACK), line=(7,), day=1)
    rebuild(league, 2)
    assert days_of(league) == {0: 2}
    league.void(1)
    assert rebuild(league, 2)
    assert days_of(league) == {1: 2}


def test_new_anchors_rewrite_the_past(league: "League") -> None:
    """All days are relative to the anchors of now."""
    league.finish((0, 1, BLACK), (1, 0, DRAW))
    rebuild(league, 1)
    league.set_anchors(0)
    assert rebuild(league, 1)
    assert kept(league)[0].elo == 1500.0


def test_another_algorithm_rewrites_the_past(
    league: "League", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once."""
    league.finish((0, 1, BLACK))
    rebuild(league, 1)
    monkeypatch.setattr(history, "ALGORITHM", "newer")
    assert rebuild(league, 1)
    assert not rebuild(league, 1)


def test_other_ladders_keep_their_history(league: "League", make_league: "type[League]") -> None:
    """Each has its own."""
    other = make_league(league.database, name="standard-15x15")
    for each in (league, other):
        each.finish((0, 1, BLACK))
        rebuild(each, 1)
    league.void(1)
    due = league.database.read(lambda at: due_ladders(at, MIDNIGHT + timedelta(days=1, hours=1)))
    assert due == [league.ladder_id]
    rebuild(league, 1)
    assert {row.version_id for row in kept(league)} == set(other.versions[:2])
