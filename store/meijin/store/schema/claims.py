"""Who owns the database."""

import secrets
from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from meijin.store.schema.base import Base
from meijin.store.schema.ids import EntryId, Epoch

ID_BYTES = 16
"""Of the random ids of a database and of a log."""


class Claim(Base):
    """Who owns the database: the one row of its table."""

    __tablename__ = "claim"

    epoch: Mapped[Epoch]
    """How many servers have claimed the database so far."""
    holder: Mapped[str] = mapped_column(String(200))
    """The machine and the process of the last one."""
    time: Mapped[datetime | None]
    """When it did; ``None`` before the first."""
    database_id: Mapped[str] = mapped_column(String(2 * ID_BYTES), server_default="")
    """Drawn once, in hexadecimal digits, as the two below: what tells it from other databases."""
    log_id: Mapped[str | None] = mapped_column(String(2 * ID_BYTES))
    """The log of moves that belongs to it; ``None`` where none does."""
    log_epoch: Mapped[Epoch] = mapped_column(server_default="0")
    """The claim that began the log."""
    log_entry: Mapped[EntryId] = mapped_column(server_default="0")
    """An entry that was acknowledged in it, noted now and then."""
    log_link: Mapped[str] = mapped_column(String(2 * ID_BYTES), server_default="")
    """That entry's link, the hash of all that is before it."""
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, default=0)


def first_claim() -> dict[str, object]:
    """The row of a new database, which nobody has claimed, and no log belongs to."""
    drawn = {"database_id": secrets.token_hex(ID_BYTES), "log_id": None, "log_link": ""}
    counted = dict.fromkeys(("id", "epoch", "log_epoch", "log_entry"), 0)
    return {**drawn, **counted, "holder": "", "time": None}
