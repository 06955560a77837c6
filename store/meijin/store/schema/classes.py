"""Classes: the bots of a teacher's students, and the deadline for handing them in."""

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from meijin.store.schema.base import Base
from meijin.store.schema.ids import BotId, BotVersionId, ClassId

STUDENT_ID = 60
"""Characters of what tells two students of one name apart."""


class SchoolClass(Base):
    """The bots of a teacher's students."""

    __tablename__ = "class"

    id: Mapped[ClassId] = mapped_column(primary_key=True, init=False)
    name: Mapped[str] = mapped_column(String(40), unique=True)
    create_time: Mapped[datetime]
    deadline: Mapped[datetime | None] = mapped_column(default=None)
    """From then on each bot stays the version that was there last; ``None`` for never."""


class ClassMember(Base):
    """A student's bot in its class; a bot is in one class at most."""

    __tablename__ = "class_member"

    bot_id: Mapped[BotId] = mapped_column(ForeignKey("bot.id"), primary_key=True)
    class_id: Mapped[ClassId] = mapped_column(ForeignKey("class.id"), index=True)
    student_id: Mapped[str] = mapped_column(String(STUDENT_ID), default="")
    """What tells two students of one name apart; may be empty."""
    version_id: Mapped[BotVersionId | None] = mapped_column(
        ForeignKey("bot_version.id"), default=None
    )
    """The version that was let in last before the deadline; ``None`` before the first."""
    late_attempts: Mapped[int] = mapped_column(default=0)
    """How often another version was refused after the deadline."""
    late_time: Mapped[datetime | None] = mapped_column(default=None)
    """When that was last."""
