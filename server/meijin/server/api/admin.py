"""The audit log: what owners and operators have changed."""

from collections.abc import Sequence
from functools import partial

from sqlalchemy import Connection

from meijin.server.api.interceptor import Context
from meijin.server.api.requests import page_key, read_page
from meijin.server.storage import Storage
from meijin.store.access.audit import ActRow, list_acts
from meijin.v1 import admin_service_pb2 as pb
from meijin.v1.admin_service_pb2_grpc import AdminServiceServicer
from meijin.wire.mapping import to_message


class AdminServicer(AdminServiceServicer):
    """The audit log."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def ListAudit(
        self, request: pb.ListAuditRequest, context: Context
    ) -> pb.ListAuditResponse:
        """List what owners and operators have changed, newest first."""
        page = await read_page(
            self._storage,
            partial(_list, of=request.of),
            _to_proto,
            size=request.page_size,
            start=request.page_token,
            token=lambda act: act.id,
        )
        return pb.ListAuditResponse(acts=page.messages, next_page_token=page.next_token)


def _list(connection: Connection, *, of: str, limit: int, after: str) -> Sequence[ActRow]:
    return list_acts(connection, limit=limit, before=page_key(after), of=of)


def _to_proto(row: ActRow) -> pb.Act:
    message = to_message(row, pb.Act, before=None, after=None)
    if row.before is not None:
        message.before.update(row.before)
    if row.after is not None:
        message.after.update(row.after)
    return message
