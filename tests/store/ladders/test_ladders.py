"""Ladders found, listed, anchored and marked, on SQLite and PostgreSQL."""

from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy import Connection, delete, update
from tests.store.league import League
from tests.store.made_up import publish, run_of
from tests.store.stored import stored

from meijin.game import Result, TimeClasses
from meijin.store import Database
from meijin.store.errors import TimeClassError, UnknownLadderError
from meijin.store.ladders import ladders
from meijin.store.ladders.ladders import LadderBacklog
from meijin.store.schema import Ladder, LadderId, Tournament

DRAW = Result.DRAW


def test_a_ladder_is_dirty_until_its_revision_is_published(any_league: League) -> None:
    """A run of an older revision leaves it dirty; a backlog tells how far all of them are behind."""
    other = League(any_league.database, name="other")
    database, ladder_id = any_league.database, any_league.ladder_id
    assert database.read(ladders.backlog) == LadderBacklog(0, 0, oldest=None)
    any_league.finish((0, 1, DRAW), (1, 0, DRAW), (0, 2, DRAW))
    assert database.read(ladders.dirty_ladders) == [ladder_id]
    assert database.read(ladders.backlog) == LadderBacklog(1, 3, oldest=None)
    run = run_of(any_league, 1)
    publish(any_league, run)
    assert database.read(ladders.is_dirty, ladder_id)
    other.finish((0, 1, DRAW))
    assert database.read(ladders.backlog) == LadderBacklog(2, 2, run.create_time)
    publish(any_league, run_of(any_league, 3))
    assert not database.read(ladders.is_dirty, ladder_id)
    assert database.read(ladders.dirty_ladders) == [other.ladder_id]
    assert database.read(ladders.backlog) == LadderBacklog(1, 1, oldest=None)


def test_a_run_of_another_algorithm_is_outdated(any_league: League) -> None:
    """Its ladder becomes dirty, so that the same games are computed anew."""
    database = any_league.database
    current, dirty = (League(database, name=name, bots=2) for name in ("current", "dirty"))
    publish(any_league, run_of(any_league, 4))
    publish(current, replace(run_of(current, 4), algorithm="newer"))
    publish(dirty, run_of(dirty, 4))
    for league, revision in ((any_league, 4), (current, 4), (dirty, 9)):
        change = update(Ladder).where(Ladder.id == league.ladder_id).values(revision=revision)
        database.write(Connection.execute, statement=change)
    database.write(ladders.mark_outdated, "newer")
    found = dict(stored(database, Ladder.name, Ladder.revision))
    assert found == {"current": 4, "dirty": 9, "freestyle-15x15": 5}
    assert publish(any_league, replace(run_of(any_league, 5), algorithm="newer"))


def test_anchors_are_set_and_change_the_ladder(any_league: League) -> None:
    """Sorted and each once; none at all is a setting too."""
    for numbers in ((), (3, 1), (2,), ()):
        any_league.set_anchors(*numbers)
        found = any_league.database.read(ladders.anchors, any_league.ladder_id)
        assert found == sorted(any_league.versions[number] for number in numbers)
    assert stored(any_league.database, Ladder.revision) == [4]


def test_ladders_are_listed_by_name(any_league: League) -> None:
    """Pages follow each other by the last name."""
    for name in ("a", "z"):
        League(any_league.database, name=name, bots=2)
    any_league.finish((0, 1, DRAW))
    pages = {
        after: any_league.database.read(ladders.list_ladders, limit=2, after=after)
        for after in ("", "freestyle-15x15", "z")
    }
    names = [[summary.name for summary in page] for page in pages.values()]
    assert names == [["a", "freestyle-15x15"], ["z"], []]
    found = pages[""][1]
    assert (found.games, found.is_current) == (1, False)


def find(league: League, name: str) -> LadderId:
    return league.database.read(ladders.get_ladder, name)


def test_a_wrong_name_is_told_the_right_ones(any_league: League) -> None:
    """With several ladders, a missing name is wrong too; the only one needs none."""
    for name in ("", "freestyle-15x15", "freestyle"):
        assert find(any_league, name) == any_league.ladder_id
    message = r'^no ladder "freestile"; did you mean "freestyle-15x15"\?$'
    with pytest.raises(UnknownLadderError, match=message):
        find(any_league, "freestile")
    League(any_league.database, name="standard-15x15", bots=2)
    names = "there are: freestyle-15x15, standard-15x15"
    with pytest.raises(UnknownLadderError, match=f'^no ladder "x"; {names}$'):
        find(any_league, "x")
    with pytest.raises(UnknownLadderError, match=f"^name a ladder; {names}$"):
        find(any_league, "")


def test_a_variant_means_the_ladder_of_the_one_class_with_games(any_league: League) -> None:
    """However it is written; with games of several classes their names are told."""
    database = any_league.database
    names = ("freestyle-15x15-blitz", "freestyle-15x15-rapid")
    blitz, rapid = (League(database, name=name, bots=2) for name in names)
    for column in (Tournament.ladder_id, Ladder.id):
        gone = delete(column.table).where(column == any_league.ladder_id)
        database.write(Connection.execute, statement=gone)
    with pytest.raises(UnknownLadderError, match=f"name one of: {', '.join(names)}$"):
        find(rapid, "freestyle-15x15")
    rapid.finish((0, 1, DRAW))
    for name in ("", "freestyle-15x15", "15x15", "freestyle 15x15"):
        assert find(rapid, name) == rapid.ladder_id
    assert find(rapid, "freestyle-15x15-blitz") == blitz.ladder_id
    with pytest.raises(UnknownLadderError, match=r'^no ladder "standard-15x15"; there are: '):
        find(rapid, "standard-15x15")
    blitz.finish((0, 1, DRAW))
    with pytest.raises(UnknownLadderError, match="has a ladder for each class of time control"):
        find(rapid, "freestyle-15x15")
    with pytest.raises(UnknownLadderError, match=r"^name a ladder; there are: "):
        find(rapid, "")


@pytest.mark.parametrize(
    ("classes", "problem"),
    [
        ("ultrabullet=4,bullet=20,slow", ""),
        ("quick=1,slow", ""),
        ("ultrabullet=5,slow", 'the class "ultrabullet 0-5" has the name of "ultrabullet 0-4"'),
        ("quick=1,ultrabullet", 'the class "ultrabullet 1-" has the name'),
    ],
)
def test_a_class_keeps_its_bounds(any_league: League, classes: str, problem: str) -> None:
    """A class that has a ladder may be left out, but its name means what it meant."""
    check = partial(ladders.check_time_classes, classes=TimeClasses.parse(classes))
    if problem:
        with pytest.raises(TimeClassError, match=problem):
            any_league.database.read(check)
    else:
        any_league.database.read(check)


def test_a_server_without_a_ladder_says_so(database: Database) -> None:
    """The message tells where ladders come from, or names the id."""
    with pytest.raises(UnknownLadderError, match="the first rated tournament makes one"):
        database.read(ladders.get_ladder, "")
    for question in (ladders.is_dirty, ladders.summary):
        with pytest.raises(UnknownLadderError, match="no ladder has the id 999"):
            database.read(question, ladder_id=LadderId(999))
