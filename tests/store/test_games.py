"""Games as they are kept."""

from __future__ import annotations

from array import array
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, update
from tests.query_plans import plans, statements

from meijin.game import GOMOKU, Ending, Party, Result, TimeControl
from meijin.store import Database, games
from meijin.store.bots import EngineRow, add_bot, bot_version
from meijin.store.errors import UnknownGameError
from meijin.store.games import decode_times, encode_times
from meijin.store.journal import JournalEntry, commit_entry
from meijin.store.schema import EntryId, Game, GameId, GameState, Pairing

if TYPE_CHECKING:
    from tests.store.conftest import Planner, Scene

LATER = datetime(2026, 3, 4, 13, tzinfo=UTC)

nanoseconds = st.integers(0, 2**64 - 1)


@pytest.fixture
def played(database: Database, scene: Scene) -> Scene:
    """The scene with the games 1 to 4: a finished one, a void one and two running ones."""
    entry = JournalEntry(EntryId(1), starts=[scene.start(n, n + 1) for n in range(4)])
    database.write(lambda to: commit_entry(to, entry))
    _change(
        database,
        1,
        state=GameState.FINISHED,
        result=Result.WHITE_WINS,
        ending=Ending.ILLEGAL,
        at_fault=Party.BLACK,
        detail="a1 is occupied",
        end_sequence=8,
        end_time=LATER,
        analysis={"2": {"score": 3}},
    )
    _change(database, 2, state=GameState.VOID, ending=Ending.VOID, end_sequence=9)
    return scene


def _change(database: Database, game_id: int, **values: Any) -> None:
    database.write(lambda to: to.execute(update(Game).where(Game.id == game_id).values(**values)))


@given(st.lists(st.tuples(nanoseconds, nanoseconds), max_size=500))
def test_times_come_back(times: list[tuple[int, int]]) -> None:
    """Raw and charged columns are read as they were written, sixteen bytes a move."""
    raw, charged = array("Q", [r for r, _ in times]), array("Q", [c for _, c in times])
    data = encode_times(raw, charged)
    assert decode_times(data) == (raw, charged)
    assert len(data) == 16 * len(times)


def test_times_are_two_little_endian_columns() -> None:
    """The stored form does not depend on the machine."""
    data = encode_times(array("Q", [1, 2]), array("Q", [3, 4]))
    assert data == b"".join(number.to_bytes(8, "little") for number in (1, 2, 3, 4))


def test_a_game_comes_with_its_bots(database: Database, played: Scene) -> None:
    """A row holds names, versions, the tournament's settings and how the game ended."""
    row = database.read(lambda at: games.get_game(at, GameId(1)))
    assert (row.black, row.white) == ("ada", "bob")
    assert (row.black_id, row.white_id) == played.bots
    assert (row.black_version_id, row.white_version_id) == played.versions
    assert (row.black_version, row.white_version) == ("1.0", "1.0")
    assert (row.variant, row.time_control) == (GOMOKU, TimeControl.parse("60+0.5"))
    assert (row.tournament_id, row.pairing_id) == (played.tournament_id, played.pairings[0].id)
    assert (row.state, row.result, row.ending) == (
        GameState.FINISHED,
        Result.WHITE_WINS,
        Ending.ILLEGAL,
    )
    assert (row.at_fault, row.detail) == (Party.BLACK, "a1 is occupied")
    assert (row.start_time, row.end_time) == (played.now, LATER)
    assert (row.is_repeat, row.reason) == (False, "")
    assert (row.ladder_id, row.ladder) == (played.ladder_id, "freestyle-15x15-blitz")
    assert row.tournament_name == "spring"


def test_an_unknown_game_is_an_error(database: Database) -> None:
    """It names the id, and where the ids are."""
    with pytest.raises(UnknownGameError, match="no game 99; list the games"):
        database.read(lambda at: games.get_game(at, GameId(99)))


def test_a_game_says_why_it_was_played_and_is_not_rated(database: Database, played: Scene) -> None:
    """A repeat is marked, and a pairing without a schedule has its reason."""
    _change(database, 1, is_repeat=True)
    reason = update(Pairing).where(Pairing.id == played.pairings[0].id).values(reason="to link")
    database.write(lambda to: to.execute(reason))
    rows = database.read(lambda at: games.list_games(at, limit=10))
    assert [(row.is_repeat, row.reason) for row in rows[::-1]] == [(True, "to link")] + [
        (False, "")
    ] * 3


def test_an_unrated_game_has_no_ladder(database: Database, played: Scene) -> None:
    """It is found all the same."""
    assert played.ladder_id
    _change(database, 1, ladder_id=None)
    row = database.read(lambda at: games.get_game(at, GameId(1)))
    assert (row.ladder_id, row.ladder) == (None, "")


def test_colours_are_those_of_the_pairing(database: Database, played: Scene) -> None:
    """In every second game the bots have changed sides."""
    row = database.read(lambda at: games.get_game(at, GameId(2)))
    assert (row.black, row.white) == ("bob", "ada")
    assert (row.black_id, row.white_id) == played.bots[::-1]


def test_the_running_games_are_found(database: Database, played: Scene) -> None:
    """What a restarted server takes up, in the order of their ids."""
    assert played.tournament_id
    assert [row.id for row in database.read(games.running_games)] == [3, 4]


def test_the_last_numbers_are_found(database: Database, played: Scene) -> None:
    """A restarted server counts on from them; void games have numbers too."""
    assert played.tournament_id
    assert database.read(games.last_game) == 4
    assert database.read(games.last_end) == 9


def test_games_of_no_ladder_have_last_numbers_too(database: Database, played: Scene) -> None:
    """Whichever ended last."""
    assert played.tournament_id
    _change(database, 1, ladder_id=None, end_sequence=12)
    assert database.read(games.last_end) == 12


def test_the_last_numbers_are_looked_up(sqlite_url: str) -> None:
    """No walk through all games, of which there may be ten million."""
    with Database(sqlite_url) as database:
        database.migrate()
        with plans(database) as found:
            database.read(games.last_game)
            database.read(games.last_end)
    assert len(found) == 3
    assert not any("SCAN game" in plan for plan in found)


def test_an_empty_store_has_no_last_numbers(database: Database) -> None:
    """Numbers begin at 1."""
    assert database.read(games.last_game) == 0
    assert database.read(games.last_end) == 0


def test_games_are_listed_newest_first(database: Database, played: Scene, planner: Planner) -> None:
    """By tournament, bot and state, in pages that begin before an id."""
    other = planner.add(planner.plan(played.bots))

    def ids(**filters: Any) -> list[int]:
        rows = database.read(lambda at: games.list_games(at, **{"limit": 10, **filters}))
        return [row.id for row in rows]

    assert ids() == [4, 3, 2, 1]
    assert ids(limit=2) == [4, 3]
    assert ids(before=3) == [2, 1]
    assert ids(state=GameState.RUNNING) == [4, 3]
    assert ids(state=GameState.VOID) == [2]
    assert ids(tournament_id=played.tournament_id) == [4, 3, 2, 1]
    assert ids(tournament_id=other) == []
    assert ids(bot_id=played.bots[1]) == [4, 3, 2, 1]
    assert ids(bot_id=99) == []
    start = database.read(lambda at: games.get_game(at, GameId(1))).start_time
    assert ids(start_time=start) == ids(end_time=start + timedelta(seconds=1)) == [4, 3, 2, 1]
    assert ids(end_time=start) == ids(start_time=start + timedelta(seconds=1)) == []
    assert ids(ladder_id=99) == []


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ({"tournament_id": 1}, "game_of_tournament"),
        ({"state": GameState.RUNNING}, "game_not_finished"),
        ({"state": GameState.VOID}, "game_not_finished"),
        ({"bot_id": 1}, "game_of_white"),
        ({"ladder_id": 1}, "INTEGER PRIMARY KEY"),
        ({"start_time": LATER, "end_time": LATER}, "INTEGER PRIMARY KEY"),
    ],
)
def test_lists_of_games_are_in_the_order_of_an_index(
    sqlite_url: str, filters: dict[str, Any], index: str
) -> None:
    """So that a page costs what is on it, however many games are stored."""
    with Database(sqlite_url) as database:
        database.migrate()
        database.write(_add_version)
        with plans(database) as found:
            database.read(lambda at: games.list_games(at, limit=10, before=9, **filters))
    *searches, _ = found if "bot_id" in filters else (*found, "")
    assert any(index in plan for plan in searches)
    assert not any("SCAN" in plan or "B-TREE" in plan for plan in searches)


def test_lists_read_no_analyses(database: Database, played: Scene) -> None:
    """Those of a page's games may be a hundred megabytes, which nobody is shown."""
    assert played
    with statements(database.reader) as said:
        database.read(lambda at: games.list_games(at, limit=10))
        database.read(lambda at: games.get_game(at, GameId(1)))
    assert said
    assert not any("analysis" in statement for statement in said)


def test_analyses_are_read_by_themselves(database: Database, played: Scene) -> None:
    """Of the games that are asked for and have some."""
    assert played
    ids = [GameId(each) for each in (1, 2, 99)]
    assert database.read(lambda at: games.analyses(at, ids)) == {1: {"2": {"score": 3}}}


def _add_version(connection: Connection) -> None:
    bot_id = add_bot(connection, "ada", LATER)
    bot_version(connection, bot_id, EngineRow("1", "x"), LATER)
