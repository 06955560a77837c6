"""Finished games that are voided."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Connection, select, update
from sqlalchemy.exc import IntegrityError

from meijin.game import Ending, Party, Result, encode_moves
from meijin.store import Database, tournaments
from meijin.store.journal import GameEnd, JournalEntry, commit_entry
from meijin.store.ladders.repeats import fingerprint
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

if TYPE_CHECKING:
    from tests.store.conftest import Planner, Scene

LATER = datetime(2026, 3, 4, 13, tzinfo=UTC)
LATEST = datetime(2026, 3, 5, 13, tzinfo=UTC)
MOVES = encode_moves((112, 113, 114))


def end_of(scene: Scene, pairing: int, game_id: int, **changes: Any) -> GameEnd:
    """A game that white forfeits, with the same moves as all others."""
    start = scene.start(pairing, game_id)
    end = GameEnd(
        id=GameId(game_id),
        pairing_id=start.pairing_id,
        tournament_id=scene.tournament_id,
        sequence=game_id,
        moves=MOVES,
        times=b"",
        analysis=None,
        result=Result.BLACK_WINS,
        ending=Ending.TIME,
        at_fault=Party.WHITE,
        detail="late",
        time=LATER,
        fault_version_id=start.white_id,
        evidence={"ply": 3},
        fingerprint=fingerprint(start.black_id, start.white_id, 2, MOVES),
    )
    return replace(end, **changes)


@pytest.fixture
def played(database: Database, scene: Scene) -> Scene:
    """The scene with the finished games 1 to 4, of which 3 repeats 1, and 4 repeats 2."""
    starts = [scene.start(pairing, pairing + 1) for pairing in range(4)]
    ends = [end_of(scene, pairing, pairing + 1) for pairing in range(4)]
    entry = JournalEntry(EntryId(1), starts=starts, ends=ends)
    entry.finished_tournaments = [TournamentEnd(scene.tournament_id, LATER)]
    database.write(partial(commit_entry, entry=entry))
    sequence(database, scene.ladder_id)
    return scene


def void(database: Database, game_id: int) -> bool:
    """Void a game."""
    given = GameVoid(GameId(game_id), "played by the wrong bot", LATEST)
    return database.write(partial(void_game, void=given))


def ladder(database: Database) -> tuple[int, int]:
    """The ladder's revision, and how many of its games were voided."""
    query = select(Ladder.revision, Ladder.voided)
    revision, voided = database.read(lambda at: at.execute(query).one())
    return revision, voided


def marks(database: Database) -> list[bool]:
    """Which games are marked as repeats."""
    query = select(Game.is_repeat).order_by(Game.id)
    return database.read(lambda at: list(at.scalars(query)))


def test_a_voided_game_has_no_result(database: Database, played: Scene) -> None:
    """It stays as it was played, but counts for nothing and says why."""
    assert played.tournament_id
    assert void(database, 1)
    row = database.read(lambda at: at.execute(select(Game.__table__).where(Game.id == 1)).one())
    assert (row.state, row.result, row.ending) == (GameState.VOID, Result.NONE, Ending.VOID)
    assert (row.at_fault, row.detail) == (Party.OPERATOR, "played by the wrong bot")
    assert (row.moves, row.end_time, row.end_sequence) == (MOVES, LATER, 1)


def test_the_old_result_is_kept_as_evidence(database: Database, played: Scene) -> None:
    """In a fault of its own, beside that of the forfeit."""
    assert played.tournament_id
    void(database, 1)
    query = select(Fault.__table__).where(Fault.game_id == 1).order_by(Fault.id)
    forfeit, fault = database.read(lambda at: at.execute(query).all())
    assert (forfeit.ending, forfeit.evidence) == (Ending.TIME, {"ply": 3})
    assert (fault.kind, fault.party) == (FaultKind.VOIDED, FaultParty.OPERATOR)
    assert (fault.ending, fault.version_id) == (Ending.VOID, None)
    assert fault.create_time == LATEST
    assert fault.evidence == {
        "reason": "played by the wrong bot",
        "result": "1-0",
        "ending": "time",
        "at_fault": "white",
        "detail": "late",
    }


def test_its_ladder_is_changed_in_the_past(database: Database, played: Scene) -> None:
    """The first repeat takes the place of a game that was rated; a repeat itself had none."""
    assert played.ladder_id
    assert (ladder(database), marks(database)) == ((4, 0), [False, False, True, True])
    void(database, 1)
    assert (ladder(database), marks(database)) == ((5, 1), [False, False, False, True])
    void(database, 4)
    assert (ladder(database), marks(database)) == ((6, 2), [False, False, False, False])


def test_an_unrated_game_changes_no_ladder(database: Database, played: Scene) -> None:
    """Nor are there repeats of it."""
    assert played.ladder_id
    database.write(lambda to: to.execute(update(Game).values(ladder_id=None)))
    void(database, 1)
    assert (ladder(database), marks(database)) == ((4, 0), [False, False, True, True])


def test_its_pairing_is_to_be_played_again(
    database: Database, planner: Planner, played: Scene
) -> None:
    """Once: its tournament runs again, and a second game of the pairing is refused."""
    assert planner.get(played.tournament_id).state is TournamentState.FINISHED
    void(database, 2)
    row = planner.get(played.tournament_id)
    assert (row.state, row.end_time) == (TournamentState.RUNNING, None)
    assert (row.planned, row.finished, row.running) == (4, 3, 0)
    pending = database.read(lambda at: tournaments.pending_pairings(at, played.tournament_id))
    assert list(pending) == [played.pairings[1]]
    for game_id, is_refused in ((50, False), (51, True)):
        again = JournalEntry(EntryId(game_id), starts=[played.start(1, game_id)])
        if is_refused:
            with pytest.raises(IntegrityError):
                database.write(partial(commit_entry, entry=again))
        else:
            database.write(partial(commit_entry, entry=again))


def test_a_verdict_falls_with_a_game(database: Database, played: Scene) -> None:
    """A test that has ended goes on without it."""
    verdict = update(Tournament).values(verdict="ada is stronger")
    database.write(lambda to: to.execute(verdict))
    void(database, 1)
    assert played.tournament_id
    assert database.read(lambda at: at.scalar(select(Tournament.verdict))) == ""


def test_a_cancelled_tournament_stays_cancelled(
    database: Database, planner: Planner, played: Scene
) -> None:
    """The pairing waits until it is resumed."""
    state = TournamentState.CANCELLED
    database.write(partial(set_state, tournament_id=played.tournament_id, state=state))
    void(database, 1)
    assert planner.get(played.tournament_id).state is state


def test_only_a_finished_game_can_be_voided(database: Database, played: Scene) -> None:
    """A second time, or a game that never was, changes nothing."""
    assert void(database, 1)
    before = ladder(database)
    assert not void(database, 1)
    assert not void(database, 99)
    assert ladder(database) == before
    faults = database.read(lambda at: at.scalars(select(Fault.id)).all())
    assert len(faults) == 5
    assert played.tournament_id


def test_a_void_that_fails_halfway_leaves_no_trace(database: Database, played: Scene) -> None:
    """Game, fault, tournament and ladder change together."""

    def fail(connection: Connection) -> None:
        void_game(connection, GameVoid(GameId(1), "a mistake", LATEST))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        database.write(fail)
    assert ladder(database) == (4, 0)
    assert database.read(lambda at: at.scalar(select(Tournament.state))) is not (
        TournamentState.RUNNING
    )
    assert played.tournament_id


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
    """The error says what is wrong."""
    with pytest.raises(ValueError, match=problem):
        void_reason(text)
