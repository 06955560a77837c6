"""Games as they are kept."""

from array import array
from datetime import timedelta
from functools import partial
from importlib.metadata import version
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, update
from tests.query_plans import statements
from tests.store.conftest import Planner, Scene
from tests.store.endings import LATER
from tests.store.league import League

from meijin.game import (
    FREESTYLE,
    GOMOKU,
    STANDARD,
    Ending,
    Party,
    Result,
    TimeControl,
    encode_moves,
)
from meijin.store import Database, games
from meijin.store.errors import RowNotFoundError
from meijin.store.games import decode_times, encode_times
from meijin.store.journal import JournalEntry, commit_entry
from meijin.store.schema import BotId, BotVersion, EntryId, Game, GameId, GameState, Pairing

ENDED = {
    "state": GameState.FINISHED,
    "result": Result.WHITE_WINS,
    "ending": Ending.ILLEGAL,
    "at_fault": Party.BLACK,
    "detail": "a1 is occupied",
    "end_time": LATER,
}
nanoseconds = st.integers(0, 2**64 - 1)


@pytest.fixture
def played(database: Database, scene: Scene) -> Scene:
    """The scene with the games 1 to 4: a finished one, a void one and two running ones."""
    entry = JournalEntry(EntryId(1), starts=[scene.start(n, n + 1) for n in range(4)])
    database.write(commit_entry, entry)
    _change(database, 1, **ENDED, end_sequence=8, analysis={"2": {"score": 3}})
    _change(database, 2, state=GameState.VOID, ending=Ending.VOID, end_sequence=9)
    return scene


def _change(database: Database, game_id: int, **values: Any) -> None:
    change = update(Game).where(Game.id == game_id).values(**values)
    database.write(Connection.execute, statement=change)


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
    row = database.read(games.get_game, GameId(1))
    assert (row.black, row.white) == ("ada", "bob")
    assert (row.black_bot_id, row.white_bot_id) == played.bots
    assert (row.black_id, row.white_id) == played.versions
    assert (row.black_version, row.white_version) == ("1.0", "1.0")
    assert (row.variant, row.time_control) == (GOMOKU, TimeControl.parse("60+0.5"))
    assert (row.tournament_id, row.pairing_id) == (played.tournament_id, played.pairings[0].id)
    assert {name: getattr(row, name) for name in ENDED} == ENDED
    assert (row.start_time, row.is_repeat, row.reason) == (played.now, False, "")
    assert (row.ladder_id, row.ladder) == (played.ladder_id, "freestyle-15x15-blitz")
    assert row.tournament_name == "spring"
    second = database.read(games.get_game, GameId(2))
    assert (second.black, second.white) == ("bob", "ada")
    assert (second.black_bot_id, second.white_bot_id) == played.bots[::-1]
    with pytest.raises(RowNotFoundError, match="no game 99; list the games"):
        database.read(games.get_game, GameId(99))


def test_a_game_says_what_played_it(database: Database, scene: Scene) -> None:
    """Each side's program and its machine of then, the round, the seed and the release."""

    def set_version(**values: Any) -> None:
        change = update(BotVersion).where(BotVersion.id == scene.versions[0]).values(**values)
        database.write(Connection.execute, statement=change)

    set_version(digest="ada", configuration=["nodes=3000"], hardware="EPYC, 2 cores", threads=2)
    database.write(commit_entry, JournalEntry(EntryId(1), starts=[scene.start(1, 1)]))
    set_version(hardware="another", threads=4)
    row = database.read(games.get_game, GameId(1))
    assert (row.black_digest, row.white_digest) == ("digest", "ada")
    assert (row.black_configuration, row.white_configuration) == ([], ["nodes=3000"])
    assert (row.black_hardware, row.white_hardware) == ("", "EPYC, 2 cores")
    assert (row.black_threads, row.white_threads) == (None, 2)
    assert (row.black_memory_bytes, row.white_memory_bytes) == (None, None)
    assert (row.round, row.seed, row.release) == (2, 7, version("meijin"))


def test_a_game_says_why_it_was_played_and_is_not_rated(database: Database, played: Scene) -> None:
    """A repeat is marked, a pairing without a schedule has its reason; an unrated one no ladder."""
    _change(database, 1, is_repeat=True)
    _change(database, 2, ladder_id=None)
    reason = update(Pairing).where(Pairing.id == played.pairings[0].id).values(reason="to link")
    database.write(Connection.execute, statement=reason)
    rows = database.read(games.list_games, limit=10)[::-1]
    assert [(row.is_repeat, row.reason) for row in rows] == [(True, "to link")] + [(False, "")] * 3
    assert (rows[1].ladder_id, rows[1].ladder) == (None, "")


def test_a_restarted_server_finds_where_it_was(database: Database, played: Scene) -> None:
    """What runs, in the order of the ids, and the last numbers; void games have such too."""
    assert played.tournament_id
    assert [row.id for row in database.read(games.running_games)] == [3, 4]
    assert (database.read(games.last_game), database.read(games.last_end)) == (4, 9)
    _change(database, 1, ladder_id=None, end_sequence=12)
    assert database.read(games.last_end) == 12


def test_games_are_listed_newest_first(database: Database, played: Scene, planner: Planner) -> None:
    """By tournament, bot and state, in pages that begin before an id."""
    other = planner.add(planner.plan(played.bots))
    start = played.now
    later = start + timedelta(seconds=1)
    for filters, ids in (
        ({}, [4, 3, 2, 1]),
        ({"limit": 2}, [4, 3]),
        ({"before": 3}, [2, 1]),
        ({"state": GameState.RUNNING}, [4, 3]),
        ({"state": GameState.VOID}, [2]),
        ({"tournament_id": played.tournament_id}, [4, 3, 2, 1]),
        ({"tournament_id": other}, []),
        ({"bot_id": played.bots[1]}, [4, 3, 2, 1]),
        ({"bot_id": 99}, []),
        ({"start_time": start}, [4, 3, 2, 1]),
        ({"start_time": later}, []),
        ({"end_time": later}, [4, 3, 2, 1]),
        ({"end_time": start}, []),
        ({"ladder_id": 99}, []),
    ):
        given: dict[str, Any] = {"limit": 10, **filters}
        assert [row.id for row in database.read(games.list_games, **given)] == ids


@pytest.mark.parametrize(
    ("narrow", "ids"),
    [
        ({"result": Result.WHITE_WINS}, [1]),
        ({"result": Result.DRAW}, []),
        ({"ending": Ending.VOID}, [2]),
        ({"rule": FREESTYLE}, [4, 3, 2, 1]),
        ({"rule": STANDARD}, []),
        ({"min_plies": 20}, [2]),
        ({"max_plies": 19}, [1]),
    ],
)
def test_games_are_sought(
    database: Database, played: Scene, narrow: dict[str, Any], ids: list[int]
) -> None:
    """By result, ending, rule and length, among all and among those of a bot."""
    _change(database, 2, moves=bytes(40))
    for bot_id in (None, played.bots[0]):
        sought = games.NarrowFilter(**narrow)
        rows = database.read(games.list_games, limit=10, bot_id=bot_id, narrow=sought)
        assert [row.id for row in rows] == ids


def test_games_of_two_bots_are_sought(database: Database, played: Scene) -> None:
    """Among those of one bot, or of all, those in which a version of the other has played."""
    for opponent, ids in ((played.bots[1], [4, 3, 2, 1]), (BotId(99), [])):
        sought = games.NarrowFilter(opponent=opponent)
        for bot_id in (None, played.bots[0]):
            rows = database.read(games.list_games, limit=10, bot_id=bot_id, narrow=sought)
            assert [row.id for row in rows] == ids


def test_a_look_has_a_floor(
    database: Database, played: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many games are looked through at once, of all, of a tournament and of a bot."""
    monkeypatch.setattr(games, "LOOKED_THROUGH", 3)
    for few in ({}, {"tournament_id": played.tournament_id}, {"bot_id": played.bots[1]}):
        where: dict[str, Any] = few
        assert database.read(games.look_floor, before=None, **where) == 2
        assert database.read(games.look_floor, before=3, **where) is None
    rows = database.read(games.list_games, limit=10, floor=GameId(3))
    assert [row.id for row in rows] == [4, 3]


def test_lists_read_no_analyses(database: Database, played: Scene) -> None:
    """Those of a page's games may be a hundred megabytes; they are read by themselves."""
    assert played
    with statements(database.reader) as said:
        database.read(games.list_games, limit=10)
        database.read(games.get_game, GameId(1))
    assert said
    assert not any("game.analysis" in statement for statement in said)
    ids = [GameId(each) for each in (1, 2, 99)]
    assert database.read(games.analyses, ids) == {1: {"2": {"score": 3}}}


def test_first_moves_of_a_versions_games(any_league: League) -> None:
    """The newest with a result, each as far as is asked; one without a stone has none."""
    for line in ((1, 2, 3), (), (300, 4)):
        any_league.finish((0, 1, Result.DRAW), (2, 3, Result.DRAW), line=line, opening_plies=1)
    any_league.void(1)
    find = partial(games.first_moves, version_id=any_league.versions[1], plies=1)
    found = any_league.database.read(partial(find, limit=9))
    assert [each.moves for each in found] == [encode_moves([300]), b""]
    newest = found[0]
    assert (newest.variant, newest.result, newest.opening_plies) == (GOMOKU, Result.DRAW, 1)
    assert (newest.black_id, newest.decisions) == (any_league.versions[0], None)
    assert any_league.database.read(partial(find, limit=1)) == [newest]
