"""Invitations, by which some become owners; for operators."""

from dataclasses import dataclass
from datetime import timedelta

from google.protobuf.duration_pb2 import Duration
from starlette.responses import Response

from meijin.v1 import owner_service_pb2 as pb
from meijin.web.pages.account import SecretView, show_secret
from meijin.web.refusals import bad_request
from meijin.web.routes import Form, Private
from meijin.web.terms import fields_of, whole
from meijin.web.visit import Visit, see_other

SHOWN = 100

MAX_USES, MAX_DAYS, MAX_QUOTA = 1000, 365, 10_000


@dataclass(frozen=True, slots=True)
class InvitationsView:
    """The invitations that can be used."""

    invitations: tuple[pb.Invitation, ...]
    older: str
    """The address of the next page; empty on the last."""


async def show(visit: Visit) -> Response:
    """List invitations below the form for a new one."""
    request = pb.ListInvitationsRequest(page_size=SHOWN, page_token=visit.text("page"))
    listed = await visit.services.owners.ListInvitations(request)
    following = visit.address(page=listed.next_page_token) if listed.next_page_token else ""
    view = InvitationsView(tuple(listed.invitations), following)
    return await visit.answer("invitations.html", lambda: view)


async def make(visit: Visit) -> Response:
    """Make an invitation, and show its secret."""
    fields = fields_of(await visit.form())
    try:
        request = _request(fields)
    except ValueError as error:
        raise bad_request(str(error)) from None
    made = await visit.services.owners.CreateInvitation(request)
    return await show_secret(visit, SecretView(made.secret, "/manage/invitations"))


def _request(fields: dict[str, str]) -> pb.CreateInvitationRequest:
    """What the form asks for.

    Raises:
        ValueError: a number is none, or out of its range.
    """
    request = pb.CreateInvitationRequest(uses=whole(fields, "uses", most=MAX_USES))
    days, quota = whole(fields, "days", most=MAX_DAYS), whole(fields, "quota", most=MAX_QUOTA)
    if days:
        lifetime = Duration()
        lifetime.FromTimedelta(timedelta(days=days))
        request.lifetime.CopyFrom(lifetime)
    if quota:
        request.quota = quota
    return request


async def revoke(visit: Visit) -> Response:
    """Have nobody use an invitation any more."""
    request = pb.RevokeInvitationRequest(invitation_id=visit.place("key"))
    await visit.services.owners.RevokeInvitation(request)
    return see_other("/manage/invitations")


ROUTES = (
    Private("/manage/invitations", show),
    Form("/manage/invitations", make),
    Form("/manage/invitations/{key}/revoke", revoke),
)
