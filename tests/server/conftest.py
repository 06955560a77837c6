"""A whole server in the test's own process, and scripted bots on the wire."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from structlog.testing import capture_logs

from meijin.game import TimeControl, Variant
from meijin.server.app import App
from meijin.server.match.listeners import Listener
from meijin.server.process.operator_token import operator_token_path
from meijin.server.settings import Settings
from meijin.store import Database, Durability
from meijin.v1 import bot_service_pb2, game_pb2, tournament_service_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.v1.bot_service_pb2_grpc import BotServiceStub
from meijin.v1.game_service_pb2_grpc import GameServiceStub
from meijin.v1.ladder_service_pb2_grpc import LadderServiceStub
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub
from meijin.wire import time_control_to_proto, variant_to_proto

if TYPE_CHECKING:
    from meijin.server.match.live_game import LiveGame, Participant
    from meijin.server.match.lobby import Player
    from meijin.server.parts import Parts
    from meijin.v1.bot_service_pb2_grpc import BotServiceAsyncStub
    from meijin.v1.game_service_pb2_grpc import GameServiceAsyncStub
    from meijin.v1.ladder_service_pb2_grpc import LadderServiceAsyncStub
    from meijin.v1.tournament_service_pb2_grpc import TournamentServiceAsyncStub

PATIENCE = 20.0
"""Seconds that anything may take before a test gives up."""

NO_REDIS = "unix:///nonexistent/valkey.sock"
"""Jobs that refresh ladders are lost; nothing else needs Redis."""

SMALL = Variant(width=5, height=5)
FIVE = (0, 5, 1, 6, 2, 7, 3, 8, 4)
"""Black wins on the small board, or on any other of five columns."""

Metadata: TypeAlias = "tuple[tuple[str, str], ...]"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a call ended."""

    code: grpc.StatusCode
    details: str
    reason: str
    """The reason of the one `ErrorInfo`; empty without one."""


def bearer(token: str | None) -> Metadata:
    """The metadata that carries a token."""
    return () if token is None else (("authorization", f"Bearer {token}"),)


def ending_of(code: grpc.StatusCode, details: str | None, metadata: Any) -> Ending:
    """A call's end with the reason from ``grpc-status-details-bin``."""
    reason = ""
    for key, value in metadata or ():
        if key == "grpc-status-details-bin":
            status = status_pb2.Status.FromString(value)
            assert (status.code, status.message) == (code.value[0], details)
            (packed,) = status.details
            info = error_details_pb2.ErrorInfo()
            assert packed.Unpack(info)
            assert info.domain == "meijin"
            reason = info.reason
    return Ending(code, details or "", reason)


class Peer:
    """A scripted bot: one stream, read only when the script waits for something."""

    def __init__(self, channel: grpc.aio.Channel, token: str | None) -> None:
        self.call = PlayServiceStub(channel).Play(metadata=bearer(token))
        self.name = ""
        self.session_id = ""
        self.start = pb.GameStarted()
        """The last game that started."""
        self._facts: defaultdict[str, deque[Any]] = defaultdict(deque)

    async def write(self, **command: Any) -> None:
        """Send one message."""
        await self.call.write(pb.PlayRequest(**command))

    async def play(self, turn: pb.TurnRequested, cell: int, **more: Any) -> None:
        """Answer a turn."""
        play = pb.Play(game=turn.game, ply=turn.ply, cell=cell, **more)
        await self.write(actions=pb.Actions(plays=[play]))

    async def resign(self, game: int) -> None:
        """Give a game up."""
        await self.write(actions=pb.Actions(resigns=[pb.Resign(game=game)]))

    async def fail(self, game: int, message: str) -> None:
        """Report a failure."""
        failure = pb.Failure(game=game, message=message)
        await self.write(actions=pb.Actions(failures=[failure]))

    async def welcome(self) -> pb.Welcome:
        """Wait for the welcome."""
        welcome: pb.Welcome = await self._next("welcome")
        self.name, self.session_id = welcome.bot_name, welcome.session_id
        return welcome

    async def started(self) -> pb.GameStarted:
        """Wait for a game to start."""
        self.start = await self._next("started")
        return self.start

    async def turn(self) -> pb.TurnRequested:
        """Wait for a turn."""
        fact: pb.TurnRequested = await self._next("turns")
        return fact

    async def ended(self) -> pb.GameEnded:
        """Wait for a game to end."""
        fact: pb.GameEnded = await self._next("ended")
        return fact

    async def notice(self) -> pb.Notice:
        """Wait for a notice."""
        fact: pb.Notice = await self._next("notices")
        return fact

    async def draining(self) -> pb.Draining:
        """Wait until the server says that it is about to stop."""
        fact: pb.Draining = await self._next("draining")
        return fact

    async def play_out(self, games: int) -> list[pb.GameEnded]:
        """Take the first free cell at every turn, until so many games have ended."""
        ended: list[pb.GameEnded] = []
        async with asyncio.timeout(PATIENCE):
            while len(ended) < games:
                while self._facts["turns"]:
                    turn = self._facts["turns"].popleft()
                    taken = set(memoryview(turn.moves).cast("H"))
                    await self.play(turn, next(cell for cell in range(484) if cell not in taken))
                ended += self._facts.pop("ended", ())
                if len(ended) < games:
                    assert await self._read(), f"the stream ended after {len(ended)} games"
        return ended

    def unread(self, kind: str) -> int:
        """How many facts of a kind have come that the script did not wait for."""
        return len(self._facts[kind])

    async def closed(self) -> Ending:
        """Wait for the end of the stream."""
        return await _ending_of_call(self.call)

    async def _next(self, kind: str) -> Any:
        async with asyncio.timeout(PATIENCE):
            while not self._facts[kind]:
                assert await self._read(), f"the stream ended before any {kind}"
        return self._facts[kind].popleft()

    async def _read(self) -> bool:
        """Take one message in, and answer it if it is a ping; false at the end."""
        response = await self.call.read()
        if not isinstance(response, pb.PlayResponse):
            return False
        kind = response.WhichOneof("fact")
        if kind == "ping":
            await self.write(pong=pb.Pong(sequence=response.ping.sequence))
        elif kind == "events":
            for field_name in ("ended", "started", "turns", "notices"):
                self._facts[field_name].extend(getattr(response.events, field_name))
        else:
            assert kind is not None
            self._facts[kind].append(getattr(response, kind))
        return True


async def until(condition: Callable[[], object]) -> None:
    """Wait until something holds that no message tells of."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - what the condition looks at has no event
            await asyncio.sleep(0.002)


class Recorder(Listener):
    """Hears of what is committed."""

    def __init__(
        self, *, moved: Callable[[LiveGame], object], ended: Callable[[LiveGame], object]
    ) -> None:
        self._moved = moved
        self._ended = ended

    def games_moved(self, games: Sequence[LiveGame]) -> None:
        """Pass each game on."""
        for game in games:
            self._moved(game)

    def game_ended(self, game: LiveGame) -> None:
        """Pass it on."""
        self._ended(game)


@dataclass
class House:
    """A running server, and a door to each of its services."""

    app: App
    database: Database
    settings: Settings
    address: str
    _stack: AsyncExitStack

    @property
    def parts(self) -> Parts:
        """The server's parts."""
        return self.app.parts

    def player(self, participant: Participant) -> Player:
        """The player of a running game, with its stream."""
        return self.parts.lobby.players[participant.bot_id]

    @property
    def running(self) -> list[LiveGame]:
        """The running games."""
        return list(self.parts.games.running.values())

    async def channel(self, *options: tuple[str, int]) -> grpc.aio.Channel:
        """A connection of its own."""
        options = (("grpc.use_local_subchannel_pool", 1), *options)
        channel = grpc.aio.insecure_channel(self.address, options=options)
        await self._stack.enter_async_context(channel)
        return channel

    async def bots(self) -> BotServiceAsyncStub:
        """The bot service."""
        return BotServiceStub(await self.channel())

    async def tournaments(self) -> TournamentServiceAsyncStub:
        """The tournament service."""
        return TournamentServiceStub(await self.channel())

    async def games(self) -> GameServiceAsyncStub:
        """The game service."""
        return GameServiceStub(await self.channel())

    async def ladders(self) -> LadderServiceAsyncStub:
        """The ladder service."""
        return LadderServiceStub(await self.channel())

    @property
    def operator_token(self) -> str:
        """The token that the server made when it first started."""
        return operator_token_path(self.settings.data).read_text().strip()

    async def peer(self, token: str | None = None, channel: grpc.aio.Channel | None = None) -> Peer:
        """A stream that has not said hello."""
        peer = Peer(channel or await self.channel(), token)
        self._stack.callback(peer.call.cancel)
        return peer

    async def bot(
        self,
        name: str,
        *,
        token: str | None = None,
        max_games: int = 1,
        version: str = "",
        resume: str = "",
        channel: grpc.aio.Channel | None = None,
    ) -> Peer:
        """A bot that was let in; it plays any board."""
        peer = await self.peer(token, channel)
        capabilities = pb.Capabilities(
            min_board_size=3, max_board_size=22, max_games=max_games, any_line=True
        )
        hello = pb.Hello(
            protocol_version=1,
            bot_name=name,
            engine=pb.Engine(version=version),
            capabilities=capabilities,
            resume_session_id=resume,
        )
        await peer.write(hello=hello)
        await peer.welcome()
        return peer

    async def slow_consumer(self, name: str) -> Peer:
        """A bot whose connection takes in little more than it has read."""
        small = (("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_536))
        return await self.bot(name, channel=await self.channel(*small))

    async def connected(self) -> set[str]:
        """The names of the bots that have a stream."""
        request = bot_service_pb2.ListBotsRequest(connected=True)
        response = await (await self.bots()).ListBots(request)
        return {bot.name for bot in response.bots}

    async def away(self, name: str) -> None:
        """Wait until the server knows that a bot's stream has ended."""
        players = self.parts.lobby.players
        await until(
            lambda: not any(player.session and player.name == name for player in players.values())
        )

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until something holds that no message tells of."""
        await until(condition)

    def listen(
        self,
        *,
        moved: Callable[[LiveGame], object] = lambda _: None,
        ended: Callable[[LiveGame], object] = lambda _: None,
    ) -> None:
        """Hear of what is committed, before anybody else."""
        self.parts.listeners.order.insert(0, Recorder(moved=moved, ended=ended))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the store's writer: what happens inside is committed after the end."""
        gate = threading.Event()
        self.hold(gate)
        try:
            yield
        finally:
            gate.set()

    def hold(self, gate: threading.Event) -> None:
        """Have the store's writer wait for the gate before whatever is submitted from now on."""
        self.parts.writer.submit(lambda _: gate.wait(PATIENCE))

    def tasks(self, method: str) -> int:
        """How many calls of a method gRPC is serving."""
        names = (task.get_name() for task in asyncio.all_tasks())
        return sum(name.startswith("HandleExceptions[") and method in name for name in names)

    async def until_finished(self, tournament_id: str) -> None:
        """Wait until a tournament has no more games to play."""
        request = tournament_service_pb2.WatchTournamentRequest(tournament_id=tournament_id)
        call = (await self.tournaments()).WatchTournament(request)
        async with asyncio.timeout(PATIENCE):
            async for fact in call:
                last = fact
        assert last.tournament.state == tournament_service_pb2.TOURNAMENT_STATE_FINISHED

    async def tournament(
        self,
        *bots: str,
        rounds: int = 1,
        variant: Variant = SMALL,
        control: str = "600",
        token: str | None = None,
        **more: Any,
    ) -> str:
        """Make a tournament and return its id."""
        settings = tournament_service_pb2.TournamentSettings(
            bots=bots,
            rounds=rounds,
            variant=variant_to_proto(variant),
            time_control=time_control_to_proto(TimeControl.parse(control)),
            **more,
        )
        request = tournament_service_pb2.CreateTournamentRequest(settings=settings)
        service = await self.tournaments()
        response = await service.CreateTournament(request, metadata=bearer(token))
        return response.tournament.tournament_id

    async def pair(
        self, names: tuple[str, str] = ("ada", "bob"), **tournament: Any
    ) -> tuple[Peer, Peer]:
        """Two bots in a game that has just started: black and white."""
        peers = [await self.bot(name) for name in names]
        await self.tournament(*names, **tournament)
        first, _ = [await peer.started() for peer in peers]
        if first.color == game_pb2.COLOR_WHITE:
            peers.reverse()
        return peers[0], peers[1]

    @asynccontextmanager
    async def innocents(self) -> AsyncIterator[None]:
        """A game of two others that is played to its normal end, whatever happens meanwhile."""
        black, white = await self.pair(("eva", "eve"), unrated=True)
        await play_moves((black, white), FIVE[:4])
        yield
        await play_moves((black, white), FIVE[4:], first=4)
        for peer in (black, white):
            ended = await peer.ended()
            assert ended.outcome.ending == game_pb2.ENDING_FIVE
            assert ended.outcome.winner == game_pb2.COLOR_BLACK
            assert list(memoryview(ended.moves).cast("H")) == list(FIVE)
            assert peer.unread("notices") == 0


async def play_moves(players: Sequence[Peer], cells: Sequence[int], *, first: int = 0) -> None:
    """Have black and white answer their turns with these cells, from the ply `first` on."""
    for ply, cell in enumerate(cells, start=first):
        mover = players[ply % 2]
        turn = await mover.turn()
        assert turn.ply == ply
        await mover.play(turn, cell)


@asynccontextmanager
async def open_house(settings: Settings) -> AsyncIterator[House]:
    """Serve as `meijin.server.app.serve` does, without supervisor; the end is abrupt."""
    async with AsyncExitStack() as stack:
        database = stack.enter_context(Database(settings.database, settings.durability))
        stack.enter_context(database.claim())
        await asyncio.to_thread(database.migrate)
        app = await stack.enter_async_context(App.open(settings, database, NO_REDIS))
        address = await app.listen()
        async with asyncio.TaskGroup() as tasks, AsyncExitStack() as clients:
            running = [tasks.create_task(task) for task in app.tasks()]
            try:
                yield House(app, database, settings, address, clients)
            finally:
                await app.stop()
                for task in running:
                    task.cancel()


OpenHouse: TypeAlias = "Callable[[Settings], AbstractAsyncContextManager[House]]"
Script: TypeAlias = "Callable[[House], Awaitable[None]]"


class Serve(Protocol):
    """Runs a script in a house of its own; the next one finds what it left in the store."""

    settings: Callable[..., Settings]
    """Makes the settings of such a house."""

    def __call__(self, script: Script, **settings: Any) -> None:
        """Run it to its end; the settings override those of the tests."""


async def _ending_of_call(call: Any) -> Ending:
    async with asyncio.timeout(PATIENCE):
        try:
            while await call.read() is not grpc.aio.EOF:
                pass
        except grpc.aio.AioRpcError:
            pass
        return ending_of(await call.code(), await call.details(), await call.trailing_metadata())


async def _ending_of_request(
    channel: grpc.aio.Channel, method: str, request: bytes, token: str | None
) -> Ending:
    method_of: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(method)
    return await _ending_of_call(method_of(request, metadata=bearer(token)))


@pytest.fixture
def line() -> Callable[..., Awaitable[None]]:
    """Has black and white answer their turns with cells."""
    return play_moves


@pytest.fixture
def ending_of_call() -> Callable[[Any], Awaitable[Ending]]:
    """Reads a streaming call to its end and tells how it ended."""
    return _ending_of_call


@pytest.fixture
def ending() -> Callable[..., Awaitable[Ending]]:
    """Sends the bytes of a request to a method and tells how the call ended."""
    return _ending_of_request


@pytest.fixture
def house_settings(tmp_path: Path) -> Callable[..., Settings]:
    """Makes the settings of a house: everybody may come in, nothing takes long."""

    def make(**changes: Any) -> Settings:
        defaults: dict[str, Any] = {
            "listen": "127.0.0.1:0",
            "data": tmp_path,
            "durability": Durability.PROCESS,
            "open_registration": True,
            "drain": timedelta(0),
        }
        return Settings(**(defaults | changes))

    return make


@pytest.fixture(name="open_house")
def _open_house() -> OpenHouse:
    """Opens a house with settings."""
    return open_house


def _is_alarming(record: logging.LogRecord) -> bool:
    """Whether something failed; what gRPC's poller says about its own wake-ups is noise."""
    return record.levelno >= logging.ERROR and "PollerCompletionQueue" not in record.getMessage()


class _Serve:
    def __init__(self, settings: Callable[..., Settings], caplog: pytest.LogCaptureFixture) -> None:
        self.settings = settings
        self._caplog = caplog

    def __call__(self, script: Script, **settings: Any) -> None:
        with capture_logs() as logs:
            asyncio.run(self._run(script, self.settings(**settings)))
        assert [entry for entry in logs if entry["event"] == "incident"] == []
        assert [record for record in self._caplog.records if _is_alarming(record)] == []

    @staticmethod
    async def _run(script: Script, settings: Settings) -> None:
        async with open_house(settings) as house:
            await script(house)


@pytest.fixture
def serve(house_settings: Callable[..., Settings], caplog: pytest.LogCaptureFixture) -> Serve:
    """Runs a script in a house of its own, where no failure may go by unexplained."""
    return _Serve(house_settings, caplog)
