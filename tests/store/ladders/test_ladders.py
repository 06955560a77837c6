"""Ladders found, listed, anchored and marked, on SQLite and PostgreSQL."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import delete, select, update
from tests.store.made_up import publish, run_of

from meijin.game import Result, TimeClasses
from meijin.store import Database
from meijin.store.errors import TimeClassError, UnknownLadderError
from meijin.store.ladders import ladders
from meijin.store.ladders.ladders import LadderBacklog
from meijin.store.schema import Ladder, LadderId, Tournament

if TYPE_CHECKING:
    from tests.store.league import League

DRAW = Result.DRAW


def test_a_ladder_is_dirty_until_its_revision_is_published(
    any_league: "League", make_league: "type[League]"
) -> None:
    """A run of an older revision leaves it dirty."""
    make_league(any_league.database, name="clean")
    database, ladder_id = any_league.database, any_league.ladder_id
    any_league.finish((0, 1, DRAW), (1, 0, DRAW))
    assert database.read(ladders.dirty_ladders) == [ladder_id]
    publish(any_league, run_of(any_league, 1))
    assert database.read(lambda connection: ladders.is_dirty(connection, ladder_id))
    publish(any_league, run_of(any_league, 2))
    assert database.read(ladders.dirty_ladders) == []
    assert not database.read(lambda connection: ladders.is_dirty(connection, ladder_id))


def test_a_run_of_another_algorithm_is_outdated(
    any_league: "League", make_league: "type[League]"
) -> None:
    """Its ladder becomes dirty, so that the same games are computed anew."""
    database = any_league.database
    current, dirty = (make_league(database, name=name, bots=2) for name in ("current", "dirty"))
    publish(any_league, run_of(any_league, 4))
    publish(current, replace(run_of(current, 4), algorithm="newer"))
    publish(dirty, run_of(dirty, 4))
    for league, revision in ((any_league, 4), (current, 4), (dirty, 9)):
        change = update(Ladder).where(Ladder.id == league.ladder_id).values(revision=revision)
        with database.writer.begin() as connection:
            connection.execute(change)
    database.write(lambda connection: ladders.mark_outdated(connection, "newer"))
    revisions = select(Ladder.name, Ladder.revision).order_by(Ladder.name)
    found = database.read(lambda connection: dict(connection.execute(revisions).all()))
    assert found == {"current": 4, "dirty": 9, "freestyle-15x15": 5}
    assert publish(any_league, replace(run_of(any_league, 5), algorithm="newer"))


def test_anchors_are_set_and_change_the_ladder(any_league: "League") -> None:
    """Sorted and each once; none at all is a setting too."""

    def anchors() -> list[int]:
        return list(
            any_league.database.read(
                lambda connection: ladders.anchors(connection, any_league.ladder_id)
            )
        )

    assert anchors() == []
    any_league.set_anchors(3, 1)
    assert anchors() == sorted((any_league.versions[1], any_league.versions[3]))
    any_league.set_anchors(2)
    assert anchors() == [any_league.versions[2]]
    any_league.set_anchors()
    assert anchors() == []
    revision = select(Ladder.revision).where(Ladder.id == any_league.ladder_id)
    assert any_league.database.read(lambda connection: connection.scalar(revision)) == 3


def test_ladders_are_listed_by_name(any_league: "League", make_league: "type[League]") -> None:
    """Pages follow each other by the last name."""
    for name in ("a", "z"):
        make_league(any_league.database, name=name, bots=2)
    any_league.finish((0, 1, DRAW))

    def page(after: str) -> list[str]:
        return [
            summary.name
            for summary in any_league.database.read(
                lambda connection: ladders.list_ladders(connection, limit=2, after=after)
            )
        ]

    assert page("") == ["a", "freestyle-15x15"]
    assert page("freestyle-15x15") == ["z"]
    assert page("z") == []
    (found,) = any_league.database.read(
        lambda connection: ladders.list_ladders(connection, limit=1, after="a")
    )
    assert (found.games, found.is_current) == (1, False)


@pytest.mark.parametrize("name", ["", "freestyle-15x15"])
def test_the_only_ladder_needs_no_name(any_league: "League", name: str) -> None:
    """Without a name it is meant anyway."""
    found = any_league.database.read(lambda connection: ladders.get_ladder(connection, name))
    assert found == any_league.ladder_id


def test_a_wrong_name_is_told_the_right_ones(
    any_league: "League", make_league: "type[League]"
) -> None:
    """With several ladders, a missing name is wrong too."""
    database = any_league.database
    make_league(database, name="standard-15x15", bots=2)
    names = "there are: freestyle-15x15, standard-15x15"
    with pytest.raises(UnknownLadderError, match=f'^no ladder "x"; {names}$'):
        database.read(lambda connection: ladders.get_ladder(connection, "x"))
    with pytest.raises(UnknownLadderError, match=f"^name a ladder; {names}$"):
        database.read(lambda connection: ladders.get_ladder(connection, ""))


def test_a_variant_means_the_ladder_of_the_one_class_with_games(
    any_league: "League", make_league: "type[League]"
) -> None:
    """However it is written; with games of several classes their names are told."""
    database = any_league.database
    names = ("freestyle-15x15-blitz", "freestyle-15x15-rapid")
    blitz, rapid = (make_league(database, name=name, bots=2) for name in names)
    with database.writer.begin() as connection:
        connection.execute(delete(Tournament).where(Tournament.ladder_id == any_league.ladder_id))
        connection.execute(delete(Ladder).where(Ladder.id == any_league.ladder_id))

    def found(name: str) -> LadderId:
        return database.read(partial(ladders.get_ladder, name=name))

    with pytest.raises(UnknownLadderError, match=f"name one of: {', '.join(names)}$"):
        found("freestyle-15x15")
    rapid.finish((0, 1, DRAW))
    for name in ("", "freestyle-15x15", "15x15", "freestyle 15x15"):
        assert found(name) == rapid.ladder_id
    assert found("freestyle-15x15-blitz") == blitz.ladder_id
    with pytest.raises(UnknownLadderError, match=r'^no ladder "standard-15x15"; there are: '):
        found("standard-15x15")
    blitz.finish((0, 1, DRAW))
    with pytest.raises(UnknownLadderError, match="has a ladder for each class of time control"):
        found("freestyle-15x15")
    with pytest.raises(UnknownLadderError, match=r"^name a ladder; there are: "):
        found("")


@pytest.mark.parametrize(
    ("classes", "problem"),
    [
        ("ultrabullet=4,bullet=20,slow", ""),
        ("quick=1,slow", ""),
        ("ultrabullet=5,slow", 'the class "ultrabullet 0-5" has the name of "ultrabullet 0-4"'),
        ("quick=1,ultrabullet", 'the class "ultrabullet 1-" has the name'),
    ],
)
def test_a_class_keeps_its_bounds(any_league: "League", classes: str, problem: str) -> None:
    """A class that has a ladder may be left out, but its name means what it meant."""
    check = partial(ladders.check_time_classes, classes=TimeClasses.parse(classes))
    if problem:
        with pytest.raises(TimeClassError, match=problem):
            any_league.database.read(check)
    else:
        any_league.database.read(check)


def test_a_misspelt_name_is_told_the_closest(any_league: "League") -> None:
    """Instead of all that there are."""
    message = r'^no ladder "freestyle"; did you mean "freestyle-15x15"\?$'
    with pytest.raises(UnknownLadderError, match=message):
        any_league.database.read(lambda connection: ladders.get_ladder(connection, "freestyle"))


def test_a_server_without_a_ladder_says_so(database: Database) -> None:
    """The message tells where ladders come from."""
    with pytest.raises(UnknownLadderError, match="the first rated tournament makes one"):
        database.read(lambda connection: ladders.get_ladder(connection, ""))


def test_an_unknown_ladder_is_named(any_league: "League") -> None:
    """By its id."""
    for question in (ladders.is_dirty, ladders.summary):
        with pytest.raises(UnknownLadderError, match="no ladder has the id 999"):
            any_league.database.read(partial(question, ladder_id=LadderId(999)))


def test_the_backlog_is_that_of_the_ladders_that_have_changed(
    any_league: "League", make_league: "type[League]"
) -> None:
    """How many, the most changes of one, and the oldest run among them."""
    database = any_league.database
    assert database.read(ladders.backlog) == LadderBacklog(outdated=0, changes=0, oldest=None)
    any_league.finish((0, 1, DRAW), (1, 0, DRAW), (0, 2, DRAW))
    assert database.read(ladders.backlog) == LadderBacklog(outdated=1, changes=3, oldest=None)
    run = run_of(any_league, 1)
    publish(any_league, run)
    make_league(database, name="other").finish((0, 1, DRAW))
    assert database.read(ladders.backlog) == LadderBacklog(2, 2, run.create_time)
    publish(any_league, run_of(any_league, 3))
    assert database.read(ladders.backlog) == LadderBacklog(outdated=1, changes=1, oldest=None)
