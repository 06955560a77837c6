"""The fault ledger: listed."""

from collections.abc import Iterable, Sequence
from functools import partial
from operator import attrgetter

from sqlalchemy import Connection

from meijin.server.access.caller import current_caller
from meijin.server.access.permissions import check_call
from meijin.server.api.answers.messages import fault_to_proto
from meijin.server.api.answers.pages import (
    MAX_SIZE,
    id_if_any,
    list_page,
    member_if_any,
    newest_first,
    page_key,
)
from meijin.server.api.calls.interceptor import Context
from meijin.server.settings import Settings
from meijin.server.storage import Storage
from meijin.server.tournaments.pauses import Pauses
from meijin.store.access.classes import get_class
from meijin.store.bots import get_bot, labels_of
from meijin.store.faults import FaultGroup, FaultRow, fault_groups, list_faults
from meijin.store.schema import BotVersionId, FaultKind, GameId
from meijin.v1 import fault_service_pb2 as pb
from meijin.v1 import method_pb2
from meijin.v1.fault_service_pb2_grpc import FaultServiceServicer
from meijin.wire.mapping import to_message


class FaultServicer(FaultServiceServicer):
    def __init__(self, storage: Storage, pauses: Pauses, settings: Settings) -> None:
        self._storage = storage
        self._pauses = pauses
        self._settings = settings

    async def ListFaults(
        self, request: pb.ListFaultsRequest, context: Context
    ) -> pb.ListFaultsResponse:
        """List faults, newest first, and whether the bot asked for is paused."""
        query = partial(_list, request=request)
        page = await list_page(self._storage, request, pb.ListFaultsResponse, query, fault_to_proto)
        page.pauses.extend(await self._pauses_of(request.bot))
        return page

    async def ListFaultGroups(
        self, request: pb.ListFaultGroupsRequest, context: Context
    ) -> pb.ListFaultGroupsResponse:
        if request.class_name:
            caller = current_caller.get()
            check_call(self._settings, method_pb2.PERMISSION_OPERATOR, caller.identity)
        page = await list_page(
            self._storage,
            request,
            pb.ListFaultGroupsResponse,
            newest_first(partial(_groups, request=request)),
            lambda group: group,
            token=attrgetter("newest.fault_id"),
            batch=MAX_SIZE,
        )
        page.pauses.extend(await self._pauses_of(request.bot))
        return page

    async def _pauses_of(self, bot: str) -> list[pb.Pause]:
        pauses = {pause.version_id: pause for pause in self._pauses.in_force()}
        if not bot or not pauses:
            return []
        labels = await self._storage.read(_labels, bot, pauses)
        return [
            to_message(pauses[version_id], pb.Pause, version=label)
            for version_id, label in labels.items()
        ]


def _labels(
    connection: Connection, bot: str, versions: Iterable[BotVersionId]
) -> dict[BotVersionId, str]:
    return labels_of(connection, get_bot(connection, bot), versions)


def _groups(
    connection: Connection, *, request: pb.ListFaultGroupsRequest, limit: int, before: int | None
) -> Sequence[pb.FaultGroup]:
    """The groups of a page as messages already: each look counts all faults, so there is but one."""
    found = fault_groups(
        connection,
        limit=limit,
        before=before,
        bot_id=get_bot(connection, request.bot) if request.bot else None,
        class_id=get_class(connection, request.class_name).id if request.class_name else None,
        kind=member_if_any(request, "kind", FaultKind),
    )
    return list(map(_group_to_proto, found))


def _group_to_proto(group: FaultGroup) -> pb.FaultGroup:
    newest = fault_to_proto(group.newest)
    return to_message(group, pb.FaultGroup, newest=newest, signature=group.newest.signature)


def _list(
    connection: Connection, *, request: pb.ListFaultsRequest, limit: int, after: str
) -> Sequence[FaultRow]:
    return list_faults(
        connection,
        limit=limit,
        before=page_key(after),
        bot_id=get_bot(connection, request.bot) if request.bot else None,
        game_id=id_if_any(request, "game_id", GameId),
        kind=member_if_any(request, "kind", FaultKind),
    )
