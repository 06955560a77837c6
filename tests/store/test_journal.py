"""The group commit."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from meijin.game import (
    Choose,
    Color,
    Ending,
    Party,
    Result,
    SideChoice,
    encode_action,
    encode_moves,
)
from meijin.store import Database, journal
from meijin.store.fence import NO_ENTRY, NO_EPOCH, EntryKey
from meijin.store.games import encode_choice
from meijin.store.journal import (
    ENTRY_BYTES,
    MOVE_BYTES,
    GameEnd,
    JournalEntry,
    LostUpdateError,
    StoredMove,
    commit_entry,
    pack_game,
    pack_move,
    unpack_moves,
)
from meijin.store.ladders.log import finished_games, logged_games
from meijin.store.ladders.opening_keys import opening_key
from meijin.store.ladders.repeats import fingerprint
from meijin.store.ladders.sequencer import sequence
from meijin.store.schema import (
    Bot,
    BotId,
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

if TYPE_CHECKING:
    from tests.store.conftest import Planner, Scene

LATER = datetime(2026, 3, 4, 13, tzinfo=UTC)
HUGE = 2**64 - 1


def entry(number: int, **parts: Any) -> JournalEntry:
    """An entry with these parts."""
    return JournalEntry(EntryId(number), **parts)


def key(number: int, epoch: int = NO_EPOCH) -> EntryKey:
    """The key of an entry."""
    return EntryKey(Epoch(epoch), EntryId(number))


def packed(*moves: tuple[int, int, int]) -> bytearray:
    """Moves of (game, ply, cell), with times made of them."""
    made = entry(1)
    for game, ply, cell in moves:
        made.moves += pack_move(game, ply, cell, 100 * ply, 10 * ply)
    return made.moves


def end_of(scene: Scene, pairing: int, game_id: int, **changes: Any) -> GameEnd:
    """A win of black in the game of a pairing."""
    moves = changes.get("moves", encode_moves((112, 113, 114)))
    black, white = (scene.versions[scene.bots.index(bot)] for bot in _players(scene, pairing))
    end = GameEnd(
        id=GameId(game_id),
        pairing_id=scene.pairings[pairing].id,
        tournament_id=scene.tournament_id,
        sequence=game_id,
        moves=moves,
        times=b"\x01" * 16,
        analysis={"2": {"score": 5}},
        result=Result.BLACK_WINS,
        ending=Ending.FIVE,
        at_fault=Party.NOBODY,
        detail="",
        time=LATER,
        fault_version_id=None,
        evidence={},
        fingerprint=fingerprint(black, white, 2, moves),
        bots=_players(scene, pairing),
    )
    return replace(end, **changes)


def _players(scene: Scene, pairing: int) -> tuple[BotId, BotId]:
    return scene.pairings[pairing].black_id, scene.pairings[pairing].white_id


def commit(database: Database, *parts: JournalEntry, is_retry: bool = False) -> None:
    """Commit one entry after the other."""
    for part in parts:
        database.write(partial(commit_entry, entry=part, is_retry=is_retry))


def running_moves(database: Database) -> list[StoredMove]:
    """Every move that is stored in an entry."""
    return list(unpack_moves(database.read(lambda at: b"".join(journal.kept_moves(at)))))


def running_analysis(database: Database, *games: int) -> dict[str, Any]:
    """What the bots said in games."""
    return database.read(lambda at: journal.running_analysis(at, [GameId(each) for each in games]))


def revision(database: Database) -> int:
    """How often the ladder has changed, once its job has taken in what has ended."""
    ladder_id = database.read(lambda at: at.scalars(select(Ladder.id)).one())
    sequence(database, ladder_id)
    return database.read(lambda at: at.scalars(select(Ladder.revision)).one())


# -- moves ------------------------------------------------------------------------


def test_an_entry_keeps_its_moves_in_order(database: Database) -> None:
    """Moves come back entry by entry, in the order within each."""
    commit(
        database,
        entry(9, moves=packed((1, 2, 30), (2, 2, 31))),
        entry(10, moves=packed((1, 3, 32))),
        entry(11, moves=packed((2, 3, 33), (1, 4, 34))),
    )
    assert running_moves(database) == [
        StoredMove(GameId(1), 2, 30, 200, 20),
        StoredMove(GameId(2), 2, 31, 200, 20),
        StoredMove(GameId(1), 3, 32, 300, 30),
        StoredMove(GameId(2), 3, 33, 300, 30),
        StoredMove(GameId(1), 4, 34, 400, 40),
    ]
    assert database.read(journal.newest_entry).id == 11


def test_the_largest_numbers_fit(database: Database) -> None:
    """Ids and times are of eight bytes, plies and cells of two."""
    largest = StoredMove(GameId(HUGE), 65535, 65535, HUGE, HUGE)
    made = entry(2**62)
    made.moves += pack_move(*largest)
    commit(database, made)
    assert list(running_moves(database)) == [largest]


def test_a_game_is_written_anew_from_its_opening_on() -> None:
    """Behind the mark; the choice of a side takes no ply of its own."""
    (choice,) = encode_action(Choose(Color.WHITE))
    game_id = GameId(7)
    packed = pack_game(game_id, [(30, 5, 1), (choice, 6, 2), (31, 7, 3)], opening_plies=4)
    mark, *moves = unpack_moves(packed)
    assert (mark.game_id, mark.is_anew) == (game_id, True)
    assert moves == [
        StoredMove(game_id, 4, 30, 5, 1),
        StoredMove(game_id, 5, choice, 6, 2),
        StoredMove(game_id, 5, 31, 7, 3),
    ]


def test_analysis_is_merged_by_game_and_ply(database: Database) -> None:
    """What bots thought comes back whole, from however many journal."""
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
    """Numbers begin at 1."""
    assert database.read(journal.newest_entry) == NO_ENTRY
    assert running_moves(database) == []
    assert running_analysis(database, 1) == {}
    assert database.read(journal.kept_entries) == ()


def test_truncating_deletes_what_is_before(database: Database) -> None:
    """The entry of the bound itself and later ones stay."""
    for number in range(1, 6):
        commit(database, entry(number, moves=packed((number, 2, 30))))
    commit(database, entry(6, truncate_before=key(4), moves=packed((6, 2, 30))))
    assert [move.game_id for move in running_moves(database)] == [4, 5, 6]


def test_truncating_keeps_the_entries_of_later_owners(database: Database) -> None:
    """Those of earlier ones were read when the owner began; of later ones it knows nothing."""
    for epoch, number in ((1, 8), (2, 9), (2, 10), (3, 1), (3, 11)):
        made = entry(number, moves=packed((10 * epoch + number, 2, 30)), epoch=Epoch(epoch))
        commit(database, made)
    commit(database, entry(12, truncate_before=key(10, 2), epoch=Epoch(2)))
    assert [move.game_id for move in running_moves(database)] == [30, 31, 41]


def test_kept_entries_are_told_of_together(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over several owners, each group with the key after it and about the bytes that it takes."""
    monkeypatch.setattr(journal, "ENTRIES_READ_TOGETHER", 2)
    for epoch, number in ((1, 8), (2, 9), (2, 10)):
        commit(database, entry(number, moves=packed((1, 2, 30)), epoch=Epoch(epoch)))
    commit(database, entry(11, analysis={"7": {"2": {"pv": "x" * 1000}}}, epoch=Epoch(2)))
    commit(database, entry(14, epoch=Epoch(2)))
    one, two, rest = database.read(journal.kept_entries)
    assert [one.end, two.end, rest.end] == [key(10, 2), key(12, 2), key(15, 2)]
    assert [one.entries, two.entries, rest.entries] == [2, 2, 1]
    assert one.bytes == 2 * (ENTRY_BYTES + MOVE_BYTES)
    assert two.bytes > one.bytes + 900
    assert rest.bytes == ENTRY_BYTES


def test_a_retry_finds_its_own_entry_alone(database: Database) -> None:
    """Another owner's entry of the same number is no sign that this one was committed."""
    commit(database, entry(2, moves=packed((1, 2, 30)), epoch=Epoch(2)))
    for _ in range(2):
        commit(database, entry(2, moves=packed((7, 2, 30)), epoch=Epoch(1)), is_retry=True)
    assert [move.game_id for move in running_moves(database)] == [7, 1]


# -- games ------------------------------------------------------------------------


def test_a_game_starts_and_ends(database: Database, scene: Scene) -> None:
    """Its row holds the opening at first, and everything at the end."""
    commit(database, entry(1, starts=[scene.start(0, 5)]))
    start = database.read(lambda at: at.execute(select(Game.__table__)).one())
    assert start.state is GameState.RUNNING
    assert start.moves == scene.pairings[0].opening
    assert start.opening == opening_key(start.moves)
    assert (start.opening_plies, start.times, start.analysis) == (2, b"", None)
    assert (start.result, start.ending, start.end_time) == (Result.NONE, None, None)
    assert start.start_time == scene.now

    commit(database, entry(2, ends=[end_of(scene, 0, 5)]))
    end = database.read(lambda at: at.execute(select(Game.__table__)).one())
    assert end.state is GameState.FINISHED
    assert (end.moves, end.times) == (encode_moves((112, 113, 114)), b"\x01" * 16)
    assert end.analysis == {"2": {"score": 5}}
    assert (end.result, end.ending) == (Result.BLACK_WINS, Ending.FIVE)
    assert (end.end_sequence, end.end_time) == (5, LATER)
    assert (start.fingerprint, start.is_repeat) == (None, False)
    parts = (*scene.versions, 2, encode_moves((112, 113, 114)))
    assert (end.fingerprint, end.is_repeat) == (fingerprint(*parts), False)


def test_several_games_end_in_one_entry(database: Database, scene: Scene) -> None:
    """A game may even start and end in the same one."""
    commit(database, entry(1, starts=[scene.start(0, 5), scene.start(1, 6)]))
    ends = [end_of(scene, pairing, 5 + pairing) for pairing in range(3)]
    commit(database, entry(2, starts=[scene.start(2, 7)], ends=ends))
    states = database.read(lambda at: at.scalars(select(Game.state)).all())
    assert states == [GameState.FINISHED] * 3


def test_bots_count_their_games(database: Database, scene: Scene) -> None:
    """Those with a result: a void one is none, nor one that is voided later."""
    starts = [scene.start(pairing, 5 + pairing) for pairing in range(3)]
    void = {"ending": Ending.VOID, "result": Result.NONE, "at_fault": Party.SERVER}
    ends = [end_of(scene, 0, 5), end_of(scene, 1, 6), end_of(scene, 2, 7, **void)]
    commit(database, entry(1, starts=starts, ends=ends))
    counts = select(Bot.games).where(Bot.id.in_(scene.bots))
    assert database.read(lambda at: at.scalars(counts).all()) == [2, 2]
    later = entry(2)
    later.voids = [GameVoid(GameId(5), "played by the wrong bot", LATER)]
    commit(database, later)
    assert database.read(lambda at: at.scalars(counts).all()) == [1, 1]


def test_players_exchange_their_colours_with_the_end(database: Database, scene: Scene) -> None:
    """While a game runs the first player is stored as black; other games stay as they are."""
    commit(database, entry(1, starts=[scene.start(0, 5), scene.start(1, 6)]))
    query = select(Game.black_id, Game.white_id, Game.choice, Game.is_swapped).order_by(Game.id)
    before = database.read(lambda at: at.execute(query).all())
    first, second = scene.versions
    assert before == [(first, second, None, False), (second, first, None, False)]
    chosen = encode_choice(SideChoice(3, Color.WHITE), 0, 0)
    swapped = end_of(scene, 0, 5, choice=chosen, is_swapped=True)
    commit(database, entry(2, ends=[swapped, end_of(scene, 1, 6)]))
    assert database.read(lambda at: at.execute(query).all()) == [
        (second, first, chosen, True),
        (second, first, None, False),
    ]


def test_the_stones_that_a_side_was_chosen_on_are_the_opening(
    database: Database, scene: Scene
) -> None:
    """For the ladder: without them all games would seem to begin alike."""
    commit(database, entry(1, starts=[scene.start(number, 5 + number) for number in range(3)]))
    moves = encode_moves((7, 8, 9, 112, 113))
    for number, ply in ((0, 3), (1, 5)):
        chosen = encode_choice(SideChoice(ply, Color.BLACK), 0, 0)
        end = end_of(scene, number, 5 + number, moves=moves, choice=chosen)
        commit(database, entry(2 + number, ends=[end]))
    commit(database, entry(4, ends=[end_of(scene, 2, 7)]))
    ladder = scene.ladder_id
    sequence(database, ladder)
    stored = database.read(lambda at: [*finished_games(at, ladder, after=0)])
    assert [game.opening for game in stored] == [
        opening_key(moves[:6]),
        opening_key(moves),
        opening_key(scene.pairings[2].opening),
    ]
    verified = database.read(lambda at: [*logged_games(at, ladder, cutoff=99, voided=0)])
    assert [game.opening for game in verified] == [game.opening for game in stored]


def test_a_game_ends_once(database: Database, scene: Scene) -> None:
    """A second end fails, changes nothing, and takes its whole entry with it."""
    commit(database, entry(1, starts=[scene.start(0, 5), scene.start(1, 6)]))
    commit(database, entry(2, ends=[end_of(scene, 0, 5)]))
    again = end_of(scene, 0, 5, result=Result.WHITE_WINS, sequence=9)
    late = entry(3, moves=packed((6, 2, 30)), ends=[end_of(scene, 1, 6), again])
    with pytest.raises(LostUpdateError, match="1 of 2"):
        commit(database, late)
    results = database.read(
        lambda at: at.execute(select(Game.result, Game.state).order_by(Game.id)).all()
    )
    assert results == [
        (Result.BLACK_WINS, GameState.FINISHED),
        (Result.NONE, GameState.RUNNING),
    ]
    assert running_moves(database) == []
    assert revision(database) == 1


def test_the_end_of_an_unknown_game_is_lost(database: Database, scene: Scene) -> None:
    """A game that is not in the store can't end."""
    with pytest.raises(LostUpdateError):
        commit(database, entry(1, ends=[end_of(scene, 0, 5)]))


def test_a_forfeit_is_kept_with_its_evidence(database: Database, scene: Scene) -> None:
    """The fault names the version; a void game's names none; an ending on the board has none."""
    commit(database, entry(1, starts=[scene.start(pairing, 5 + pairing) for pairing in range(3)]))
    forfeit = end_of(
        scene,
        0,
        5,
        result=Result.WHITE_WINS,
        ending=Ending.TIME,
        at_fault=Party.BLACK,
        detail="late",
        fault_version_id=scene.versions[0],
        evidence={"raw_us": 12, "moves": [1, 2]},
    )
    void = end_of(
        scene,
        1,
        6,
        result=Result.NONE,
        ending=Ending.VOID,
        at_fault=Party.SERVER,
        evidence={"ply": 3},
    )
    commit(database, entry(2, ends=[forfeit, void, end_of(scene, 2, 7)]))
    query = select(Fault.game_id, Fault.party, Fault.ending, Fault.version_id, Fault.evidence)
    rows = database.read(lambda at: at.execute(query.order_by(Fault.id)).all())
    assert rows == [
        (5, FaultParty.BOT, Ending.TIME, scene.versions[0], {"raw_us": 12, "moves": [1, 2]}),
        (6, FaultParty.SERVER, Ending.VOID, None, {"ply": 3}),
    ]
    states = database.read(lambda at: at.scalars(select(Game.state).order_by(Game.id)).all())
    assert states == [GameState.FINISHED, GameState.VOID, GameState.FINISHED]


def test_ends_leave_their_ladder_to_its_job(database: Database, scene: Scene) -> None:
    """Every game that counts raises the revision by one then; void and unrated ones don't."""
    starts = [scene.start(pairing, 5 + pairing) for pairing in range(4)]
    starts[3] = replace(starts[3], ladder_id=None)
    commit(database, entry(1, starts=starts))
    void = {"result": Result.NONE, "ending": Ending.VOID, "at_fault": Party.OPERATOR}
    ends = [
        end_of(scene, 0, 5),
        end_of(scene, 1, 6),
        end_of(scene, 2, 7, **void),
        end_of(scene, 3, 8),
    ]
    commit(database, entry(2, ends=ends))
    row = database.read(lambda at: at.execute(select(Ladder.revision, Ladder.games)).one())
    assert row == (0, 0)
    assert revision(database) == 2


def test_the_last_end_finishes_the_tournament(
    database: Database, planner: Planner, scene: Scene
) -> None:
    """The tournament's state changes in the same commit, unless it was cancelled."""
    cancelled = planner.add(planner.plan(scene.bots))
    database.write(lambda to: set_state(to, cancelled, TournamentState.CANCELLED))
    commit(database, entry(1, starts=[scene.start(0, 5)]))
    last = entry(2, ends=[end_of(scene, 0, 5)])
    last.finished_tournaments = [
        TournamentEnd(key, LATER) for key in (scene.tournament_id, cancelled)
    ]
    commit(database, last)
    row = planner.get(scene.tournament_id)
    assert (row.state, row.end_time) == (TournamentState.FINISHED, LATER)
    assert planner.get(cancelled).state is TournamentState.CANCELLED


def test_a_tournament_that_is_given_up_is_cancelled(
    database: Database, planner: Planner, scene: Scene
) -> None:
    """It says why until it is taken up again, and has all of its pairings then."""
    commit(database, entry(1, starts=[scene.start(0, 5)]))
    last = entry(2, ends=[end_of(scene, 0, 5)])
    words = "ada has lost a game by its own faults"
    last.finished_tournaments = [
        TournamentEnd(scene.tournament_id, LATER, words, TournamentState.CANCELLED)
    ]
    planned = planner.get(scene.tournament_id).planned
    commit(database, last)
    row = planner.get(scene.tournament_id)
    assert (row.state, row.end_time, row.verdict) == (TournamentState.CANCELLED, None, words)
    assert row.planned == planned
    database.write(lambda to: set_state(to, scene.tournament_id, TournamentState.RUNNING))
    assert planner.get(scene.tournament_id).verdict == ""


def test_a_game_that_repeats_another_is_marked(database: Database, scene: Scene) -> None:
    """By its colours too, and whether it ended in the same entry or in a later one."""
    commit(database, entry(1, starts=[scene.start(pairing, 5 + pairing) for pairing in range(4)]))
    other = encode_moves((112, 113, 115))
    commit(database, entry(2, ends=[end_of(scene, 0, 5), end_of(scene, 1, 6)]))
    commit(database, entry(3, ends=[end_of(scene, 2, 7), end_of(scene, 3, 8, moves=other)]))
    sequence(database, scene.ladder_id)
    marks = database.read(lambda at: at.scalars(select(Game.is_repeat).order_by(Game.id)).all())
    assert marks == [False, False, True, False]
    assert revision(database) == 4


def test_only_what_counts_repeats_or_is_repeated(database: Database, scene: Scene) -> None:
    """Void games and games that are not rated do neither."""
    unrated = replace(scene.start(2, 6), ladder_id=None)
    commit(database, entry(1, starts=[scene.start(0, 5), unrated]))
    void = {"result": Result.NONE, "ending": Ending.VOID, "at_fault": Party.SERVER}
    ends = [end_of(scene, 0, 5, **void), end_of(scene, 2, 6)]
    commit(database, entry(2, ends=ends))
    commit(database, entry(3, starts=[scene.start(0, 7)]))
    commit(database, entry(4, ends=[end_of(scene, 0, 7)]))
    sequence(database, scene.ladder_id)
    rows = database.read(
        lambda at: at.execute(select(Game.is_repeat, Game.fingerprint).order_by(Game.id)).all()
    )
    assert rows == [(False, rows[0].fingerprint)] * 3


def test_a_finished_game_is_voided(database: Database, scene: Scene) -> None:
    """In the order of things: even one that ends in the same entry, with its tournament."""
    commit(database, entry(1, starts=[scene.start(0, 5)]))
    last = entry(2, ends=[end_of(scene, 0, 5)])
    last.finished_tournaments = [TournamentEnd(scene.tournament_id, LATER)]
    last.voids = [GameVoid(GameId(5), "a wrong opening", LATER)]
    commit(database, last)
    found = database.read(lambda at: at.execute(select(Game.state, Game.detail)).one())
    assert found == (GameState.VOID, "a wrong opening")
    commit(database, entry(3, starts=[scene.start(0, 6)]))


def test_a_game_that_is_not_finished_is_not_voided(database: Database, scene: Scene) -> None:
    """Neither one that runs nor one that is void already; the entry is lost with it."""
    commit(database, entry(1, starts=[scene.start(0, 5), scene.start(1, 6)]))
    commit(database, entry(2, ends=[end_of(scene, 1, 6)]))
    twice = [GameVoid(GameId(6), "once", LATER), GameVoid(GameId(6), "twice", LATER)]
    for voids in ([GameVoid(GameId(5), "it runs", LATER)], twice):
        with pytest.raises(LostUpdateError, match="was not finished"):
            commit(database, entry(3, voids=voids))
    states = database.read(lambda at: at.scalars(select(Game.state).order_by(Game.id)).all())
    assert states == [GameState.RUNNING, GameState.FINISHED]


# -- retries ----------------------------------------------------------------------


def test_a_retry_of_what_was_committed_does_nothing(database: Database, scene: Scene) -> None:
    """After a lost answer the same entry is found by its number."""
    first = entry(1, moves=packed((5, 2, 30)), starts=[scene.start(0, 5)])
    last = entry(2, ends=[end_of(scene, 0, 5)])
    commit(database, first, last)
    commit(database, first, last, is_retry=True)
    assert len(running_moves(database)) == 1
    assert revision(database) == 1
    assert database.read(lambda at: at.scalar(select(func.count()).select_from(Game))) == 1


def test_a_retry_of_what_was_not_committed_commits_it(database: Database, scene: Scene) -> None:
    """After a failure before the commit a retry is the first commit."""
    commit(database, entry(1, starts=[scene.start(0, 5)]), is_retry=True)
    assert database.read(journal.newest_entry).id == 1
    assert database.read(lambda at: at.scalar(select(func.count()).select_from(Game))) == 1


def test_a_number_is_given_once(database: Database) -> None:
    """Another server's entry of the same number is no retry."""
    commit(database, entry(1, moves=packed((5, 2, 30))))
    with pytest.raises(IntegrityError):
        commit(database, entry(1, moves=packed((5, 2, 31))))
