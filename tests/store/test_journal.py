"""The group commit."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, update
from sqlalchemy.exc import IntegrityError
from tests.store.conftest import Planner, Scene
from tests.store.endings import LATER, LINE, VOID, end_of
from tests.store.stored import stored

from meijin.game import (
    Choose,
    Color,
    Decision,
    Ending,
    Party,
    Result,
    encode_action,
    encode_moves,
)
from meijin.store import Database, journal
from meijin.store.fence import NO_ENTRY, NO_EPOCH, EntryKey
from meijin.store.games import encode_decisions
from meijin.store.journal import (
    ENTRY_BYTES,
    MOVE_BYTES,
    JournalEntry,
    LostUpdateError,
    StoredMove,
    commit_entry,
    pack_game,
    pack_move,
    unpack_moves,
)
from meijin.store.ladders.games import fingerprint, finished_games, logged_games, opening_key
from meijin.store.ladders.sequencer import sequence
from meijin.store.schema import (
    Bot,
    BotVersion,
    EntryId,
    Epoch,
    Fault,
    FaultParty,
    Game,
    GameId,
    GameState,
    Ladder,
    TournamentState,
)
from meijin.store.tournaments import TournamentEnd, set_state
from meijin.store.voids import GameVoid

HUGE = 2**64 - 1


def entry(number: int, epoch: int = NO_EPOCH, **parts: Any) -> JournalEntry:
    return JournalEntry(EntryId(number), epoch=Epoch(epoch), **parts)


def key(number: int, epoch: int = NO_EPOCH) -> EntryKey:
    return EntryKey(Epoch(epoch), EntryId(number))


def packed(*moves: tuple[int, int, int]) -> bytearray:
    """Moves of (game, ply, cell), with times made of them."""
    return bytearray().join(
        pack_move(game, ply, cell, 100 * ply, 10 * ply) for game, ply, cell in moves
    )


def commit(database: Database, *parts: JournalEntry, is_retry: bool = False) -> None:
    for part in parts:
        database.write(commit_entry, entry=part, is_retry=is_retry)


def begin(database: Database, scene: Scene, *pairings: int) -> None:
    """Begin the games of some pairings; the first has the id 5."""
    commit(database, entry(1, starts=[scene.start(each, 5 + each) for each in pairings]))


def running_moves(database: Database) -> list[StoredMove]:
    return list(unpack_moves(database.read(lambda at: b"".join(journal.kept_moves(at)))))


def running_analysis(database: Database, *games: int) -> dict[str, Any]:
    return database.read(journal.running_analysis, [GameId(each) for each in games])


def revision(database: Database, scene: Scene) -> int:
    """How often the ladder has changed, once its job has taken in what has ended."""
    sequence(database, scene.ladder_id)
    (found,) = stored(database, Ladder.revision)
    return int(found)


# -- moves ------------------------------------------------------------------------


def test_an_entry_keeps_its_moves_in_order(database: Database) -> None:
    """Entry by entry, and in the order within each; the largest numbers fit."""
    largest = StoredMove(GameId(HUGE), 65535, 65535, HUGE, HUGE)
    commit(
        database,
        entry(9, moves=packed((1, 2, 30), (2, 2, 31))),
        entry(10, moves=packed((1, 3, 32))),
        entry(2**62, moves=bytearray(pack_move(*largest))),
    )
    assert running_moves(database) == [
        StoredMove(GameId(1), 2, 30, 200, 20),
        StoredMove(GameId(2), 2, 31, 200, 20),
        StoredMove(GameId(1), 3, 32, 300, 30),
        largest,
    ]
    assert database.read(journal.newest_entry).id == 2**62


def test_a_game_is_written_anew_from_its_opening_on() -> None:
    """Behind the mark; the choice of a side takes no ply of its own."""
    (choice,) = encode_action(Choose(Color.WHITE))
    game_id = GameId(7)
    written = pack_game(game_id, [(30, 5, 1), (choice, 6, 2), (31, 7, 3)], opening_plies=4)
    mark, *moves = unpack_moves(written)
    assert (mark.game_id, mark.is_anew) == (game_id, True)
    assert moves == [
        StoredMove(game_id, 4, 30, 5, 1),
        StoredMove(game_id, 5, choice, 6, 2),
        StoredMove(game_id, 5, 31, 7, 3),
    ]


def test_analysis_is_merged_by_game_and_ply(database: Database) -> None:
    """What bots thought comes back whole, from however many entries."""
    commit(
        database,
        entry(1, analysis={"7": {"2": {"score": 1}}}),
        entry(2),
        entry(3, analysis={"7": {"4": {"score": -3, "nodes": HUGE}}, "8": {"2": {}}}),
        entry(4, analysis={"9": {"2": {"score": 2}}}),
    )
    assert running_analysis(database, 6, 7, 8) == {
        "7": {"2": {"score": 1}, "4": {"score": -3, "nodes": HUGE}},
        "8": {"2": {}},
    }


def test_an_empty_store_has_no_newest_entry(database: Database) -> None:
    assert database.read(journal.newest_entry) == NO_ENTRY
    assert (running_moves(database), running_analysis(database, 1)) == ([], {})
    assert database.read(journal.kept_entries) == ()


def test_truncating_deletes_what_is_before(database: Database) -> None:
    """Of earlier owners too; the bound itself stays, and what later owners have written."""
    for epoch, number in ((1, 8), (2, 9), (2, 10), (3, 1), (3, 11)):
        commit(database, entry(number, epoch, moves=packed((10 * epoch + number, 2, 30))))
    commit(database, entry(12, 2, truncate_before=key(10, 2)))
    assert [move.game_id for move in running_moves(database)] == [30, 31, 41]


def test_kept_entries_are_told_of_together(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over several owners, each group with the key after it and about the bytes that it takes."""
    monkeypatch.setattr(journal, "ENTRIES_READ_TOGETHER", 2)
    for epoch, number in ((1, 8), (2, 9), (2, 10)):
        commit(database, entry(number, epoch, moves=packed((1, 2, 30))))
    commit(database, entry(11, 2, analysis={"7": {"2": {"pv": "x" * 1000}}}), entry(14, 2))
    one, two, rest = database.read(journal.kept_entries)
    assert [one.end, two.end, rest.end] == [key(10, 2), key(12, 2), key(15, 2)]
    assert [one.entries, two.entries, rest.entries] == [2, 2, 1]
    assert (one.bytes, rest.bytes) == (2 * (ENTRY_BYTES + MOVE_BYTES), ENTRY_BYTES)
    assert two.bytes > one.bytes + 900


# -- games ------------------------------------------------------------------------


def test_a_game_starts_and_ends(database: Database, scene: Scene) -> None:
    """Its row holds the opening at first, and everything at the end."""
    begin(database, scene, 0)
    opening = scene.pairings[0].opening
    columns = (Game.state, Game.moves, Game.opening, Game.times, Game.analysis, Game.result)
    ends = (Game.ending, Game.end_time, Game.end_sequence, Game.fingerprint, Game.is_repeat)
    running = (GameState.RUNNING, opening, opening_key(opening), b"", None, Result.NONE)
    assert stored(database, *columns) == [running]
    assert stored(database, *ends, Game.start_time) == [(None, None, None, None, False, scene.now)]
    commit(database, entry(2, ends=[end_of(scene, 0, 5)]))
    said = {"2": {"score": 5}}
    finished = (GameState.FINISHED, LINE, opening_key(opening), b"\x01" * 16, said)
    assert stored(database, *columns) == [(*finished, Result.BLACK_WINS)]
    mark = fingerprint(*scene.versions, 2, LINE)
    assert stored(database, *ends) == [(Ending.FIVE, LATER, 5, mark, False)]


def test_bots_count_their_games(database: Database, scene: Scene) -> None:
    """Those with a result: a void one is none, nor one that is voided later."""
    starts = [scene.start(pairing, 5 + pairing) for pairing in range(3)]
    ends = [end_of(scene, 0, 5), end_of(scene, 1, 6), end_of(scene, 2, 7, **VOID)]
    commit(database, entry(1, starts=starts, ends=ends))
    of_bots = Bot.id.in_(scene.bots)
    assert stored(database, Bot.games, where=of_bots) == [2, 2]
    commit(database, entry(2, voids=[GameVoid(GameId(5), "played by the wrong bot", LATER)]))
    assert stored(database, Bot.games, where=of_bots) == [1, 1]


def test_players_exchange_their_colours_with_the_end(database: Database, scene: Scene) -> None:
    """While a game runs the first player is stored as black; other games stay as they are."""
    first, second = scene.versions
    machine = {"hardware": "EPYC", "threads": 2, "memory_bytes": 2**40}
    change = update(BotVersion).where(BotVersion.id == first).values(machine)
    database.write(Connection.execute, statement=change)
    begin(database, scene, 0, 1)
    machines = (
        *(Game.black_hardware, Game.black_threads, Game.black_memory_bytes),
        *(Game.white_hardware, Game.white_threads, Game.white_memory_bytes),
    )
    epyc, unknown = tuple(machine.values()), ("", None, None)
    columns = (Game.black_id, Game.white_id, *machines, Game.decisions, Game.is_swapped)
    assert stored(database, *columns) == [
        (first, second, *epyc, *unknown, None, False),
        (second, first, *unknown, *epyc, None, False),
    ]
    chosen = encode_decisions([Decision(3, Choose(Color.WHITE))], [(0, 0)])
    swapped = end_of(scene, 0, 5, decisions=chosen, is_swapped=True)
    commit(database, entry(2, ends=[swapped, end_of(scene, 1, 6)]))
    assert stored(database, *columns) == [
        (second, first, *unknown, *epyc, chosen, True),
        (second, first, *unknown, *epyc, None, False),
    ]


def test_the_stones_that_a_side_was_chosen_on_are_the_opening(
    database: Database, scene: Scene
) -> None:
    """For the ladder: without them all games would seem to begin alike."""
    begin(database, scene, 0, 1, 2)
    moves = encode_moves((7, 8, 9, 112, 113))
    for number, ply in ((0, 3), (1, 5)):
        chosen = encode_decisions([Decision(ply, Choose(Color.BLACK))], [(0, 0)])
        end = end_of(scene, number, 5 + number, moves=moves, decisions=chosen)
        commit(database, entry(2 + number, ends=[end]))
    commit(database, entry(4, ends=[end_of(scene, 2, 7)]))
    ladder = scene.ladder_id
    sequence(database, ladder)
    finished = database.read(lambda at: [*finished_games(at, ladder, after=0)])
    openings = [opening_key(each) for each in (moves[:6], moves, scene.pairings[2].opening)]
    assert [game.opening for game in finished] == openings
    verified = database.read(lambda at: [*logged_games(at, ladder, cutoff=99, voided=0)])
    assert [game.opening for game in verified] == openings


def test_a_game_ends_once(database: Database, scene: Scene) -> None:
    """A second end fails, changes nothing, and takes its whole entry with it; so does an unknown's."""
    begin(database, scene, 0, 1)
    commit(database, entry(2, ends=[end_of(scene, 0, 5)]))
    again = end_of(scene, 0, 5, result=Result.WHITE_WINS, end_sequence=9)
    for lost in (again, end_of(scene, 2, 7)):
        late = entry(3, moves=packed((6, 2, 30)), ends=[end_of(scene, 1, 6), lost])
        with pytest.raises(LostUpdateError, match="1 of 2"):
            commit(database, late)
    assert stored(database, Game.result, Game.state) == [
        (Result.BLACK_WINS, GameState.FINISHED),
        (Result.NONE, GameState.RUNNING),
    ]
    assert running_moves(database) == []
    assert revision(database, scene) == 1


def test_a_forfeit_is_kept_with_its_evidence(database: Database, scene: Scene) -> None:
    """The fault names the version; a void game's names none; an ending on the board has none."""
    begin(database, scene, 0, 1, 2)
    forfeit = end_of(
        scene,
        0,
        5,
        result=Result.WHITE_WINS,
        ending=Ending.TIME,
        at_fault=Party.BLACK,
        fault_version_id=scene.versions[0],
        evidence={"raw_us": 12, "moves": [1, 2]},
    )
    void = end_of(scene, 1, 6, **VOID, evidence={"ply": 3})
    commit(database, entry(2, ends=[forfeit, void, end_of(scene, 2, 7)]))
    columns = (Fault.game_id, Fault.party, Fault.ending, Fault.version_id, Fault.evidence)
    assert stored(database, *columns) == [
        (5, FaultParty.BOT, Ending.TIME, scene.versions[0], {"raw_us": 12, "moves": [1, 2]}),
        (6, FaultParty.SERVER, Ending.VOID, None, {"ply": 3}),
    ]
    states = [GameState.FINISHED, GameState.VOID, GameState.FINISHED]
    assert stored(database, Game.state) == states


def test_ends_leave_their_ladder_to_its_job(database: Database, scene: Scene) -> None:
    """It marks repeats, by their colours too; void and unrated games count for nothing there."""
    starts = [scene.start(pairing, 5 + pairing) for pairing in range(4)]
    starts[3] = replace(starts[3], ladder_id=None)
    commit(database, entry(1, starts=starts))
    commit(database, entry(2, ends=[end_of(scene, 0, 5, **VOID), end_of(scene, 1, 6)]))
    commit(database, entry(3, ends=[end_of(scene, 2, 7), end_of(scene, 3, 8)]))
    commit(database, entry(4, starts=[scene.start(0, 9)], ends=[end_of(scene, 0, 9)]))
    assert stored(database, Ladder.revision, Ladder.games) == [(0, 0)]
    assert revision(database, scene) == 3
    assert stored(database, Game.is_repeat) == [False, False, False, False, True]


@pytest.mark.parametrize("state", [TournamentState.FINISHED, TournamentState.CANCELLED])
def test_the_last_end_ends_the_tournament(
    database: Database, planner: Planner, scene: Scene, state: TournamentState
) -> None:
    """In the same commit, unless it was cancelled before; one that is given up says why."""
    before = planner.add(planner.plan(scene.bots))
    database.write(set_state, before, TournamentState.CANCELLED)
    begin(database, scene, 0)
    is_given_up = state is TournamentState.CANCELLED
    words = "ada has lost a game by its own faults" if is_given_up else ""
    ends = [TournamentEnd(key, LATER, words, state) for key in (scene.tournament_id, before)]
    commit(database, entry(2, ends=[end_of(scene, 0, 5)], finished_tournaments=ends))
    row = planner.get(scene.tournament_id)
    end_time = None if is_given_up else LATER
    assert (row.state, row.end_time, row.verdict, row.planned) == (state, end_time, words, 4)
    other = planner.get(before)
    assert (other.state, other.verdict) == (TournamentState.CANCELLED, "")
    database.write(set_state, scene.tournament_id, TournamentState.RUNNING)
    assert planner.get(scene.tournament_id).verdict == ""


def test_a_finished_game_is_voided(database: Database, scene: Scene) -> None:
    """In the order of things: even one that ends in the same entry, with its tournament."""
    begin(database, scene, 0)
    last = entry(2, ends=[end_of(scene, 0, 5)])
    last.finished_tournaments = [TournamentEnd(scene.tournament_id, LATER)]
    last.voids = [GameVoid(GameId(5), "a wrong opening", LATER)]
    commit(database, last)
    assert stored(database, Game.state, Game.detail) == [(GameState.VOID, "a wrong opening")]
    commit(database, entry(3, starts=[scene.start(0, 6)]))


def test_a_game_that_is_not_finished_is_not_voided(database: Database, scene: Scene) -> None:
    """Neither one that runs nor one that is void already; the entry is lost with it."""
    begin(database, scene, 0, 1)
    commit(database, entry(2, ends=[end_of(scene, 1, 6)]))
    twice = [GameVoid(GameId(6), "once", LATER), GameVoid(GameId(6), "twice", LATER)]
    for voids in ([GameVoid(GameId(5), "it runs", LATER)], twice):
        with pytest.raises(LostUpdateError, match="was not finished"):
            commit(database, entry(3, voids=voids))
    assert stored(database, Game.state) == [GameState.RUNNING, GameState.FINISHED]


# -- retries ----------------------------------------------------------------------


def test_a_retry_commits_what_is_not_there(database: Database, scene: Scene) -> None:
    """After a lost answer the same entry is found by its number, and nothing is done."""
    first = entry(1, moves=packed((5, 2, 30)), starts=[scene.start(0, 5)])
    last = entry(2, ends=[end_of(scene, 0, 5)])
    commit(database, first, is_retry=True)
    commit(database, last)
    commit(database, first, last, is_retry=True)
    assert (len(running_moves(database)), stored(database, Game.id)) == (1, [5])
    assert revision(database, scene) == 1


def test_a_number_is_given_once_an_owner(database: Database) -> None:
    """Another owner's entry of the same number is no sign that this one was committed."""
    commit(database, entry(2, 2, moves=packed((1, 2, 30))))
    for _ in range(2):
        commit(database, entry(2, 1, moves=packed((7, 2, 30))), is_retry=True)
    assert [move.game_id for move in running_moves(database)] == [7, 1]
    with pytest.raises(IntegrityError):
        commit(database, entry(2, 2, moves=packed((5, 2, 31))))
