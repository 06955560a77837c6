"""Tournaments: made, loaded, listed and counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from tests.store.endings import recount

from meijin.game import TIME_CLASSES, Ending, Party, Result, TimeClasses, TimeControl, Variant
from meijin.store import Database, tournaments
from meijin.store.errors import UnknownTournamentError
from meijin.store.games import get_game
from meijin.store.journal import JournalEntry, commit_entry
from meijin.store.schema import (
    BotId,
    EntryId,
    Game,
    GameState,
    Ladder,
    Pairing,
    TournamentId,
    TournamentState,
)
from meijin.store.tournaments import PlannedGame, TournamentEnd, ladder_name

if TYPE_CHECKING:
    from tests.store.conftest import Planner, Scene


OPENING = b"\x70\x00"


def start(database: Database, scene: Scene, *games: int) -> None:
    """Start a game of each of the scene's pairings with these indexes."""
    entry = JournalEntry(EntryId(min(games) + 1))
    entry.starts = [scene.start(pairing, pairing + 1) for pairing in games]
    database.write(lambda to: commit_entry(to, entry))


def finish(
    database: Database,
    game: int,
    result: Result,
    *,
    ending: Ending = Ending.FIVE,
    at_fault: Party = Party.NOBODY,
) -> None:
    """Write the end of the game of this pairing straight into its row."""
    state = GameState.VOID if result is Result.NONE else GameState.FINISHED
    query = update(Game).where(Game.id == game + 1)
    values = {"state": state, "result": result, "ending": ending, "at_fault": at_fault}
    database.write(lambda to: to.execute(query.values(values)))
    database.write(recount)


def pending(database: Database, scene: Scene) -> list[int]:
    """The numbers of the pairings that wait."""
    rows = database.read(lambda at: tournaments.pending_pairings(at, scene.tournament_id))
    return [row.number for row in rows]


# -- making -----------------------------------------------------------------------


def test_a_tournament_comes_back_as_it_was_made(
    planner: Planner, add_bots: Callable[..., tuple[BotId, ...]]
) -> None:
    """Every setting, and the bots in the order of entry."""
    bots = add_bots("zoe", "ada", "bob")
    plan = planner.plan(bots, games=3, request_id="again")
    row = planner.get(planner.add(plan))
    assert (row.name, row.format, row.rounds, row.seed) == (
        plan.name,
        plan.format,
        plan.rounds,
        plan.seed,
    )
    assert (row.variant, row.time_control) == (plan.variant, plan.time_control)
    assert row.max_games == plan.max_games
    assert row.bots == ((bots[0], "zoe"), (bots[1], "ada"), (bots[2], "bob"))
    assert (row.planned, row.finished, row.running) == (3, 0, 0)
    assert row.state is TournamentState.RUNNING
    assert row.end_time is None


def test_openings_and_test_come_back(
    planner: Planner, add_bots: Callable[..., tuple[BotId, ...]]
) -> None:
    """What was given is told; what is planned as it is needed has no game at first."""
    bots = add_bots("ada", "bob")
    openings = (b"\x70\x00", b"")
    options = {"elo0": 0, "elo1": 10, "most_games": 400}
    row = planner.get(planner.add(planner.plan(bots, games=0, openings=openings, options=options)))
    assert (row.openings, row.options, row.planned) == (openings, options, 0)
    assert row.verdict == ""
    plain = planner.get(planner.add(planner.plan(bots)))
    assert (plain.openings, plain.options, plain.planned) == ((), None, 4)


def test_an_open_tournament_s_bots_are_those_of_its_games(
    planner: Planner, add_bots: Callable[..., tuple[BotId, ...]]
) -> None:
    """By name, whichever colour they have had."""
    bots = add_bots("zoe", "ada", "bob")
    row = planner.get(planner.add(replace(planner.plan(bots, games=1), bots=())))
    assert row.bots == ((bots[1], "ada"), (bots[0], "zoe"))


def test_rated_tournaments_of_a_variant_share_its_ladder(
    database: Database, planner: Planner, add_bots: Callable[..., tuple[BotId, ...]]
) -> None:
    """The first makes the ladder; an unrated tournament has none."""
    bots = add_bots("ada", "bob")
    rows = [
        planner.get(planner.add(planner.plan(bots, is_rated=is_rated)))
        for is_rated in (True, True, False)
    ]
    assert [row.ladder for row in rows] == ["freestyle-15x15-blitz", "freestyle-15x15-blitz", ""]
    assert rows[0].ladder_id == rows[1].ladder_id
    assert rows[2].ladder_id is None
    assert database.read(lambda at: len(at.scalars(select(Ladder.id)).all())) == 1


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


def test_a_request_is_found_again(
    database: Database, planner: Planner, add_bots: Callable[..., tuple[BotId, ...]]
) -> None:
    """A request id finds its tournament, and makes no second one even in a race."""
    bots = add_bots("ada", "bob")
    made = planner.add(planner.plan(bots, request_id="r1"))
    planner.add(planner.plan(bots))
    planner.add(planner.plan(bots))
    running = TournamentState.RUNNING
    assert database.read(lambda at: tournaments.find_request(at, "r1")) == (made, running)
    assert database.read(lambda at: tournaments.find_request(at, "r2")) is None
    with pytest.raises(IntegrityError):
        planner.add(planner.plan(bots, request_id="r1"))


# -- pairings ---------------------------------------------------------------------


def test_pairings_wait_until_they_have_a_game_that_counts(database: Database, scene: Scene) -> None:
    """A running or finished game takes its pairing out, a void one brings it back."""
    assert pending(database, scene) == [1, 2, 3, 4]
    start(database, scene, 0, 1, 2)
    assert pending(database, scene) == [4]
    finish(database, 0, Result.BLACK_WINS)
    finish(database, 1, Result.NONE, ending=Ending.VOID, at_fault=Party.SERVER)
    assert pending(database, scene) == [2, 4]


def test_a_pairing_keeps_its_colours_and_opening(scene: Scene) -> None:
    """What was planned is what is played."""
    first, second = scene.pairings[:2]
    assert (first.black_id, first.white_id) == scene.bots
    assert (second.black_id, second.white_id) == scene.bots[::-1]
    assert first.opening == bytes((112, 0, 113, 0))


def test_pairings_are_added_once(database: Database, planner: Planner, scene: Scene) -> None:
    """Their first number tells whether they are there already."""
    ada, bob = scene.bots
    key = planner.add(planner.plan(scene.bots, games=0, options={"most_games": 8}))
    assert database.read(lambda at: tournaments.last_number(at, key)) == 0
    games = [PlannedGame(n, ada, bob, OPENING, f"for reason {n}") for n in (1, 2)]
    made = database.write(lambda to: tournaments.add_pairings(to, key, 1, games))
    again = database.write(lambda to: tournaments.add_pairings(to, key, 1, games[:1]))
    more = database.write(lambda to: tournaments.add_pairings(to, key, 3, games[:1]))
    assert again == made
    assert [pairing.number for pairing in (*made, *more)] == [1, 2, 3]
    assert made[0].opening == OPENING
    assert database.read(lambda at: tournaments.pending_pairings(at, key)) == [*made, *more]
    assert database.read(lambda at: tournaments.last_number(at, key)) == 3
    reasons = database.read(
        lambda at: at.scalars(select(Pairing.reason).where(Pairing.tournament_id == key)).all()
    )
    assert sorted(reasons) == ["for reason 1", "for reason 1", "for reason 2"]


def test_a_decided_tournament_takes_no_pairings(
    database: Database, planner: Planner, scene: Scene
) -> None:
    """What was planned while it was decided comes too late."""
    ada, bob = scene.bots
    key = planner.add(planner.plan(scene.bots, games=0, options={"most_games": 8}))
    games = [PlannedGame(n, ada, bob, OPENING) for n in (1, 2)]
    database.write(lambda to: tournaments.add_pairings(to, key, 1, games))
    database.write(lambda to: tournaments.set_state(to, key, TournamentState.FINISHED))
    late = database.write(lambda to: tournaments.add_pairings(to, key, 3, games))
    assert late == []
    assert database.read(lambda at: tournaments.last_number(at, key)) == 2


def test_a_pairing_may_have_a_clock_of_its_own(
    database: Database, planner: Planner, scene: Scene
) -> None:
    """It comes back with it, and its game has it instead of the tournament's."""
    ada, bob = scene.bots
    key = planner.add(planner.plan(scene.bots, games=0, options={}))
    fast = TimeControl.parse("15+0.125")
    games = [
        PlannedGame(n, ada, bob, OPENING, time_control=each) for n, each in ((1, fast), (2, None))
    ]
    made = database.write(lambda to: tournaments.add_pairings(to, key, 1, games))
    assert [pairing.time_control for pairing in made] == [fast, None]
    assert database.read(lambda at: tournaments.pending_pairings(at, key)) == made
    starts = [
        replace(scene.start(0, number), pairing_id=pairing.id, tournament_id=key)
        for number, pairing in enumerate(made, start=1)
    ]
    entry = JournalEntry(EntryId(1), starts=starts)
    database.write(lambda to: commit_entry(to, entry))
    found = [database.read(partial(get_game, game_id=start.id)) for start in starts]
    assert [game.time_control for game in found] == [fast, TimeControl.parse("60+0.5")]


def test_a_pairing_of_another_class_has_a_ladder_of_its_own(
    database: Database, planner: Planner, scene: Scene
) -> None:
    """By the server's classes; one that is of the tournament's class has none, nor an unrated."""
    ada, bob = scene.bots
    controls = [None, *map(TimeControl.parse, ("1+0.1", "30", "1+0.1"))]
    games = [PlannedGame(1, ada, bob, OPENING, time_control=each) for each in controls]

    def ladders(*, is_rated: bool, classes: TimeClasses = TIME_CLASSES) -> list[str | None]:
        plan = planner.plan(scene.bots, games=0, options={}, is_rated=is_rated)
        key = planner.add(replace(plan, time_classes=classes))
        add = partial(tournaments.add_pairings, tournament_id=key, first=1, games=games)
        made = database.write(partial(add, time_classes=classes))
        query = select(Ladder.id, Ladder.name)
        names = {row.id: row.name for row in database.read(lambda at: at.execute(query).all())}
        return [None if each.ladder_id is None else names[each.ladder_id] for each in made]

    bullet = "freestyle-15x15-bullet"
    assert ladders(is_rated=True) == [None, bullet, None, bullet]
    assert ladders(is_rated=False) == [None] * 4
    two = TimeClasses.parse("quick=40,slow")
    quick = "freestyle-15x15-quick"
    assert ladders(is_rated=True, classes=two) == [None, quick, quick, quick]


def test_the_pairings_of_running_games_are_found(database: Database, scene: Scene) -> None:
    """What a restarted server needs beside the games."""
    start(database, scene, 0, 1, 2)
    finish(database, 0, Result.DRAW, ending=Ending.DRAW)
    finish(database, 1, Result.NONE, ending=Ending.VOID)
    running = database.read(tournaments.running_pairings)
    assert running == {scene.pairings[2].id: scene.pairings[2]}


@pytest.mark.parametrize("result", [None, Result.BLACK_WINS])
def test_a_pairing_is_played_once(database: Database, scene: Scene, result: Result | None) -> None:
    """A second game of a pairing is refused while the first runs and when it has ended."""
    start(database, scene, 0)
    if result is not None:
        finish(database, 0, result)
    second = JournalEntry(EntryId(50), starts=[scene.start(0, 50)])
    with pytest.raises(IntegrityError):
        database.write(lambda to: commit_entry(to, second))


def test_a_pairing_is_played_again_after_a_void_game(database: Database, scene: Scene) -> None:
    """Any number of void games may precede the one that counts."""
    for game_id in (50, 51):
        entry = JournalEntry(EntryId(game_id), starts=[scene.start(0, game_id)])
        database.write(partial(commit_entry, entry=entry))
        finish(database, game_id - 1, Result.NONE, ending=Ending.VOID)
    start(database, scene, 0)
    finish(database, 0, Result.DRAW, ending=Ending.DRAW)
    assert pending(database, scene) == [2, 3, 4]


# -- states and counts ------------------------------------------------------------


def test_cancelled_tournaments_are_not_played_on(
    database: Database, planner: Planner, scene: Scene
) -> None:
    """Only running tournaments are taken up by a server, oldest first."""
    other = planner.add(planner.plan(scene.bots))
    assert database.read(tournaments.running_tournaments) == [scene.tournament_id, other]
    cancelled = TournamentState.CANCELLED
    database.write(lambda to: tournaments.set_state(to, scene.tournament_id, cancelled))
    assert database.read(tournaments.running_tournaments) == [other]
    assert planner.get(scene.tournament_id).state is cancelled


@pytest.mark.parametrize("result", [Result.BLACK_WINS, Result.NONE])
@pytest.mark.parametrize("begun", [0, 1])
def test_a_verdict_drops_pairs_that_have_not_begun(
    database: Database, scene: Scene, begun: int, result: Result
) -> None:
    """One of which either game ran, be it void, keeps its place with the other game."""
    start(database, scene, begun)
    finish(database, begun, result, ending=Ending.VOID if result is Result.NONE else Ending.FIVE)
    end = TournamentEnd(scene.tournament_id, scene.now, "all is known" * 20)
    database.write(lambda to: tournaments.finish_tournament(to, end))
    row = database.read(lambda at: tournaments.get_tournament(at, scene.tournament_id))
    assert row is not None
    assert (row.state, row.end_time) == (TournamentState.FINISHED, scene.now)
    assert row.verdict == end.verdict[:200]
    numbers = database.read(lambda at: at.scalars(select(Pairing.number)).all())
    assert sorted(numbers) == [1, 2]


@pytest.mark.parametrize(
    ("state", "verdict"), [(TournamentState.RUNNING, ""), (TournamentState.CANCELLED, "known")]
)
def test_without_a_verdict_nothing_is_dropped(
    database: Database, scene: Scene, state: TournamentState, verdict: str
) -> None:
    """Nor from a tournament that was cancelled meanwhile, which stays so."""
    database.write(lambda to: tournaments.set_state(to, scene.tournament_id, state))
    end = TournamentEnd(scene.tournament_id, scene.now, verdict)
    database.write(lambda to: tournaments.finish_tournament(to, end))
    assert pending(database, scene) == [1, 2, 3, 4]
    row = database.read(lambda at: tournaments.get_tournament(at, scene.tournament_id))
    assert row is not None
    assert (row.state is TournamentState.CANCELLED) == (state is TournamentState.CANCELLED)


def test_games_are_counted_by_state(database: Database, planner: Planner, scene: Scene) -> None:
    """Void games are in no count."""
    start(database, scene, 0, 1, 2)
    finish(database, 0, Result.BLACK_WINS)
    finish(database, 1, Result.NONE, ending=Ending.VOID)
    row = planner.get(scene.tournament_id)
    assert (row.planned, row.finished, row.running) == (4, 1, 1)


def test_tournaments_are_listed_newest_first_in_pages(
    database: Database, planner: Planner, scene: Scene
) -> None:
    """Each page begins before the last id of the one before."""
    made = [scene.tournament_id, *(planner.add(planner.plan(scene.bots)) for _ in range(3))]
    first = database.read(lambda at: tournaments.list_tournaments(at, limit=3))
    second = database.read(
        lambda at: tournaments.list_tournaments(at, limit=3, before=first[-1].id)
    )
    assert [row.id for row in (*first, *second)] == made[::-1]
    assert len(first) == 3
    with pytest.raises(UnknownTournamentError, match="no tournament 999; list the tournaments"):
        database.read(lambda at: tournaments.get_tournament(at, TournamentId(999)))
