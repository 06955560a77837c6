"""Bots' streams, against a real server in the same process."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import grpc
import pytest
from tests.conftest import PATIENCE
from tests.peer import Peer, play_moves
from tests.server_in_test import FIVE, ServerInTest, play_to_five

from meijin.game import Variant
from meijin.game.arbiter.moment import Moment
from meijin.server.access.open_calls import OpenCalls
from meijin.server.api.calls.limits import Limits, Suspensions
from meijin.server.api.streams import play as play_service
from meijin.server.api.streams.play import MESSAGE_RATE, PlayServicer
from meijin.server.errors import ReplacedError, TooManyMessagesError
from meijin.server.match.live.session import SPARE_ACTIONS
from meijin.server.storage import READERS
from meijin.server.token_bucket import Rate
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.wire.contract import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from meijin.server.api.calls.interceptor import Context
    from meijin.server.match.live.session import Session

HELLO: dict[str, Any] = {"protocol_version": 1, "bot_name": "ada"}
SOON = timedelta(milliseconds=100)
BLACK, WHITE = game_pb2.COLOR_BLACK, game_pb2.COLOR_WHITE
UNKNOWN, STALE = pb.NOTICE_REASON_UNKNOWN_GAME, pb.NOTICE_REASON_STALE_PLY


def cells(moves: bytes) -> list[int]:
    return list(memoryview(moves).cast("H"))


async def turned_away(
    server: ServerInTest, name: str = "", token: str | None = None, **hello: Any
) -> tuple[str, str]:
    peer = await server.peer(token)
    await peer.hello(name, **hello)
    end = await peer.closed()
    return end.reason, end.details


# -- the hello --------------------------------------------------------------------


REFUSED_HELLOS: list[tuple[str, str, list[dict[str, Any]]]] = [
    ("PROTOCOL", "must be a hello", []),
    ("PROTOCOL", "must be a hello", [{"pong": pb.Pong()}]),
    ("INVALID_REQUEST", "not expected here", [{"hello": HELLO}, {"hello": HELLO}]),
    ("INVALID_REQUEST", '"a b" is no bot name', [{"hello": {**HELLO, "bot_name": "a b"}}]),
    (
        "INVALID_REQUEST",
        "engine.version is longer than 40",
        [{"hello": {**HELLO, "engine": pb.Engine(version="v" * 41)}}],
    ),
]
"""How streams end whose first messages are these; without any they are closed."""


async def test_a_hello_that_is_none_ends_the_stream(server: ServerInTest) -> None:
    """The error says what was expected, or names the field; it harms nobody."""
    async with server.innocents():
        for reason, words, messages in REFUSED_HELLOS:
            peer = await server.peer()
            for message in messages:
                await peer.call.write(pb.PlayRequest(**message))
            if not messages:
                await peer.call.done_writing()
            end = await peer.closed()
            assert end.reason == reason, words
            assert words in end.details


async def test_a_hello_has_its_time(server: ServerInTest, monkeypatch: pytest.MonkeyPatch) -> None:
    async with server.innocents():
        monkeypatch.setattr(play_service, "HELLO_TIMEOUT", timedelta(milliseconds=50))
        end = await (await server.peer()).closed()
    assert (end.reason, end.details) == ("PROTOCOL", "no hello within 0.05 s")


async def test_no_hello_is_late_while_the_server_stands_still(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, stood_ns = server.parts.watch, server.parts.watch.moment().served_ns
    monkeypatch.setattr(play_service, "HELLO_TIMEOUT", timedelta(milliseconds=1))
    monkeypatch.setattr(watch, "moment", lambda: Moment(now := time.monotonic_ns(), now - stood_ns))
    peer = await server.peer()
    for _ in range(20):
        await server.ask("BotService/ListBots")
    await peer.hello("late")
    assert (await peer.welcome()).bot_name == "late"


async def test_a_hello_is_acknowledged_on_its_own(server: ServerInTest) -> None:
    """The call's metadata come before the welcome is written.

    With the first write they would come again when that is cut off by an abort: gRPC refuses
    the double, and the stream would never end.
    """
    peer = await server.peer()
    with server.held():
        await peer.hello("ada")
        async with asyncio.timeout(PATIENCE):
            await peer.call.initial_metadata()
    assert await peer.welcome()


@pytest.mark.settings(registration="closed", grace=timedelta(seconds=1.5))
async def test_a_token_says_who_the_bot_is(server: ServerInTest) -> None:
    """With a token the name may be left out, or must be the token's; the welcome tells it."""
    token = await server.register("ada")
    await server.register("bob")
    sessions = set()
    for name in ("", "ada"):
        peer = await server.peer(token)
        await peer.hello(name)
        welcome = await peer.welcome()
        assert (welcome.bot_name, welcome.grace_ms, welcome.running_games) == ("ada", 1_500, 0)
        sessions.add(welcome.session_id)
    assert len(sessions - {""}) == 2
    reason, words = await turned_away(server, "bob", token)
    assert (reason, 'token of "ada", not of "bob"' in words) == ("NOT_ALLOWED", True)


async def test_an_open_server_takes_a_new_name(server: ServerInTest) -> None:
    """Again and again; but one for which somebody has made a token is its token's alone."""
    for _ in range(2):
        peer = await server.bot("ada")
        await peer.write(goodbye=pb.Goodbye())
        assert (await peer.closed()).code is grpc.StatusCode.OK
    for name, make in (("bob", server.register), ("ada", server.rotate)):
        token = await make(name)
        reason, words = await turned_away(server, name)
        assert reason == "UNKNOWN_TOKEN"
        assert "send its token, or take another name" in words
        assert await server.bot(name, token=token)


async def test_a_hello_waits_behind_no_read(server: ServerInTest) -> None:
    """However many lists are being read, a bot's token is looked up at once."""
    token = await server.register("ada")
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


# -- games ------------------------------------------------------------------------


async def test_a_game_from_its_start_to_five(server: ServerInTest) -> None:
    """Starts, turns and ends tell both sides the same game."""
    black, white = await server.pair(control="600+1")
    assert [peer.start.opponent for peer in (black, white)] == [white.name, black.name]
    assert (black.start.color, white.start.color) == (BLACK, WHITE)
    assert black.start.game_id == white.start.game_id
    for start in (black.start, white.start):
        assert (start.variant.width, start.variant.line, start.moves) == (5, 5, b"")
        assert start.time_control.initial.seconds == 600
    for ply, cell in enumerate(FIVE[:3]):
        mover = (black, white)[ply % 2]
        turn = await mover.turn()
        assert (turn.ply, cells(turn.moves)) == (ply, list(FIVE[:ply]))
        assert 599_000 < turn.own_clock_ms <= 605_000
        await mover.play(turn, cell)
    await play_to_five((black, white), first=3)


async def test_a_bot_that_leaves_for_good_resigns_its_games(server: ServerInTest) -> None:
    black, white = await server.pair()
    await white.write(goodbye=pb.Goodbye())
    assert (await white.closed()).code is grpc.StatusCode.OK
    outcome = (await black.ended()).outcome
    assert (outcome.ending, outcome.winner) == (game_pb2.ENDING_RESIGN, BLACK)


@pytest.mark.parametrize("ply", [1, 2])
async def test_a_bot_returns_within_the_grace(server: ServerInTest, ply: int) -> None:
    """It gets its game with all moves, its turn if it is its turn, and plays on to the end."""
    black, white = await server.pair()
    await play_moves((black, white), FIVE[:ply])
    turn = await (black, white)[ply % 2].turn()
    black.call.cancel()
    await server.away(black.name)
    back = await server.bot(black.name, resume=black.session_id)
    start = await back.started()
    assert (start.color, cells(start.moves)) == (BLACK, list(FIVE[:ply]))
    if ply % 2:
        await white.play(turn, FIVE[ply])
    else:
        turn = await back.turn()
        assert (turn.ply, cells(turn.moves)) == (ply, list(FIVE[:ply]))
        await back.play(turn, FIVE[ply])
    await play_to_five((back, white), first=ply + 1)
    assert back.unread("notices") == white.unread("notices") == 0


async def test_the_welcome_counts_the_games_that_follow(server: ServerInTest) -> None:
    """A bot that returns to several games gets each of them, in the same breath."""
    ada = await server.bot("ada", max_games=3)
    await server.bot("bob", max_games=3)
    await server.tournament("ada", "bob", rounds=3)
    games = {(await ada.started()).game_id for _ in range(3)}
    ada.call.cancel()
    back = await server.peer()
    await back.hello("ada")
    assert (await back.welcome()).running_games == 3
    assert {(await back.started()).game_id for _ in range(3)} == games


# -- actions without effect -------------------------------------------------------


async def test_actions_without_effect_are_noticed(server: ServerInTest) -> None:
    """Nothing else happens: the pending turn waits, and every game goes on to its end."""
    async with server.innocents():
        black, white = await server.pair()
        others = next(game.number for game in server.running if game.number != black.start.game)
        turn = await black.turn()
        mine, not_yours = pb.Play(game=turn.game, ply=0, cell=5), pb.NOTICE_REASON_NOT_YOUR_TURN
        for sender, actions, reason in (
            (black, pb.Actions(plays=[pb.Play(game=99, cell=3)]), UNKNOWN),
            (black, pb.Actions(plays=[pb.Play(game=others, ply=4, cell=3)]), UNKNOWN),
            (black, pb.Actions(resigns=[pb.Resign(game=others)]), UNKNOWN),
            (black, pb.Actions(failures=[pb.Failure(game=others)]), UNKNOWN),
            (black, pb.Actions(plays=[pb.Play(game=turn.game, ply=2, cell=1)]), STALE),
            (white, pb.Actions(plays=[mine]), not_yours),
        ):
            await sender.write(actions=actions)
            notice = await sender.notice()
            assert notice.reason == reason
            assert notice.detail
            for play in actions.plays:
                assert (notice.game, notice.ply) == (play.game, play.ply)
        await black.play(turn, 0)
        await play_to_five((black, white), first=1)
        assert black.unread("notices") == white.unread("notices") == 0


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
        assert (await black.closed()).reason == "TOO_MANY_NOTICES"
        assert white.unread("ended") == 0
        reason, words = await turned_away(server, black.name)
        assert (reason, words.endswith("come back in 10 s")) == ("SUSPENDED", True)
        now = 10.0
        back = await server.bot(black.name)
        await back.resign((await back.turn()).game)
        assert (await white.ended()).outcome.ending == game_pb2.ENDING_RESIGN


async def write_on(peer: Peer, request: pb.PlayRequest) -> None:
    """Send a message again and again, as a client does that reads at the end."""
    with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):  # what it hears is looked at
        for _ in range(play_service.MESSAGES_TAKEN):
            await peer.call.write(request)


@pytest.mark.parametrize("size", [MAX_MESSAGE_BYTES, 2 * MAX_MESSAGE_BYTES - 16])
async def test_a_message_that_is_too_large_is_refused_in_words(
    server: ServerInTest, size: int
) -> None:
    """However often it is sent, though its sender waits to write at the end; a hello, too."""
    request = pb.PlayRequest(actions=pb.Actions(plays=[pb.Play()] * (size // 2)))
    async with server.innocents():
        peers = [await server.bot(f"bot-{number}") for number in range(8)]
        await asyncio.gather(*(write_on(peer, request) for peer in peers))
        for peer in peers:
            end = await peer.closed()
            assert end.reason == "MESSAGE_TOO_LARGE"
            assert (
                f"takes {request.ByteSize()} bytes, and at most {MAX_MESSAGE_BYTES}" in end.details
            )
    assert (await turned_away(server, "x" * MAX_MESSAGE_BYTES))[0] == "MESSAGE_TOO_LARGE"


@pytest.mark.parametrize("command", [{"actions": pb.Actions()}, {"pong": pb.Pong(sequence=77)}])
async def test_messages_without_effect_are_slowed_and_end_the_stream(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch, command: dict[str, Any]
) -> None:
    """No more of them are read than the rate allows."""
    monkeypatch.setattr(play_service, "MAX_THROTTLING", timedelta(seconds=0.3))
    rate = Rate(per_second=5, burst=10)
    monkeypatch.setattr(play_service, "MESSAGE_RATE", rate)
    read: list[object] = []
    monkeypatch.setattr(play_service, "check_decoded", read.append)
    async with server.innocents():
        flood = await server.bot("flood")
        since = time.monotonic()
        for _ in range(100):  # fewer than would block a write, whose failure hides the status
            await flood.write(**command)
        assert (await flood.closed()).reason == "TOO_MANY_MESSAGES"
    few = [request for request in read if request == pb.PlayRequest(**command)]
    assert len(few) <= rate.burst + rate.per_second * (time.monotonic() - since) + 2


async def test_moves_are_never_throttled(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot that has no messages to spare plays a game to its end."""
    monkeypatch.setattr(play_service, "MESSAGE_RATE", Rate(per_second=1e-6, burst=3))
    black, white = await server.pair()
    await play_to_five((black, white))


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


async def test_actions_of_one_message_are_judged_one_by_one(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong one among them does not touch the others; in portions, what is no move at last."""
    monkeypatch.setattr(play_service, "PORTION", 1)
    black, white = await server.pair()
    turn = await black.turn()
    good = pb.Play(game=turn.game, ply=0, cell=12)
    plays = [pb.Play(game=77, ply=0, cell=0), good, good]
    await black.write(actions=pb.Actions(plays=plays, resigns=[pb.Resign(game=78)]))
    assert [(await black.notice()).reason for _ in range(3)] == [UNKNOWN, STALE, UNKNOWN]
    assert cells((await white.turn()).moves) == [12]


# -- streams ----------------------------------------------------------------------


async def test_a_replaced_token_closes_its_stream(server: ServerInTest) -> None:
    """Whoever has the old token is out at once, and stays out."""
    token = await server.register("ada")
    peer = await server.bot("ada", token=token)
    await server.rotate("ada")
    for stream in (peer, await server.peer(token)):
        assert (await stream.closed()).reason == "UNKNOWN_TOKEN"


async def test_a_replaced_stream_does_not_take_its_place_back(server: ServerInTest) -> None:
    """Two copies of one bot don't throw each other out forever; when one ends the other may."""
    older = await server.bot("ada")
    newer = await server.bot("ada")
    assert (await older.closed()).reason == "REPLACED"
    reason, words = await turned_away(server, "ada", resume_session_id=older.session_id)
    assert (reason, "stop one of the two" in words) == ("REPLACED", True)
    await server.bot("bob")
    await server.tournament("ada", "bob")
    assert await newer.started()
    newer.call.cancel()
    await server.away("ada")
    assert await server.bot("ada", resume=older.session_id)


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


async def test_another_version_does_not_take_over(server: ServerInTest) -> None:
    """A game is finished by the version that began it: another one can't even resign it."""
    old = await server.bot("ada", version="1")
    bob = await server.bot("bob")
    await server.tournament("ada", "bob")
    start = await old.started()
    old.call.cancel()
    await server.away("ada")
    new = await server.peer()
    await new.hello("ada", engine=pb.Engine(version="2"))
    assert (await new.welcome()).running_games == 0
    await new.resign(start.game)
    assert (await new.notice()).reason == UNKNOWN
    await new.write(actions=pb.Actions(plays=[pb.Play(game=start.game, ply=0, cell=0)]))
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
    assert (await slow.closed()).reason == "NOT_READING"


# -- the server's end -------------------------------------------------------------


@pytest.mark.settings(drain=timedelta(seconds=30))
async def test_draining_lets_games_end(server: ServerInTest) -> None:
    """Bots are told, games go on to their ends, no other begins, and streams are closed."""
    black, white = await server.pair(rounds=2)
    await play_moves((black, white), FIVE[:2])
    drain = asyncio.create_task(server.app.drain())
    for peer in (black, white):
        await peer.draining()
    assert (await (await server.peer()).closed()).reason == "STOPPING"
    await play_to_five((black, white), first=2)
    for peer in (black, white):
        assert (await peer.closed()).reason == "STOPPING"
        assert peer.unread("started") == 0
    await drain


@pytest.mark.settings(drain=SOON)
async def test_draining_has_an_end(server: ServerInTest) -> None:
    """Games that don't end in time wait for the next start."""
    black, white = await server.pair(variant=Variant())
    await server.app.drain()
    for peer in (black, white):
        assert (await peer.closed()).reason == "STOPPING"
        assert peer.unread("ended") == 0
