"""Converters of who may do what: rows of tokens, owners, bots and acts in, messages out."""

from datetime import datetime

from google.protobuf.timestamp_pb2 import Timestamp

from meijin.store.access.audit import ActRow
from meijin.store.access.invitations import InvitationRow
from meijin.store.access.owners import OwnerRow
from meijin.store.access.tokens import TokenRow
from meijin.store.schema import TokenKind
from meijin.v1 import admin_service_pb2, owner_service_pb2, token_service_pb2
from meijin.wire import time_to_proto
from meijin.wire.enums import enum_table

_KINDS = enum_table(TokenKind, token_service_pb2.TokenKind)

TOKEN_KINDS = {value: kind for kind, value in _KINDS.items()}


def _time(time: datetime | None) -> Timestamp | None:
    return None if time is None else time_to_proto(time)


def token_to_proto(row: TokenRow) -> token_service_pb2.Token:
    """A token, without its secret."""
    return token_service_pb2.Token(
        token_id=str(row.id),
        kind=_KINDS[row.kind],
        bot=row.bot,
        owner=row.owner,
        label=row.label,
        suffix=row.suffix,
        creator=row.creator,
        create_time=time_to_proto(row.create_time),
        expire_time=_time(row.expire_time),
        use_time=_time(row.use_time),
        revoke_time=_time(row.revoke_time),
    )


def invitation_to_proto(row: InvitationRow) -> owner_service_pb2.Invitation:
    """An invitation, without its secret."""
    return owner_service_pb2.Invitation(
        invitation_id=str(row.id),
        suffix=row.suffix,
        uses_left=row.uses_left,
        quota=row.quota,
        creator=row.creator,
        create_time=time_to_proto(row.create_time),
        expire_time=time_to_proto(row.expire_time),
    )


def owner_to_proto(row: OwnerRow) -> owner_service_pb2.Owner:
    """An owner."""
    return owner_service_pb2.Owner(
        name=row.name,
        create_time=time_to_proto(row.create_time),
        bots=row.bots,
        quota=row.quota,
    )


def act_to_proto(row: ActRow) -> admin_service_pb2.Act:
    """A line of the audit log."""
    message = admin_service_pb2.Act(
        act_id=str(row.id),
        time=time_to_proto(row.time),
        token_id="" if row.token_id is None else str(row.token_id),
        kind=row.kind,
        actor=row.actor,
        method=row.method,
        action=row.action,
        subject=row.subject,
        peer=row.peer,
        request_id=row.request_id,
    )
    if row.before is not None:
        message.before.update(row.before)
    if row.after is not None:
        message.after.update(row.after)
    return message
