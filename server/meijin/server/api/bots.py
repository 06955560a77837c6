"""Bots: registered, listed, and given tokens."""

from bisect import bisect
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Connection

from meijin.server.access.bot_control import BotControl
from meijin.server.access.bots import BotUpdate
from meijin.server.access.caller import Caller, current_caller
from meijin.server.api.convert_bots import (
    add_state,
    bot_to_proto,
    rated_version_to_proto,
    results_to_proto,
    version_to_proto,
)
from meijin.server.api.interceptor import Context
from meijin.server.api.requests import ListQuery, page_key, read_page, within
from meijin.server.errors import InvalidRequestError, invalid_request
from meijin.server.match.lobby import Lobby
from meijin.server.match.wire import engine_from_proto
from meijin.server.storage import Storage
from meijin.server.tournaments.pauses import Pauses
from meijin.server.views.bot_details import bot_detail, bot_detail_with_results
from meijin.server.views.bots import BotSummary, ListedBot, bot_summary, with_ratings
from meijin.store import bots as store
from meijin.store.bots import BotRow, VersionRow
from meijin.store.schema import BotId
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1.bot_service_pb2_grpc import BotServiceServicer
from meijin.wire.mapping import from_message

MAX_SEARCH = 60
"""Characters that bots are searched by: as many as the longest of their names has."""


class BotServicer(BotServiceServicer):
    """Bots and their tokens."""

    def __init__(self, control: BotControl, lobby: Lobby, pauses: Pauses, storage: Storage) -> None:
        self._control = control
        self._lobby = lobby
        self._pauses = pauses
        self._storage = storage

    async def RegisterBot(
        self, request: pb.RegisterBotRequest, context: Context
    ) -> pb.RegisterBotResponse:
        """Register a bot and return its token."""
        caller = current_caller.get()
        made = await self._control.register(
            caller, request.name, request.owner, request.display_name
        )
        bot = BotSummary(request.name, made.owner, made.time, display_name=made.display_name)
        return pb.RegisterBotResponse(bot=bot_to_proto(bot), token=made.token)

    async def ReportDoctor(
        self, request: pb.ReportDoctorRequest, context: Context
    ) -> pb.ReportDoctorResponse:
        """Keep whether a version of the caller's own bot has passed the doctor."""
        version = await self._control.report_doctor(
            current_caller.get(),
            request.name,
            engine_from_proto(request.engine),
            has_passed=request.passed,
        )
        return pb.ReportDoctorResponse(version=version_to_proto(version))

    async def UpdateBot(
        self, request: pb.UpdateBotRequest, context: Context
    ) -> pb.UpdateBotResponse:
        """Change a bot, and show it."""
        caller = current_caller.get()
        with invalid_request():
            change = from_message(request, BotUpdate)
        changed = await self._control.update(caller, request.name, change)
        found = await self._storage.read(bot_detail, name=changed.name)
        return pb.UpdateBotResponse(bot=self._to_proto(found.listed, caller, datetime.now(UTC)))

    async def GetBot(self, request: pb.GetBotRequest, context: Context) -> pb.GetBotResponse:
        """Show a bot, and where asked its versions and its results."""
        find = bot_detail_with_results if request.with_results else bot_detail
        found = await self._storage.read(find, name=request.name)
        return pb.GetBotResponse(
            bot=self._to_proto(found.listed, current_caller.get(), datetime.now(UTC)),
            versions=within(map(rated_version_to_proto, found.versions)),
            results=None if found.results is None else results_to_proto(found.results),
        )

    async def ListBots(self, request: pb.ListBotsRequest, context: Context) -> pb.ListBotsResponse:
        """List bots by name."""
        caller = current_caller.get()
        search = _search(request.search)
        query: ListQuery[BotRow] = partial(
            store.list_bots,
            search=search,
            hidden_of=caller.owner_id,
            with_hidden=caller.is_operator,
            with_people=request.with_people,
            owner=request.owner,
        )
        if request.connected:
            there = self._connected(with_hidden=caller.is_operator, with_people=request.with_people)
            query = partial(_list_connected, bots=there, search=search, owner=request.owner)
        page = await read_page(
            self._storage,
            partial(_with_ratings, query),
            partial(self._to_proto, caller=caller, now=datetime.now(UTC)),
            size=request.page_size,
            start=request.page_token,
            token=lambda listed: listed.row.name,
        )
        return pb.ListBotsResponse(bots=page.messages, next_page_token=page.next_token)

    def _to_proto(self, listed: ListedBot, caller: Caller, now: datetime) -> pb.Bot:
        player = self._lobby.players.get(listed.row.id)
        message = bot_to_proto(bot_summary(listed, player, self._pauses, now))
        owner_id = caller.owner_id
        if caller.is_operator or (owner_id is not None and owner_id == listed.row.owner_id):
            add_state(message, listed.row)
        return message

    def _connected(self, *, with_hidden: bool, with_people: bool) -> list[tuple[str, BotId]]:
        """The names and ids of those who are there, sorted."""
        players = (each for each in self._lobby.players.values() if each.session is not None)
        return sorted(
            (each.name, each.bot_id)
            for each in players
            if with_hidden >= each.is_hidden and with_people >= each.is_person
        )

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


def _with_ratings(
    query: ListQuery[BotRow], connection: Connection, *, limit: int, after: str
) -> Sequence[ListedBot]:
    return with_ratings(connection, query(connection, limit=limit, after=after))


def _list_connected(
    connection: Connection,
    *,
    bots: Sequence[tuple[str, BotId]],
    search: str,
    owner: str,
    limit: int,
    after: str,
) -> Sequence[BotRow]:
    if search or owner:
        find = partial(store.list_bots, connection, limit=limit, after=after, search=search)
        there = [bot_id for _, bot_id in bots]
        return find(with_hidden=True, with_people=True, owner=owner, among=there)
    first = bisect(bots, after, key=lambda bot: bot[0])
    return store.get_bots(connection, dict(bots[first : first + limit]))


def _search(text: str) -> str:
    if len(text) > MAX_SEARCH:
        raise InvalidRequestError(f"search is of {len(text)} characters; at most {MAX_SEARCH}")
    return text


def _versions(connection: Connection, *, name: str, limit: int, after: str) -> Sequence[VersionRow]:
    bot_id = store.get_bot(connection, name)
    return store.list_versions(connection, bot_id, limit=limit, after=page_key(after) or 0)
