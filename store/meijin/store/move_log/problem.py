"""What can be wrong with a move log, and what is said of it."""

import enum
from dataclasses import dataclass
from pathlib import Path

from meijin.store.journal import MOVE_BYTES
from meijin.store.move_log.mark import LogMark
from meijin.store.move_log.segment import SegmentHeader
from meijin.store.schema import EntryId


class ProblemKind(enum.Enum):
    """Which of the two does not go with the other, or what has happened to the log."""

    DAMAGED = "damaged"
    """It was written whole, and is not so any more."""
    MISSING = "missing"
    """It, or a segment of it, is not there."""
    OLDER = "older"
    """It is an earlier state of what belongs to the database."""
    NEWER = "newer"
    """The database is an earlier state of what belongs to it."""
    FOREIGN = "foreign"
    """It belongs to another database, or to another copy of this one."""


@dataclass(frozen=True, slots=True)
class LogProblem:
    """Why a log does not hold what was acknowledged."""

    kind: ProblemKind
    path: Path
    """The folder or the segment."""
    words: str
    """What is the matter, in a clause."""
    offset: int | None = None
    """The byte from which on the segment can't be read."""
    lost: tuple[EntryId, EntryId | None] | None = None
    """The first and the last entry that can't be read; ``None`` as the last where nobody knows."""
    lost_bytes: int = 0
    """The most that the lost entries had, where their place is there."""
    is_at_the_end: bool = True
    """Nothing that can be read was written after them."""

    def __str__(self) -> str:
        """What is the matter, where, and what is lost of it."""
        where = "" if self.offset is None else f" at byte {self.offset}"
        return f"{self.path} {self.words}{where}{self._loss}"

    @property
    def _loss(self) -> str:
        if self.lost is None:
            return ""
        first, last = self.lost
        entries = f"entries from {first} on" if last is None else f"entries {first} to {last}"
        if first == last:
            entries = f"entry {first}"
        most = f", at most {self.lost_bytes // MOVE_BYTES} moves" if self.lost_bytes else ""
        return f"; {entries} can't be read{most}"


def foreign(path: Path, header: SegmentHeader, mark: LogMark) -> LogProblem:
    """A segment is of another database."""
    words = (
        f"is of the log of another database ({header.database_id.hex()[:8]}; "
        f"this one is {mark.database_id.hex()[:8]})"
    )
    return LogProblem(ProblemKind.FOREIGN, path, words)


def unknown(path: Path, header: SegmentHeader, mark: LogMark) -> LogProblem:
    """A segment is of a log that the database does not know."""
    if header.epoch < mark.epoch:
        words = (
            f"is of an older log: claim {header.epoch} of the database began it, and claim "
            f"{mark.epoch} the one that belongs to it"
        )
        return LogProblem(ProblemKind.OLDER, path, words)
    words = (
        f"is of a log that claim {header.epoch} of the database began, of which it knows nothing: "
        "an older database was put in its place, or a copy of it has gone on"
    )
    return LogProblem(ProblemKind.NEWER, path, words)


def missing(
    path: Path, lost: tuple[EntryId, EntryId | None], words: str = "is missing"
) -> LogProblem:
    """The log, or a segment of it, is not there."""
    return LogProblem(ProblemKind.MISSING, path, words, lost=lost)
