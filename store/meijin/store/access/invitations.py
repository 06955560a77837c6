"""Invitations: secrets by which some may become owners."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, select, update

from meijin.store.access.tokens import token_digest
from meijin.store.errors import RowNotFoundError
from meijin.store.rows import read_row, read_rows
from meijin.store.schema import Invitation, InvitationId

_IS_VALID = (Invitation.revoke_time.is_(None), Invitation.uses_left > 0)


def get_invitation(connection: Connection, invitation_id: InvitationId) -> Invitation:
    """An invitation as it is listed.

    Raises:
        RowNotFoundError: none has the id.
    """
    query = select(Invitation).where(Invitation.id == invitation_id)
    row = read_row(Invitation, connection.execute(query))
    if row is None:
        message = f"no invitation {invitation_id}; list the invitations to see their ids"
        raise RowNotFoundError(message)
    return row


def list_invitations(
    connection: Connection, *, limit: int, now: datetime, after: int = 0
) -> Sequence[Invitation]:
    """Invitations that can be used, oldest first, from the one after the id `after`."""
    query = select(Invitation).where(
        *_IS_VALID, Invitation.expire_time > now, Invitation.id > after
    )
    rows = connection.execute(query.order_by(Invitation.id).limit(limit))
    return read_rows(Invitation, rows)


def use_invitation(connection: Connection, secret: str, now: datetime) -> Invitation | None:
    """Use an invitation once; ``None`` when it is unknown, used up, expired or revoked.

    One statement looks and counts, so that of two who come for the last use one has it.
    """
    mine = Invitation.digest == token_digest(secret)
    change = update(Invitation).where(mine, *_IS_VALID, Invitation.expire_time > now)
    if not connection.execute(change.values(uses_left=Invitation.uses_left - 1)).rowcount:
        return None
    return read_row(Invitation, connection.execute(select(Invitation).where(mine)))
