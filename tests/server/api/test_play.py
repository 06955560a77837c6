"""Bots' streams, against a real server in the same process."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import grpc
import pytest

from meijin.game import RENJU, TIC_TAC_TOE, Variant
from meijin.server.access.open_calls import OpenCalls
from meijin.server.api import play as play_service
from meijin.server.api.limits import Limits, Suspensions
from meijin.server.api.play import MESSAGE_RATE, PlayServicer
from meijin.server.errors import ReplacedError, TooManyMessagesError
from meijin.server.match.live.session import SPARE_ACTIONS
from meijin.server.storage import READERS
from meijin.server.token_bucket import Rate
from meijin.testing.peer import CallEnding, Peer
from meijin.testing.server import ServerInTest
from meijin.v1 import bot_service_pb2, game_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.wire.contract import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from tests.server.conftest import StartServer

    from meijin.server.api.interceptor import Context
    from meijin.server.match.live.session import Session

Code = grpc.StatusCode
PATIENCE = 20.0
HELLO = pb.Hello(protocol_version=1, bot_name="ada")
SOON = timedelta(milliseconds=100)


def cells(moves: bytes) -> list[int]:
    """The cells of a list of moves."""
    return list(memoryview(moves).cast("H"))


async def register(server: ServerInTest, name: str) -> str:
    """Register a bot and return its token."""
    request = bot_service_pb2.RegisterBotRequest(name=name)
    metadata = (("authorization", f"Bearer {server.operator_token}"),)
    response = await (await server.bots()).RegisterBot(request, metadata=metadata)
    return response.token


async def refused(
    server: ServerInTest, expected: tuple[Code, str, str], *commands: pb.PlayRequest
) -> None:
    """Send commands on a stream of its own, which ends as expected and harms nobody."""
    async with server.innocents():
        peer = await server.peer()
        for command in commands:
            await peer.call.write(command)
        end = await peer.closed()
    code, reason, words = expected
    assert (end.code, end.reason) == (code, reason)
    assert words in end.details


# -- the hello --------------------------------------------------------------------


@pytest.mark.parametrize(
    "first",
    [pb.PlayRequest(), pb.PlayRequest(pong=pb.Pong()), pb.PlayRequest(goodbye=pb.Goodbye())],
)
async def test_the_first_message_is_a_hello(server: ServerInTest, first: pb.PlayRequest) -> None:
    """Any other one ends the stream."""
    await refused(server, (Code.FAILED_PRECONDITION, "PROTOCOL", "must be a hello"), first)


async def test_an_end_is_no_hello(server: ServerInTest) -> None:
    """A stream that says nothing at all is told what it should have said."""
    peer = await server.peer()
    await peer.call.done_writing()
    assert (await peer.closed()).code is Code.FAILED_PRECONDITION


async def test_a_hello_has_its_time(server: ServerInTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that stays silent is ended."""
    monkeypatch.setattr(play_service, "HELLO_TIMEOUT", timedelta(milliseconds=50))
    await refused(server, (Code.FAILED_PRECONDITION, "PROTOCOL", "no hello within 0.05 s"))


@pytest.mark.parametrize("version", [0, 2])
async def test_another_protocol_is_refused(server: ServerInTest, version: int) -> None:
    """The bot learns which one the server speaks."""
    hello = pb.Hello(protocol_version=version, bot_name="ada")
    await refused(
        server,
        (Code.FAILED_PRECONDITION, "PROTOCOL", f"speaks protocol 1, you sent {version}"),
        pb.PlayRequest(hello=hello),
    )


@pytest.mark.parametrize("second", [pb.PlayRequest(hello=HELLO), pb.PlayRequest()])
async def test_there_is_one_hello(server: ServerInTest, second: pb.PlayRequest) -> None:
    """A second hello, or a message without a command, is impossible."""
    await refused(
        server,
        (Code.INVALID_ARGUMENT, "INVALID_REQUEST", "not expected here"),
        pb.PlayRequest(hello=HELLO),
        second,
    )


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"bot_name": "a b"}, '"a b" is no bot name'),
        ({"bot_name": ""}, '"" is no bot name'),
        ({"bot_name": "a" * 41}, "1 to 40 letters"),
        ({"engine": pb.Engine(version="v" * 41)}, "engine.version is longer than 40"),
        ({"engine": pb.Engine(digest="d" * 65)}, "engine.digest is longer than 64"),
        ({"capabilities": pb.Capabilities(max_board_size=9)}, "min_board_size 15 is above"),
    ],
)
async def test_an_impossible_hello_is_refused(
    server: ServerInTest, parts: dict[str, Any], words: str
) -> None:
    """The error names the field."""
    hello = pb.Hello(**{"protocol_version": 1, "bot_name": "ada", **parts})
    await refused(
        server, (Code.INVALID_ARGUMENT, "INVALID_REQUEST", words), pb.PlayRequest(hello=hello)
    )


async def test_a_hello_is_acknowledged_on_its_own(server: ServerInTest) -> None:
    """The call's metadata come before the welcome is written.

    With the first write they would come again when that is cut off by an abort: gRPC refuses
    the double, and the stream would never end.
    """
    peer = await server.peer()
    with server.held():
        await peer.write(hello=HELLO)
        async with asyncio.timeout(PATIENCE):
            await peer.call.initial_metadata()
    assert await peer.welcome()


# -- who it is --------------------------------------------------------------------


@pytest.mark.settings(registration="closed")
async def test_a_token_says_who_the_bot_is(server: ServerInTest) -> None:
    """With a token the name may be left out, or must be the token's."""
    token = await register(server, "ada")
    await register(server, "bob")
    for name in ("", "ada"):
        peer = await server.peer(token)
        await peer.write(hello=pb.Hello(protocol_version=1, bot_name=name))
        assert (await peer.welcome()).bot_name == "ada"
    peer = await server.peer(token)
    await peer.write(hello=pb.Hello(protocol_version=1, bot_name="bob"))
    end = await peer.closed()
    assert (end.code, end.reason) == (Code.PERMISSION_DENIED, "NOT_ALLOWED")
    assert 'token of "ada", not of "bob"' in end.details


@pytest.mark.settings(registration="closed")
@pytest.mark.parametrize("token", [None, "nothing", "gmk_bot_nothing"])
async def test_a_closed_server_wants_a_token(server: ServerInTest, token: str | None) -> None:
    """Missing and unknown tokens are refused in the same words."""
    peer = await server.peer(token)
    end = await peer.closed()
    assert (end.code, end.reason) == (Code.UNAUTHENTICATED, "UNKNOWN_TOKEN")
    assert end.details == "missing or unknown token"


async def test_an_operators_token_plays_no_games(server: ServerInTest) -> None:
    """It names no bot."""
    end = await (await server.peer(server.operator_token)).closed()
    assert (end.code, end.reason) == (Code.PERMISSION_DENIED, "NOT_ALLOWED")


async def test_an_open_server_takes_a_new_name(server: ServerInTest) -> None:
    """The name is registered with the hello, and the same bot may return by it."""
    for _ in range(2):
        peer = await server.bot("ada")
        await peer.write(goodbye=pb.Goodbye())
        assert (await peer.closed()).code is Code.OK
    bots = await (await server.bots()).ListBots(bot_service_pb2.ListBotsRequest())
    assert [bot.name for bot in bots.bots] == ["ada"]


async def test_a_registered_name_is_its_tokens_alone(server: ServerInTest) -> None:
    """Open registration lets nobody play under the name of a bot that has a token."""
    token = await register(server, "ada")
    async with server.innocents():
        thief = await server.peer()
        await thief.write(hello=HELLO)
        end = await thief.closed()
        assert (end.code, end.reason) == (Code.UNAUTHENTICATED, "UNKNOWN_TOKEN")
        assert "send its token, or take another name" in end.details
    assert await server.bot("ada", token=token)


async def test_a_hello_waits_behind_no_read(server: ServerInTest) -> None:
    """However many lists are being read, a bot's token is looked up at once."""
    token = await register(server, "ada")
    gate, begun = threading.Event(), threading.Semaphore(0)

    def slow(_connection: object) -> None:
        begun.release()
        gate.wait(PATIENCE)

    reads = [asyncio.create_task(server.parts.storage.read(slow)) for _ in range(5 * READERS)]
    try:
        for _ in range(READERS):
            assert await asyncio.to_thread(begun.acquire, timeout=PATIENCE)
        assert (await server.bot("ada", token=token)).name == "ada"
        assert not any(read.done() for read in reads)
    finally:
        gate.set()
    await asyncio.gather(*reads)


async def test_a_replaced_token_closes_its_stream(server: ServerInTest) -> None:
    """Whoever has the old token is out at once, and stays out."""
    token = await register(server, "ada")
    peer = await server.bot("ada", token=token)
    await server.rotate("ada")
    end = await peer.closed()
    assert (end.code, end.reason) == (Code.UNAUTHENTICATED, "UNKNOWN_TOKEN")
    assert (await (await server.peer(token)).closed()).code is Code.UNAUTHENTICATED


@pytest.mark.settings(grace=timedelta(seconds=1.5))
async def test_the_welcome_says_where_the_bot_stands(server: ServerInTest) -> None:
    """A session of its own, the registered name, the grace, and the games that run."""
    peers = []
    for name in ("ada", "bob"):
        peer = await server.peer()
        await peer.write(hello=pb.Hello(protocol_version=1, bot_name=name))
        welcome = await peer.welcome()
        assert (welcome.bot_name, welcome.grace_ms, welcome.running_games) == (name, 1_500, 0)
        peers.append(welcome.session_id)
    assert all(peers)
    assert len(set(peers)) == 2


# -- games ------------------------------------------------------------------------


async def both_told(
    black: Peer, white: Peer, ending: game_pb2.Ending.ValueType, **outcome: Any
) -> pb.GameEnded:
    """Both players hear of the same end."""
    ended = [await peer.ended() for peer in (black, white)]
    assert ended[0].outcome == ended[1].outcome
    assert ended[0].moves == ended[1].moves
    assert ended[0].outcome.ending == ending
    for name, value in outcome.items():
        assert getattr(ended[0].outcome, name) == value, name
    return ended[0]


async def test_a_game_from_its_start_to_five(server: ServerInTest) -> None:
    """Starts, turns and ends tell both sides the same game."""
    ada, bob = await server.bot("ada"), await server.bot("bob")
    await server.tournament("ada", "bob", control="600+1")
    starts = [await peer.started() for peer in (ada, bob)]
    assert [start.opponent for start in starts] == ["bob", "ada"]
    assert {start.color for start in starts} == {game_pb2.COLOR_BLACK, game_pb2.COLOR_WHITE}
    assert starts[0].game_id == starts[1].game_id
    for start in starts:
        assert (start.variant.width, start.variant.line, start.moves) == (5, 5, b"")
        assert start.time_control.initial.seconds == 600
    black, white = (ada, bob) if starts[0].color == game_pb2.COLOR_BLACK else (bob, ada)
    for ply, cell in enumerate((0, 5, 1, 6, 2, 7, 3, 8)):
        turn = await (black, white)[ply % 2].turn()
        assert (turn.ply, cells(turn.moves)) == (ply, [0, 5, 1, 6, 2, 7, 3, 8][:ply])
        assert 599_000 < turn.own_clock_ms <= 604_000
        await (black, white)[ply % 2].play(turn, cell)
    await black.play(await black.turn(), 4)
    ended = await both_told(
        black,
        white,
        game_pb2.ENDING_FIVE,
        winner=game_pb2.COLOR_BLACK,
        at_fault=game_pb2.PARTY_UNSPECIFIED,
    )
    assert cells(ended.moves) == [0, 5, 1, 6, 2, 7, 3, 8, 4]


async def test_a_draw(server: ServerInTest, line: Callable[..., Any]) -> None:
    """A full board has no winner."""
    black, white = await server.pair(variant=TIC_TAC_TOE)
    await line((black, white), (0, 1, 2, 4, 3, 5, 7, 6, 8))
    await both_told(black, white, game_pb2.ENDING_DRAW, winner=game_pb2.COLOR_UNSPECIFIED)


async def test_an_opening_is_set_up_for_both(server: ServerInTest) -> None:
    """Its moves come with the start, and the side after it is asked first."""
    black, white = await server.pair(openings=[bytes((12, 0, 13, 0, 14, 0))])
    turn = await white.turn()
    assert (turn.ply, cells(turn.moves)) == (3, [12, 13, 14])
    await white.play(turn, 0)
    turn = await black.turn()
    assert (turn.ply, cells(turn.moves)) == (4, [12, 13, 14, 0])


@pytest.mark.parametrize("side", [0, 1])
async def test_resigning(server: ServerInTest, side: int) -> None:
    """Either side may resign, on its turn or not."""
    players = await server.pair()
    turn = await players[0].turn()
    await players[side].resign(turn.game)
    winner = (game_pb2.COLOR_WHITE, game_pb2.COLOR_BLACK)[side]
    await both_told(*players, game_pb2.ENDING_RESIGN, winner=winner)


async def test_a_goodbye_resigns(server: ServerInTest) -> None:
    """A bot that leaves for good leaves no game behind."""
    black, white = await server.pair()
    await white.write(goodbye=pb.Goodbye())
    assert (await white.closed()).code is Code.OK
    ended = await black.ended()
    assert ended.outcome.ending == game_pb2.ENDING_RESIGN
    assert ended.outcome.winner == game_pb2.COLOR_BLACK


@pytest.mark.parametrize(
    ("cell", "detail"), [(0, "a5 is occupied"), (25, "cell 25 is off the 5x5 board")]
)
async def test_an_illegal_move_forfeits(
    server: ServerInTest, line: Callable[..., Any], cell: int, detail: str
) -> None:
    """The game is lost at once; both sides read why."""
    async with server.innocents():
        black, white = await server.pair()
        await line((black, white), (0, cell))
        ended = await both_told(
            black,
            white,
            game_pb2.ENDING_ILLEGAL,
            winner=game_pb2.COLOR_BLACK,
            at_fault=game_pb2.PARTY_WHITE,
            detail=detail,
        )
        assert cells(ended.moves) == [0]


async def test_a_forbidden_move_forfeits(server: ServerInTest, line: Callable[..., Any]) -> None:
    """A foul of black's in renju loses at once, and is told by its name."""
    moves = (8, 42, 9, 43, 17, 45, 24, 46)
    async with server.innocents():
        black, white = await server.pair(variant=Variant(RENJU, 7, 7))
        await line((black, white), (*moves, 10))
        ended = await both_told(
            black,
            white,
            game_pb2.ENDING_FORBIDDEN,
            winner=game_pb2.COLOR_WHITE,
            at_fault=game_pb2.PARTY_BLACK,
            detail="d6 is forbidden to black by the renju rule: double-three",
        )
        assert cells(ended.moves) == list(moves)


@pytest.mark.parametrize("control", ["0.05/move", "0.05"])
async def test_time_runs_out(server: ServerInTest, control: str) -> None:
    """A bot that does not answer in time loses, without anybody asking."""
    async with server.innocents():
        black, white = await server.pair(control=control)
        await black.turn()
        ended = await both_told(
            black,
            white,
            game_pb2.ENDING_TIME,
            winner=game_pb2.COLOR_WHITE,
            at_fault=game_pb2.PARTY_BLACK,
        )
        assert "for a move that had 0.050 s" in ended.outcome.detail


async def test_a_failure_forfeits(start_server: StartServer, any_database_url: str) -> None:
    """What the bot says about it is kept, up to a length, as text that can be stored."""
    async with start_server(database_url=any_database_url) as server, server.innocents():
        black, white = await server.pair()
        turn = await black.turn()
        await black.fail(turn.game, "out of\0 memory " * 100)
        ended = await both_told(
            black,
            white,
            game_pb2.ENDING_CRASH,
            winner=game_pb2.COLOR_WHITE,
            at_fault=game_pb2.PARTY_BLACK,
        )
        assert ended.outcome.detail.startswith("out of memory out of")
        assert len(ended.outcome.detail) <= 500


@pytest.mark.settings(grace=SOON)
async def test_absence_beyond_the_grace_forfeits(server: ServerInTest) -> None:
    """The end of a stream is no goodbye; staying away is a forfeit."""
    async with server.innocents():
        black, white = await server.pair()
        black.call.cancel()
        ended = await white.ended()
        assert ended.outcome.ending == game_pb2.ENDING_DISCONNECT
        assert ended.outcome.winner == game_pb2.COLOR_WHITE
        assert ended.outcome.at_fault == game_pb2.PARTY_BLACK


@pytest.mark.parametrize("ply", [0, 1, 2])
async def test_a_bot_returns_within_the_grace(
    server: ServerInTest, line: Callable[..., Any], ply: int
) -> None:
    """It gets its game with all moves, its turn if it is its turn, and plays on to the end."""
    black, white = await server.pair()
    five = (0, 5, 1, 6, 2, 7, 3, 8, 4)
    await line((black, white), five[:ply])
    turn = await (black, white)[ply % 2].turn()
    black.call.cancel()
    await server.away(black.name)
    back = await server.bot(black.name, resume=black.session_id)
    start = await back.started()
    assert (start.color, cells(start.moves)) == (game_pb2.COLOR_BLACK, list(five[:ply]))
    if ply % 2:
        await white.play(turn, five[ply])
    else:
        turn = await back.turn()
        assert (turn.ply, cells(turn.moves)) == (ply, list(five[:ply]))
        await back.play(turn, five[ply])
    await line((back, white), five[ply + 1 :], first=ply + 1)
    await both_told(back, white, game_pb2.ENDING_FIVE, winner=game_pb2.COLOR_BLACK)
    assert back.unread("notices") == white.unread("notices") == 0


async def test_the_welcome_counts_the_games_that_follow(server: ServerInTest) -> None:
    """A bot that returns to several games gets each of them, in the same breath."""
    ada = await server.bot("ada", max_games=3)
    await server.bot("bob", max_games=3)
    await server.tournament("ada", "bob", rounds=3)
    games = {(await ada.started()).game_id for _ in range(3)}
    ada.call.cancel()
    back = await server.peer()
    await back.write(hello=pb.Hello(protocol_version=1, bot_name="ada"))
    assert (await back.welcome()).running_games == 3
    assert {(await back.started()).game_id for _ in range(3)} == games


async def test_the_clock_after_a_return_is_what_is_left(server: ServerInTest) -> None:
    """Time that was used before the stream was lost is not offered again."""
    black, _ = await server.pair(control="1000/move")
    first = await black.turn()
    game = server.running[0]
    game.arbiter._asked_at_ns -= 400 * 10**9
    server.parts.games.hasten((game,))
    black.call.cancel()
    back = await server.bot(game.black.name)
    turn = await back.turn()
    assert turn.ply == first.ply
    assert 590_000 < turn.own_clock_ms <= 600_000
    assert turn.opponent_clock_ms == 1_000_000


# -- actions without effect -------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("unknown", pb.NOTICE_REASON_UNKNOWN_GAME),
        ("somebody else's", pb.NOTICE_REASON_UNKNOWN_GAME),
        ("twice", pb.NOTICE_REASON_STALE_PLY),
        ("too early", pb.NOTICE_REASON_STALE_PLY),
        ("not its turn", pb.NOTICE_REASON_NOT_YOUR_TURN),
    ],
)
async def test_an_action_without_effect_is_noticed(
    server: ServerInTest,
    line: Callable[..., Any],
    action: str,
    reason: pb.NoticeReason.ValueType,
) -> None:
    """Nothing else happens: the pending turn waits, and every game goes on to its end."""
    async with server.innocents():
        black, white = await server.pair()
        start = black.start
        others = next(game.number for game in server.running if game.number != start.game)
        turn = await black.turn()
        play = {
            "unknown": pb.Play(game=99, ply=0, cell=3),
            "somebody else's": pb.Play(game=others, ply=4, cell=3),
            "twice": pb.Play(game=turn.game, ply=0, cell=0),
            "too early": pb.Play(game=turn.game, ply=2, cell=1),
            "not its turn": pb.Play(game=turn.game, ply=0, cell=5),
        }[action]
        sender = white if action == "not its turn" else black
        if action == "twice":
            await black.play(turn, 0)
        await sender.write(actions=pb.Actions(plays=[play]))
        notice = await sender.notice()
        assert (notice.game, notice.ply, notice.reason) == (play.game, play.ply, reason)
        assert notice.detail
        if action != "twice":
            await black.play(turn, 0)
        await line((black, white), (5, 1, 6, 2, 7, 3, 8, 4), first=1)
        ended = await both_told(black, white, game_pb2.ENDING_FIVE)
        assert cells(ended.moves) == [0, 5, 1, 6, 2, 7, 3, 8, 4]
        assert black.unread("notices") == white.unread("notices") == 0


@pytest.mark.parametrize("kind", ["resigns", "failures"])
async def test_somebody_elses_game_is_not_given_up(server: ServerInTest, kind: str) -> None:
    """Only a player of a game may end it."""
    async with server.innocents():
        stranger = await server.bot("ada")
        (game,) = server.running
        make = {"resigns": pb.Resign, "failures": pb.Failure}[kind]
        await stranger.write(actions=pb.Actions(**{kind: [make(game=game.number)]}))
        notice = await stranger.notice()
        assert notice.reason == pb.NOTICE_REASON_UNKNOWN_GAME


@pytest.mark.settings(max_notices=5)
async def test_too_many_notices_end_the_stream(server: ServerInTest) -> None:
    """The bot that does nothing but that is thrown out; its game waits for its return."""
    now = 0.0
    server.app.limits.suspensions = Suspensions(lambda: now)
    async with server.innocents():
        black, white = await server.pair()
        turn = await black.turn()
        wrong = pb.Play(game=turn.game, ply=7, cell=0)
        for _ in range(6):
            await black.write(actions=pb.Actions(plays=[wrong]))
        end = await black.closed()
        assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "TOO_MANY_NOTICES")
        assert white.unread("ended") == 0
        early = await server.peer()
        await early.write(hello=pb.Hello(protocol_version=1, bot_name=black.name))
        end = await early.closed()
        assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "SUSPENDED")
        assert end.details.endswith("come back in 10 s")
        now = 10.0
        back = await server.bot(black.name)
        await back.resign((await back.turn()).game)
        assert (await white.ended()).outcome.ending == game_pb2.ENDING_RESIGN


@pytest.mark.parametrize("kind", ["plays", "resigns", "failures"])
async def test_too_many_actions_in_a_message_end_the_stream(
    server: ServerInTest, kind: str
) -> None:
    """None of them is judged or answered, good ones neither; the game waits."""
    async with server.innocents():
        black, white = await server.pair()
        turn = await black.turn()
        make = {"plays": pb.Play, "resigns": pb.Resign, "failures": pb.Failure}[kind]
        (game,) = (game for game in server.running if game.number == turn.game)
        session = server.player(game.black).session
        assert session is not None
        good = pb.Play(game=turn.game, ply=turn.ply, cell=0)
        actions = pb.Actions(plays=[good], resigns=[pb.Resign(game=turn.game)])
        getattr(actions, kind).extend([make()] * 25_000)
        await black.write(actions=actions)
        end = await black.closed()
        assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "TOO_MANY_ACTIONS")
        assert session.refused == 0
        assert (game.arbiter.board.ply, game.arbiter.outcome) == (0, None)
        assert white.unread("ended") == 0


async def write_on(peer: Peer, request: pb.PlayRequest) -> None:
    """Send a message again and again, as a client does that reads at the end."""
    with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):  # what it hears is looked at
        for _ in range(play_service.MESSAGES_TAKEN):
            await peer.call.write(request)


@pytest.mark.parametrize("size", [MAX_MESSAGE_BYTES, 2 * MAX_MESSAGE_BYTES - 16])
async def test_a_message_that_is_too_large_is_refused_in_words(
    server: ServerInTest, size: int
) -> None:
    """However often it is sent, and though its sender waits to write when the stream ends."""
    request = pb.PlayRequest(actions=pb.Actions(plays=[pb.Play()] * (size // 2)))
    size = request.ByteSize()
    async with server.innocents():
        peers = [await server.bot(f"bot-{number}") for number in range(8)]
        await asyncio.gather(*(write_on(peer, request) for peer in peers))
        for peer in peers:
            end = await peer.closed()
            assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "MESSAGE_TOO_LARGE")
            assert end.details == (
                f"the message takes {size} bytes, and at most {MAX_MESSAGE_BYTES} are taken; send "
                "smaller ones"
            )


async def test_a_hello_that_is_too_large_is_refused_in_words(server: ServerInTest) -> None:
    """Nothing of it is looked at."""
    peer = Peer(await server.channel(), None)
    await peer.write(hello=pb.Hello(bot_name="x" * MAX_MESSAGE_BYTES))
    assert (await peer.closed()).reason == "MESSAGE_TOO_LARGE"


@pytest.mark.parametrize("command", [{"actions": pb.Actions()}, {"pong": pb.Pong(sequence=77)}])
async def test_messages_without_effect_are_slowed_and_end_the_stream(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch, command: dict[str, Any]
) -> None:
    """No more of them are read than the rate allows."""
    monkeypatch.setattr(play_service, "MAX_THROTTLING", timedelta(seconds=0.3))
    rate = Rate(per_second=50, burst=10)
    monkeypatch.setattr(play_service, "MESSAGE_RATE", rate)
    read: list[object] = []
    monkeypatch.setattr(play_service, "check_decoded", read.append)
    async with server.innocents():
        flood = await server.bot("flood")
        since = time.monotonic()
        for _ in range(100):  # fewer than would block a write, whose failure hides the status
            await flood.write(**command)
        end = await flood.closed()
        assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "TOO_MANY_MESSAGES")
    few = [request for request in read if request == pb.PlayRequest(**command)]
    assert len(few) <= rate.burst + rate.per_second * (time.monotonic() - since) + 2


async def test_moves_are_never_throttled(
    server: ServerInTest, line: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot that has no messages to spare plays a game to its end."""
    monkeypatch.setattr(play_service, "MESSAGE_RATE", Rate(per_second=1e-6, burst=3))
    black, white = await server.pair()
    await line((black, white), (0, 5, 1, 6, 2, 7, 3, 8, 4))
    await both_told(black, white, game_pb2.ENDING_FIVE)


async def test_a_throttle_waits_between_messages_and_forgets() -> None:
    """After the burst each waits for its token, until that has gone on for too long in a row."""
    waits: list[float] = []
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        waits.append(seconds)

    async def send(count: int) -> None:
        for _ in range(count):
            await throttle.wait()

    throttle = play_service.Throttle(lambda: now, sleep)
    burst, per_second = int(MESSAGE_RATE.burst), MESSAGE_RATE.per_second
    long = int(play_service.MAX_THROTTLING.total_seconds() * per_second)
    for _ in range(10):
        await send(burst + long // 2)
        now += 60
    assert len(waits) == 10 * (long // 2)
    assert sum(waits) == pytest.approx(len(waits) / per_second)
    with pytest.raises(TooManyMessagesError, match="20 a second"):
        await send(burst + 2 * long)


async def test_a_message_that_is_too_large_ends_the_stream(server: ServerInTest) -> None:
    """Nothing of it is kept in memory, and the game goes on when the bot returns."""
    async with server.innocents():
        black, white = await server.pair()
        turn = await black.turn()
        await black.play(turn, 0, analysis=pb.Analysis(pv=bytes(5_000_000)))
        assert (await black.closed()).code is Code.RESOURCE_EXHAUSTED
        back = await server.bot(black.name)
        await back.play(await back.turn(), 0)
        assert cells((await white.turn()).moves) == [0]


async def test_an_answer_that_came_too_late_is_stale(server: ServerInTest) -> None:
    """After the sweep has ended the game there is no such game."""
    black, white = await server.pair(control="0.05/move")
    turn = await black.turn()
    await both_told(black, white, game_pb2.ENDING_TIME)
    await black.play(turn, 0)
    assert (await black.notice()).reason == pb.NOTICE_REASON_UNKNOWN_GAME


async def test_actions_of_one_message_are_judged_one_by_one(server: ServerInTest) -> None:
    """A wrong one among them does not touch the others."""
    ada = await server.bot("ada", max_games=2)
    bob = await server.bot("bob", max_games=2)
    await server.tournament("ada", "bob", rounds=2)
    starts = [await ada.started(), await ada.started()]
    black = next(start for start in starts if start.color == game_pb2.COLOR_BLACK)
    turn = await ada.turn()
    assert turn.game == black.game
    plays = [
        pb.Play(game=77, ply=0, cell=0),
        pb.Play(game=turn.game, ply=turn.ply, cell=12),
        pb.Play(game=turn.game, ply=turn.ply, cell=12),
    ]
    await ada.write(actions=pb.Actions(plays=plays, resigns=[pb.Resign(game=78)]))
    reasons = [(await ada.notice()).reason for _ in range(3)]
    assert reasons == [
        pb.NOTICE_REASON_UNKNOWN_GAME,
        pb.NOTICE_REASON_STALE_PLY,
        pb.NOTICE_REASON_UNKNOWN_GAME,
    ]
    turns = [await bob.turn(), await bob.turn()]
    assert sorted(cells(turn.moves) for turn in turns) == [[], [12]]


async def test_a_large_message_is_judged_in_portions(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In their order, and what is not a move with the last of them."""
    monkeypatch.setattr(play_service, "PORTION", 1)
    black, white = await server.pair()
    turn = await black.turn()
    move = pb.Play(game=turn.game, ply=0, cell=12)
    await black.write(actions=pb.Actions(plays=[move] * 3, resigns=[pb.Resign(game=78)]))
    assert [(await black.notice()).reason for _ in range(3)] == [
        pb.NOTICE_REASON_STALE_PLY,
        pb.NOTICE_REASON_STALE_PLY,
        pb.NOTICE_REASON_UNKNOWN_GAME,
    ]
    assert cells((await white.turn()).moves) == [12]


# -- streams ----------------------------------------------------------------------


async def test_a_newer_stream_takes_the_place_of_the_older(
    server: ServerInTest, line: Callable[..., Any]
) -> None:
    """The older is told so; the game goes on with the newer."""
    async with server.innocents():
        black, white = await server.pair()
        await black.turn()
        newer = await server.bot(black.name)
        end = await black.closed()
        assert (end.code, end.reason) == (Code.ABORTED, "REPLACED")
        await line((newer, white), (0, 5, 1, 6, 2, 7, 3, 8, 4))
        await both_told(newer, white, game_pb2.ENDING_FIVE)


async def test_a_replaced_stream_does_not_take_its_place_back(server: ServerInTest) -> None:
    """Two copies of one bot don't throw each other out for ever; when one ends the other may."""
    older = await server.bot("ada")
    newer = await server.bot("ada")
    await older.closed()
    again = await server.peer()
    await again.write(
        hello=pb.Hello(protocol_version=1, bot_name="ada", resume_session_id=older.session_id)
    )
    end = await again.closed()
    assert (end.code, end.reason) == (Code.ABORTED, "REPLACED")
    assert "stop one of the two" in end.details
    await server.bot("bob")
    await server.tournament("ada", "bob")
    assert await newer.started()
    newer.call.cancel()
    await server.away("ada")
    assert await server.bot("ada", resume=older.session_id)


async def test_streams_that_keep_replacing_each_other_are_stopped(server: ServerInTest) -> None:
    """The sixth is refused and the fifth stays; who knows the open session may still resume it."""
    peers = [await server.bot("ada") for _ in range(6)]
    thief = await server.peer()
    await thief.write(hello=pb.Hello(protocol_version=1, bot_name="ada"))
    end = await thief.closed()
    assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "TOO_MANY_REPLACEMENTS")
    assert "stolen" in end.details
    assert await server.connected() == {"ada"}
    back = await server.bot("ada", resume=peers[-1].session_id)
    assert (await peers[-1].closed()).reason == "REPLACED"
    await server.bot("bob")
    await server.tournament("ada", "bob")
    assert await back.started()


async def test_nothing_more_is_read_from_a_stream_that_is_closed(server: ServerInTest) -> None:
    """The goodbye of a process that was replaced resigns no game of the one that replaced it."""

    class LastWords:
        """A call on which a goodbye was under way when the stream was closed."""

        def __init__(self, session: Session) -> None:
            self._session = session

        async def read(self) -> pb.PlayRequest:
            self._session.close(ReplacedError("replaced"))
            return pb.PlayRequest(goodbye=pb.Goodbye())

    await server.pair()
    (game,) = server.running
    session = server.player(game.black).session
    assert session is not None
    parts = server.parts
    servicer = PlayServicer(
        parts.lobby,
        parts.actions,
        parts.watch,
        parts.storage,
        limits=Limits(server.settings),
        store_watch=parts.store_watch,
        calls=OpenCalls(),
    )
    await servicer._read(session, cast("Context", LastWords(session)))
    assert game.arbiter.outcome is None


@pytest.mark.settings(grace=3 * SOON)
async def test_absence_while_the_store_fails_is_no_forfeit(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot can't return to a server whose database is away: its grace begins when that is back."""
    dialect = server.database.writer.dialect
    commit, error = dialect.do_commit, dialect.loaded_dbapi.OperationalError
    black, white = await server.pair()
    turn = await black.turn()
    (game,) = server.running
    is_away = [True]

    def do_commit(connection: Any) -> None:
        if is_away:
            raise error("disk full")
        commit(connection)

    monkeypatch.setattr(dialect, "do_commit", do_commit)
    await black.play(turn, 0)
    await server.until(lambda: server.parts.store_watch.is_away)
    white.call.cancel()
    await server.away(white.name)
    gone = time.monotonic()
    await server.until(lambda: time.monotonic() > gone + 6 * SOON.total_seconds())
    refused = await server.peer()
    await refused.write(hello=pb.Hello(protocol_version=1, bot_name=white.name))
    end = await refused.closed()
    assert (end.code, end.reason) == (Code.UNAVAILABLE, "STORE_AWAY")
    assert game.arbiter.outcome is None
    is_away.clear()
    back = await server.bot(white.name)
    assert (await back.turn()).ply == 1
    back.call.cancel()
    ended = await black.ended()
    assert ended.outcome.ending == game_pb2.ENDING_DISCONNECT


async def test_a_bot_that_was_replaced_is_paired(server: ServerInTest) -> None:
    """A stream that took the place of an idle one is as good as a first one."""
    await server.bot("ada")
    newer = await server.bot("ada")
    await server.bot("bob")
    await server.tournament("ada", "bob")
    assert (await newer.started()).opponent == "bob"


async def test_another_version_does_not_take_over(server: ServerInTest) -> None:
    """A game is finished by the version that began it: another one can't even resign it."""
    old = await server.bot("ada", version="1")
    bob = await server.bot("bob")
    await server.tournament("ada", "bob")
    start = await old.started()
    old.call.cancel()
    await server.away("ada")
    new = await server.peer()
    engine = pb.Engine(version="2")
    await new.write(hello=pb.Hello(protocol_version=1, bot_name="ada", engine=engine))
    assert (await new.welcome()).running_games == 0
    await new.resign(start.game)
    assert (await new.notice()).reason == pb.NOTICE_REASON_UNKNOWN_GAME
    await new.fail(start.game, "not mine")
    assert (await new.notice()).reason == pb.NOTICE_REASON_UNKNOWN_GAME
    for ply in (0, 1):
        play = pb.Play(game=start.game, ply=ply, cell=0)
        await new.write(actions=pb.Actions(plays=[play]))
        assert await new.notice()
    await new.write(goodbye=pb.Goodbye())
    await new.closed()
    back = await server.bot("ada", version="1")
    assert (await back.started()).game_id == start.game_id
    await back.resign(start.game)
    assert (await bob.ended()).outcome.ending == game_pb2.ENDING_RESIGN


@pytest.mark.settings(write_timeout=timedelta(seconds=0.3), max_notices=1000000)
async def test_a_bot_that_never_reads_is_dropped(server: ServerInTest) -> None:
    """Its stream ends after the write timeout, and nobody else waits for it."""
    async with server.innocents():
        slow = await server.slow_consumer("slow")
        wrong = pb.Play(game=99, ply=1, cell=2)
        for _ in range(int(MESSAGE_RATE.burst)):
            await slow.write(actions=pb.Actions(plays=[wrong] * SPARE_ACTIONS))
        await server.away("slow")
    end: CallEnding = await slow.closed()
    assert (end.code, end.reason) == (Code.RESOURCE_EXHAUSTED, "NOT_READING")


async def test_a_bot_that_gives_up_while_it_is_let_in_harms_nobody(server: ServerInTest) -> None:
    """Hellos that are taken back at once leave the store's writer at work."""
    async with server.innocents():
        for ticks in range(20):
            peer = await server.peer()
            hello = pb.Hello(protocol_version=1, bot_name=f"hasty-{ticks}")
            await peer.write(hello=hello)
            for _ in range(ticks):
                await asyncio.sleep(0)
            peer.call.cancel()


# -- the server's end -------------------------------------------------------------


@pytest.mark.settings(drain=timedelta(seconds=30))
async def test_draining_lets_games_end(server: ServerInTest, line: Callable[..., Any]) -> None:
    """Bots are told, games go on to their ends, no other begins, and streams are closed."""
    black, white = await server.pair(rounds=2)
    await line((black, white), (0, 5))
    drain = asyncio.create_task(server.app.drain())
    for peer in (black, white):
        await peer.draining()
    late = await server.peer()
    end = await late.closed()
    assert (end.code, end.reason) == (Code.UNAVAILABLE, "STOPPING")
    await line((black, white), (1, 6, 2, 7, 3, 8, 4), first=2)
    await both_told(black, white, game_pb2.ENDING_FIVE)
    for peer in (black, white):
        end = await peer.closed()
        assert (end.code, end.reason) == (Code.UNAVAILABLE, "STOPPING")
        assert peer.unread("started") == 0
    await drain


@pytest.mark.settings(drain=SOON)
async def test_draining_has_an_end(server: ServerInTest) -> None:
    """Games that don't end in time wait for the next start."""
    black, white = await server.pair(variant=Variant())
    await server.app.drain()
    for peer in (black, white):
        end = await peer.closed()
        assert (end.code, end.reason) == (Code.UNAVAILABLE, "STOPPING")
        assert peer.unread("ended") == 0
