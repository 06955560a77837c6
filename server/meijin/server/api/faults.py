"""The fault ledger: listed."""

from collections.abc import Iterable, Sequence
from functools import partial

from sqlalchemy import Connection

from meijin.server.api.convert_faults import fault_to_proto, kind_from_proto, pause_to_proto
from meijin.server.api.interceptor import Context
from meijin.server.api.requests import number, page_key, read_page
from meijin.server.storage import Storage
from meijin.server.tournaments.pauses import Pauses
from meijin.store.bots import get_bot, labels_of
from meijin.store.faults import FaultRow, list_faults
from meijin.store.schema import BotVersionId, GameId
from meijin.v1 import fault_service_pb2 as pb
from meijin.v1.fault_service_pb2_grpc import FaultServiceServicer


class FaultServicer(FaultServiceServicer):
    """The server's fault ledger."""

    def __init__(self, storage: Storage, pauses: Pauses) -> None:
        self._storage = storage
        self._pauses = pauses

    async def ListFaults(
        self, request: pb.ListFaultsRequest, context: Context
    ) -> pb.ListFaultsResponse:
        """List faults, newest first, and whether the bot asked for is paused."""
        page = await read_page(
            self._storage,
            partial(_list, request=request),
            fault_to_proto,
            size=request.page_size,
            start=request.page_token,
            token=lambda fault: fault.id,
        )
        return pb.ListFaultsResponse(
            faults=page.messages,
            next_page_token=page.next_token,
            pauses=await self._pauses_of(request.bot),
        )

    async def _pauses_of(self, bot: str) -> list[pb.Pause]:
        pauses = {pause.version_id: pause for pause in self._pauses.in_force()}
        if not bot or not pauses:
            return []
        labels = await self._storage.read(_labels, bot=bot, versions=pauses)
        return [pause_to_proto(pauses[version], label) for version, label in labels.items()]


def _labels(
    connection: Connection, *, bot: str, versions: Iterable[BotVersionId]
) -> dict[BotVersionId, str]:
    return labels_of(connection, get_bot(connection, bot), versions)


def _list(
    connection: Connection, *, request: pb.ListFaultsRequest, limit: int, after: str
) -> Sequence[FaultRow]:
    return list_faults(
        connection,
        limit=limit,
        before=page_key(after),
        bot_id=get_bot(connection, request.bot) if request.bot else None,
        game_id=GameId(number(request.game_id, "game_id")) if request.game_id else None,
        kind=kind_from_proto(request.kind),
    )
