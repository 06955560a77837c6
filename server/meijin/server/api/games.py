"""Games: looked up, listed, watched, exported and voided."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Literal

from sqlalchemy import Connection

from meijin.game.records.file import FileFormat, write_game
from meijin.server.access.caller import current_caller
from meijin.server.api.arena_watch import ArenaWatch, Selection
from meijin.server.api.convert_games import (
    GAME_STATES,
    game_detail_to_proto,
    game_to_proto,
    moves_to_proto,
)
from meijin.server.api.interceptor import Context
from meijin.server.api.loop_share import LoopShare
from meijin.server.api.requests import BATCH, number, page_key, read_page
from meijin.server.errors import InvalidRequestError, invalid_request
from meijin.server.match.arbiter.stalls import StallWatch
from meijin.server.match.feed import EventKind, Feed, GameEvent, game_topic
from meijin.server.match.games import Games
from meijin.server.storage import Storage
from meijin.server.tournaments.control import TournamentControl
from meijin.server.views.games import GameDetail, game_detail, game_summary, live_moves, record
from meijin.store.bots import get_bot
from meijin.store.games import GameRow, analyses, get_game, list_games
from meijin.store.ladders.ladders import get_ladder
from meijin.store.schema import GameId, GameState, TournamentId
from meijin.store.voids import void_reason
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb
from meijin.v1.game_service_pb2_grpc import GameServiceServicer
from meijin.wire.text import plain_text

MOVES_INTERVAL = timedelta(seconds=0.2)
"""Between two messages to one who watches a game: what is made meanwhile comes together."""


WHOLE_GAMES = 8
"""Games that are read at once with what their bots thought."""


async def pause() -> None:
    """Wait before a watcher is told more."""
    await asyncio.sleep(MOVES_INTERVAL.total_seconds())


class GameServicer(GameServiceServicer):
    """The server's games."""

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
        """Show one game with its moves."""
        game = await self._game(_id(request.game_id))
        return pb.GetGameResponse(game=game_detail_to_proto(game))

    async def ListGames(
        self, request: pb.ListGamesRequest, context: Context
    ) -> pb.ListGamesResponse:
        """List games, newest first."""
        page = await read_page(
            self._storage,
            partial(_list, request=request),
            self._listed,
            size=request.page_size,
            start=request.page_token,
            token=lambda found: found.row.id,
            batch=WHOLE_GAMES if request.with_moves else BATCH,
        )
        return pb.ListGamesResponse(games=page.messages, next_page_token=page.next_token)

    async def WatchGame(
        self, request: pb.WatchGameRequest, context: Context
    ) -> AsyncIterator[pb.WatchGameResponse]:
        """Tell where a game stands, then each move and the end."""
        game_id = _id(request.game_id)
        with self._feed.subscribe(game_topic(game_id)) as subscriber:
            first = await self._game(game_id)
            yield pb.WatchGameResponse(game=game_detail_to_proto(first))
            told = len(first.moves)
            has_choice = first.choice is not None
            is_running = first.summary.state is GameState.RUNNING
            while is_running:
                fact = await subscriber.next()
                assert isinstance(fact, GameEvent)
                is_ended = fact.kind is EventKind.ENDED
                if is_ended or (not has_choice and fact.game.committed_choice is not None):
                    game = await self._game(game_id)
                    told, has_choice = len(game.moves), True
                    is_running = not is_ended and game.summary.state is GameState.RUNNING
                    yield pb.WatchGameResponse(game=game_detail_to_proto(game))
                elif moves := live_moves(fact.game, since=told):
                    told += len(moves)
                    yield pb.WatchGameResponse(moves=moves_to_proto(moves))
                    await pause()

    async def WatchArena(
        self, request: pb.WatchArenaRequest, context: Context
    ) -> AsyncIterator[pb.WatchArenaResponse]:
        """Tell where the running games stand, then what has changed, now and then."""
        selection = Selection.of(request)
        watch = ArenaWatch(self._games, self._stalls, self._share, selection)
        async with aclosing(watch.messages()) as messages:
            async for message in messages:
                yield message

    async def ExportGame(
        self, request: pb.ExportGameRequest, context: Context
    ) -> pb.ExportGameResponse:
        """Return a game's record."""
        game = await self._game(_id(request.game_id))
        form = _FORMATS.get(request.format)
        if form is None:
            raise InvalidRequestError(f"no format {request.format}")
        with invalid_request("format"):
            return pb.ExportGameResponse(text=write_game(record(game), form))

    async def VoidGame(self, request: pb.VoidGameRequest, context: Context) -> pb.VoidGameResponse:
        """Void a game."""
        game_id = _id(request.game_id)
        with invalid_request("reason"):
            reason = void_reason(plain_text(request.reason))
        await self._game(game_id)
        after = {"state": GameState.VOID.value, "reason": reason}
        caller, now = current_caller.get(), datetime.now(UTC)
        act = caller.act("void", f"game {game_id}", now, after=after)
        await self._control.void(game_id, reason, act)
        return pb.VoidGameResponse(game=game_detail_to_proto(await self._game(game_id)))

    async def _game(self, game_id: GameId) -> GameDetail:
        live = self._games.live_game(game_id)
        found = await self._storage.read(_find, game_id=game_id)
        return game_detail(found.row, live, found.said)

    def _listed(self, found: "_Found") -> game_pb2.Game:
        live = self._games.live_game(found.row.id)
        if not found.is_whole:
            return game_to_proto(game_summary(found.row, live))
        return game_detail_to_proto(game_detail(found.row, live, found.said))


def _id(text: str) -> GameId:
    return GameId(number(text, "game_id"))


@dataclass(frozen=True, slots=True)
class _Found:
    """A stored game."""

    row: GameRow
    is_whole: bool
    """Whether it is asked for with its moves."""
    said: Mapping[str, Any] | None = None
    """What its bots thought, by ply."""


def _find(connection: Connection, *, game_id: GameId) -> _Found:
    said = analyses(connection, [game_id])
    return _Found(get_game(connection, game_id), is_whole=True, said=said.get(game_id))


def _list(
    connection: Connection, *, request: pb.ListGamesRequest, limit: int, after: str
) -> Sequence[_Found]:
    rows = _rows(connection, request=request, limit=limit, after=after)
    is_whole = request.with_moves
    said = analyses(connection, [row.id for row in rows]) if is_whole else {}
    return [_Found(row, is_whole, said.get(row.id)) for row in rows]


def _rows(
    connection: Connection, *, request: pb.ListGamesRequest, limit: int, after: str
) -> Sequence[GameRow]:
    bot_id = get_bot(connection, request.bot) if request.bot else None
    tournament_id = None
    if request.tournament_id:
        tournament_id = TournamentId(number(request.tournament_id, "tournament_id"))
    if request.state not in _STATES:
        raise InvalidRequestError(f"no game state {request.state}")
    return list_games(
        connection,
        limit=limit,
        before=page_key(after),
        tournament_id=tournament_id,
        bot_id=bot_id,
        state=_STATES[request.state],
        ladder_id=get_ladder(connection, request.ladder) if request.ladder else None,
        start_time=_instant(request, "start_time"),
        end_time=_instant(request, "end_time"),
    )


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


_STATES = {game_pb2.GAME_STATE_UNSPECIFIED: None} | {
    value: state for state, value in GAME_STATES.items()
}
