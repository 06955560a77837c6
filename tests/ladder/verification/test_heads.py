"""Heads that somebody has kept, and histories that were rewritten since."""

import pytest
from sqlalchemy import Connection, delete, update
from tests.ladder.verification.real_games import publish
from tests.store.league import BLACK, WHITE, League

from meijin.ladder.verification.heads import check_heads, heads_in
from meijin.ladder.verification.verify import verify
from meijin.store import Database
from meijin.store.ladders.heads import Head, head_of
from meijin.store.schema import CalibrationDay, DayTally, Ladder, RatingDay


@pytest.fixture
def league(database: Database) -> League:
    made = League(database)
    made.finish((0, 1, BLACK), (1, 2, WHITE), (2, 0, BLACK))
    publish(made, 0)
    return made


def head(league: League) -> Head:
    found = league.database.read(head_of, league.ladder_id)
    assert found is not None
    return found


def play_on(league: League, day: int) -> None:
    league.finish((0, 1, WHITE), (1, 2, WHITE), (3, 4, BLACK), day=day)
    publish(league, day)


def rewrite(league: League, number: int) -> None:
    """Give a game another result, forget what was computed of it, and have all computed anew."""

    def change(connection: Connection) -> None:
        for model in (DayTally, RatingDay, CalibrationDay):
            connection.execute(delete(model))
        connection.execute(update(Ladder).values(revision=Ladder.revision + 1))

    league.change_game(number, result=BLACK)
    league.database.write(change)


def test_a_head_is_read_as_it_is_written(league: League) -> None:
    """Among the lines of a signed file too."""
    made = head(league)
    assert str(made).startswith("meijin-head rao-kupper-3 freestyle-15x15 2026-01-01 3 3 0 ")
    assert heads_in(f"-- signed --\n{made}\n-- by ada --") == [made]
    with pytest.raises(ValueError, match="no head, which begins with meijin-head"):
        heads_in("meijin-head freestyle-15x15")


def test_heads_stand_while_games_are_added(league: League) -> None:
    """However many there are, and whatever order they are given in."""
    heads = [head(league)]
    for day in (1, 2):
        play_on(league, day)
        heads.append(head(league))
    found = check_heads(str(league.database.url), heads[::-1])
    assert [(each.head, each.is_kept, each.voids) for each in found] == [
        (each, True, ()) for each in heads
    ]


def test_a_rewritten_history_is_found_by_an_old_head_alone(league: League) -> None:
    """All that the database says of itself is consistent."""
    first = head(league)
    play_on(league, 1)
    yesterday = head(league)
    rewrite(league, 4)
    publish(league, 2)
    assert verify(league.database, league.ladder_id).differences == ()
    found = check_heads(str(league.database.url), [first, yesterday, head(league)])
    assert [each.is_kept for each in found] == [True, False, True]


def test_a_game_that_was_taken_away_is_found(league: League) -> None:
    made = head(league)
    league.change_game(3, ladder_id=None)
    (found,) = check_heads(str(league.database.url), [made])
    assert (found.is_kept, found.games) == (False, 2)


def test_lawful_voids_are_told_and_no_rewriting(league: League) -> None:
    """The games up to the head are what they were; those before it are none of its matter."""
    league.void(2)
    play_on(league, 1)
    made = head(league)
    assert (made.games, made.voided) == (5, 1)
    league.void(1)
    league.finish((0, 1, WHITE), day=2)
    league.void(7)
    publish(league, 2)
    (found,) = check_heads(str(league.database.url), [made])
    assert found.is_kept
    assert found.voids == ('game 1000001 on 2026-01-01 12:00 UTC: "a test"',)
