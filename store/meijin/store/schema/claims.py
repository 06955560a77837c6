"""Who owns the database."""

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from meijin.store.schema.base import Base
from meijin.store.schema.ids import Epoch


class Claim(Base):
    """Who owns the database: the one row of its table."""

    __tablename__ = "claim"

    epoch: Mapped[Epoch]
    """How many servers have claimed the database so far."""
    holder: Mapped[str] = mapped_column(String(200))
    """The machine and the process of the last one."""
    time: Mapped[datetime | None]
    """When it did; ``None`` before the first."""
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, default=0)
