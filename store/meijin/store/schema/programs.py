"""Programs that owners hand over, whose bytes lie elsewhere by their digests."""

import enum
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, Text, text

from meijin.programs.kinds import MAX_NAME, ProgramKind
from meijin.store.schema.access import LABEL
from meijin.store.schema.base import INT64, Field, Record, RecordedEach, column, partial_index
from meijin.store.schema.bots import REASON
from meijin.store.schema.ids import BotId, ProgramId

PROGRAM_LABEL = 40
"""Characters of what a program's version is called."""

LIMIT_HIT = 100
"""Characters of a limit that ended a run."""


class ProgramState(enum.Enum):
    """What has become of a program."""

    UPLOADED = "uploaded"
    """It waits to be examined."""
    CHECKING = "checking"
    ADMITTED = "admitted"
    """It may play."""
    REFUSED = "refused"
    """Its findings say why."""
    SUSPENDED = "suspended"
    """An operator keeps it from playing."""
    RETIRED = "retired"
    """Its owner has taken it back; its bytes may be deleted."""


OPEN_STATES = (ProgramState.UPLOADED, ProgramState.CHECKING)
"""Those of programs whose admission is to come, or under way."""


class FindingStatus(enum.StrEnum):
    """How a step of an admission has ended."""

    RUNNING = "running"
    PASSED = "passed"
    WARNED = "warned"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """A step of an admission."""

    step: str
    """What was looked at, such as ``archive``."""
    status: FindingStatus
    detail: str = ""
    """What was found, and where."""
    fix: str = ""
    """How to mend it; empty where nothing has to be."""
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramUsage:
    """What runs of a program have used."""

    starts: int = 0
    cpu_ms: int = 0
    memory_bytes: int = 0
    """The most that a run has held."""
    output_bytes: int = 0
    limit: str = ""
    """The last that ended a run; empty where none did."""


class Program(Record, table="program"):
    """A program of a bot; each of its digests is there once."""

    id: Field[ProgramId] = column(primary_key=True, default=0)
    bot_id: Field[BotId] = column(ForeignKey("bot.id"))
    digest: Field[str] = column(String(64))
    """SHA-256 of its bytes, hexadecimal: of the version that it plays as, too."""
    kind: Field[ProgramKind]
    state: Field[ProgramState] = column(default=ProgramState.UPLOADED)
    size: Field[int] = column(INT64)
    """Its bytes."""
    file_name: Field[str] = column(String(MAX_NAME))
    label: Field[str] = column(String(PROGRAM_LABEL))
    """What people call this version; may be empty."""
    uploader: Field[str] = column(String(LABEL))
    create_time: Field[datetime]
    """When all of it was there."""
    update_time: Field[datetime]
    """When its state changed last; those that wait are examined in this order."""
    reason: Field[str] = column(String(REASON), default="")
    """Why it is refused or suspended, one sentence; empty otherwise."""
    findings: Field[tuple[Finding, ...]] = column(RecordedEach(Finding), default=())
    hello: Field[dict[str, Any] | None] = column(JSON(none_as_null=True), default=None)
    """The hello of its examination with its engine and capabilities, in the contract's JSON;
    ``None`` before it was admitted first."""
    attempts: Field[int] = column(default=0)
    """How often a worker has begun to examine it; the last one's number is its right to write."""
    lease_time: Field[datetime | None] = column(default=None)
    """Until when that worker has it; from then on another one may begin."""
    starts: Field[int] = column(default=0)
    cpu_ms: Field[int] = column(INT64, default=0)
    memory_bytes: Field[int] = column(INT64, default=0)
    output_bytes: Field[int] = column(INT64, default=0)
    limit_hit: Field[str] = column(String(LIMIT_HIT), default="")

    @property
    def usage(self) -> ProgramUsage:
        return ProgramUsage(
            starts=self.starts,
            cpu_ms=self.cpu_ms,
            memory_bytes=self.memory_bytes,
            output_bytes=self.output_bytes,
            limit=self.limit_hit,
        )


Index("program_once", Program.bot_id, Program.digest, unique=True)
Index("program_digest", Program.digest)
partial_index(
    "program_open",
    Program.update_time,
    Program.id,
    where=text("state IN ('uploaded', 'checking')"),
)


class ProgramLog(Record, table="program_log"):
    """The last lines that a program has said."""

    program_id: Field[ProgramId] = column(ForeignKey("program.id"), primary_key=True)
    text: Field[str] = column(Text)
    """Each line ends with a line feed."""
    is_cut: Field[bool] = column(default=False)
    """Older ones were dropped."""


class ProgramDay(Record, table="program_day"):
    """The processor time of a program on a day, in UTC."""

    program_id: Field[ProgramId] = column(ForeignKey("program.id"), primary_key=True)
    day: Field[date] = column(primary_key=True)
    cpu_ms: Field[int] = column(INT64, default=0)
