"""Games: looked up, listed, watched, exported and voided."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import timedelta

from meijin.game.records.file import FileFormat, write_game
from meijin.server.access.caller import current_caller
from meijin.server.api.answers.arena_watch import ArenaWatch, Selection
from meijin.server.api.answers.games import live_moves
from meijin.server.api.answers.pages import id_of
from meijin.server.api.answers.stored_games import StoredGames
from meijin.server.api.calls.interceptor import Context
from meijin.server.api.calls.loop_share import LoopShare
from meijin.server.errors import InvalidRequestError, invalid_request
from meijin.server.match.feed import EventKind, Feed, GameEvent, game_topic
from meijin.server.match.games import Games
from meijin.server.match.stalls import StallWatch
from meijin.server.storage import Storage
from meijin.server.tournaments.control import TournamentControl
from meijin.server.views.chances import ChanceMaps
from meijin.store.schema import GameId, GameState
from meijin.store.voids import void_reason
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb
from meijin.v1.game_service_pb2_grpc import GameServiceServicer
from meijin.wire.mapping import to_message
from meijin.wire.records import record_from_proto
from meijin.wire.text import plain_text

MOVES_INTERVAL = timedelta(seconds=0.2)
"""Between two messages to one who watches a game: what is made meanwhile comes together."""


async def pause() -> None:
    """Wait before a watcher is told more."""
    await asyncio.sleep(MOVES_INTERVAL.total_seconds())


class GameServicer(GameServiceServicer):
    def __init__(
        self,
        control: TournamentControl,
        games: Games,
        storage: Storage,
        feed: Feed,
        stalls: StallWatch,
    ) -> None:
        self._control = control
        self._games = games
        self._stalls = stalls
        self._share = LoopShare()
        self._stored = StoredGames(storage, games.live_game)
        self._chances = ChanceMaps(storage)
        self._feed = feed

    async def GetGame(self, request: pb.GetGameRequest, context: Context) -> pb.GetGameResponse:
        return await self._stored.get(request)

    async def GetChances(
        self, request: pb.GetChancesRequest, context: Context
    ) -> pb.GetChancesResponse:
        black, white = await self._chances.of_game(id_of(request, "game_id", GameId))
        return pb.GetChancesResponse(
            black=to_message(black, pb.ChanceMap), white=to_message(white, pb.ChanceMap)
        )

    async def ListGames(
        self, request: pb.ListGamesRequest, context: Context
    ) -> pb.ListGamesResponse:
        return await self._stored.list(request)

    async def WatchGame(
        self, request: pb.WatchGameRequest, context: Context
    ) -> AsyncIterator[pb.WatchGameResponse]:
        game_id = id_of(request, "game_id", GameId)
        with self._feed.subscribe(game_topic(game_id)) as subscriber:
            first = await self._stored.find(game_id)
            yield pb.WatchGameResponse(game=first)
            told = len(first.moves)
            decided = len(first.decisions)
            is_running = first.state == game_pb2.GAME_STATE_RUNNING
            while is_running:
                fact = await subscriber.next()
                assert isinstance(fact, GameEvent)
                is_ended = fact.kind is EventKind.ENDED
                if is_ended or len(fact.game.committed_decisions) > decided:
                    game = await self._stored.find(game_id)
                    told, decided = len(game.moves), len(game.decisions)
                    is_running = not is_ended and game.state == game_pb2.GAME_STATE_RUNNING
                    yield pb.WatchGameResponse(game=game)
                elif moves := live_moves(fact.game, since=told):
                    told += len(moves)
                    yield pb.WatchGameResponse(moves=moves, variant=first.variant)
                    await pause()

    async def WatchArena(
        self, request: pb.WatchArenaRequest, context: Context
    ) -> AsyncIterator[pb.WatchArenaResponse]:
        """Tell where the running games stand, then what has changed, now and then."""
        watch = ArenaWatch(self._games, self._stalls, self._share, Selection.of(request))
        async with aclosing(watch.messages()) as messages:
            async for message in messages:
                yield message

    async def ExportGame(
        self, request: pb.ExportGameRequest, context: Context
    ) -> pb.ExportGameResponse:
        game = await self._stored.find(id_of(request, "game_id", GameId))
        form = _FORMATS.get(request.format)
        if form is None:
            raise InvalidRequestError(f"no format {request.format}")
        with invalid_request("format"):
            return pb.ExportGameResponse(text=write_game(record_from_proto(game), form))

    async def VoidGame(self, request: pb.VoidGameRequest, context: Context) -> pb.VoidGameResponse:
        game_id = id_of(request, "game_id", GameId)
        with invalid_request("reason"):
            reason = void_reason(plain_text(request.reason))
        await self._stored.find(game_id)
        after = {"state": GameState.VOID.value, "reason": reason}
        act = current_caller.get().act("void", f"game {game_id}", after=after)
        await self._control.void(game_id, reason, act)
        return pb.VoidGameResponse(game=await self._stored.find(game_id))


_FORMATS = {
    pb.RECORD_FORMAT_UNSPECIFIED: FileFormat.SGF,
    pb.RECORD_FORMAT_SGF: FileFormat.SGF,
    pb.RECORD_FORMAT_PSQ: FileFormat.PSQ,
    pb.RECORD_FORMAT_POSITION: FileFormat.POSITIONS,
    pb.RECORD_FORMAT_JSON: FileFormat.JSON,
}
