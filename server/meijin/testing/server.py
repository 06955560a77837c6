"""A server in the test's own process and event loop, and a door to each of its services."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import grpc

from meijin.game import FREE, OpeningRule, TimeControl, Variant
from meijin.server.app import App, open_database
from meijin.server.match.journal.log_commit import LogCommit
from meijin.server.match.live.listeners import Listener
from meijin.server.process.operator_token import operator_token_path
from meijin.server.settings import Settings
from meijin.server.tracing.spans import NO_TRACER, Tracer
from meijin.store import Database
from meijin.store.journal import JournalEntry
from meijin.testing.peer import WAIT_TIMEOUT, Peer, bearer, play_moves
from meijin.v1 import bot_service_pb2, game_pb2, token_service_pb2, tournament_service_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.v1.analysis_service_pb2_grpc import AnalysisServiceStub
from meijin.v1.bot_service_pb2_grpc import BotServiceStub
from meijin.v1.fault_service_pb2_grpc import FaultServiceStub
from meijin.v1.game_service_pb2_grpc import GameServiceStub
from meijin.v1.ladder_service_pb2_grpc import LadderServiceStub
from meijin.v1.opening_service_pb2_grpc import OpeningServiceStub
from meijin.v1.token_service_pb2_grpc import TokenServiceStub
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub
from meijin.wire import opening_rule_to_proto, time_control_to_proto, variant_to_proto
from meijin.wire.channel import Security, open_async_channel
from meijin.wire.contract import PROTOCOL_VERSION, parse_address

if TYPE_CHECKING:
    from meijin.server.match.live.live_game import LiveGame, Participant
    from meijin.server.match.lobby import Player
    from meijin.server.parts import Parts
    from meijin.v1.analysis_service_pb2_grpc import AnalysisServiceAsyncStub
    from meijin.v1.bot_service_pb2_grpc import BotServiceAsyncStub
    from meijin.v1.fault_service_pb2_grpc import FaultServiceAsyncStub
    from meijin.v1.game_service_pb2_grpc import GameServiceAsyncStub
    from meijin.v1.ladder_service_pb2_grpc import LadderServiceAsyncStub
    from meijin.v1.opening_service_pb2_grpc import OpeningServiceAsyncStub
    from meijin.v1.token_service_pb2_grpc import TokenServiceAsyncStub
    from meijin.v1.tournament_service_pb2_grpc import TournamentServiceAsyncStub

NO_REDIS = "unix:///nonexistent/valkey.sock"
"""Jobs that refresh ladders are lost; nothing else needs Redis."""

SMALL = Variant(width=5, height=5)
FIVE = (0, 5, 1, 6, 2, 7, 3, 8, 4)
"""Black wins on the small board, or on any other of five columns."""


async def until(
    condition: Callable[[], object], *, time_limit: timedelta | None = WAIT_TIMEOUT
) -> None:
    """Wait until something holds that no message tells of; ``None`` waits as long as it takes."""
    async with _timeout(time_limit):
        while not condition():  # noqa: ASYNC110 - what the condition looks at has no event
            await asyncio.sleep(0.002)


def _timeout(time_limit: timedelta | None) -> asyncio.Timeout:
    return asyncio.timeout(None if time_limit is None else time_limit.total_seconds())


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
class ServerInTest:
    """A running server, and a door to each of its services."""

    app: App
    """What runs."""
    database: Database
    settings: Settings
    address: str
    security: Security
    """How the test's own connections are made safe."""
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
        channel = open_async_channel(parse_address(self.address), self.security, options)
        await self._stack.enter_async_context(channel)
        return channel

    async def bots(self) -> BotServiceAsyncStub:
        """The bot service."""
        return BotServiceStub(await self.channel())

    async def rotate(self, bot: str) -> str:
        """Replace all tokens of a bot by the one that is returned."""
        service: TokenServiceAsyncStub = TokenServiceStub(await self.channel())
        request = token_service_pb2.RotateTokenRequest(bot=bot)
        return (await service.RotateToken(request)).secret

    async def tournaments(self) -> TournamentServiceAsyncStub:
        """The tournament service."""
        return TournamentServiceStub(await self.channel())

    async def games(self) -> GameServiceAsyncStub:
        """The game service."""
        return GameServiceStub(await self.channel())

    async def faults(self) -> FaultServiceAsyncStub:
        """The fault ledger."""
        return FaultServiceStub(await self.channel())

    async def openings(self) -> OpeningServiceAsyncStub:
        """The games by their openings."""
        return OpeningServiceStub(await self.channel())

    async def analysis(self) -> AnalysisServiceAsyncStub:
        """The analysis service."""
        return AnalysisServiceStub(await self.channel())

    async def ladders(self) -> LadderServiceAsyncStub:
        """The ladder service."""
        return LadderServiceStub(await self.channel())

    @property
    def operator_token(self) -> str:
        """The token that the server made when it first started."""
        return operator_token_path(self.settings.data).read_text().strip()

    async def register(self, name: str) -> str:
        """Register a bot and return its token."""
        request = bot_service_pb2.RegisterBotRequest(name=name)
        service = await self.bots()
        response = await service.RegisterBot(request, metadata=bearer(self.operator_token))
        return response.token

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
        opening_rules: Sequence[OpeningRule] = (FREE,),
        evaluates: bool = False,
        known_games: Mapping[str, pb.KnownGame] | None = None,
    ) -> Peer:
        """A bot that was let in; it plays any board, under any rule."""
        peer = await self.peer(token, channel)
        capabilities = pb.Capabilities(
            rules=game_pb2.Rule.values()[1:],
            min_board_size=3,
            max_board_size=22,
            max_games=max_games,
            any_line=True,
            opening_rules=map(opening_rule_to_proto, opening_rules),
            evaluates=evaluates,
        )
        hello = pb.Hello(
            protocol_version=PROTOCOL_VERSION,
            bot_name=name,
            engine=pb.Engine(version=version),
            capabilities=capabilities,
            resume_session_id=resume,
            known_games=known_games,
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

    async def until(
        self, condition: Callable[[], object], *, time_limit: timedelta | None = WAIT_TIMEOUT
    ) -> None:
        """Wait until something holds that no message tells of."""
        await until(condition, time_limit=time_limit)

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
        """Have the store wait for the gate before whatever it is given from now on."""
        limit = WAIT_TIMEOUT.total_seconds()
        self.parts.writer.submit(lambda _: gate.wait(limit), is_urgent=True)
        moves = self.parts.journal.moves
        if not isinstance(moves, LogCommit):
            return
        commit = moves.commit

        async def commit_later(entry: JournalEntry) -> None:
            moves.commit = commit  # type: ignore[method-assign]
            await asyncio.to_thread(gate.wait, limit)
            await commit(entry)

        moves.commit = commit_later  # type: ignore[method-assign]

    def tasks(self, method: str) -> int:
        """How many calls of a method gRPC is serving."""
        names = (task.get_name() for task in asyncio.all_tasks())
        return sum(name.startswith("HandleExceptions[") and method in name for name in names)

    async def until_finished(
        self, tournament_id: str, *, time_limit: timedelta | None = WAIT_TIMEOUT
    ) -> None:
        """Wait until a tournament has no more games to play."""
        request = tournament_service_pb2.WatchTournamentRequest(tournament_id=tournament_id)
        call = (await self.tournaments()).WatchTournament(request)
        async with _timeout(time_limit):
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

    async def cancel(self, tournament_id: str) -> tournament_service_pb2.Tournament:
        """Cancel a running tournament; its running games become void."""
        return await self._set_state(tournament_id, "TOURNAMENT_STATE_CANCELLED")

    async def resume(self, tournament_id: str) -> tournament_service_pb2.Tournament:
        """Take a cancelled tournament up again."""
        return await self._set_state(tournament_id, "TOURNAMENT_STATE_RUNNING")

    async def _set_state(self, tournament_id: str, state: str) -> tournament_service_pb2.Tournament:
        value = tournament_service_pb2.TournamentState.Value(state)
        request = tournament_service_pb2.UpdateTournamentRequest(
            tournament_id=tournament_id, state=value
        )
        return (await (await self.tournaments()).UpdateTournament(request)).tournament

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


@asynccontextmanager
async def open_server(
    settings: Settings, security: Security | None = None, tracer: Tracer = NO_TRACER
) -> AsyncIterator[ServerInTest]:
    """Serve as `meijin.server.app.serve` does, without supervisor; the end is abrupt."""
    security = security or Security()
    async with AsyncExitStack() as stack:
        database = stack.enter_context(open_database(settings))
        stack.enter_context(database.claim())
        await asyncio.to_thread(database.migrate)
        await asyncio.to_thread(database.fence.claim)
        app = await stack.enter_async_context(App.open(settings, database, NO_REDIS, tracer))
        address = await app.listen()
        async with asyncio.TaskGroup() as tasks, AsyncExitStack() as clients:
            running = [tasks.create_task(task) for task in app.tasks()]
            try:
                yield ServerInTest(app, database, settings, address, security, clients)
            finally:
                await app.stop()
                for task in running:
                    task.cancel()
