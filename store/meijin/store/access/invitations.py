"""Invitations: secrets by which some may become owners."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select, update
from sqlalchemy.orm import Session

from meijin.store.access.tokens import SUFFIX, token_digest
from meijin.store.errors import UnknownInvitationError
from meijin.store.rows import columns_of, read_row, read_rows
from meijin.store.schema import Invitation, InvitationId

_IS_VALID = (Invitation.revoke_time.is_(None), Invitation.uses_left > 0)


@dataclass(frozen=True, slots=True)
class NewInvitation:
    """An invitation that is to be kept."""

    secret: str
    uses: int
    creator: str
    expire_time: datetime
    quota: int | None
    """Of the owners that come by it; ``None`` for the server's default."""


@dataclass(frozen=True, slots=True)
class InvitationRow:
    """An invitation as it is listed."""

    id: InvitationId
    suffix: str
    uses_left: int
    create_time: datetime
    creator: str
    expire_time: datetime
    quota: int | None
    revoke_time: datetime | None


def add_invitation(connection: Connection, new: NewInvitation, now: datetime) -> InvitationId:
    """Keep the hash of a new invitation."""
    with Session(connection) as session:
        invitation = Invitation(
            digest=token_digest(new.secret),
            suffix=new.secret[-SUFFIX:],
            uses_left=new.uses,
            create_time=now,
            creator=new.creator,
            expire_time=new.expire_time,
            quota=new.quota,
        )
        session.add(invitation)
        session.flush()
        return invitation.id


def get_invitation(connection: Connection, invitation_id: InvitationId) -> InvitationRow:
    """An invitation as it is listed.

    Raises:
        UnknownInvitationError: none has the id.
    """
    query = _INVITATIONS.where(Invitation.id == invitation_id)
    row = read_row(InvitationRow, connection.execute(query))
    if row is None:
        message = f"no invitation {invitation_id}; list the invitations to see their ids"
        raise UnknownInvitationError(message)
    return row


def list_invitations(
    connection: Connection, *, limit: int, now: datetime, after: int = 0
) -> Sequence[InvitationRow]:
    """Invitations that can be used, oldest first, from the one after the id `after`."""
    query = _INVITATIONS.where(*_IS_VALID, Invitation.expire_time > now, Invitation.id > after)
    rows = connection.execute(query.order_by(Invitation.id).limit(limit))
    return read_rows(InvitationRow, rows)


def use_invitation(connection: Connection, secret: str, now: datetime) -> InvitationRow | None:
    """Use an invitation once; ``None`` when it is unknown, used up, expired or revoked.

    One statement looks and counts, so that of two who come for the last use one has it.
    """
    mine = Invitation.digest == token_digest(secret)
    change = update(Invitation).where(mine, *_IS_VALID, Invitation.expire_time > now)
    if not connection.execute(change.values(uses_left=Invitation.uses_left - 1)).rowcount:
        return None
    return read_row(InvitationRow, connection.execute(_INVITATIONS.where(mine)))


def revoke_invitation(connection: Connection, invitation_id: InvitationId, now: datetime) -> None:
    """Have nobody use an invitation any more."""
    mine = update(Invitation).where(Invitation.id == invitation_id)
    connection.execute(mine.values(revoke_time=now))


_INVITATIONS = select(*columns_of(InvitationRow, Invitation))
