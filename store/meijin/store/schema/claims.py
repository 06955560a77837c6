"""Who owns the database."""

import secrets
from datetime import datetime

from sqlalchemy import String

from meijin.store.schema.base import Field, Record, column
from meijin.store.schema.ids import EntryId, Epoch

ID_BYTES = 16
"""Of the random ids of a database and of a log."""


class Claim(Record, table="claim"):
    """Who owns the database: the one row of its table."""

    epoch: Field[Epoch]
    """How many servers have claimed the database so far."""
    holder: Field[str] = column(String(200))
    """The machine and the process of the last one."""
    time: Field[datetime | None]
    """When it did; ``None`` before the first."""
    database_id: Field[str] = column(String(2 * ID_BYTES), server_default="")
    """Drawn once, in hexadecimal digits, as the two below: what tells it from other databases."""
    log_id: Field[str | None] = column(String(2 * ID_BYTES))
    """The log of moves that belongs to it; ``None`` where none does."""
    log_epoch: Field[Epoch] = column(server_default="0")
    """The claim that began the log."""
    log_entry: Field[EntryId] = column(server_default="0")
    """An entry that was acknowledged in it, noted now and then."""
    log_link: Field[str] = column(String(2 * ID_BYTES), server_default="")
    """That entry's link, the hash of all that is before it."""
    id: Field[int] = column(primary_key=True, autoincrement=False, default=0)


def first_claim() -> dict[str, object]:
    """The row of a new database, which nobody has claimed, and no log belongs to."""
    drawn = {"database_id": secrets.token_hex(ID_BYTES), "log_id": None, "log_link": ""}
    counted = dict.fromkeys(("id", "epoch", "log_epoch", "log_entry"), 0)
    return {**drawn, **counted, "holder": "", "time": None}
