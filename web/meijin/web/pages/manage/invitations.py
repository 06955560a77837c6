"""Invitations, by which some become owners; for operators."""

from datetime import timedelta

from meijin.v1 import owner_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.forms import Fields, button, fields_of, number_of
from meijin.web.pages.account.overview import show_secret
from meijin.web.refusals import refusing_values
from meijin.web.request import Form, PageRequest, Private
from meijin.web.wording import text

LIST = "/manage/invitations"

SHOWN = 100

MAX_USES, MAX_DAYS, MAX_QUOTA = 1000, 365, 10_000


async def show(request: PageRequest) -> LazyPage:
    """List invitations below the form for a new one."""
    invitations = request.services.owners.ListInvitations
    asked = pb.ListInvitationsRequest(page_size=SHOWN)
    return await request.list_page("invitations.html", invitations, asked)


async def make(request: PageRequest) -> LazyPage:
    fields = await fields_of(request)
    with refusing_values():
        asked = _asked(fields)
    made = await request.services.owners.CreateInvitation(asked)
    return show_secret(request, made.secret, LIST, use=text("manage.invitations.use"))


def _asked(fields: Fields) -> pb.CreateInvitationRequest:
    """What the form asks for.

    Raises:
        ValueError: a number is none, or out of its range.
    """
    asked = pb.CreateInvitationRequest(uses=number_of(fields, "uses", most=MAX_USES))
    days, quota = (
        number_of(fields, "days", most=MAX_DAYS),
        number_of(fields, "quota", most=MAX_QUOTA),
    )
    if days:
        asked.lifetime.FromTimedelta(timedelta(days=days))
    if quota:
        asked.quota = quota
    return asked


ROUTES = (
    Private(LIST, show),
    Form(LIST, make),
    button(f"{LIST}/{{invitation_id}}/revoke", pb.RevokeInvitationRequest, LIST),
)
