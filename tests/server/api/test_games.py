"""Games: looked up, listed, watched and exported."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from meijin.game import (
    Analysis,
    Ending,
    Party,
    Result,
    TimeControl,
    Variant,
    encode_moves,
    from_sgf,
)
from meijin.game.records.file import FileFormat, read_games
from meijin.server.api import games
from meijin.testing.peer import Peer
from meijin.testing.server import ServerInTest
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb
from meijin.v1 import ladder_service_pb2 as ladder_pb
from meijin.v1 import play_service_pb2 as play_pb
from meijin.wire import record_from_proto

Code = grpc.StatusCode
PATIENCE = 20.0
FIVE = (0, 5, 1, 6, 2, 7, 3, 8, 4)
FORMAT_NAMES = {FileFormat.POSITIONS: "POSITION"}
RUNNING, FINISHED = game_pb2.GAME_STATE_RUNNING, game_pb2.GAME_STATE_FINISHED


async def get(server: ServerInTest, game_id: str) -> game_pb2.Game:
    """One game with its moves."""
    return (await (await server.games()).GetGame(pb.GetGameRequest(game_id=game_id))).game


async def export(server: ServerInTest, game_id: str) -> str:
    """A game's record."""
    request = pb.ExportGameRequest(game_id=game_id)
    return (await (await server.games()).ExportGame(request)).text


async def watch(server: ServerInTest, game_id: str) -> AsyncIterator[pb.WatchGameResponse]:
    """Everything a watcher is told, to the end."""
    call = (await server.games()).WatchGame(pb.WatchGameRequest(game_id=game_id))
    async with asyncio.timeout(PATIENCE):
        async for message in call:
            yield message


def cells(game: game_pb2.Game) -> list[int]:
    """The cells of a game's moves."""
    return [move.cell for move in game.moves]


async def end(players: tuple[Peer, Peer], line: Any, *, first: int = 0) -> None:
    """Play on to five."""
    await line(players, FIVE[first:], first=first)
    for peer in players:
        await peer.ended()


# -- one game ---------------------------------------------------------------------


async def test_a_running_game_is_shown_as_it_is(server: ServerInTest, line: Any) -> None:
    """With every committed move and its times, and the versions of its bots."""
    ada = await server.bot("ada", version="1.2")
    bob = await server.bot("bob", version="3")
    tournament = await server.tournament("ada", "bob", openings=[encode_moves((12,))])
    starts = [await peer.started() for peer in (ada, bob)]
    players = (ada, bob) if starts[0].color == game_pb2.COLOR_BLACK else (bob, ada)
    black, white = players
    await line(players, (0,), first=1)
    await black.turn()
    game = await get(server, starts[0].game_id)
    assert (game.game_id, game.tournament_id) == (starts[0].game_id, tournament)
    assert (game.black, game.white) == (black.name, white.name)
    assert {game.black: game.black_version, game.white: game.white_version} == {
        "ada": "1.2",
        "bob": "3",
    }
    assert (game.variant.width, game.time_control.initial.seconds) == (5, 600)
    assert (game.state, game.opening_plies, game.ply) == (RUNNING, 1, 2)
    assert cells(game) == [12, 0]
    assert game.moves[0].raw_time.ToNanoseconds() == 0
    raw, charged = game.moves[1].raw_time, game.moves[1].charged_time
    assert raw.ToNanoseconds() >= charged.ToNanoseconds()
    assert game.moves[1].raw_time.ToNanoseconds() > 0
    assert not game.HasField("outcome")
    assert not game.HasField("end_time")
    assert game.start_time.seconds > 0


async def test_a_game_whose_end_is_not_committed_is_shown_before_it(
    server: ServerInTest, line: Any
) -> None:
    """With all of its committed moves, whoever asks and however."""
    players = await server.pair()
    await line(players, FIVE[:8])
    turn = await players[0].turn()
    with server.held():
        await players[0].play(turn, FIVE[8])
        await server.until(lambda: not server.running)
        game = await get(server, players[0].start.game_id)
        assert (game.state, cells(game)) == (RUNNING, list(FIVE[:8]))
        assert from_sgf(await export(server, game.game_id)).moves == FIVE[:8]
        listed = await (await server.games()).ListGames(pb.ListGamesRequest())
        assert [one.ply for one in listed.games] == [8]
    await players[0].ended()
    assert (await get(server, game.game_id)).state == FINISHED


async def test_an_ended_game_is_shown_with_its_outcome(server: ServerInTest, line: Any) -> None:
    """As it was stored."""
    players = await server.pair()
    await end(players, line)
    game = await get(server, players[0].start.game_id)
    assert (game.state, game.ply, cells(game)) == (FINISHED, 9, list(FIVE))
    assert game.outcome.ending == game_pb2.ENDING_FIVE
    assert game.outcome.winner == game_pb2.COLOR_BLACK
    assert game.end_time.ToNanoseconds() >= game.start_time.ToNanoseconds()
    assert all(
        move.charged_time.ToNanoseconds() <= move.raw_time.ToNanoseconds() for move in game.moves
    )


@pytest.mark.parametrize("method", ["GetGame", "WatchGame", "ExportGame"])
@pytest.mark.parametrize(
    ("game_id", "code"),
    [("99", Code.NOT_FOUND), ("", Code.INVALID_ARGUMENT), ("x", Code.INVALID_ARGUMENT)],
)
async def test_an_unknown_game(
    server: ServerInTest, ending: Callable[..., Any], method: str, game_id: str, code: Code
) -> None:
    """Not found, or no id at all."""
    request = pb.GetGameRequest(game_id=game_id).SerializeToString()
    name = f"/meijin.v1.GameService/{method}"
    found = await ending(await server.channel(), name, request, None)
    assert found.code is code


# -- lists ------------------------------------------------------------------------


async def test_games_are_listed_newest_first(server: ServerInTest) -> None:
    """By tournament, bot and state, in pages, without their moves."""
    ada, bob = await server.bot("ada"), await server.bot("bob")
    first = await server.tournament("ada", "bob", rounds=3)
    await asyncio.gather(ada.play_out(3), bob.play_out(3))
    cleo = await server.bot("cleo")
    second = await server.tournament("ada", "cleo", rounds=1)
    await cleo.started()
    service = await server.games()

    async def ids(**filters: Any) -> list[str]:
        page = await service.ListGames(pb.ListGamesRequest(**filters))
        assert all(len(game.moves) == 0 for game in page.games)
        return [game.game_id for game in page.games]

    assert await ids() == ["4", "3", "2", "1"]
    assert await ids(tournament_id=first) == ["3", "2", "1"]
    assert await ids(tournament_id=second) == ["4"]
    assert await ids(bot="bob") == ["3", "2", "1"]
    assert await ids(bot="cleo", state=RUNNING) == ["4"]
    assert await ids(bot="cleo", state=FINISHED) == []
    assert await ids(state=game_pb2.GAME_STATE_VOID) == []
    page = await service.ListGames(pb.ListGamesRequest(page_size=3))
    rest = await service.ListGames(pb.ListGamesRequest(page_token=page.next_page_token))
    assert [game.game_id for game in (*page.games, *rest.games)] == ["4", "3", "2", "1"]
    assert rest.next_page_token == ""


async def test_games_are_listed_by_ladder_and_start(server: ServerInTest) -> None:
    """Rated ones alone, and those that started in a span of time."""
    ada, bob = await server.bot("ada"), await server.bot("bob")
    await server.tournament("ada", "bob", rounds=2)
    await server.tournament("ada", "bob", rounds=1, unrated=True)
    await asyncio.gather(ada.play_out(3), bob.play_out(3))
    service = await server.games()
    (ladder,) = (await (await server.ladders()).ListLadders(ladder_pb.ListLaddersRequest())).ladders

    async def ids(**filters: Any) -> list[str]:
        page = await service.ListGames(pb.ListGamesRequest(**filters))
        return [game.game_id for game in page.games]

    assert len(await ids()) == 3
    assert len(await ids(ladder=ladder.name)) == 2
    page = await service.ListGames(pb.ListGamesRequest(ladder=ladder.name, page_size=1))
    assert await ids(ladder=ladder.name, page_token=page.next_page_token) == ["1"]
    ladders = [(await get(server, key)).ladder for key in ("1", "2", "3")]
    assert ladders == [ladder.name, ladder.name, ""]
    first = (await get(server, "1")).start_time
    later = [key for key in ("2", "3") if (await get(server, key)).start_time != first]
    assert await ids(end_time=first) == []
    assert set(await ids(start_time=first)) == {"1", "2", "3"}
    assert set(await ids(end_time=(await get(server, "3")).start_time)) <= {"1", "2"}
    assert set(later) <= {"2", "3"}


async def test_games_are_listed_with_their_moves_and_analysis(
    server: ServerInTest, line: Any
) -> None:
    """As each of them is shown by itself, running or ended."""
    black, white = await server.pair()
    turn = await black.turn()
    said = play_pb.Analysis(score=-7, depth=3, nodes=90, pv=encode_moves((0, 5, 9999, 6)))
    await black.play(turn, FIVE[0], analysis=said)
    await white.turn()
    service = await server.games()
    request = pb.ListGamesRequest(with_moves=True)
    (running,) = (await service.ListGames(request)).games
    assert running == await get(server, running.game_id)
    analysis = running.moves[0].analysis
    assert (analysis.score, analysis.depth, analysis.nodes) == (-7, 3, 90)
    assert analysis.pv == encode_moves((0, 5))  # up to what is off the board
    await white.play(play_pb.TurnRequested(game=turn.game, ply=1), FIVE[1])
    await end((black, white), line, first=2)
    (ended,) = (await service.ListGames(request)).games
    assert ended == await get(server, ended.game_id)
    assert ended.moves[0].analysis == analysis
    assert not ended.moves[1].HasField("analysis")
    assert record_from_proto(ended).analysis[0] == Analysis(-7, 3, 90, (0, 5))


@pytest.mark.parametrize(
    ("request_", "code", "words"),
    [
        ({"bot": "nobody"}, Code.NOT_FOUND, 'no bot "nobody"'),
        ({"tournament_id": "x"}, Code.INVALID_ARGUMENT, "tournament_id"),
        ({"page_token": "x"}, Code.INVALID_ARGUMENT, "page_token"),
        ({"page_size": 1001}, Code.INVALID_ARGUMENT, "page_size"),
        ({"state": 9}, Code.INVALID_ARGUMENT, "state 9"),
        ({"ladder": "caro"}, Code.NOT_FOUND, "ladder"),
        ({"start_time": Timestamp(seconds=2**60)}, Code.INVALID_ARGUMENT, "start_time"),
        ({"tournament_id": "x" * 100_000}, Code.INVALID_ARGUMENT, "tournament_id"),
    ],
)
async def test_an_impossible_list_is_refused(
    server: ServerInTest,
    ending: Callable[..., Any],
    request_: dict[str, Any],
    code: Code,
    words: str,
) -> None:
    """The error names the field, also of a value that is too long to repeat."""
    data = pb.ListGamesRequest(**request_).SerializeToString()
    found = await ending(await server.channel(), "/meijin.v1.GameService/ListGames", data, None)
    assert found.code is code
    assert words in found.details


# -- watching ---------------------------------------------------------------------


async def test_a_watcher_sees_every_move_and_the_end(server: ServerInTest, line: Any) -> None:
    """First where it stands, then what is new, at last the whole game."""
    players = await server.pair()
    await line(players, FIVE[:2])
    turn = await players[0].turn()
    watching = watch(server, players[0].start.game_id)
    first = (await anext(watching)).game
    assert (first.state, cells(first)) == (RUNNING, [0, 5])
    await players[0].play(turn, FIVE[2])
    await end(players, line, first=3)
    rest = [message async for message in watching]
    seen = [move.cell for message in rest[:-1] for move in message.moves]
    assert seen in (list(FIVE[2:8]), list(FIVE[2:]))  # the last one may be among them
    assert all(not message.HasField("game") for message in rest[:-1])
    last = rest[-1].game
    assert (last.state, cells(last)) == (FINISHED, list(FIVE))
    assert last.outcome.ending == game_pb2.ENDING_FIVE
    assert last.end_time.seconds > 0
    assert last == await get(server, last.game_id)


async def test_a_watcher_hears_of_fast_moves_together(
    server: ServerInTest, line: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred watchers of a fast game would take all of the loop's time, a message a move."""
    has_ended = asyncio.Event()
    monkeypatch.setattr(games, "pause", has_ended.wait)
    players = await server.pair()
    watching = watch(server, players[0].start.game_id)
    assert cells((await anext(watching)).game) == []
    await end(players, line)
    has_ended.set()
    *between, last = [message async for message in watching]
    assert cells(last.game) == list(FIVE)
    assert [move.cell for message in between for move in message.moves] == list(FIVE)
    assert len(between) <= 2  # the first move, and all others


async def test_watching_an_ended_game_ends_at_once(server: ServerInTest, line: Any) -> None:
    """The first message is the last."""
    players = await server.pair()
    await end(players, line)
    messages = [message async for message in watch(server, players[0].start.game_id)]
    assert [message.game.state for message in messages] == [FINISHED]


async def test_somebody_elses_game_may_be_watched(server: ServerInTest) -> None:
    """From wherever it stands to its end."""
    async with server.innocents():
        (game,) = server.running
        watching = watch(server, str(game.id))
        assert (await anext(watching)).game.ply == 4
    messages = [message async for message in watching]
    assert messages[-1].game.state == FINISHED


# -- records ----------------------------------------------------------------------


async def test_an_ended_game_is_exported(server: ServerInTest, line: Any) -> None:
    """What is read back from the file is what was played."""
    players = await server.pair(control="600+1")
    await end(players, line)
    game = await get(server, players[0].start.game_id)
    record = from_sgf(await export(server, game.game_id))
    assert (record.black, record.white) == (players[0].name, players[1].name)
    assert record.moves == FIVE
    assert record.variant == Variant(width=5, height=5)
    assert record.time_control == TimeControl.parse("600+1")
    assert record.outcome is not None
    assert (record.outcome.result, record.outcome.ending) == (Result.BLACK_WINS, Ending.FIVE)
    assert record.game_id == game.game_id
    assert [time // record.times[0].resolution for time in record.times] == [
        move.charged_time.ToMicroseconds() for move in game.moves
    ]
    assert record.start_time == game.start_time.ToDatetime(record.start_time.tzinfo)  # type: ignore[union-attr]


@pytest.mark.parametrize("form", [each for each in FileFormat if each is not FileFormat.RIF])
async def test_a_game_is_exported_in_every_format(
    server: ServerInTest, line: Any, form: FileFormat
) -> None:
    """What is read back has its moves and its winner; JSON has all of it."""
    players = await server.pair()
    await end(players, line)
    game = await get(server, players[0].start.game_id)
    value = pb.RecordFormat.Value(f"RECORD_FORMAT_{FORMAT_NAMES.get(form, form.name)}")
    request = pb.ExportGameRequest(game_id=game.game_id, format=value)
    text = (await (await server.games()).ExportGame(request)).text
    (found,) = read_games([text.encode()], form, Variant(width=5, height=5))
    assert found.record is not None
    assert found.record.moves == FIVE
    assert found.record.outcome is not None
    assert found.record.outcome.result is Result.BLACK_WINS
    if form is FileFormat.JSON:
        assert found.record == record_from_proto(game)


async def test_an_unknown_format_is_refused(
    server: ServerInTest, ending: Callable[..., Any], line: Any
) -> None:
    """In words."""
    players = await server.pair()
    await end(players, line)
    data = pb.ExportGameRequest(game_id="1", format=9).SerializeToString()  # type: ignore[arg-type]
    found = await ending(await server.channel(), "/meijin.v1.GameService/ExportGame", data, None)
    assert (found.code, found.details) == (Code.INVALID_ARGUMENT, "no format 9")


async def test_a_forfeit_is_exported_with_its_cause(server: ServerInTest) -> None:
    """Odd words in the detail survive."""
    black, white = await server.pair(openings=[encode_moves((12, 13))])
    await black.fail((await black.turn()).game, 'a]b\\c:"d"\né')
    await white.ended()
    record = from_sgf(await export(server, black.start.game_id))
    assert record.outcome is not None
    assert (record.outcome.ending, record.outcome.at_fault) == (Ending.CRASH, Party.BLACK)
    assert record.outcome.detail.startswith('a]b\\c:"d"')
    assert (record.moves, record.opening_plies) == ((12, 13), 2)


async def test_a_running_game_is_exported_as_far_as_it_is(server: ServerInTest, line: Any) -> None:
    """Without an outcome."""
    players = await server.pair()
    await line(players, FIVE[:3])
    await players[1].turn()
    record = from_sgf(await export(server, players[0].start.game_id))
    assert record.moves == FIVE[:3]
    assert len(record.times) == 3
    assert record.outcome is None
