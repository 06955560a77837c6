"""Games: looked up, listed, watched, exported and voided."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection

from meijin.game.records.file import FileFormat, write_game
from meijin.server.access.caller import current_caller
from meijin.server.api.answers.arena_watch import ArenaWatch, Selection
from meijin.server.api.answers.games import live_moves, stored_game, whole_game
from meijin.server.api.answers.pages import (
    BATCH,
    id_if_any,
    id_of,
    list_page,
    member_if_any,
    page_key,
)
from meijin.server.api.calls.interceptor import Context
from meijin.server.api.calls.loop_share import LoopShare
from meijin.server.errors import InvalidRequestError, invalid_request
from meijin.server.match.feed import EventKind, Feed, GameEvent, game_topic
from meijin.server.match.games import Games
from meijin.server.match.stalls import StallWatch
from meijin.server.storage import Storage
from meijin.server.tournaments.control import TournamentControl
from meijin.store.bots import get_bot
from meijin.store.games import GameRow, analyses, get_game, list_games
from meijin.store.ladders.ladders import get_ladder
from meijin.store.schema import GameId, GameState, TournamentId
from meijin.store.voids import void_reason
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb
from meijin.v1.game_service_pb2_grpc import GameServiceServicer
from meijin.wire.records import record_from_proto
from meijin.wire.text import plain_text

MOVES_INTERVAL = timedelta(seconds=0.2)
"""Between two messages to one who watches a game: what is made meanwhile comes together."""


WHOLE_GAMES = 8
"""Games that are read at once with what their bots thought."""


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
        self._storage = storage
        self._feed = feed

    async def GetGame(self, request: pb.GetGameRequest, context: Context) -> pb.GetGameResponse:
        game = await self._game(id_of(request, "game_id", GameId))
        return pb.GetGameResponse(game=game)

    async def ListGames(
        self, request: pb.ListGamesRequest, context: Context
    ) -> pb.ListGamesResponse:
        is_whole, games = request.with_moves, self._games

        def convert(found: _Found) -> game_pb2.Game:
            row, said = found
            live = games.live_game(row.id)
            return whole_game(row, live, said) if is_whole else stored_game(row, live)

        return await list_page(
            self._storage,
            request,
            pb.ListGamesResponse,
            partial(_list, request=request),
            convert,
            token=lambda found: found[0].id,
            batch=WHOLE_GAMES if is_whole else BATCH,
        )

    async def WatchGame(
        self, request: pb.WatchGameRequest, context: Context
    ) -> AsyncIterator[pb.WatchGameResponse]:
        game_id = id_of(request, "game_id", GameId)
        with self._feed.subscribe(game_topic(game_id)) as subscriber:
            first = await self._game(game_id)
            yield pb.WatchGameResponse(game=first)
            told = len(first.moves)
            has_choice = first.HasField("choice")
            is_running = first.state == game_pb2.GAME_STATE_RUNNING
            while is_running:
                fact = await subscriber.next()
                assert isinstance(fact, GameEvent)
                is_ended = fact.kind is EventKind.ENDED
                if is_ended or (not has_choice and fact.game.committed_choice is not None):
                    game = await self._game(game_id)
                    told, has_choice = len(game.moves), True
                    is_running = not is_ended and game.state == game_pb2.GAME_STATE_RUNNING
                    yield pb.WatchGameResponse(game=game)
                elif moves := live_moves(fact.game, since=told):
                    told += len(moves)
                    yield pb.WatchGameResponse(moves=moves)
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
        game = await self._game(id_of(request, "game_id", GameId))
        form = _FORMATS.get(request.format)
        if form is None:
            raise InvalidRequestError(f"no format {request.format}")
        with invalid_request("format"):
            return pb.ExportGameResponse(text=write_game(record_from_proto(game), form))

    async def VoidGame(self, request: pb.VoidGameRequest, context: Context) -> pb.VoidGameResponse:
        game_id = id_of(request, "game_id", GameId)
        with invalid_request("reason"):
            reason = void_reason(plain_text(request.reason))
        await self._game(game_id)
        after = {"state": GameState.VOID.value, "reason": reason}
        act = current_caller.get().act("void", f"game {game_id}", after=after)
        await self._control.void(game_id, reason, act)
        return pb.VoidGameResponse(game=await self._game(game_id))

    async def _game(self, game_id: GameId) -> game_pb2.Game:
        live = self._games.live_game(game_id)
        row, said = await self._storage.read(_find, game_id)
        return whole_game(row, live, said)


_Found: TypeAlias = tuple[GameRow, Mapping[str, Any] | None]
"""A game, and what its bots thought by ply."""


def _find(connection: Connection, game_id: GameId) -> _Found:
    return get_game(connection, game_id), analyses(connection, [game_id]).get(game_id)


def _list(
    connection: Connection, *, request: pb.ListGamesRequest, limit: int, after: str
) -> Sequence[_Found]:
    bot_id = get_bot(connection, request.bot) if request.bot else None
    rows = list_games(
        connection,
        limit=limit,
        before=page_key(after),
        tournament_id=id_if_any(request, "tournament_id", TournamentId),
        bot_id=bot_id,
        state=member_if_any(request, "state", GameState),
        ladder_id=get_ladder(connection, request.ladder) if request.ladder else None,
        start_time=_instant(request, "start_time"),
        end_time=_instant(request, "end_time"),
    )
    said = analyses(connection, [row.id for row in rows]) if request.with_moves else {}
    return [(row, said.get(row.id)) for row in rows]


def _instant(
    request: pb.ListGamesRequest, field: Literal["start_time", "end_time"]
) -> datetime | None:
    if not request.HasField(field):
        return None
    with invalid_request(field):
        return getattr(request, field).ToDatetime(UTC)  # type: ignore[no-any-return]


_FORMATS = {
    pb.RECORD_FORMAT_UNSPECIFIED: FileFormat.SGF,
    pb.RECORD_FORMAT_SGF: FileFormat.SGF,
    pb.RECORD_FORMAT_PSQ: FileFormat.PSQ,
    pb.RECORD_FORMAT_POSITION: FileFormat.POSITIONS,
    pb.RECORD_FORMAT_JSON: FileFormat.JSON,
}
