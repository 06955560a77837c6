"""Bots, their versions, and whom they belong to: owners, and classes."""

import enum
from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, false

from meijin.store.schema.base import INT64, Field, Record, column
from meijin.store.schema.ids import BotId, BotVersionId, ClassId, OwnerId, ProgramId

REASON = 200
"""Characters of why a bot may not play."""

DISPLAY_NAME = 60
"""Characters of what people call a bot."""

PERSON_PREFIX = "~"
"""What the names of people begin with, and those of bots can't."""

HARDWARE = 80
"""Characters of what a bot says that it runs on."""

DEVIATION = 200
"""Characters of how a bot was unlike its version."""


class BotState(enum.Enum):
    """Whether a bot may play."""

    ACTIVE = "active"
    DISABLED = "disabled"
    """Its owner or an operator keeps it away for a while."""
    BANNED = "banned"
    """An operator keeps it away."""


class ChallengePolicy(enum.Enum):
    """Whose challenges a bot accepts; those of its own owner it always does."""

    NONE = "none"
    OWNERS = "owners"
    """Those of bots' owners and of operators."""
    ANYONE = "anyone"
    """People's too."""


class Owner(Record, table="owner"):
    """Who bots belong to."""

    id: Field[OwnerId] = column(primary_key=True, default=0)
    name: Field[str] = column(String(40), unique=True)
    create_time: Field[datetime]
    quota: Field[int | None] = column(default=None)
    """The most bots that it may register; ``None`` for the server's default. So the three below."""
    program_quota: Field[int | None] = column(default=None)
    """The most programs of its bots that are kept."""
    program_bytes_quota: Field[int | None] = column(BigInteger, default=None)
    """The most bytes of those."""
    program_cpu_quota: Field[int | None] = column(default=None)
    """The most seconds of processor time a day that they may use."""


class Bot(Record, table="bot"):
    """A name that plays: a bot's, or a person's, which begins with ``~``."""

    id: Field[BotId] = column(primary_key=True, default=0)
    name: Field[str] = column(String(40), unique=True)
    create_time: Field[datetime]
    owner_id: Field[OwnerId | None] = column(ForeignKey("owner.id"), index=True, default=None)
    is_open: Field[bool] = column(default=False)
    """It came by open registration and plays without a token."""
    state: Field[BotState] = column(default=BotState.ACTIVE)
    reason: Field[str] = column(String(REASON), default="")
    """Why it may not play, one sentence for its owner; empty while it may."""
    is_hidden: Field[bool] = column(default=False)
    """It is left out of lists of bots and of ladders' tables."""
    former_names: Field[list[str]] = column(default_factory=list)
    """Of before it was renamed; its process may still introduce itself so."""
    last_seen_time: Field[datetime | None] = column(default=None)
    """When a stream of it was open last, to a minute; ``None`` where none was."""
    version_id: Field[BotVersionId | None] = column(default=None)
    """Its version on that stream, as no foreign key, which `bot_version` has the other way; ``None``
    before the first."""
    program_id: Field[ProgramId | None] = column(default=None)
    """The program that it plays with while that is admitted, as no foreign key either; ``None``
    where it connects by itself."""
    games: Field[int] = column(INT64, default=0, server_default="0")
    """Its games with a result; it changes with them, so that no list counts games."""
    display_name: Field[str] = column(String(DISPLAY_NAME), default="", server_default="")
    """What people call it, in any script; empty where it has its name alone."""
    challenges: Field[ChallengePolicy] = column(
        default=ChallengePolicy.OWNERS, server_default=ChallengePolicy.OWNERS.value
    )
    """Whose it accepts."""


class BotVersion(Record, table="bot_version"):
    """A program with its options on a machine, the entity that is rated.

    What it had left out is filled in when it says it; else only its examination and its deviation
    change.
    """

    id: Field[BotVersionId] = column(primary_key=True, default=0)
    bot_id: Field[BotId] = column(ForeignKey("bot.id"))
    digest: Field[str] = column(String(64))
    label: Field[str] = column(String(40))
    configuration: Field[list[str]]
    create_time: Field[datetime]
    parent_id: Field[BotVersionId | None] = column(ForeignKey("bot_version.id"), default=None)
    """The version before; ``None`` for the first."""
    hardware: Field[str] = column(String(HARDWARE), default="")
    """What it says that it runs on; empty where it says nothing."""
    nodes_per_second: Field[int] = column(BigInteger, default=0, server_default="0")
    """Of the reference search there, as it said first; 0 where it says nothing."""
    threads: Field[int | None] = column(default=None)
    """That its search was told to use; ``None`` where it says nothing."""
    memory_bytes: Field[int | None] = column(BigInteger, default=None)
    """That it was told to keep to; likewise."""
    is_hosted: Field[bool] = column(default=False, server_default=false())
    """A host of the arena's runs it, and measures its time."""
    doctor_time: Field[datetime | None] = column(default=None)
    """When its author last reported that it has passed the doctor; ``None`` if it has not."""
    deviation: Field[str] = column(String(DEVIATION), default="", server_default="")
    """How it was unlike all this last, such as ``16 threads instead of 4``, and got no version of
    its own; empty where it never was."""


Index("bot_version_digest", BotVersion.bot_id, BotVersion.digest, BotVersion.id)
Index("bot_version_order", BotVersion.bot_id, BotVersion.id)
Index("bot_version_label", BotVersion.bot_id, BotVersion.label, BotVersion.id)


STUDENT_ID = 60
"""Characters of what tells two students of one name apart."""


class SchoolClass(Record, table="class"):
    """The bots of a teacher's students."""

    id: Field[ClassId] = column(primary_key=True, default=0)
    name: Field[str] = column(String(40), unique=True)
    create_time: Field[datetime]
    deadline: Field[datetime | None] = column(default=None)
    """From then on each bot stays the version that was there last; ``None`` for never."""
    deadline_offset_minutes: Field[int | None] = column(default=None)
    """East of UTC, of the zone in which the deadline was set; ``None`` where that is unknown."""
    people: Field[int] = column(default=0, server_default="0")
    """How many challenges people who come by its link may have at once."""
    play_key: Field[str | None] = column(String(40), default=None)
    """Ends the link; ``None`` where there is none."""
    is_hosted: Field[bool] = column(default=False, server_default=false())
    """The arena runs its bots, and lets none in that connects by itself."""


class ClassMember(Record, table="class_member"):
    """A student's bot in its class; a bot is in one class at most."""

    bot_id: Field[BotId] = column(ForeignKey("bot.id"), primary_key=True)
    class_id: Field[ClassId] = column(ForeignKey("class.id"), index=True)
    student_id: Field[str] = column(String(STUDENT_ID), default="")
    """What tells two students of one name apart; may be empty."""
    version_id: Field[BotVersionId | None] = column(ForeignKey("bot_version.id"), default=None)
    """The version that was let in last before the deadline; ``None`` before the first."""
    late_attempts: Field[int] = column(default=0)
    """How often another version was refused after the deadline."""
    late_time: Field[datetime | None] = column(default=None)
    """When that was last."""
