"""Games: looked up, listed, watched, exported and voided."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from sqlalchemy import Connection

from meijin.game import to_sgf
from meijin.server.access.caller import current_caller
from meijin.server.api.convert_games import (
    GAME_STATES,
    game_detail_to_proto,
    game_to_proto,
    moves_to_proto,
)
from meijin.server.api.interceptor import Context
from meijin.server.api.requests import number, page_key, read_page
from meijin.server.errors import InvalidRequestError, invalid_request
from meijin.server.match.feed import EventKind, Feed, GameEvent, game_topic
from meijin.server.match.games import Games
from meijin.server.storage import Storage
from meijin.server.tournaments.control import TournamentControl
from meijin.server.views.games import GameDetail, game_detail, game_summary, live_moves, record
from meijin.store.bots import get_bot
from meijin.store.games import GameRow, get_game, list_games
from meijin.store.schema import GameId, GameState, TournamentId
from meijin.store.voids import void_reason
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb
from meijin.v1.game_service_pb2_grpc import GameServiceServicer
from meijin.wire.text import plain_text

MOVES_INTERVAL = timedelta(seconds=0.2)
"""Between two messages to one who watches a game: what is made meanwhile comes together."""


async def pause() -> None:
    """Wait before a watcher is told more."""
    await asyncio.sleep(MOVES_INTERVAL.total_seconds())


class GameServicer(GameServiceServicer):
    """The server's games."""

    def __init__(
        self, control: TournamentControl, games: Games, storage: Storage, feed: Feed
    ) -> None:
        self._control = control
        self._games = games
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
            lambda row: game_to_proto(game_summary(row, self._games.live_game(row.id))),
            size=request.page_size,
            start=request.page_token,
            token=lambda row: row.id,
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

    async def ExportGame(
        self, request: pb.ExportGameRequest, context: Context
    ) -> pb.ExportGameResponse:
        """Return a game's record."""
        game = await self._game(_id(request.game_id))
        return pb.ExportGameResponse(text=to_sgf(record(game)))

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
        row = await self._storage.read(partial(get_game, game_id=game_id))
        return game_detail(row, live)


def _id(text: str) -> GameId:
    return GameId(number(text, "game_id"))


def _list(
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
    )


_STATES = {game_pb2.GAME_STATE_UNSPECIFIED: None} | {
    value: state for state, value in GAME_STATES.items()
}
