"""Owners: whom bots belong to."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, func, select

from meijin.store.errors import RowNotFoundError
from meijin.store.rows import add_row, columns_of, read_row, read_rows
from meijin.store.schema import Bot, Owner, OwnerId, computed

_BOTS = select(func.count()).where(Bot.owner_id == Owner.id).correlate(Owner).scalar_subquery()


class OwnerRow(Owner):
    """An owner as it is listed."""

    bots: int = computed(_BOTS)
    """How many it has."""


def add_owner(
    connection: Connection, name: str, now: datetime, quota: int | None = None
) -> OwnerId:
    """Keep a new owner.

    Raises:
        sqlalchemy.exc.IntegrityError: the name is taken.
    """
    return add_row(connection, Owner(name=name, create_time=now, quota=quota)).id


def find_owner(connection: Connection, name: str) -> OwnerId | None:
    """The owner of that name, if any."""
    return connection.scalar(select(Owner.id).where(Owner.name == name))


def get_owner(connection: Connection, owner_id: OwnerId) -> OwnerRow:
    """An owner as it is listed.

    Raises:
        RowNotFoundError: none has the id.
    """
    row = read_row(OwnerRow, connection.execute(_OWNERS.where(Owner.id == owner_id)))
    if row is None:
        raise RowNotFoundError(f"no owner {owner_id}; list the owners to see who there are")
    return row


def list_owners(connection: Connection, *, limit: int, after: str = "") -> Sequence[OwnerRow]:
    """Owners in the order of their names, from the one after `after`."""
    query = _OWNERS.where(Owner.name > after).order_by(Owner.name).limit(limit)
    return read_rows(OwnerRow, connection.execute(query))


_OWNERS = select(*columns_of(OwnerRow)).select_from(Owner)
