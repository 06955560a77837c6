"""The running games, told again and again."""

from __future__ import annotations

import asyncio
import itertools
from types import SimpleNamespace
from typing import Any, cast

import grpc
import pytest
from tests.peer import play_moves
from tests.server_in_test import FIVE, ServerInTest, play_to_five

from meijin.game import OPENING_RULES, SWAP2, Party, Variant, encode_moves
from meijin.server.api.answers import arena_watch
from meijin.server.api.answers.arena_watch import ArenaWatch, Selection
from meijin.server.api.calls.loop_share import LoopShare
from meijin.server.errors import InvalidRequestError
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb
from meijin.v1 import play_service_pb2 as play_pb

WATCH = "GameService/WatchArena"
BLACK, WHITE, NOBODY = game_pb2.COLOR_BLACK, game_pb2.COLOR_WHITE, game_pb2.COLOR_UNSPECIFIED
RUNNING, FINISHED = game_pb2.GAME_STATE_RUNNING, game_pb2.GAME_STATE_FINISHED


def watch_of(server: ServerInTest, **request: Any) -> ArenaWatch:
    selection = Selection.of(pb.WatchArenaRequest(**request))
    return ArenaWatch(server.parts.games, server.parts.watch, LoopShare(), selection)


async def look(watch: ArenaWatch) -> list[pb.GameUpdate]:
    return [update async for message in watch.look() for update in message.games]


async def look_at(server: ServerInTest, watch: ArenaWatch, stones: int) -> list[pb.GameUpdate]:
    """What is told once the only game has this many stones, and the next is asked for."""
    (game,) = server.running
    await server.until(
        lambda: len(game.committed_moves) == stones and game.arbiter.asked_at_ns >= 0
    )
    return await look(watch)


def cells_of(update: pb.GameUpdate) -> list[int]:
    return list(memoryview(update.moves).cast("H"))


async def test_games_are_told_whole_and_then_by_what_changes(server: ServerInTest) -> None:
    """All of a game with its clocks, then the moves since, nothing where nothing has changed."""
    players = await server.pair(control="600")
    watch = watch_of(server)
    await play_moves(players, FIVE[:2])
    (first,) = await look_at(server, watch, 2)
    assert (first.game.black, first.game.white) == (players[0].name, players[1].name)
    assert (first.game.state, first.ply, cells_of(first)) == (RUNNING, 0, [0, 5])
    assert first.clocks.running == BLACK
    assert 0 < first.clocks.black_ms <= 600_000
    assert await look(watch) == []
    await play_moves(players, FIVE[2:3], first=2)
    (second,) = await look_at(server, watch, 3)
    assert not second.HasField("game")
    assert second.variant == first.game.variant
    assert (second.game_id, second.ply, cells_of(second)) == (first.game_id, 2, [1])
    assert second.clocks.running == WHITE
    await play_to_five(players, first=3)
    (last,) = await look(watch)
    assert cells_of(last) == list(FIVE[3:])
    assert (last.game.state, last.game.outcome.ending) == (FINISHED, game_pb2.ENDING_FIVE)
    assert last.game.HasField("end_time")
    assert last.clocks.running == NOBODY
    assert await look(watch) == []


async def test_nothing_uncommitted_is_told(server: ServerInTest) -> None:
    """Neither a move nor the clock after it, nor the end of a game: to nobody, new or not."""
    players = await server.pair()
    watch = watch_of(server)
    await play_moves(players, FIVE[:8])
    assert len(await look_at(server, watch, 8)) == 1
    turn = await players[0].turn()
    (game,) = server.running
    with server.held():
        await players[0].play(turn, FIVE[8])
        await server.until(lambda: game.arbiter.outcome is not None)
        assert await look(watch) == await look(watch_of(server)) == []
    await players[0].ended()
    (last,) = await look(watch)
    assert (cells_of(last), last.game.state) == ([FIVE[8]], FINISHED)


async def test_the_newest_thoughts_of_both_sides_are_told(server: ServerInTest) -> None:
    """Of the moves since, as far as a bot says anything."""
    black, white = await server.pair()
    watch = watch_of(server)
    for ply, cell in enumerate(FIVE[:4]):
        mover = (black, white)[ply % 2]
        turn = await mover.turn()
        said = play_pb.Analysis(score=ply, depth=3, pv=encode_moves((cell, 9999)))
        await mover.play(turn, cell, **({"analysis": said} if ply < 3 else {}))
    (update,) = await look_at(server, watch, 4)
    thoughts = (update.black_evaluation, update.white_evaluation)
    assert [(each.ply, each.analysis.score) for each in thoughts] == [(2, 2), (1, 1)]
    assert thoughts[0].analysis.pv == encode_moves(FIVE[2:3])
    await black.play(await black.turn(), FIVE[4])
    (update,) = await look_at(server, watch, 5)
    assert not update.HasField("black_evaluation")
    assert not update.HasField("white_evaluation")


async def test_the_choice_of_a_side_is_told_with_the_names(server: ServerInTest) -> None:
    """Who has which colour from then on, and whose clock runs."""
    variant = Variant(width=7, height=7, opening_rule=SWAP2)
    rules = tuple(OPENING_RULES.values())
    first, second = await server.pair(bots={"opening_rules": rules}, variant=variant)
    watch = watch_of(server)
    await first.place(await first.turn(), 0, 13, 20)
    (before,) = await look_at(server, watch, 3)
    assert (before.game.black, before.clocks.running) == (first.name, WHITE)
    await second.choose(await second.turn(), BLACK)
    (game,) = server.running
    await server.until(lambda: game.committed_decisions and game.arbiter.asked_at_ns >= 0)
    (after,) = await look(watch)
    assert (after.game.black, after.game.white) == (second.name, first.name)
    (choice,) = after.game.decisions
    assert (choice.ply, choice.color, after.moves) == (3, BLACK, b"")
    assert after.clocks.running == WHITE


async def test_some_of_the_games_are_watched(server: ServerInTest) -> None:
    """Those of a tournament, those that are named, and no more than are asked for."""
    for names in (("ada", "bob"), ("cleo", "dan")):
        peers = [await server.bot(name, max_games=2) for name in names]
        await server.tournament(*names, rounds=2)
        for peer in peers:
            await peer.started()
    await server.until(lambda: sum(game.is_announced for game in server.running) == 4)

    async def ids(**request: Any) -> list[str]:
        return [update.game_id for update in await look(watch_of(server, **request))]

    assert await ids() == ["1", "2", "3", "4"]
    assert await ids(tournament_id="2") == ["3", "4"]
    assert await ids(tournament_id="9") == []
    assert await ids(bot="cleo") == ["3", "4"]
    assert await ids(bot="bob", rule=game_pb2.RULE_FREESTYLE) == ["1", "2"]
    assert await ids(rule=game_pb2.RULE_RENJU) == []
    assert await ids(game_ids=["4", "1", "77"]) == ["1", "4"]
    assert await ids(game_ids=["4", "1"], tournament_id="1") == ["1"]
    watch = watch_of(server, max_games=3)
    assert [update.game_id for update in await look(watch)] == ["1", "2", "3"]
    game = server.running[1]
    server.parts.games.void(game, Party.OPERATOR, "a test")
    await server.until(lambda: server.parts.games.live_game(game.id) is None)
    told = {update.game_id: update.game.state for update in await look(watch)}
    assert told == {"2": game_pb2.GAME_STATE_VOID, "4": RUNNING}


async def test_many_games_come_in_several_messages(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that none is longer than a client takes; one that announces more is not the last."""
    monkeypatch.setattr(arena_watch, "UPDATES_OF_A_MESSAGE", 2)
    peers = [await server.bot(name, max_games=5) for name in ("ada", "bob")]
    await server.tournament("ada", "bob", rounds=5)
    for peer in peers:
        await peer.started()
    await server.until(lambda: sum(game.is_announced for game in server.running) == 5)
    messages = [message async for message in watch_of(server).look()]
    assert [len(message.games) for message in messages] == [2, 2, 1]
    assert [message.more for message in messages] == [True, True, False]
    assert {message.running for message in messages} == {5}
    endless = watch_of(server, max_games=4).messages()
    told = [await anext(endless) for _ in range(3)]
    assert [(len(message.games), message.more) for message in told] == [
        (2, True),
        (2, True),
        (0, False),
    ]
    await endless.aclose()


async def test_a_watch_of_games_ends_with_them(server: ServerInTest) -> None:
    """One of all games goes on, and its first message may be empty."""
    players = await server.pair()
    everything = server.watch(WATCH, max_rate=10)
    messages = aiter(server.watch(WATCH, max_rate=10, game_ids=["1"]))
    first = await anext(messages)
    assert first.time.seconds > 0
    await play_to_five(players)
    updates = [update async for message in messages for update in message.games]
    assert updates[-1].game.state == FINISHED
    moves = b"".join(each.moves for each in (*first.games, *updates))
    assert moves == encode_moves(FIVE)
    assert not everything.done()
    empty = await server.watch(WATCH).read()
    assert (len(empty.games), empty.running) == (0, 0)
    assert (await server.refusal(WATCH, game_ids=["1"])).code is grpc.StatusCode.OK


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"max_rate": 10.5}, "max_rate 10.5"),
        ({"max_rate": 0.01}, "max_rate 0.01"),
        ({"max_rate": -1}, "max_rate -1"),
        ({"max_rate": float("nan")}, "max_rate nan"),
        ({"max_games": 10_001}, "max_games 10001"),
        ({"game_ids": ["1"] * 65}, "65 of them"),
        ({"game_ids": [""]}, "game_ids"),
        ({"tournament_id": "x"}, "tournament_id"),
    ],
)
def test_an_impossible_watch_is_refused(request_: dict[str, Any], words: str) -> None:
    """The error names the field."""
    with pytest.raises(InvalidRequestError, match=words):
        Selection.of(pb.WatchArenaRequest(**request_))


async def test_a_look_at_many_games_is_divided() -> None:
    """However many games of others run: the event loop is let go after each slice of time."""
    turns = 0
    ticks = itertools.count()

    async def turn(_seconds: float) -> None:
        nonlocal turns
        turns += 1
        await asyncio.sleep(0)

    share = LoopShare(lambda: next(ticks) * 1e-5, turn)
    others = {number: SimpleNamespace(id=number, is_announced=False) for number in range(10_000)}
    games = cast("Any", SimpleNamespace(running=others))
    watch = ArenaWatch(games, cast("Any", None), share, Selection.of(pb.WatchArenaRequest()))
    assert await look(watch) == []
    assert turns > 90
