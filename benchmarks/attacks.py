"""Attacks of hostile peers on a server, and what the attackers hear.

    python benchmarks/attacks.py NAME ADDRESS SECONDS

It prints a JSON object: how often the attacker heard what. Calls end with a code of gRPC and the
reason of their error; sockets are `closed` by the server, or `open` until the end.
"""

import asyncio
import json
import struct
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import grpc
from google.rpc import error_details_pb2, status_pb2
from grpc_reflection.v1alpha import reflection_pb2

from meijin.v1 import (
    bot_service_pb2,
    game_service_pb2,
    play_service_pb2,
    tournament_service_pb2,
)
from meijin.wire.contract import PROTOCOL_VERSION

PLAY = "/meijin.v1.PlayService/Play"
LIST_BOTS = "/meijin.v1.BotService/ListBots"
REGISTER = "/meijin.v1.BotService/RegisterBot"
CREATE = "/meijin.v1.TournamentService/CreateTournament"
WATCH = "/meijin.v1.TournamentService/WatchTournament"
LIST_GAMES = "/meijin.v1.GameService/ListGames"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
PATIENCE = 20.0
"""Seconds that an attacker waits for the end of a call when its time is over."""

PAUSE = 0.05
"""Seconds after a message that ends a stream, to hear why."""

Heard: TypeAlias = "Counter[str]"
Options: TypeAlias = "Sequence[tuple[str, int]]"
CUT_OFF = "Internal error from Core"
"""What the attacker's own library says when a write fails before it has read why."""

SMALL_WINDOW = (("grpc.http2.lookahead_bytes", 1024), ("grpc.http2.bdp_probe", 0))


class Attacker:
    """Attacks for some time, and counts what it hears."""

    def __init__(self, address: str, seconds: float) -> None:
        self.address = address
        self.heard: Heard = Counter()
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds until the end."""
        return max(self._end - time.monotonic(), 0.0)

    @asynccontextmanager
    async def channel(self, options: Options = ()) -> AsyncIterator[grpc.aio.Channel]:
        """A connection of its own."""
        own = (("grpc.use_local_subchannel_pool", 1), *options)
        async with grpc.aio.insecure_channel(self.address, own) as channel:
            yield channel

    async def hear(self, call: Any) -> None:  # noqa: ANN401 - a call of any kind
        """Read a call to its end, and count how it ended."""
        stopped = (grpc.aio.AioRpcError, asyncio.InvalidStateError, TimeoutError)
        with suppress(*stopped, asyncio.CancelledError):  # of the call, when it is taken back
            async with asyncio.timeout(PATIENCE):
                while await call.read() is not grpc.aio.EOF:
                    pass
        if not call.done():
            call.cancel()
            self.heard["open"] += 1
            return
        if call.cancelled() or await call.details() == CUT_OFF:
            self.heard["cut"] += 1
        else:
            self.heard[_ending(await call.code(), await call.trailing_metadata())] += 1

    async def request(self, channel: grpc.aio.Channel, method: str, request: bytes) -> None:
        """Send a request to a unary method."""
        unary: Any = channel.unary_stream(method)
        await self.hear(unary(request))

    async def stream(
        self,
        messages: Callable[[int], bytes],
        name: str,
        options: Options = (),
        *,
        pause: float = 0.0,
    ) -> None:
        """Say hello and then messages without end, stream after stream."""
        number = 0
        while self.left:
            async with self.channel(options) as channel:
                play: Any = channel.stream_stream(PLAY)
                call = play()
                end = asyncio.create_task(self.hear(call))
                with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
                    await call.write(hello(name))
                    while self.left and not call.done():
                        await call.write(messages(number))
                        number += 1
                        await asyncio.sleep(pause)
                if not self.left and not call.done():
                    call.cancel()
                await end


def _ending(code: grpc.StatusCode, metadata: Any) -> str:  # noqa: ANN401 - as gRPC gives it
    for key, value in metadata or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info):
                    return f"{code.name} {info.reason}"
    return code.name


def hello(name: str) -> bytes:
    """The bytes of a first message."""
    capabilities = play_service_pb2.Capabilities(max_games=8)
    message = play_service_pb2.Hello(
        protocol_version=PROTOCOL_VERSION, bot_name=name, capabilities=capabilities
    )
    return play_service_pb2.PlayRequest(hello=message).SerializeToString()


def _actions(count: int = 0, game: int = 0) -> bytes:
    plays = [play_service_pb2.Play(game=game)] * count
    actions = play_service_pb2.Actions(plays=plays)
    return play_service_pb2.PlayRequest(actions=actions).SerializeToString()


async def together(*work: Awaitable[None]) -> None:
    """Do all of it at the same time."""
    await asyncio.gather(*work)


# -- on the play stream -------------------------------------------------------------


async def empty_messages(attacker: Attacker) -> None:
    """Messages without any action."""
    empty = _actions()
    await attacker.stream(lambda _: empty, "empty")


async def pongs(attacker: Attacker) -> None:
    """Answers that nobody asked for."""
    pong = play_service_pb2.PlayRequest(pong=play_service_pb2.Pong(sequence=7))
    data = pong.SerializeToString()
    await attacker.stream(lambda _: data, "pongs")


async def wrong_plays(attacker: Attacker) -> None:
    """Moves in games that the bot doesn't play."""
    await attacker.stream(lambda number: _actions(1, game=number % 2**31 + 1), "wrong")


async def many_plays(attacker: Attacker) -> None:
    """As many moves as fit into a message, on four streams."""
    data = _actions(60_000)
    await together(
        *(attacker.stream(lambda _: data, f"many-{bot}", pause=PAUSE) for bot in range(4))
    )


async def garbage(attacker: Attacker) -> None:
    """Bytes that are no message."""
    await attacker.stream(lambda number: bytes([255, number % 256, 255]), "garbage", pause=PAUSE)


async def huge_messages(attacker: Attacker) -> None:
    """Messages of 64 MB."""
    data = bytes(64 * 2**20)
    unlimited = (("grpc.max_send_message_length", -1),)
    await attacker.stream(lambda _: data, "huge", unlimited, pause=PAUSE)


async def no_hello(attacker: Attacker) -> None:
    """Streams that say nothing, eight on a connection."""

    async def silent(channel: grpc.aio.Channel) -> None:
        play: Any = channel.stream_stream(PLAY)
        call = play()
        await call.wait_for_connection()
        await attacker.hear(call)

    async def connection() -> None:
        async with attacker.channel() as channel:
            await together(*(silent(channel) for _ in range(8)))

    await together(*(connection() for _ in range(8)))


async def hello_storm(attacker: Attacker) -> None:
    """New names without end."""

    async def storm(first: int) -> None:
        number = first
        async with attacker.channel() as channel:
            while attacker.left:
                play: Any = channel.stream_stream(PLAY)
                call = play()
                with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
                    await call.write(hello(f"new-{number}"))
                    await call.done_writing()
                await attacker.hear(call)
                number += 16

    await together(*(storm(first) for first in range(16)))


async def swapped_identity(attacker: Attacker) -> None:
    """Four streams that take each other's place."""

    async def swap() -> None:
        while attacker.left:
            async with attacker.channel() as channel:
                play: Any = channel.stream_stream(PLAY)
                call = play()
                with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
                    await call.write(hello("twin"))
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(attacker.left, PATIENCE)):
                        await attacker.hear(call)

    await together(*(swap() for _ in range(4)))


# -- requests -----------------------------------------------------------------------


async def _flood(attacker: Attacker, method: str, requests: Callable[[int], bytes]) -> None:
    async def send(first: int) -> None:
        number = first
        async with attacker.channel() as channel:
            while attacker.left:
                await attacker.request(channel, method, requests(number))
                number += 32

    await together(*(send(first) for first in range(32)))


async def guessed_tokens(attacker: Attacker) -> None:
    """Tokens that are none, one after another."""

    async def guess(first: int) -> None:
        number = first
        async with attacker.channel() as channel:
            unary: Any = channel.unary_stream(LIST_BOTS)
            while attacker.left:
                token = (("authorization", f"Bearer gmk_bot_{number}"),)
                await attacker.hear(unary(b"", metadata=token))
                number += 8

    await together(*(guess(first) for first in range(8)))


async def registrations(attacker: Attacker) -> None:
    """Bots with new names."""

    def register(number: int) -> bytes:
        request = bot_service_pb2.RegisterBotRequest(name=f"bot-{number}")
        return request.SerializeToString()

    await _flood(attacker, REGISTER, register)


async def lists(attacker: Attacker) -> None:
    """The longest pages of games, again and again."""
    request = game_service_pb2.ListGamesRequest(page_size=1000).SerializeToString()
    await _flood(attacker, LIST_GAMES, lambda _: request)


async def huge_names(attacker: Attacker) -> None:
    """Texts of 100,000 characters in every field that takes one."""
    text = "x" * 100_000
    settings = tournament_service_pb2.TournamentSettings(bots=[text, "y"], rounds=1)
    requests = (
        (REGISTER, bot_service_pb2.RegisterBotRequest(name=text)),
        (CREATE, tournament_service_pb2.CreateTournamentRequest(request_id=text)),
        (CREATE, tournament_service_pb2.CreateTournamentRequest(settings=settings)),
        (LIST_GAMES, game_service_pb2.ListGamesRequest(page_token=text)),
        (LIST_BOTS, bot_service_pb2.ListBotsRequest(page_token=text)),
    )
    async with attacker.channel() as channel:
        while attacker.left:
            for method, request in requests:
                await attacker.request(channel, method, request.SerializeToString())


async def large_tournaments(attacker: Attacker) -> None:
    """More games than a server takes, and as many names as fit into a message."""
    settings = tournament_service_pb2.TournamentSettings
    names = [f"n{number}" for number in range(12_000)]
    requests = (settings(bots=("ada", "bob"), rounds=2**31 - 1), settings(bots=names, rounds=1))
    messages = [
        tournament_service_pb2.CreateTournamentRequest(settings=each).SerializeToString()
        for each in requests
    ]
    await _flood(attacker, CREATE, lambda number: messages[number // 32 % 2])


async def reflections(attacker: Attacker) -> None:
    """Questions after the contract, whose answers are a hundred times as long."""
    question = reflection_pb2.ServerReflectionRequest(file_containing_symbol="meijin.v1.Game")
    data = question.SerializeToString()

    async def ask() -> None:
        async with attacker.channel() as channel:
            stream: Any = channel.stream_stream(REFLECTION)
            call = stream()
            end = asyncio.create_task(attacker.hear(call))
            with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError, TimeoutError):
                async with asyncio.timeout(attacker.left):
                    while not call.done():
                        await call.write(data)
            call.cancel()
            await end

    await together(*(ask() for _ in range(8)))


async def silent_watchers(attacker: Attacker) -> None:
    """Watchers that never read, more than an address may have."""
    request = tournament_service_pb2.WatchTournamentRequest(tournament_id="1")
    data = request.SerializeToString()

    async def watch() -> None:
        async with attacker.channel(SMALL_WINDOW) as channel:
            unary: Any = channel.unary_stream(WATCH)
            calls = [unary(data) for _ in range(8)]
            await asyncio.sleep(attacker.left)
            for call in calls:
                if call.done():
                    await attacker.hear(call)
                else:
                    call.cancel()
                    attacker.heard["cut"] += 1

    await together(*(watch() for _ in range(16)))


# -- below gRPC ---------------------------------------------------------------------

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, CONTINUATION = 0, 1, 3, 4, 6, 9
END_HEADERS = 4


def frame(kind: int, payload: bytes = b"", *, flags: int = 0, stream: int = 0) -> bytes:
    """A frame of HTTP/2."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def _literal(name: bytes, value: bytes) -> bytes:
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def headers() -> bytes:
    """HPACK of a call's headers."""
    path = b"\x04" + bytes([len(LIST_BOTS)]) + LIST_BOTS.encode()
    fixed = b"\x83\x86" + path + b"\x01\x01x"
    return fixed + _literal(b"te", b"trailers") + _literal(b"content-type", b"application/grpc")


OPENING = PREFACE + frame(SETTINGS)
MALFORMED = (
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
    bytes(range(256)) * 16,
    OPENING + frame(DATA, b"x" * 100),
    OPENING + frame(HEADERS, b"\xff" * 200, flags=END_HEADERS, stream=1),
    OPENING + frame(HEADERS, headers(), flags=END_HEADERS, stream=2),
    OPENING + frame(CONTINUATION, b"x" * 100, stream=1),
    OPENING + struct.pack(">I", 2**24 - 1)[1:] + b"\0\0\0\0\0\1",
    OPENING + frame(PING, bytes(8)) * 1000,
    OPENING + frame(SETTINGS, struct.pack(">HI", 4, 2**31 - 1)) * 1000,
    OPENING + frame(HEADERS, headers(), stream=1) + frame(CONTINUATION, b"", stream=1) * 5000,
)
"""What is sent on a connection; none of it is a call."""


async def _until_closed(attacker: Attacker, reader: asyncio.StreamReader, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            while await reader.read(65_536):
                pass
    except TimeoutError:
        attacker.heard["open"] += 1
    except OSError:
        attacker.heard["closed"] += 1
    else:
        attacker.heard["closed"] += 1


@asynccontextmanager
async def _socket(
    attacker: Attacker,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    host, _, port = attacker.address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def malformed_frames(attacker: Attacker) -> None:
    """Other protocols, and frames that HTTP/2 forbids or that come in floods."""

    async def send(data: bytes) -> None:
        while attacker.left:
            async with _socket(attacker) as (reader, writer):
                with suppress(OSError):
                    writer.write(data)
                    await writer.drain()
                await _until_closed(attacker, reader, PATIENCE)

    await together(*(send(data) for data in MALFORMED))


async def idle_connections(attacker: Attacker, count: int = 1000) -> None:
    """Connections on which nothing is said."""

    async def wait() -> None:
        async with _socket(attacker) as (reader, _):
            await _until_closed(attacker, reader, PATIENCE)

    await together(*(wait() for _ in range(count)))


async def dripped_bytes(attacker: Attacker) -> None:
    """A byte now and then, of an opening that never ends."""

    async def drip() -> None:
        async with _socket(attacker) as (reader, writer):
            closing = asyncio.create_task(_until_closed(attacker, reader, PATIENCE))
            for byte in OPENING + frame(HEADERS, headers(), flags=END_HEADERS, stream=1):
                if closing.done():
                    break
                with suppress(OSError):
                    writer.write(bytes([byte]))
                    await writer.drain()
                await asyncio.sleep(0.5)
            await closing

    await together(*(drip() for _ in range(50)))


async def rapid_reset(attacker: Attacker) -> None:
    """Calls that are taken back as soon as they are made."""

    async def reset() -> None:
        async with _socket(attacker) as (reader, writer):
            discard = asyncio.create_task(reader.read(-1))
            writer.write(OPENING)
            stream = 1
            with suppress(OSError):
                while attacker.left:
                    calls = [
                        frame(HEADERS, headers(), flags=END_HEADERS, stream=number)
                        + frame(RST_STREAM, bytes(4), stream=number)
                        for number in range(stream, stream + 200, 2)
                    ]
                    stream += 200
                    writer.write(b"".join(calls))
                    await writer.drain()
            attacker.heard["closed" if discard.done() else "open"] += 1
            discard.cancel()

    await together(*(reset() for _ in range(4)))


@dataclass(frozen=True, slots=True)
class Attack:
    """What an attacker does, and what it may hear."""

    run: Callable[[Attacker], Awaitable[None]]
    heard: frozenset[str]
    """All that it may hear."""
    first: str
    """What it hears in any case."""
    seconds: float = 2.0
    """How long it takes at least until it hears that."""

    @property
    def name(self) -> str:
        """How it is called."""
        return self.run.__name__.replace("_", " ")


EXHAUSTED = "RESOURCE_EXHAUSTED"
SUSPENDED = f"{EXHAUSTED} SUSPENDED"
ALWAYS = {"cut", "OK", f"{EXHAUSTED} TOO_MANY_HELLOS", f"{EXHAUSTED} TOO_MANY_REQUESTS"}


def _attack(
    run: Callable[[Attacker], Awaitable[None]], first: str, *more: str, seconds: float = 2.0
) -> Attack:
    return Attack(run, frozenset({first, *more, *ALWAYS}), first, seconds)


ATTACKS = (
    _attack(empty_messages, f"{EXHAUSTED} TOO_MANY_MESSAGES", SUSPENDED, seconds=8.0),
    _attack(pongs, f"{EXHAUSTED} TOO_MANY_MESSAGES", SUSPENDED, seconds=8.0),
    _attack(wrong_plays, f"{EXHAUSTED} TOO_MANY_NOTICES", SUSPENDED),
    _attack(many_plays, f"{EXHAUSTED} TOO_MANY_ACTIONS", SUSPENDED),
    _attack(garbage, "INVALID_ARGUMENT INVALID_REQUEST"),
    _attack(huge_messages, EXHAUSTED),
    _attack(no_hello, "FAILED_PRECONDITION PROTOCOL"),
    _attack(hello_storm, "OK"),
    _attack(
        swapped_identity,
        "ABORTED REPLACED",
        f"{EXHAUSTED} TOO_MANY_REPLACEMENTS",
        "CANCELLED",
        "open",  # the one that has the place at the end
    ),
    _attack(guessed_tokens, "UNAUTHENTICATED UNKNOWN_TOKEN", f"{EXHAUSTED} TOO_MANY_SIGN_INS"),
    _attack(registrations, "OK"),
    _attack(lists, "OK"),
    _attack(huge_names, "INVALID_ARGUMENT INVALID_REQUEST", "NOT_FOUND NOT_FOUND"),
    _attack(large_tournaments, "INVALID_ARGUMENT INVALID_REQUEST", "NOT_FOUND NOT_FOUND"),
    _attack(silent_watchers, f"{EXHAUSTED} TOO_MANY_STREAMS", f"{EXHAUSTED} NOT_READING"),
    _attack(reflections, "cut", f"{EXHAUSTED} NOT_READING"),
    _attack(malformed_frames, "closed"),
    _attack(idle_connections, "closed"),
    _attack(dripped_bytes, "closed"),
    _attack(rapid_reset, "open", "closed"),
)
"""All of them."""


async def attack(name: str, address: str, seconds: float) -> Heard:
    """Run the attack of a name, and count what it hears."""
    attacker = Attacker(address, seconds)
    await next(each for each in ATTACKS if each.name == name).run(attacker)
    return attacker.heard


def main() -> None:
    """Attack as the command line says."""
    name, address, seconds = sys.argv[1:]
    print(json.dumps(asyncio.run(attack(name, address, float(seconds)))))


if __name__ == "__main__":
    main()
