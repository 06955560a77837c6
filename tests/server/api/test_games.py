"""Games: looked up, listed, watched and exported."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.peer import play_moves
from tests.server_in_test import FIVE, ServerInTest, play_to_five

from meijin.game import (
    Analysis,
    Ending,
    Result,
    TimeControl,
    Variant,
    encode_moves,
    from_sgf,
)
from meijin.game.records.file import FileFormat, read_games
from meijin.server.api.services import games
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as games_pb
from meijin.v1 import play_service_pb2 as play_pb
from meijin.wire.records import record_from_proto

FORMAT_NAMES = {FileFormat.POSITIONS: "POSITION"}
RUNNING, FINISHED = game_pb2.GAME_STATE_RUNNING, game_pb2.GAME_STATE_FINISHED
LIST, WATCH = "GameService/ListGames", "GameService/WatchGame"


async def ids(server: ServerInTest, **filters: Any) -> list[str]:
    return [game.game_id for game in (await server.ask(LIST, **filters)).games]


async def export(server: ServerInTest, game_id: str, **more: Any) -> str:
    return str((await server.ask("GameService/ExportGame", game_id=game_id, **more)).text)


def cells(game: game_pb2.Game) -> list[int]:
    return [move.cell for move in game.moves]


# -- one game ---------------------------------------------------------------------


async def test_chances_are_told_of_both_sides(server: ServerInTest) -> None:
    """Those that bots have in common, before they have told a score."""
    black, _ = await server.pair()
    found = await server.ask("GameService/GetChances", game_id=black.start.game_id)
    assert found.black == found.white == games_pb.ChanceMap(scale=100)


async def test_a_running_game_is_shown_as_it_is(server: ServerInTest) -> None:
    """With every committed move and its times, and the versions of its bots."""
    black, white = await server.pair(bots={"version": "2"}, openings=[encode_moves((12,))])
    await play_moves((black, white), (0,), first=1)
    await black.turn()
    game = await server.game(black.start.game_id)
    assert (game.game_id, game.tournament_id) == (black.start.game_id, "1")
    assert (game.black, game.white) == (black.name, white.name)
    assert (game.black_version, game.white_version) == ("2", "2")
    assert (game.variant.width, game.time_control.initial.seconds) == (5, 600)
    assert (game.state, game.opening_plies, game.ply) == (RUNNING, 1, 2)
    assert cells(game) == [12, 0]
    raw, charged = game.moves[1].raw_time, game.moves[1].charged_time
    assert raw.ToNanoseconds() >= charged.ToNanoseconds()
    assert raw.ToNanoseconds() > 0
    assert game.start_time.seconds > 0
    for absent in ("outcome", "end_time"):
        assert not game.HasField(absent)
    record = from_sgf(await export(server, game.game_id))
    assert (record.moves, len(record.times), record.outcome) == ((12, 0), 2, None)


async def test_a_game_whose_end_is_not_committed_is_shown_before_it(server: ServerInTest) -> None:
    """With all of its committed moves, whoever asks and however."""
    players = await server.pair()
    await play_moves(players, FIVE[:8])
    turn = await players[0].turn()
    with server.held():
        await players[0].play(turn, FIVE[8])
        await server.until(lambda: not server.running)
        game = await server.game(players[0].start.game_id)
        assert (game.state, cells(game)) == (RUNNING, list(FIVE[:8]))
        assert from_sgf(await export(server, game.game_id)).moves == FIVE[:8]
        assert [one.ply for one in (await server.ask(LIST)).games] == [8]
    await players[0].ended()
    assert (await server.game(game.game_id)).state == FINISHED


# -- lists ------------------------------------------------------------------------


async def test_games_are_listed_newest_first(server: ServerInTest) -> None:
    """By tournament, bot, state, ladder and start, in pages."""
    ada, bob = await server.bot("ada"), await server.bot("bob")
    first = await server.tournament("ada", "bob", rounds=2)
    second = await server.tournament("ada", "bob", rounds=1, unrated=True)
    await asyncio.gather(ada.play_out(3), bob.play_out(3))
    cleo = await server.bot("cleo")
    third = await server.tournament("ada", "cleo", rounds=1)
    await cleo.started()
    (ladder,) = (await server.ask("LadderService/ListLadders")).ladders
    for filters, wanted in (
        ({}, "4321"),
        ({"tournament_id": first}, "21"),
        ({"tournament_id": second}, "3"),
        ({"tournament_id": third}, "4"),
        ({"bot": "bob"}, "321"),
        ({"bot": "cleo", "state": RUNNING}, "4"),
        ({"bot": "cleo", "state": FINISHED}, ""),
        ({"state": game_pb2.GAME_STATE_VOID}, ""),
        ({"bot": "bob", "ladder": ladder.name}, "21"),
    ):
        assert await ids(server, **filters) == list(wanted), filters
    page = await server.ask(LIST, ladder=ladder.name, page_size=2)
    assert all(len(game.moves) == 0 for game in page.games)
    rest = await server.ask(LIST, ladder=ladder.name, page_token=page.next_page_token)
    assert [game.game_id for game in (*page.games, *rest.games)] == ["4", "2", "1"]
    assert rest.next_page_token == ""
    ladders = [(await server.game(key)).ladder for key in "123"]
    assert ladders == [ladder.name, ladder.name, ""]
    start = (await server.game("1")).start_time
    assert await ids(server, end_time=start) == []
    assert await ids(server, start_time=start) == list("4321")
    assert set(await ids(server, end_time=(await server.game("3")).start_time)) <= {"1", "2"}


async def test_games_are_listed_with_their_moves_and_analysis(server: ServerInTest) -> None:
    """As each of them is shown by itself, running or ended."""
    black, white = await server.pair()
    turn = await black.turn()
    said = play_pb.Analysis(score=-7, depth=3, nodes=90, pv=encode_moves((0, 5, 9999, 6)))
    await black.play(turn, FIVE[0], analysis=said)
    await white.turn()
    (running,) = (await server.ask(LIST, with_moves=True)).games
    assert running == await server.game(running.game_id)
    analysis = running.moves[0].analysis
    assert (analysis.score, analysis.depth, analysis.nodes) == (-7, 3, 90)
    assert analysis.pv == encode_moves((0, 5))  # up to what is off the board
    await white.play(play_pb.TurnRequested(game=turn.game, ply=1), FIVE[1])
    await play_to_five((black, white), first=2)
    (ended,) = (await server.ask(LIST, with_moves=True)).games
    assert ended == await server.game(ended.game_id)
    assert ended.moves[0].analysis == analysis
    assert not ended.moves[1].HasField("analysis")
    assert record_from_proto(ended).analysis[0] == Analysis(-7, 3, 90, (0, 5))


# -- watching ---------------------------------------------------------------------


async def test_a_watcher_sees_every_move_and_the_end(server: ServerInTest) -> None:
    """First where it stands, then what is new, at last the whole game; who is late sees that."""
    players = await server.pair()
    await play_moves(players, FIVE[:2])
    turn = await players[0].turn()
    watching = server.facts(WATCH, game_id=players[0].start.game_id)
    first = (await anext(watching)).game
    assert (first.state, cells(first)) == (RUNNING, [0, 5])
    await players[0].play(turn, FIVE[2])
    await play_to_five(players, first=3)
    rest = [message async for message in watching]
    seen = [move.cell for message in rest[:-1] for move in message.moves]
    assert seen in (list(FIVE[2:8]), list(FIVE[2:]))  # the last one may be among them
    assert all(not message.HasField("game") for message in rest[:-1])
    assert all(message.variant == first.variant for message in rest[:-1])
    last = rest[-1].game
    assert (last.state, cells(last), last.ply) == (FINISHED, list(FIVE), 9)
    assert last.outcome.ending == game_pb2.ENDING_FIVE
    assert last.end_time.ToNanoseconds() >= last.start_time.ToNanoseconds()
    assert last == await server.game(last.game_id)
    assert [message.game async for message in server.facts(WATCH, game_id=last.game_id)] == [last]


async def test_a_watcher_hears_of_fast_moves_together(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred watchers of a fast game would take all of the loop's time, a message a move."""
    has_ended = asyncio.Event()
    monkeypatch.setattr(games, "pause", has_ended.wait)
    players = await server.pair()
    watching = server.facts(WATCH, game_id=players[0].start.game_id)
    assert cells((await anext(watching)).game) == []
    await play_to_five(players)
    has_ended.set()
    *between, last = [message async for message in watching]
    assert cells(last.game) == list(FIVE)
    assert [move.cell for message in between for move in message.moves] == list(FIVE)
    assert len(between) <= 2  # the first move, and all others


# -- records ----------------------------------------------------------------------


async def test_an_ended_game_is_exported(server: ServerInTest) -> None:
    """What is read back from the file is what was played; JSON has all of it."""
    players = await server.pair(control="600+1")
    await play_to_five(players)
    game = await server.game(players[0].start.game_id)
    record = from_sgf(await export(server, game.game_id))
    assert (record.black, record.white) == (players[0].name, players[1].name)
    assert (record.moves, record.variant) == (FIVE, Variant(width=5, height=5))
    assert record.time_control == TimeControl.parse("600+1")
    assert record.outcome is not None
    assert (record.outcome.result, record.outcome.ending) == (Result.BLACK_WINS, Ending.FIVE)
    assert record.game_id == game.game_id
    assert [time // record.times[0].resolution for time in record.times] == [
        move.charged_time.ToMicroseconds() for move in game.moves
    ]
    assert record.start_time == game.start_time.ToDatetime(record.start_time.tzinfo)  # type: ignore[union-attr]
    for form in (each for each in FileFormat if each is not FileFormat.RIF):
        value = f"RECORD_FORMAT_{FORMAT_NAMES.get(form, form.name)}"
        text = await export(server, game.game_id, format=value)
        (found,) = read_games([text.encode()], form, Variant(width=5, height=5))
        assert found.record is not None, form
        assert found.record.moves == FIVE
        assert found.record.outcome is not None
        assert found.record.outcome.result is Result.BLACK_WINS
        if form is FileFormat.JSON:
            assert found.record == record_from_proto(game)
    refused = await server.refusal("GameService/ExportGame", game_id=game.game_id, format=9)
    assert (refused.reason, refused.details) == ("INVALID_REQUEST", "no format 9")
