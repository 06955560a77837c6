"""Games looked up and listed: as they are stored, with what of them is live."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection

from meijin.game import Result
from meijin.server.api.answers.games import stored_game, whole_game
from meijin.server.api.answers.pages import (
    BATCH,
    BoundedRows,
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
from meijin.store.games import (
    ANY_GAME,
    GameRow,
    NarrowFilter,
    analyses,
    get_game,
    list_games,
    look_floor,
)
from meijin.store.ladders.ladders import get_ladder
from meijin.store.schema import GameId, GameState, TournamentId
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb
from meijin.wire.values import ending_from_proto, rule_from_proto

RESULTS = {game_pb2.COLOR_BLACK: Result.BLACK_WINS, game_pb2.COLOR_WHITE: Result.WHITE_WINS}

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
    before, tournament_id = page_key(after), id_if_any(request, "tournament_id", TournamentId)
    bot_id = get_bot(connection, request.bot) if request.bot else None
    state, narrow = member_if_any(request, "state", GameState), _narrow(connection, request)
    floor = None
    if narrow != ANY_GAME and state in {None, GameState.FINISHED}:
        floor = look_floor(connection, before=before, tournament_id=tournament_id, bot_id=bot_id)
    rows = list_games(
        connection,
        limit=limit,
        before=before,
        narrow=narrow,
        floor=floor,
        tournament_id=tournament_id,
        bot_id=bot_id,
        state=state,
        ladder_id=get_ladder(connection, request.ladder) if request.ladder else None,
        start_time=_instant(request, "start_time"),
        end_time=_instant(request, "end_time"),
    )
    said = analyses(connection, [row.id for row in rows]) if request.with_moves else {}
    return BoundedRows([(row, said.get(row.id)) for row in rows], str(floor or ""))


def _narrow(connection: Connection, request: pb.ListGamesRequest) -> NarrowFilter:
    with invalid_request():
        return NarrowFilter(
            result=Result.DRAW if request.drawn else RESULTS.get(request.winner),
            ending=ending_from_proto(request.ending) if request.ending else None,
            rule=rule_from_proto(request.rule) if request.rule else None,
            min_plies=request.min_plies,
            max_plies=request.max_plies or None,
            opponent=get_bot(connection, request.opponent) if request.opponent else None,
        )


def _instant(
    request: pb.ListGamesRequest, field: Literal["start_time", "end_time"]
) -> datetime | None:
    if not request.HasField(field):
        return None
    with invalid_request(field):
        return getattr(request, field).ToDatetime(UTC)  # type: ignore[no-any-return]
