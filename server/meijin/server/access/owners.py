"""Owners and the invitations that they come by."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Connection

from meijin.server.access.bots import add_owner
from meijin.server.access.caller import Caller
from meijin.server.errors import (
    InvalidRequestError,
    InvitationError,
    NotFoundError,
    RegistrationClosedError,
    WrongStateError,
)
from meijin.server.settings import Registration, Settings
from meijin.store.access import invitations, owners
from meijin.store.access.audit import Facts
from meijin.store.access.owners import OwnerRow
from meijin.store.access.tokens import SUFFIX, add_token, token_digest
from meijin.store.rows import add_row, change_row
from meijin.store.schema import Invitation, InvitationId, Owner, TokenKind

MAX_USES = 1000
"""Of an invitation."""

MAX_QUOTA = 10_000

MOST_OF_QUOTAS = {
    "quota": MAX_QUOTA,
    "program_quota": 100_000,
    "program_bytes_quota": 2**50,
    "program_cpu_quota": 10_000_000,
}
"""Of each the most that an owner may be given."""

LONGEST = timedelta(days=365)
"""How long an invitation may last."""


@dataclass(frozen=True, slots=True)
class InvitationRequest:
    uses: int = 1
    lifetime: timedelta = timedelta(days=7)
    quota: int | None = None
    """Bots of each who comes by it; ``None`` for as many as of others."""

    def check(self) -> None:
        """Accept it.

        Raises:
            InvalidRequestError: it can't be of this many, so long or so much.
        """
        bounds = (("uses", self.uses, MAX_USES), ("quota", self.quota or 1, MAX_QUOTA))
        for field, value, most in bounds:
            if not 0 < value <= most:
                raise InvalidRequestError(f"{field} {value} is not between 1 and {most}")
        if not timedelta(0) < self.lifetime <= LONGEST:
            raise InvalidRequestError(f"lifetime is not between 0 and {LONGEST.days} days")


def check_registration(settings: Settings) -> None:
    """Accept invitations and who comes by them.

    Raises:
        RegistrationClosedError: no owners come to this server.
    """
    if settings.registration is Registration.CLOSED:
        raise RegistrationClosedError("this server takes no invitations; ask its operator")


def invite(
    connection: Connection, caller: Caller, request: InvitationRequest, secret: str
) -> Invitation:
    new = Invitation(
        digest=token_digest(secret),
        suffix=secret[-SUFFIX:],
        uses_left=request.uses,
        create_time=caller.time,
        creator=caller.name(connection),
        expire_time=caller.time + request.lifetime,
        quota=request.quota,
    )
    row = add_row(connection, new)
    caller.note(connection, "invite", f"invitation {row.id}", after=_facts(row))
    return row


def revoke(connection: Connection, caller: Caller, invitation_id: InvitationId) -> Invitation:
    """Have nobody come by an invitation any more.

    Raises:
        WrongStateError: it is revoked.
    """
    row = invitations.get_invitation(connection, invitation_id)
    if row.revoke_time is not None:
        raise WrongStateError(f"invitation {row.id} is revoked already")
    change_row(connection, Invitation, invitation_id, revoke_time=caller.time)
    caller.note(connection, "revoke", f"invitation {row.id}", before=_facts(row))
    return invitations.get_invitation(connection, invitation_id)


def join(connection: Connection, caller: Caller, invitation: str, name: str, secret: str) -> None:
    """Make an owner, with a token, of who has an invitation.

    Raises:
        IntegrityError: there is an owner of that name; the invitation is not used.
        InvitationError: the invitation is none, or none any more.
    """
    used = invitations.use_invitation(connection, invitation, caller.time)
    if used is None:
        raise InvitationError("the invitation is unknown, used up or out of date")
    owner_id, subject = add_owner(connection, caller, name, used.quota), f"invitation {used.id}"
    add_token(connection, secret, TokenKind.OWNER, caller.time, owner_id=owner_id, creator=subject)
    before = {**_facts(used), "uses_left": used.uses_left + 1}
    caller.note(connection, "use", subject, before=before, after=_facts(used))


@dataclass(frozen=True, slots=True)
class OwnerUpdate:
    """What changes of what an owner may have; ``None`` for what stays."""

    name: str
    quota: int | None = None
    program_quota: int | None = None
    program_bytes_quota: int | None = None
    program_cpu_quota: int | None = None

    @property
    def changes(self) -> Mapping[str, int]:
        return {
            name: value for name in MOST_OF_QUOTAS if (value := getattr(self, name)) is not None
        }

    def check(self) -> None:
        """Accept it.

        Raises:
            InvalidRequestError: nothing changes, or something is to be too much.
        """
        if not self.changes:
            raise InvalidRequestError("say what is to change")
        for name, value in self.changes.items():
            if value > MOST_OF_QUOTAS[name]:
                raise InvalidRequestError(f"{name} {value} is above {MOST_OF_QUOTAS[name]}")


def update_owner(connection: Connection, caller: Caller, update: OwnerUpdate) -> OwnerRow:
    """Change what an owner may have.

    Raises:
        NotFoundError: there is none of that name.
    """
    owner_id = owners.find_owner(connection, update.name)
    if owner_id is None:
        raise NotFoundError(f'no owner "{update.name}"; list the owners to see their names')
    old = owners.get_owner(connection, owner_id)
    change_row(connection, Owner, owner_id, **update.changes)
    before = {name: getattr(old, name) for name in update.changes}
    caller.note(
        connection, "update", f"owner {old.name}", before=before, after=dict(update.changes)
    )
    return owners.get_owner(connection, owner_id)


def _facts(invitation: Invitation) -> Facts:
    return {
        "uses_left": invitation.uses_left,
        "quota": invitation.quota,
        "expire_time": invitation.expire_time.isoformat(),
    }
