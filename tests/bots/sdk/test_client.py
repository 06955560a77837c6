"""A bot's life at a server that does what the test says."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import grpc
import pytest
from tests.bots.conftest import ScriptedServer

from meijin.bots import (
    Bot,
    Capabilities,
    Client,
    Position,
    TokenRefusedError,
)
from meijin.bots.sdk import client as client_module
from meijin.bots.sdk.client import FIRST, Backoff, ClientSettings
from meijin.bots.sdk.errors import StreamLostError
from meijin.bots.sdk.hardware import write_speed
from meijin.game import FREESTYLE, STANDARD
from meijin.v1.play_service_pb2 import Draining, Paused
from meijin.wire.capabilities import capabilities_to_proto
from meijin.wire.channel import Security
from meijin.wire.contract import Address


class FirstCellBot(Bot):
    """Takes the first legal cell."""

    name = "first"

    def choose(self, position: Position) -> int:
        return position.legal_cells()[0]


async def test_hello(server: ScriptedServer) -> None:
    """The first message says who the bot is, what it plays and on which machine."""

    class CarefulBot(FirstCellBot):
        version = "2.1"
        capabilities = Capabilities(rules=(FREESTYLE, STANDARD), max_games=4)

        @property
        def configuration(self) -> Mapping[str, str]:
            return {"width": "12", "depth": "8"}

        search_threads = 2
        memory_bytes = 2**30

    bot = CarefulBot()
    write_speed(400_000)
    async with server.playing(bot, hardware="H100") as session:
        hello = session.hello
    assert (hello.protocol_version, hello.bot_name) == (1, "careful-bot")
    assert (hello.hardware, hello.nodes_per_second) == ("H100", 400_000)
    assert (hello.threads, hello.memory_bytes) == (2, 2**30)
    assert (hello.engine.version, hello.engine.digest) == ("2.1", bot.digest)
    assert hello.engine.configuration == ["depth=8", "width=12"]
    assert hello.capabilities == capabilities_to_proto(bot.capabilities)
    assert not hello.resume_session_id
    assert "authorization" not in session.metadata
    async with server.playing(bot, hardware="", token="secret") as session:
        hello = session.hello
    assert (hello.hardware, hello.nodes_per_second) == ("", 0)
    assert session.metadata["authorization"] == "Bearer secret"
    assert not hello.bot_name


async def test_tells_as_whom_it_was_let_in(server: ScriptedServer) -> None:
    """Whenever it is: by a token alone nobody else knows the bot's name."""
    names: list[str] = []
    async with server.playing(FirstCellBot(), on_entered=names.append) as session:
        await session.send_ping(1)
        await session.receive()
        assert names == ["first"]


class PreparingBot(FirstCellBot):
    """Takes its time before it can play."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.ready = threading.Event()
        self.begun = threading.Event()
        self.closed = 0
        self._error = error

    def prepare(self) -> None:
        self.begun.set()
        self.ready.wait()
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        self.closed += 1


async def test_prepares_before_the_hello(server: ScriptedServer) -> None:
    """The server hears of a bot once it can play, and the bot hears once that it has left."""
    bot = PreparingBot()
    async with server.connect(bot):
        await asyncio.to_thread(bot.begun.wait)
        async with server.playing(FirstCellBot()) as first:
            assert first.hello.bot_name == "first"
        bot.ready.set()
        session = await server.admitted()
        assert session.hello.bot_name == "preparing-bot"
        await session.begin(1)
        assert await session.receive_plays()
        assert bot.closed == 0
    assert bot.closed == 1


async def test_leaves_while_it_prepares(server: ScriptedServer) -> None:
    """A bot that is to leave doesn't wait until it is ready."""
    bot = PreparingBot()
    async with server.connect(bot):
        await asyncio.to_thread(bot.begun.wait)
    bot.ready.set()


@pytest.mark.parametrize("error", [OSError("no weights"), SystemExit("no weights")])
async def test_fails_to_prepare(server: ScriptedServer, error: BaseException) -> None:
    """What goes wrong on the way to being ready ends the client, and so does an exit."""
    bot = PreparingBot(error)
    bot.ready.set()
    with pytest.raises(type(error), match="no weights"):
        await Client(bot, server=server.address).serve()
    assert bot.closed == 1


@pytest.mark.parametrize(
    "code", [None, grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN]
)
async def test_reconnects(server: ScriptedServer, code: grpc.StatusCode | None) -> None:
    """After any end of a stream that may pass: it names its last session and what it knows.

    A game goes on, under another number perhaps.
    """
    async with server.playing(FirstCellBot()) as first:
        await first.begin(1)
        await first.receive_plays()
        first.end(code, "for a while")
        (await server.session()).end(code)  # before the welcome
        await (await server.session()).send_ping(1)  # no greeting
        session = await server.admitted("session-2", running_games=1)
        assert session.hello.resume_session_id == "session-1"
        assert list(session.hello.known_games) == ["game-1"]
        started = session.started(5, [0, 9], game_id="game-1")
        await session.send_events(started=[started], turns=[session.turn(5, [0, 9])])
        (play,) = await session.receive_plays()
        assert (play.game, play.ply, play.cell) == (5, 2, 1)


@pytest.mark.parametrize(("settled", "resets"), [(0.0, 1), (3600.0, 0)])
async def test_delays_after_a_good_stream(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, settled: float, resets: int
) -> None:
    """Delays grow over streams that break soon, and begin anew after one that held."""
    monkeypatch.setattr(client_module, "SETTLED_AFTER", timedelta(seconds=settled))

    class NotingBackoff(Backoff):
        resets = 0

        def reset(self) -> None:
            self.resets += 1

    backoff = NotingBackoff(Random(1), first=timedelta(0))
    async with server.connect(FirstCellBot(), backoff=backoff):
        (await server.session()).end()
        (await server.admitted()).end()
        await server.admitted()
    assert backoff.resets == resets


async def test_server_vanishes(server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    """A server that goes away and comes back finds the bot there again."""
    caplog.set_level(logging.INFO, "meijin.bots")
    async with server.playing(FirstCellBot()) as session:
        await session.send(paused=Paused(reason="20 games forfeited"))
        await session.send(draining=Draining())
        await session.send_ping(1)
        await session.receive()  # what came before the ping has been read
        await server.stop()
        await server.start()
        again = await server.admitted(notice="moves are lost")
        assert again.hello.resume_session_id == "session-1"
        await again.send_ping(2)
        await again.receive()
    assert "moves are lost" in caplog.text
    assert "no new games for a while: 20 games forfeited" in caplog.text
    assert "the server is about to stop" in caplog.text
    assert "reconnecting in 0.0 s because" in caplog.text


async def test_refused(server: ScriptedServer) -> None:
    """A refusal that would only be repeated stops the bot, with one line that says what to do."""
    serving = asyncio.create_task(Client(FirstCellBot(), server=server.address).serve())
    session = await server.admitted()
    session.end(grpc.StatusCode.UNAUTHENTICATED, "No way.")
    with pytest.raises(TokenRefusedError, match=r"^No way: .*MEIJIN_TOKEN.*$"):
        await serving


@pytest.mark.parametrize("have_come_back", [False, True])
async def test_leaving_during_a_game(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture, *, have_come_back: bool
) -> None:
    """A bot with games, here or announced, leaves without a goodbye, and says how many wait."""
    caplog.set_level(logging.INFO, "meijin.bots")
    async with server.connect(FirstCellBot()) as client:
        session = await server.admitted(running_games=1)
        if have_come_back:
            await session.send_events(started=[session.started(1)])
            await session.begin(2)
            await session.receive_plays()
        else:
            await session.send_ping(1)
            await session.receive()
        client.stop()
        await session.receive_end()
    told = "left; games that wait 30 s for the bot's return: 2" in caplog.text
    assert told is have_come_back


async def test_leaving_while_the_server_is_away() -> None:
    """A bot that waits an hour for its next attempt leaves at once."""
    asked = asyncio.Event()

    class LongBackoff(Backoff):
        def next(self) -> timedelta:
            asked.set()
            return super().next()

    backoff = LongBackoff(Random(1), first=timedelta(hours=1))
    client = Client(FirstCellBot(), server="127.0.0.1:1", backoff=backoff)
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        tasks.create_task(client.serve())
        await asked.wait()
        client.stop()


@pytest.mark.parametrize("ticks", range(8))
async def test_cancelled_while_its_stream_is_lost(
    ticks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cancellation is heard in whichever turn of the event loop it comes."""
    loop = asyncio.get_running_loop()
    reads = 0

    def cancel_after(ticks: int) -> None:
        if ticks:
            loop.call_soon(cancel_after, ticks - 1)
        else:
            serving.cancel()

    async def read(*_: object) -> None:
        nonlocal reads
        reads += 1
        assert reads == 1  # else it has gone on
        cancel_after(ticks)
        raise StreamLostError("the server closed the stream")

    monkeypatch.setattr(Client, "_read", read)
    client = Client(FirstCellBot(), server="127.0.0.1:1", backoff=Backoff(Random(0)))
    serving = asyncio.create_task(client.serve())
    with pytest.raises(asyncio.CancelledError):
        await serving


async def test_impossible_game(server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    """A server that tells of what can't be is left, with the reason in the log."""
    async with server.playing(FirstCellBot()) as first:
        await first.send_events(started=[first.started(1, [3, 3])])
        await server.session()
    assert "d15 is occupied" in caplog.text


def test_class_instead_of_instance() -> None:
    """Forgetting the parentheses is answered with what is missing."""
    with pytest.raises(TypeError, match="give an instance"):
        Client(FirstCellBot)  # type: ignore[arg-type]


def test_delays_double_up_to_the_longest() -> None:
    """Each is between half and all of a value that doubles from 0.2 s to 5 s, until it is reset."""
    backoff = Backoff(Random(7))
    delays = [backoff.next() for _ in range(7)]
    limits = [timedelta(seconds=limit) for limit in (0.2, 0.4, 0.8, 1.6, 3.2, 5, 5)]
    assert all(limit / 2 <= delay <= limit for limit, delay in zip(limits, delays, strict=True))
    backoff.reset()
    assert backoff.next() <= FIRST


def test_two_bots_wait_differently() -> None:
    """Bots that lost the same server return at different times."""
    assert Backoff(Random(1)).next() != Backoff(Random(2)).next()


def resolve(**given: Any) -> ClientSettings:
    nothing = dict.fromkeys(("server", "token", "name", "security"))
    return ClientSettings.resolve(**nothing | given, default_name="mine")


def test_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """What isn't said is on this machine, under the bot's own name, or as the environment says."""
    here = Address("127.0.0.1:7464")
    assert resolve() == ClientSettings(here, Security(), token="", name="mine")
    assert not resolve(token="secret").name  # it says which bot it is
    assert resolve(token="secret", name="other").name == "other"
    monkeypatch.setenv("MEIJIN_SERVER", "grpcs://example.org")
    monkeypatch.setenv("MEIJIN_CA", "ca.pem")
    monkeypatch.setenv("MEIJIN_TOKEN", "secret\n")
    address = Address("example.org:7464", is_tls=True)
    assert resolve() == ClientSettings(address, Security(Path("ca.pem")), token="secret", name="")
    given = resolve(server="localhost", token="mine", security=Security())
    assert given == ClientSettings(Address("localhost:7464"), Security(), token="mine", name="")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"server": "http://example.org"}, "is no address"),
        ({"name": "a b"}, "1 to 40 letters"),
        ({"token": "a\nb"}, "copy it again"),
        ({"token": "schlüssel"}, "copy it again"),
    ],
)
def test_impossible_settings(given: dict[str, str], words: str) -> None:
    """They are refused before connecting, and no token is repeated."""
    with pytest.raises(ValueError, match=words) as error:
        resolve(**given)
    assert given.get("token", "?") not in str(error.value)
