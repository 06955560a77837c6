"""Finished games that are voided."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Connection, update
from tests.store.conftest import Planner, Scene
from tests.store.endings import LATER, LINE, end_of
from tests.store.stored import stored

from meijin.game import Ending, Party, Result
from meijin.store import Database, tournaments
from meijin.store.journal import JournalEntry, commit_entry
from meijin.store.ladders.sequencer import sequence
from meijin.store.schema import (
    EntryId,
    Fault,
    FaultKind,
    FaultParty,
    Game,
    GameId,
    GameState,
    Ladder,
    Tournament,
    TournamentState,
)
from meijin.store.tournaments import TournamentEnd, set_state
from meijin.store.voids import GameVoid, void_game, void_reason

LATEST = datetime(2026, 3, 5, 13, tzinfo=UTC)


@pytest.fixture
def played(database: Database, scene: Scene) -> Scene:
    """The scene with the finished games 1 to 4, of which 3 repeats 1, and 4 repeats 2.

    White has forfeited each, and the tournament is decided.
    """
    forfeit: dict[str, Any] = {"ending": Ending.TIME, "at_fault": Party.WHITE, "detail": "late"}
    entry = JournalEntry(
        EntryId(1),
        starts=[scene.start(pairing, pairing + 1) for pairing in range(4)],
        ends=[
            end_of(scene, pairing, pairing + 1, evidence={"ply": 3}, **forfeit)
            for pairing in range(4)
        ],
        finished_tournaments=[TournamentEnd(scene.tournament_id, LATER)],
    )
    database.write(commit_entry, entry=entry)
    database.write(Connection.execute, update(Tournament).values(verdict="ada is stronger"))
    sequence(database, scene.ladder_id)
    return scene


def void(database: Database, game_id: int) -> bool:
    given = GameVoid(GameId(game_id), "played by the wrong bot", LATEST)
    return database.write(void_game, void=given)


def ladder(database: Database) -> Any:
    """The ladder's revision, and how many of its games were voided."""
    (found,) = stored(database, Ladder.revision, Ladder.voided)
    return found


@pytest.mark.usefixtures("played")
def test_a_voided_game_has_no_result(database: Database) -> None:
    """It stays as it was played, but counts for nothing and says why."""
    assert void(database, 1)
    first = Game.id == 1
    outcome = (Game.state, Game.result, Game.ending, Game.at_fault, Game.detail)
    why = (Party.OPERATOR, "played by the wrong bot")
    is_void = (GameState.VOID, Result.NONE, Ending.VOID, *why)
    assert stored(database, *outcome, where=first) == [is_void]
    kept = (Game.moves, Game.end_time, Game.end_sequence)
    assert stored(database, *kept, where=first) == [(LINE, LATER, 1)]


@pytest.mark.usefixtures("played")
def test_the_old_result_is_kept_as_evidence(database: Database) -> None:
    """In a fault of its own, beside that of the forfeit."""
    void(database, 1)
    columns = (Fault.kind, Fault.party, Fault.ending, Fault.create_time, Fault.evidence)
    forfeit, fault = stored(database, *columns, where=Fault.game_id == 1)
    assert (forfeit[2], forfeit[4]) == (Ending.TIME, {"ply": 3})
    before = {"result": "1-0", "ending": "time", "at_fault": "white", "detail": "late"}
    evidence = {"reason": "played by the wrong bot", **before}
    assert fault == (FaultKind.VOIDED, FaultParty.OPERATOR, Ending.VOID, LATEST, evidence)


@pytest.mark.usefixtures("played")
def test_its_ladder_is_changed_in_the_past(database: Database) -> None:
    """The first repeat takes the place of a game that was rated; a repeat itself had none."""
    seen = [(ladder(database), stored(database, Game.is_repeat))]
    for number in (1, 4):
        void(database, number)
        seen.append((ladder(database), stored(database, Game.is_repeat)))
    assert seen == [
        ((4, 0), [False, False, True, True]),
        ((5, 1), [False, False, False, True]),
        ((6, 2), [False, False, False, False]),
    ]


@pytest.mark.usefixtures("played")
def test_an_unrated_game_changes_no_ladder(database: Database) -> None:
    database.write(Connection.execute, update(Game).values(ladder_id=None))
    void(database, 1)
    assert ladder(database) == (4, 0)
    assert stored(database, Game.is_repeat) == [False, False, True, True]


def test_its_pairing_is_to_be_played_again(
    database: Database, planner: Planner, played: Scene
) -> None:
    """Its tournament runs again without a verdict."""
    assert planner.get(played.tournament_id).state is TournamentState.FINISHED
    void(database, 2)
    row = planner.get(played.tournament_id)
    assert (row.state, row.end_time, row.verdict) == (TournamentState.RUNNING, None, "")
    assert (row.planned, row.finished, row.running) == (4, 3, 0)
    pending = database.read(tournaments.pending_pairings, played.tournament_id)
    assert list(pending) == [played.pairings[1]]


def test_a_cancelled_tournament_stays_cancelled(
    database: Database, planner: Planner, played: Scene
) -> None:
    """The pairing waits until it is resumed."""
    state = TournamentState.CANCELLED
    database.write(set_state, tournament_id=played.tournament_id, state=state)
    void(database, 1)
    assert planner.get(played.tournament_id).state is state


@pytest.mark.usefixtures("played")
def test_only_a_finished_game_can_be_voided(database: Database) -> None:
    """A second time, or a game that never was, changes nothing."""
    assert void(database, 1)
    before = ladder(database)
    assert not void(database, 1)
    assert not void(database, 99)
    assert ladder(database) == before
    assert len(stored(database, Fault.id)) == 5


@pytest.mark.parametrize(
    ("text", "kept"), [(" it\0 crashed ", "it crashed"), ("x" * 200, "x" * 200)]
)
def test_a_reason_is_kept_without_its_margins(text: str, kept: str) -> None:
    """Nor with what a database can't hold."""
    assert void_reason(text) == kept


@pytest.mark.parametrize(
    ("text", "problem"),
    [("", "say in a sentence"), (" \0", "say in a sentence"), ("x" * 201, "longer than 200")],
)
def test_a_reason_has_to_say_something_short(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        void_reason(text)
