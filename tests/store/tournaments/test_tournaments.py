"""Tournaments: made, loaded, listed and counted."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError
from tests.store.conftest import AddBots, Planner, Scene
from tests.store.endings import VOID, end_of
from tests.store.stored import stored

from meijin.game import TIME_CLASSES, Result, TimeClasses, TimeControl, Variant
from meijin.store import Database, tournaments
from meijin.store.errors import RowNotFoundError
from meijin.store.games import get_game
from meijin.store.journal import JournalEntry, commit_entry
from meijin.store.schema import (
    EntryId,
    Ladder,
    Pairing,
    TournamentId,
    TournamentState,
)
from meijin.store.tournaments import PlannedGame, TournamentEnd, ladder_name

OPENING = b"\x70\x00"
DRAW: dict[str, Any] = {"result": Result.DRAW}


def start(database: Database, scene: Scene, *games: int) -> None:
    """Start a game of each of the scene's pairings with these indexes."""
    entry = JournalEntry(EntryId(min(games) + 1))
    entry.starts = [scene.start(pairing, pairing + 1) for pairing in games]
    database.write(commit_entry, entry)


def finish(database: Database, scene: Scene, pairing: int, game_id: int, end: Any) -> None:
    """End the game of the scene's pairing with this index."""
    ends = [end_of(scene, pairing, game_id, **end)]
    database.write(commit_entry, JournalEntry(EntryId(100 + game_id), ends=ends))


def pending(database: Database, scene: Scene) -> list[int]:
    rows = database.read(tournaments.pending_pairings, scene.tournament_id)
    return [row.number for row in rows]


def some_games(scene: Scene, *controls: str | None) -> list[PlannedGame]:
    clocks = [None if each is None else TimeControl.parse(each) for each in controls]
    return [
        PlannedGame(number, *scene.bots, OPENING, f"for reason {number}", clock)
        for number, clock in enumerate(clocks, start=1)
    ]


# -- making -----------------------------------------------------------------------


def test_a_tournament_comes_back_as_it_was_made(planner: Planner, add_bots: AddBots) -> None:
    """Every setting, and the bots in the order of entry; there may be no game at first."""
    bots = add_bots("zoe", "ada", "bob")
    for plan in (
        planner.plan(bots, games=3, request_id="again"),
        planner.plan(bots, games=0, openings=(OPENING, b""), options={"elo0": 0, "elo1": 10}),
    ):
        row = planner.get(planner.add(plan))
        assert {name: getattr(row, name) for name in plan.values()} == plan.values()
        assert row.bots == tuple(zip(bots, ("zoe", "ada", "bob"), strict=True))
        assert (row.planned, row.finished, row.running) == (len(plan.schedule), 0, 0)
        assert (row.state, row.end_time, row.verdict) == (TournamentState.RUNNING, None, "")


def test_an_open_tournament_s_bots_are_those_of_its_games(
    planner: Planner, add_bots: AddBots
) -> None:
    """By name, whichever colour they have had."""
    bots = add_bots("zoe", "ada", "bob")
    row = planner.get(planner.add(replace(planner.plan(bots, games=1), bots=())))
    assert row.bots == ((bots[1], "ada"), (bots[0], "zoe"))


def test_rated_tournaments_of_a_variant_share_its_ladder(
    database: Database, planner: Planner, add_bots: AddBots
) -> None:
    """The first makes the ladder; an unrated tournament has none."""
    bots = add_bots("ada", "bob")
    plans = [planner.plan(bots, is_rated=is_rated) for is_rated in (True, True, False)]
    rows = [planner.get(planner.add(plan)) for plan in plans]
    assert [row.ladder for row in rows] == ["freestyle-15x15-blitz", "freestyle-15x15-blitz", ""]
    (ladder_id,) = stored(database, Ladder.id)
    assert [row.ladder_id for row in rows] == [ladder_id, ladder_id, None]


@pytest.mark.parametrize(
    ("variant", "name"),
    [
        (Variant(), "freestyle-15x15-rapid"),
        (Variant(width=3, height=4, line=3), "freestyle-3x4-line-3-rapid"),
    ],
)
def test_ladder_names(variant: Variant, name: str) -> None:
    """A ladder is called like its variant and its class, without spaces."""
    assert ladder_name(variant, TIME_CLASSES.of(TimeControl.parse("5/move"))) == name


def test_a_request_is_found_again(database: Database, planner: Planner, add_bots: AddBots) -> None:
    """A request id finds its tournament, and makes no second one even in a race."""
    bots = add_bots("ada", "bob")
    made, _, _ = (planner.add(planner.plan(bots, request_id=each)) for each in ("r1", None, None))
    assert database.read(tournaments.find_request, "r1") == (made, TournamentState.RUNNING)
    assert database.read(tournaments.find_request, "r2") is None
    with pytest.raises(IntegrityError):
        planner.add(planner.plan(bots, request_id="r1"))


# -- pairings ---------------------------------------------------------------------


def test_pairings_wait_until_they_have_a_game_that_counts(database: Database, scene: Scene) -> None:
    """A running or finished game takes its pairing out, a void one brings it back."""
    assert pending(database, scene) == [1, 2, 3, 4]
    start(database, scene, 0, 1, 2)
    assert pending(database, scene) == [4]
    running = database.read(tournaments.running_pairings)
    assert running == {each.id: each for each in scene.pairings[:3]}
    finish(database, scene, 0, 1, DRAW)
    finish(database, scene, 1, 2, VOID)
    assert pending(database, scene) == [2, 4]
    running = database.read(tournaments.running_pairings)
    assert running == {scene.pairings[2].id: scene.pairings[2]}
    row = database.read(tournaments.get_tournament, scene.tournament_id)
    assert (row.planned, row.finished, row.running) == (4, 1, 1)


def test_a_pairing_keeps_its_colours_and_opening(scene: Scene) -> None:
    first, second = scene.pairings[:2]
    assert (first.black_id, first.white_id) == scene.bots
    assert (second.black_id, second.white_id) == scene.bots[::-1]
    assert first.opening == bytes((112, 0, 113, 0))


def test_pairings_are_added_once(database: Database, planner: Planner, scene: Scene) -> None:
    """Their first number tells whether they are there; a decided tournament takes no more."""
    key = planner.add(planner.plan(scene.bots, games=0, options={"most_games": 8}))
    assert database.read(tournaments.last_number, key) == 0
    games = some_games(scene, None, None)
    made = database.write(tournaments.add_pairings, key, 1, games)
    again = database.write(tournaments.add_pairings, key, 1, games[:1])
    more = database.write(tournaments.add_pairings, key, 3, games[:1])
    assert again == made
    assert [pairing.number for pairing in (*made, *more)] == [1, 2, 3]
    assert made[0].opening == OPENING
    assert database.read(tournaments.pending_pairings, key) == [*made, *more]
    reasons = stored(database, Pairing.reason, where=Pairing.tournament_id == key)
    assert reasons == ["for reason 1", "for reason 2", "for reason 1"]
    database.write(tournaments.set_state, key, TournamentState.FINISHED)
    assert database.write(tournaments.add_pairings, key, 4, games) == []
    assert database.read(tournaments.last_number, key) == 3


def test_a_pairing_may_have_a_clock_of_its_own(
    database: Database, planner: Planner, scene: Scene
) -> None:
    """It comes back with it, and its game has it instead of the tournament's."""
    key = planner.add(planner.plan(scene.bots, games=0, options={}))
    games = some_games(scene, "15+0.125", None)
    made = database.write(tournaments.add_pairings, key, 1, games)
    assert [each.time_control for each in made] == [each.time_control for each in games]
    assert database.read(tournaments.pending_pairings, key) == made
    starts = [
        replace(scene.start(0, number), pairing_id=pairing.id, tournament_id=key)
        for number, pairing in enumerate(made, start=1)
    ]
    database.write(commit_entry, JournalEntry(EntryId(1), starts=starts))
    found = [database.read(get_game, game_id=start.id) for start in starts]
    assert [str(game.time_control) for game in found] == ["15+0.125", "60+0.5"]


def test_a_pairing_of_another_class_has_a_ladder_of_its_own(
    database: Database, planner: Planner, scene: Scene
) -> None:
    """By the server's classes; one that is of the tournament's class has none, nor an unrated."""
    games = some_games(scene, None, "1+0.1", "30", "1+0.1")

    def ladders(*, is_rated: bool, classes: TimeClasses = TIME_CLASSES) -> list[str | None]:
        plan = planner.plan(scene.bots, games=0, options={}, is_rated=is_rated)
        key = planner.add(replace(plan, time_classes=classes))
        made = database.write(tournaments.add_pairings, key, 1, games, classes)
        names = dict(stored(database, Ladder.id, Ladder.name))
        return [None if each.ladder_id is None else names[each.ladder_id] for each in made]

    bullet, quick = "freestyle-15x15-bullet", "freestyle-15x15-quick"
    assert ladders(is_rated=True) == [None, bullet, None, bullet]
    assert ladders(is_rated=False) == [None] * 4
    two = TimeClasses.parse("quick=40,slow")
    assert ladders(is_rated=True, classes=two) == [None, quick, quick, quick]


@pytest.mark.parametrize("end", [None, {"result": Result.BLACK_WINS}])
def test_a_pairing_is_played_once(
    database: Database, scene: Scene, end: dict[str, Any] | None
) -> None:
    """A second game is refused, running or not, but after void ones, however many."""
    for game_id in (50, 51):
        entry = JournalEntry(EntryId(game_id), starts=[scene.start(0, game_id)])
        database.write(commit_entry, entry=entry)
        finish(database, scene, 0, game_id, VOID)
    start(database, scene, 0)
    if end is not None:
        finish(database, scene, 0, 1, end)
    assert pending(database, scene) == [2, 3, 4]
    with pytest.raises(IntegrityError):
        database.write(commit_entry, JournalEntry(EntryId(60), starts=[scene.start(0, 60)]))


# -- states and counts ------------------------------------------------------------


def test_cancelled_tournaments_are_not_played_on(
    database: Database, planner: Planner, scene: Scene
) -> None:
    """Only running tournaments are taken up by a server, oldest first."""
    other = planner.add(planner.plan(scene.bots))
    assert database.read(tournaments.running_tournaments) == [scene.tournament_id, other]
    database.write(tournaments.set_state, scene.tournament_id, TournamentState.CANCELLED)
    assert database.read(tournaments.running_tournaments) == [other]
    assert planner.get(scene.tournament_id).state is TournamentState.CANCELLED


@pytest.mark.parametrize("end", [DRAW, VOID])
@pytest.mark.parametrize("begun", [0, 1])
def test_a_verdict_drops_pairs_that_have_not_begun(
    database: Database, planner: Planner, scene: Scene, begun: int, end: dict[str, Any]
) -> None:
    """One of which either game ran, be it void, keeps its place with the other game."""
    start(database, scene, begun)
    finish(database, scene, begun, begun + 1, end)
    given = TournamentEnd(scene.tournament_id, scene.now, "all is known" * 20)
    database.write(tournaments.finish_tournament, given)
    row = planner.get(scene.tournament_id)
    assert (row.state, row.end_time) == (TournamentState.FINISHED, scene.now)
    assert row.verdict == given.verdict[:200]
    assert stored(database, Pairing.number) == [1, 2]


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_without_a_verdict_nothing_is_dropped(
    database: Database, planner: Planner, scene: Scene, *, is_cancelled: bool
) -> None:
    """Nor from a tournament that was cancelled meanwhile, which stays so."""
    then = TournamentState.FINISHED
    if is_cancelled:
        then = TournamentState.CANCELLED
        database.write(tournaments.set_state, scene.tournament_id, then)
    end = TournamentEnd(scene.tournament_id, scene.now, "known" if is_cancelled else "")
    database.write(tournaments.finish_tournament, end)
    assert pending(database, scene) == [1, 2, 3, 4]
    assert planner.get(scene.tournament_id).state is then


def test_tournaments_are_listed_newest_first_in_pages(
    database: Database, planner: Planner, scene: Scene
) -> None:
    """Each page begins before the last id of the one before."""
    made = [scene.tournament_id, *(planner.add(planner.plan(scene.bots)) for _ in range(3))]
    first = database.read(tournaments.list_tournaments, limit=3)
    second = database.read(tournaments.list_tournaments, limit=3, before=first[-1].id)
    assert ([row.id for row in (*first, *second)], len(first)) == (made[::-1], 3)
    with pytest.raises(RowNotFoundError, match="no tournament 999; list the tournaments"):
        planner.get(TournamentId(999))
