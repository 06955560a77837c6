"""Bots: registered, listed, and given tokens."""

from bisect import bisect
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from meijin.server.api.convert_bots import bot_to_proto, version_to_proto
from meijin.server.api.interceptor import Context
from meijin.server.api.requests import ListQuery, page_key, read_page
from meijin.server.errors import NameTakenError, UnauthenticatedError, invalid_request
from meijin.server.match.lobby import Lobby
from meijin.server.storage import Storage
from meijin.server.views.bots import BotSummary, bot_summary
from meijin.store import bots as store
from meijin.store.bots import BotRow, VersionRow
from meijin.store.schema import BotId, TokenKind
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1.bot_service_pb2_grpc import BotServiceServicer
from meijin.wire.contract import check_bot_name


class BotServicer(BotServiceServicer):
    """Bots and their tokens."""

    def __init__(self, lobby: Lobby, storage: Storage) -> None:
        self._lobby = lobby
        self._storage = storage

    async def RegisterBot(
        self, request: pb.RegisterBotRequest, context: Context
    ) -> pb.RegisterBotResponse:
        """Register a bot and return its token."""
        with invalid_request():
            check_bot_name(request.name)
            if request.owner:
                check_bot_name(request.owner)
        token = store.new_token(TokenKind.BOT)
        now = datetime.now(UTC)
        register = partial(_register, request=request, token=token, now=now)
        try:
            await self._storage.write(register)
        except IntegrityError:
            message = f'a bot "{request.name}" exists; take another name'
            raise NameTakenError(message) from None
        return pb.RegisterBotResponse(
            bot=bot_to_proto(BotSummary(request.name, request.owner, now)), token=token
        )

    async def RotateToken(
        self, request: pb.RotateTokenRequest, context: Context
    ) -> pb.RotateTokenResponse:
        """Replace a bot's tokens by a new one."""
        token = store.new_token(TokenKind.BOT)
        bot_id = await self._storage.write(partial(_rotate, name=request.name, token=token))
        self._lobby.expel(bot_id, UnauthenticatedError("the bot's token was replaced"))
        return pb.RotateTokenResponse(token=token)

    async def ListBots(self, request: pb.ListBotsRequest, context: Context) -> pb.ListBotsResponse:
        """List bots by name."""
        query: ListQuery[BotRow] = store.list_bots
        if request.connected:
            query = partial(_list_connected, bots=self._connected())
        players = self._lobby.players
        page = await read_page(
            self._storage,
            query,
            lambda row: bot_to_proto(bot_summary(row, players.get(row.id))),
            size=request.page_size,
            start=request.page_token,
            token=lambda row: row.name,
        )
        return pb.ListBotsResponse(bots=page.messages, next_page_token=page.next_token)

    def _connected(self) -> list[tuple[str, BotId]]:
        """The names and ids of those who are there, sorted."""
        players = self._lobby.players.values()
        return sorted((each.name, each.bot_id) for each in players if each.session is not None)

    async def ListBotVersions(
        self, request: pb.ListBotVersionsRequest, context: Context
    ) -> pb.ListBotVersionsResponse:
        """List a bot's versions, oldest first."""
        page = await read_page(
            self._storage,
            partial(_versions, name=request.name),
            version_to_proto,
            size=request.page_size,
            start=request.page_token,
            token=lambda version: version.id,
        )
        return pb.ListBotVersionsResponse(versions=page.messages, next_page_token=page.next_token)


def _list_connected(
    connection: Connection, *, bots: Sequence[tuple[str, BotId]], limit: int, after: str
) -> Sequence[BotRow]:
    first = bisect(bots, after, key=lambda bot: bot[0])
    return store.get_bots(connection, dict(bots[first : first + limit]))


def _versions(connection: Connection, *, name: str, limit: int, after: str) -> Sequence[VersionRow]:
    bot_id = store.get_bot(connection, name)
    return store.list_versions(connection, bot_id, limit=limit, after=page_key(after) or 0)


def _register(
    connection: Connection, *, request: pb.RegisterBotRequest, token: str, now: datetime
) -> None:
    bot_id = store.add_bot(connection, request.name, now, owner=request.owner)
    store.add_token(connection, token, TokenKind.BOT, now, bot_id)


def _rotate(connection: Connection, *, name: str, token: str) -> BotId:
    bot_id = store.get_bot(connection, name)
    store.rotate_token(connection, token, bot_id, datetime.now(UTC))
    return bot_id
