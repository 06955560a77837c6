"""Games looked up and listed: as they are stored, with what of them is live."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection

from meijin.server.api.answers.games import stored_game, whole_game
from meijin.server.api.answers.pages import (
    BATCH,
    id_if_any,
    id_of,
    list_page,
    member_if_any,
    page_key,
)
from meijin.server.errors import invalid_request
from meijin.server.match.live.live_game import LiveGame
from meijin.server.storage import Storage
from meijin.store.bots import get_bot
from meijin.store.games import GameRow, analyses, get_game, list_games
from meijin.store.ladders.ladders import get_ladder
from meijin.store.schema import GameId, GameState, TournamentId
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb

WHOLE_GAMES = 8
"""Games that are read at once with what their bots thought."""


class StoredGames:
    """What ``GetGame`` and ``ListGames`` answer, on a server or without one."""

    def __init__(
        self, storage: Storage, live_game: Callable[[GameId], LiveGame | None] = lambda _: None
    ) -> None:
        self._storage = storage
        self._live_game = live_game

    async def get(self, request: pb.GetGameRequest) -> pb.GetGameResponse:
        return pb.GetGameResponse(game=await self.find(id_of(request, "game_id", GameId)))

    async def find(self, game_id: GameId) -> game_pb2.Game:
        live = self._live_game(game_id)
        row, said = await self._storage.read(_find, game_id)
        return whole_game(row, live, said)

    async def list(self, request: pb.ListGamesRequest) -> pb.ListGamesResponse:
        is_whole = request.with_moves

        def convert(found: _Found) -> game_pb2.Game:
            row, said = found
            live = self._live_game(row.id)
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
