"""A server in the test's own process and event loop, its methods by their names, and bots."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import grpc
from tests.peer import WAIT_TIMEOUT, CallEnding, Peer, bearer, ending_of_request, play_moves

from meijin.game import FREE, OpeningRule, TimeControl, Variant, encode_moves
from meijin.server.match.journal.log_commit import LogCommit
from meijin.server.match.live.listeners import Listener
from meijin.server.settings import Settings
from meijin.server.tracing.spans import NO_TRACER, Tracer
from meijin.store.journal import JournalEntry
from meijin.testing import server as testing
from meijin.testing.server import OpenServer
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.v1 import tournament_service_pb2 as tournament_pb
from meijin.wire.channel import Security, open_async_channel
from meijin.wire.contract import PROTOCOL_VERSION, parse_address
from meijin.wire.values import opening_rule_to_proto, time_control_to_proto, variant_to_proto

if TYPE_CHECKING:
    from meijin.server.match.live.live_game import LiveGame, Participant
    from meijin.server.match.lobby import Player

GET_TOURNAMENT, WATCH = "TournamentService/GetTournament", "TournamentService/WatchTournament"
SMALL = Variant(width=5, height=5)
FIVE = (0, 5, 1, 6, 2, 7, 3, 8, 4)
"""Black wins on the small board, or on any other of five columns."""


async def until(condition: Callable[[], object]) -> None:
    """Wait until something holds that no message tells of."""
    async with asyncio.timeout(WAIT_TIMEOUT.total_seconds()):
        while not condition():  # noqa: ASYNC110 - what the condition looks at has no event
            await asyncio.sleep(0.002)


async def play_to_five(players: Sequence[Peer], *, first: int = 0) -> None:
    """Have black and white play `FIVE` to its end, from the ply `first` on; both are told of it."""
    await play_moves(players, FIVE[first:], first=first)
    won = game_pb2.Outcome(ending=game_pb2.ENDING_FIVE, winner=game_pb2.COLOR_BLACK)
    for peer in players:
        ended = await peer.ended()
        assert (ended.outcome, ended.moves) == (won, encode_moves(FIVE))


class Recorder(Listener):
    """Hears of what is committed."""

    def __init__(
        self, *, moved: Callable[[LiveGame], object], ended: Callable[[LiveGame], object]
    ) -> None:
        self._moved = moved
        self._ended = ended

    def games_moved(self, games: Sequence[LiveGame]) -> None:
        for game in games:
            self._moved(game)

    def game_ended(self, game: LiveGame) -> None:
        self._ended(game)


@dataclass
class ServerInTest(OpenServer):
    """A running server, its methods by their names, and scripted bots."""

    calls: grpc.aio.Channel
    """What its methods are called over."""
    until = staticmethod(until)

    @property
    def running(self) -> list[LiveGame]:
        return list(self.parts.games.running.values())

    async def channel(self, *options: tuple[str, int]) -> grpc.aio.Channel:
        return await channel_to(self, *options)

    def player(self, participant: Participant) -> Player:
        """The player of a running game, with its stream."""
        return self.parts.lobby.players[participant.bot_id]

    async def ask(self, method: str, token: str | None = None, /, **fields: Any) -> Any:
        """The answer of ``Service/Method``, by the operator where no token is given."""
        return await self._call(self.calls.unary_unary, method, token, fields)

    def watch(self, method: str, token: str | None = None, /, **fields: Any) -> Any:
        """A call of a method that answers with a stream."""
        return self._call(self.calls.unary_stream, method, token, fields)

    async def refusal(self, method: str, token: str | None = None, /, **fields: Any) -> CallEnding:
        """How a call ends that is made with a token, or without any."""
        request = _classes(method)[0](**fields).SerializeToString()
        return await ending_of_request(self.calls, f"/meijin.v1.{method}", request, token)

    async def apart(self, *options: tuple[str, int]) -> ServerInTest:
        """The same server, its methods called over a connection of their own."""
        return replace(self, calls=await self.channel(*options))

    def _call(self, kind: Any, method: str, token: str | None, fields: dict[str, Any]) -> Any:
        request, response = _classes(method)
        call = kind(
            f"/meijin.v1.{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=response.FromString,
        )
        return call(request(**fields), metadata=bearer(token or self.operator_token))

    async def facts(self, method: str, /, **fields: Any) -> AsyncIterator[Any]:
        """What a method's stream tells until its end, which has to come in time."""
        async with asyncio.timeout(WAIT_TIMEOUT.total_seconds()):
            async for fact in self.watch(method, **fields):
                yield fact

    async def game(self, game_id: str = "1") -> game_pb2.Game:
        found: game_pb2.Game = (await self.ask("GameService/GetGame", game_id=game_id)).game
        return found

    async def report(self, tournament_id: str = "1") -> tournament_pb.GetTournamentResponse:
        """A tournament, with its standings and its crosstable."""
        request = {"tournament_id": tournament_id}
        found: tournament_pb.GetTournamentResponse = await self.ask(GET_TOURNAMENT, **request)
        return found

    async def token(self, kind: str, name: str = "", **more: Any) -> str:
        """A new token of a kind, for who has the name."""
        value = f"TOKEN_KIND_{kind.upper()}"
        made = await self.ask("TokenService/CreateToken", kind=value, name=name, **more)
        secret: str = made.secret
        return secret

    async def register(self, name: str, owner: str = "") -> str:
        """Register a bot and return its token."""
        made = await self.ask("BotService/RegisterBot", name=name, owner=owner)
        token: str = made.token
        return token

    async def acts(self, of: str = "") -> list[tuple[str, str, str]]:
        """The audit log, oldest first: who did what to what."""
        found = await self.ask("AdminService/ListAudit", of=of, page_size=1000)
        return [(f"{a.kind} {a.actor}".strip(), a.action, a.subject) for a in found.acts][::-1]

    async def rotate(self, bot: str) -> str:
        """Replace all tokens of a bot by the one that is returned."""
        secret: str = (await self.ask("TokenService/RotateToken", bot=bot)).secret
        return secret

    async def peer(self, token: str | None = None, channel: grpc.aio.Channel | None = None) -> Peer:
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
        announces_readiness: bool = False,
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
            announces_readiness=announces_readiness,
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
        return {bot.name for bot in (await self.ask("BotService/ListBots", connected=True)).bots}

    async def away(self, name: str) -> None:
        """Wait until the server knows that a bot's stream has ended."""
        players = self.parts.lobby.players
        await until(
            lambda: not any(player.session and player.name == name for player in players.values())
        )

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
        names = (task.get_name() for task in asyncio.all_tasks())
        return sum(name.startswith("HandleExceptions[") and method in name for name in names)

    async def tournament(
        self,
        *bots: str,
        rounds: int = 1,
        variant: Variant = SMALL,
        control: str = "600",
        **more: Any,
    ) -> str:
        """Make a tournament and return its id."""
        settings = tournament_pb.TournamentSettings(
            bots=bots,
            rounds=rounds,
            variant=variant_to_proto(variant),
            time_control=time_control_to_proto(TimeControl.parse(control)),
            **more,
        )
        made = await self.ask("TournamentService/CreateTournament", settings=settings)
        tournament_id: str = made.tournament.tournament_id
        return tournament_id

    async def until_finished(self, tournament_id: str) -> None:
        """Wait until a tournament has no more games to play."""
        *_, last = [fact async for fact in self.facts(WATCH, tournament_id=tournament_id)]
        assert last.tournament.state == tournament_pb.TOURNAMENT_STATE_FINISHED

    async def cancel(self, tournament_id: str) -> tournament_pb.Tournament:
        """Cancel a running tournament; its running games become void."""
        return await self._set_state(tournament_id, "TOURNAMENT_STATE_CANCELLED")

    async def resume(self, tournament_id: str) -> tournament_pb.Tournament:
        return await self._set_state(tournament_id, "TOURNAMENT_STATE_RUNNING")

    async def _set_state(self, tournament_id: str, state: str) -> tournament_pb.Tournament:
        change = {"tournament_id": tournament_id, "state": state}
        changed = await self.ask("TournamentService/UpdateTournament", **change)
        tournament: tournament_pb.Tournament = changed.tournament
        return tournament

    async def pair(
        self,
        names: tuple[str, str] = ("ada", "bob"),
        *,
        bots: Mapping[str, Any] | None = None,
        **tournament: Any,
    ) -> tuple[Peer, Peer]:
        """Two bots, which are alike, in a game that has just started: black and white."""
        peers = [await self.bot(name, **bots or {}) for name in names]
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
        await play_to_five((black, white), first=4)
        assert black.unread("notices") == white.unread("notices") == 0


@asynccontextmanager
async def open_server(
    settings: Settings, security: Security | None = None, tracer: Tracer = NO_TRACER
) -> AsyncIterator[ServerInTest]:
    async with testing.open_server(settings, security, tracer) as opened:
        yield ServerInTest(**vars(opened), calls=await channel_to(opened))


async def channel_to(server: OpenServer, *options: tuple[str, int]) -> grpc.aio.Channel:
    options = (("grpc.use_local_subchannel_pool", 1), *options)
    channel = open_async_channel(parse_address(server.address), server.security, options)
    await server._stack.enter_async_context(channel)
    return channel


def _classes(method: str) -> tuple[Any, Any]:
    """The classes of a method's request and of its answer."""
    service, name = method.split("/")
    module: Any = import_module(f"meijin.v1.{service.removesuffix('Service').lower()}_service_pb2")
    found = module.DESCRIPTOR.services_by_name[service].methods_by_name[name]
    return getattr(module, found.input_type.name), getattr(module, found.output_type.name)
