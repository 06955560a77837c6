"""Games: looked up, listed, watched, exported and taken back."""

from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial

from sqlalchemy import Connection

from meijin.game import GameRecord, Outcome, TimeControl, Variant, decode_moves, to_sgf
from meijin.server.api.convert import GAME_STATES, game_to_proto, live_moves_to_proto
from meijin.server.api.interceptor import Context
from meijin.server.api.requests import number, page_key, page_size
from meijin.server.errors import InvalidRequestError
from meijin.server.match.arena import Arena
from meijin.server.match.feed import EventKind, Feed, GameEvent, game_topic
from meijin.server.match.live_game import LiveGame
from meijin.server.storage import Storage
from meijin.server.tournaments.control import TournamentControl
from meijin.store import games as store
from meijin.store.bots import get_bot
from meijin.store.games import GameRow, decode_times
from meijin.store.schema import GameId, GameState, TournamentId
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb
from meijin.v1.game_service_pb2_grpc import GameServiceServicer

MAX_REASON = 200
"""Characters of why a game is taken back."""


class GameServicer(GameServiceServicer):
    """The server's games."""

    def __init__(
        self, control: TournamentControl, arena: Arena, storage: Storage, feed: Feed
    ) -> None:
        self._control = control
        self._arena = arena
        self._storage = storage
        self._feed = feed

    async def GetGame(self, request: pb.GetGameRequest, context: Context) -> pb.GetGameResponse:
        """Show one game with its moves."""
        return pb.GetGameResponse(game=await self._game(_id(request.game_id)))

    async def ListGames(
        self, request: pb.ListGamesRequest, context: Context
    ) -> pb.ListGamesResponse:
        """List games, newest first."""
        size = page_size(request.page_size)
        rows = await self._storage.read(partial(_list, request=request, limit=size + 1))
        return pb.ListGamesResponse(
            games=[
                _game_to_proto(row, self._arena.live_game(row.id), with_moves=False)
                for row in rows[:size]
            ],
            next_page_token=str(rows[size - 1].id) if len(rows) > size else "",
        )

    async def WatchGame(
        self, request: pb.WatchGameRequest, context: Context
    ) -> AsyncIterator[pb.WatchGameResponse]:
        """Tell where a game stands, then each move and the end."""
        game_id = _id(request.game_id)
        with self._feed.watch(game_topic(game_id)) as watcher:
            first = await self._game(game_id)
            yield pb.WatchGameResponse(game=first)
            told = first.ply
            is_running = first.state == game_pb2.GAME_STATE_RUNNING
            while is_running:
                fact = await watcher.next()
                assert isinstance(fact, GameEvent)
                if fact.kind is EventKind.ENDED:
                    is_running = False
                    yield pb.WatchGameResponse(game=await self._game(game_id))
                elif moves := live_moves_to_proto(fact.game, since=told):
                    told += len(moves)
                    yield pb.WatchGameResponse(moves=moves)

    async def ExportGame(
        self, request: pb.ExportGameRequest, context: Context
    ) -> pb.ExportGameResponse:
        """Return a game's record."""
        game_id = _id(request.game_id)
        live = self._arena.live_game(game_id)
        row = await self._storage.read(partial(_find, game_id=game_id))
        return pb.ExportGameResponse(text=to_sgf(_record(row, live)))

    async def VoidGame(self, request: pb.VoidGameRequest, context: Context) -> pb.VoidGameResponse:
        """Take a game back."""
        game_id, reason = _id(request.game_id), _reason(request.reason)
        await self._storage.read(partial(_find, game_id=game_id))
        await self._control.void(game_id, reason)
        return pb.VoidGameResponse(game=await self._game(game_id))

    async def _game(self, game_id: GameId) -> game_pb2.Game:
        live = self._arena.live_game(game_id)
        row = await self._storage.read(partial(_find, game_id=game_id))
        return _game_to_proto(row, live, with_moves=True)


def _game_to_proto(row: GameRow, live: LiveGame | None, *, with_moves: bool) -> game_pb2.Game:
    """A stored game; the moves of one that runs are the arena's."""
    if live is None or row.state is not GameState.RUNNING:
        return game_to_proto(row, with_moves=with_moves)
    message = game_to_proto(row, with_moves=False)
    message.ply = len(live.settled_moves)
    if with_moves:
        message.moves.extend(live_moves_to_proto(live, since=0))
    return message


def _id(text: str) -> GameId:
    return GameId(number(text, "game_id"))


def _reason(text: str) -> str:
    """Why a game is taken back, as it is stored."""
    reason = text.replace("\0", "").strip()
    if not reason:
        raise InvalidRequestError("reason is empty; say in a sentence why the game is void")
    if len(reason) > MAX_REASON:
        raise InvalidRequestError(f"reason is longer than {MAX_REASON} characters")
    return reason


def _find(connection: Connection, game_id: GameId) -> GameRow:
    return store.get_game(connection, game_id)


def _list(connection: Connection, *, request: pb.ListGamesRequest, limit: int) -> list[GameRow]:
    bot_id = get_bot(connection, request.bot) if request.bot else None
    tournament_id = None
    if request.tournament_id:
        tournament_id = TournamentId(number(request.tournament_id, "tournament_id"))
    if request.state not in _STATES:
        raise InvalidRequestError(f"no game state {request.state}")
    return list(
        store.list_games(
            connection,
            limit=limit,
            before=page_key(request.page_token),
            tournament_id=tournament_id,
            bot_id=bot_id,
            state=_STATES[request.state],
        )
    )


_STATES = {game_pb2.GAME_STATE_UNSPECIFIED: None} | {
    value: state for state, value in GAME_STATES.items()
}


def _record(row: GameRow, live: LiveGame | None) -> GameRecord:
    """A stored game as a record; the moves of one that runs are the arena's."""
    outcome = None
    if row.ending is not None:
        outcome = Outcome(row.result, row.ending, row.at_fault, row.detail)
    cells, (_, charged) = decode_moves(row.moves), decode_times(row.times)
    if live is not None and row.state is GameState.RUNNING:
        cells, charged = live.settled_moves[:], live.arbiter.charged[:]
    times = (
        *[timedelta(0)] * row.opening_plies,
        *(timedelta(microseconds=ns // 1000) for ns in charged),
    )
    return GameRecord(
        variant=Variant.parse(row.variant),
        black=row.black,
        white=row.white,
        moves=tuple(cells),
        times=times[: len(cells)],
        opening_plies=row.opening_plies,
        time_control=TimeControl.parse(row.time_control),
        outcome=outcome,
        start_time=row.start_time,
        event=f"tournament {row.tournament_id}",
        game_id=str(row.id),
    )
