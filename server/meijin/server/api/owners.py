"""Owners, and the invitations that they come by."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from sqlalchemy import Connection

from meijin.server.access.caller import current_caller
from meijin.server.access.owners import InvitationRequest, OwnerControl
from meijin.server.api.interceptor import Context
from meijin.server.api.requests import number, page_key, read_page
from meijin.server.errors import invalid_request
from meijin.server.storage import Storage
from meijin.store.access.invitations import InvitationRow, list_invitations
from meijin.store.access.owners import list_owners
from meijin.store.schema import InvitationId
from meijin.v1 import owner_service_pb2 as pb
from meijin.v1.owner_service_pb2_grpc import OwnerServiceServicer
from meijin.wire.mapping import to_message

DEFAULT_LIFETIME = timedelta(days=7)


class OwnerServicer(OwnerServiceServicer):
    """The server's owners."""

    def __init__(self, control: OwnerControl, storage: Storage) -> None:
        self._control = control
        self._storage = storage

    async def CreateInvitation(
        self, request: pb.CreateInvitationRequest, context: Context
    ) -> pb.CreateInvitationResponse:
        """Make an invitation and return its secret."""
        lifetime = DEFAULT_LIFETIME
        if request.HasField("lifetime"):
            with invalid_request("lifetime"):
                lifetime = request.lifetime.ToTimedelta()
        quota = request.quota if request.HasField("quota") else None
        wanted = InvitationRequest(request.uses or 1, lifetime, quota)
        row, secret = await self._control.invite(current_caller.get(), wanted)
        return pb.CreateInvitationResponse(invitation=to_message(row, pb.Invitation), secret=secret)

    async def ListInvitations(
        self, request: pb.ListInvitationsRequest, context: Context
    ) -> pb.ListInvitationsResponse:
        """List the invitations that can be used."""
        page = await read_page(
            self._storage,
            partial(_list, now=datetime.now(UTC)),
            lambda row: to_message(row, pb.Invitation),
            size=request.page_size,
            start=request.page_token,
            token=lambda row: row.id,
        )
        return pb.ListInvitationsResponse(
            invitations=page.messages, next_page_token=page.next_token
        )

    async def RevokeInvitation(
        self, request: pb.RevokeInvitationRequest, context: Context
    ) -> pb.RevokeInvitationResponse:
        """Have nobody use an invitation any more."""
        invitation_id = InvitationId(number(request.invitation_id, "invitation_id"))
        row = await self._control.revoke(current_caller.get(), invitation_id)
        return pb.RevokeInvitationResponse(invitation=to_message(row, pb.Invitation))

    async def Join(self, request: pb.JoinRequest, context: Context) -> pb.JoinResponse:
        """Make an owner of who has an invitation."""
        token = await self._control.join(current_caller.get(), request.invitation, request.name)
        return pb.JoinResponse(token=token)

    async def ListOwners(
        self, request: pb.ListOwnersRequest, context: Context
    ) -> pb.ListOwnersResponse:
        """List owners by name."""
        page = await read_page(
            self._storage,
            list_owners,
            lambda row: to_message(row, pb.Owner),
            size=request.page_size,
            start=request.page_token,
            token=lambda row: row.name,
        )
        return pb.ListOwnersResponse(owners=page.messages, next_page_token=page.next_token)


def _list(
    connection: Connection, *, now: datetime, limit: int, after: str
) -> Sequence[InvitationRow]:
    return list_invitations(connection, limit=limit, now=now, after=page_key(after) or 0)
