"""Owners, and the invitations that they come by."""

from datetime import UTC, datetime
from functools import partial
from operator import attrgetter

from meijin.server.access import owners
from meijin.server.access.bots import new_name
from meijin.server.access.caller import current_caller
from meijin.server.access.owners import InvitationRequest, check_registration
from meijin.server.api.answers.pages import id_of, list_page, oldest_first
from meijin.server.api.calls.interceptor import Context
from meijin.server.errors import invalid_request
from meijin.server.settings import Settings
from meijin.server.storage import Storage
from meijin.store.access.invitations import list_invitations
from meijin.store.access.owners import list_owners
from meijin.store.access.tokens import new_secret
from meijin.store.schema import InvitationId, TokenKind
from meijin.v1 import owner_service_pb2 as pb
from meijin.v1.owner_service_pb2_grpc import OwnerServiceServicer
from meijin.wire.contract import check_bot_name
from meijin.wire.mapping import from_message, to_message


class OwnerServicer(OwnerServiceServicer):
    def __init__(self, storage: Storage, settings: Settings) -> None:
        self._storage = storage
        self._settings = settings

    async def CreateInvitation(
        self, request: pb.CreateInvitationRequest, context: Context
    ) -> pb.CreateInvitationResponse:
        with invalid_request():
            wanted = from_message(request, InvitationRequest)
        wanted.check()
        check_registration(self._settings)
        secret = new_secret("invitation")
        row = await self._storage.write(owners.invite, current_caller.get(), wanted, secret)
        return pb.CreateInvitationResponse(invitation=to_message(row, pb.Invitation), secret=secret)

    async def ListInvitations(
        self, request: pb.ListInvitationsRequest, context: Context
    ) -> pb.ListInvitationsResponse:
        query = oldest_first(partial(list_invitations, now=datetime.now(UTC)))
        return await list_page(self._storage, request, pb.ListInvitationsResponse, query)

    async def RevokeInvitation(
        self, request: pb.RevokeInvitationRequest, context: Context
    ) -> pb.RevokeInvitationResponse:
        invitation_id = id_of(request, "invitation_id", InvitationId)
        row = await self._storage.write(owners.revoke, current_caller.get(), invitation_id)
        return pb.RevokeInvitationResponse(invitation=to_message(row, pb.Invitation))

    async def Join(self, request: pb.JoinRequest, context: Context) -> pb.JoinResponse:
        with invalid_request("name"):
            check_bot_name(request.name)
        check_registration(self._settings)
        caller, secret = current_caller.get(), new_secret(TokenKind.OWNER.value)
        with new_name("an owner", request.name):
            await self._storage.write(owners.join, caller, request.invitation, request.name, secret)
        return pb.JoinResponse(token=secret)

    async def UpdateOwner(
        self, request: pb.UpdateOwnerRequest, context: Context
    ) -> pb.UpdateOwnerResponse:
        update = from_message(request, owners.OwnerUpdate)
        update.check()
        row = await self._storage.write(owners.update_owner, current_caller.get(), update)
        return pb.UpdateOwnerResponse(owner=to_message(row, pb.Owner))

    async def ListOwners(
        self, request: pb.ListOwnersRequest, context: Context
    ) -> pb.ListOwnersResponse:
        name = attrgetter("name")
        return await list_page(
            self._storage, request, pb.ListOwnersResponse, list_owners, token=name
        )
