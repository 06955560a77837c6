"""The audit log: what owners and operators have changed."""

from functools import partial

from meijin.server.api.answers.pages import list_page, newest_first
from meijin.server.api.calls.interceptor import Context
from meijin.server.storage import Storage
from meijin.store.access.audit import list_acts
from meijin.store.schema import AuditRow
from meijin.v1 import admin_service_pb2 as pb
from meijin.v1.admin_service_pb2_grpc import AdminServiceServicer
from meijin.wire.mapping import to_message


class AdminServicer(AdminServiceServicer):
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def ListAudit(
        self, request: pb.ListAuditRequest, context: Context
    ) -> pb.ListAuditResponse:
        query = newest_first(partial(list_acts, of=request.of))
        return await list_page(self._storage, request, pb.ListAuditResponse, query, _to_proto)


def _to_proto(row: AuditRow) -> pb.Act:
    message = to_message(row, pb.Act, before=None, after=None)
    if row.before is not None:
        message.before.update(row.before)
    if row.after is not None:
        message.after.update(row.after)
    return message
