"""Owners and the invitations that they come by."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from meijin.server.access.bots import add_owner
from meijin.server.access.caller import Caller
from meijin.server.access.permissions import Policy
from meijin.server.errors import (
    InvalidRequestError,
    InvitationError,
    NameTakenError,
    RegistrationClosedError,
    WrongStateError,
    invalid_request,
)
from meijin.server.settings import Registration
from meijin.server.storage import Storage
from meijin.store.access import invitations
from meijin.store.access.audit import Facts, actor_name, add_act
from meijin.store.access.invitations import InvitationRow, NewInvitation
from meijin.store.access.tokens import NewToken, add_token, new_secret
from meijin.store.schema import InvitationId, TokenKind
from meijin.wire.contract import check_bot_name

MAX_USES = 1000
"""Of an invitation."""

MAX_QUOTA = 10_000

LONGEST = timedelta(days=365)
"""How long an invitation may last."""


@dataclass(frozen=True, slots=True)
class InvitationRequest:
    """An invitation that is asked for."""

    uses: int
    lifetime: timedelta
    quota: int | None


class OwnerControl:
    """Invitations, made and used."""

    def __init__(self, storage: Storage, policy: Policy) -> None:
        self._storage = storage
        self._policy = policy

    async def invite(self, caller: Caller, request: InvitationRequest) -> tuple[InvitationRow, str]:
        """Make an invitation, and return it with its secret.

        Raises:
            InvalidRequestError: it can't be of so many, so long or so much.
            RegistrationClosedError: nobody could use it.
        """
        _check(request)
        self._check_registration()
        secret = new_secret("invitation")
        work = partial(
            _invite, caller=caller, request=request, secret=secret, now=datetime.now(UTC)
        )
        return await self._storage.write(work), secret

    async def revoke(self, caller: Caller, invitation_id: InvitationId) -> InvitationRow:
        """Have nobody use an invitation any more."""
        work = partial(_revoke, caller=caller, invitation_id=invitation_id, now=datetime.now(UTC))
        return await self._storage.write(work)

    async def join(self, caller: Caller, invitation: str, name: str) -> str:
        """Make an owner of who has an invitation, and return the owner's token.

        Raises:
            InvalidRequestError: nobody can be called so.
            InvitationError: the invitation is none, or none any more.
            NameTakenError: there is an owner of that name; the invitation is not used.
            RegistrationClosedError: no owners come to this server.
        """
        with invalid_request("name"):
            check_bot_name(name)
        self._check_registration()
        secret = new_secret(TokenKind.OWNER.value)
        work = partial(_join, caller=caller, invitation=invitation, name=name, secret=secret)
        try:
            await self._storage.write(work, now=datetime.now(UTC))
        except IntegrityError:
            raise NameTakenError(f'an owner "{name}" exists; take another name') from None
        return secret

    def _check_registration(self) -> None:
        if self._policy.registration is Registration.CLOSED:
            raise RegistrationClosedError("this server takes no invitations; ask its operator")


def _check(request: InvitationRequest) -> None:
    bounds = (("uses", request.uses, MAX_USES), ("quota", request.quota or 1, MAX_QUOTA))
    for field, value, most in bounds:
        if not 0 < value <= most:
            raise InvalidRequestError(f"{field} {value} is not between 1 and {most}")
    if not timedelta(0) < request.lifetime <= LONGEST:
        raise InvalidRequestError(f"lifetime is not between 0 and {LONGEST.days} days")


def _invite(
    connection: Connection,
    *,
    caller: Caller,
    request: InvitationRequest,
    secret: str,
    now: datetime,
) -> InvitationRow:
    new = NewInvitation(
        secret,
        uses=request.uses,
        creator=str(actor_name(connection, caller.actor.token_id)),
        expire_time=now + request.lifetime,
        quota=request.quota,
    )
    added = invitations.add_invitation(connection, new, now)
    row = invitations.get_invitation(connection, added)
    add_act(connection, caller.act("invite", f"invitation {row.id}", now, after=_facts(row)))
    return row


def _revoke(
    connection: Connection, *, caller: Caller, invitation_id: InvitationId, now: datetime
) -> InvitationRow:
    row = invitations.get_invitation(connection, invitation_id)
    if row.revoke_time is not None:
        raise WrongStateError(f"invitation {row.id} is revoked already")
    invitations.revoke_invitation(connection, invitation_id, now)
    add_act(connection, caller.act("revoke", f"invitation {row.id}", now, before=_facts(row)))
    return invitations.get_invitation(connection, invitation_id)


def _join(
    connection: Connection,
    *,
    caller: Caller,
    invitation: str,
    name: str,
    secret: str,
    now: datetime,
) -> None:
    used = invitations.use_invitation(connection, invitation, now)
    if used is None:
        raise InvitationError("the invitation is unknown, used up or out of date")
    owner_id = add_owner(connection, caller, name, used.quota, now)
    new = NewToken(secret, TokenKind.OWNER, owner_id=owner_id, creator=f"invitation {used.id}")
    add_token(connection, new, now)
    before = {**_facts(used), "uses_left": used.uses_left + 1}
    act = caller.act("use", f"invitation {used.id}", now, before=before, after=_facts(used))
    add_act(connection, act)


def _facts(invitation: InvitationRow) -> Facts:
    """What a change of an invitation is told by."""
    return {
        "uses_left": invitation.uses_left,
        "quota": invitation.quota,
        "expire_time": invitation.expire_time.isoformat(),
    }
