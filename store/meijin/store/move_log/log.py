"""The move log as its server writes it: entries are appended, and old segments deleted."""

import errno
import itertools
import os
import secrets
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path

from meijin.store.claims import FileClaim
from meijin.store.database import Database
from meijin.store.move_log.entry import EntryFormat, Link, LogEntry
from meijin.store.move_log.head import Head, HeadFile, heads_in
from meijin.store.move_log.mark import LogMark
from meijin.store.move_log.segment import (
    NextSegment,
    Segment,
    SegmentHeader,
    log_folder,
    number_of,
    segment_path,
    segments_in,
    sync_path,
)
from meijin.store.schema import ID_BYTES, EntryId, Epoch

SEGMENT_BYTES = 16 * 2**20
"""A segment that has this many is followed by another one.

It takes them on the disk from its beginning on: waiting for an entry that makes its file no longer
takes 0.15 ms at the median, and 0.2 in nine of ten times, instead of 0.3 and 4 ms.
"""

PREPARED_AT = SEGMENT_BYTES // 2
"""The next segment is made, by a thread, when the newest one has this many bytes."""

CLOSING_TIME = timedelta(seconds=1)
"""How long the end of that thread is waited for."""

FIRST_ENTRY = EntryId(1)
"""Of every log: it has all moves of the games that ran when the log began."""


def claim_log(folder: Path) -> FileClaim:
    """Hold a log, whose folder is there, for whoever writes to it.

    The claim of its database alone does not do: a server that lost that one without noticing goes
    on appending, and telling, until it sees that it was replaced.
    """
    return FileClaim(folder / "lock", of=str(folder))


def open_log(database: Database) -> "MoveLog | None":
    """The log of moves beside an SQLite file; ``None`` where the database keeps them.

    A server that takes over from another machine finds everything in PostgreSQL, but no files.

    Raises:
        StoreInUseError: another server appends to it.
    """
    if database.file is None:
        return None
    return MoveLog(log_folder(database.file.resolve()), is_synced=database.is_synced)


class MoveLog:
    """Appends entries, and deletes those that hold no move of a running game.

    One process appends to a log at a time, and one thread of it. Nobody else goes on in the log of
    an earlier server: each begins one of its own, with an id of its own.

    Args:
        folder: Is made when it is not there.
        is_synced: An entry has to be on the disk before it counts as acknowledged, and not in the
            system's memory alone: `sync` is to be called.

    Raises:
        StoreInUseError: another process appends to it.
    """

    def __init__(self, folder: Path, *, is_synced: bool) -> None:
        self.is_synced = is_synced
        self.folder = folder
        self._claims = ExitStack()
        self._claim()
        segments = segments_in(folder)
        self._old = [*segments, *heads_in(folder)]
        """What earlier servers have left."""
        number = number_of(segments[-1]) if segments else 0
        self._numbers = itertools.count(number + 1)
        self._log_id = secrets.token_bytes(ID_BYTES)
        self._format = EntryFormat(self._log_id)
        self._segment: Segment | None = None
        self._inode = 0
        self._next: NextSegment | None = None
        self._head: HeadFile | None = None
        self._size = 0
        self._has_failed = False
        """The system has failed in the newest segment: what it says of it can't be believed."""
        self.is_lost = False
        """The newest segment had lost its name at the last look: what it holds would go with us."""
        self._is_needed = False
        """The newest segment has an entry that is acknowledged."""
        self._written = (EntryId(0), self._format.first_link)
        self._acknowledged = self._written
        self._segments: dict[int, EntryId] = {}
        """The numbers of those that are needed, oldest first, with the id before each's first entry."""
        self._doomed: list[Path] = []
        """Those that are not."""

    def _claim(self) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        sync_path(self.folder.parent)
        self._claims.enter_context(claim_log(self.folder))

    # -- how it begins -----------------------------------------------------------------------

    def begin(self, entry: LogEntry, *, database_id: bytes, epoch: Epoch) -> LogMark:
        """Begin with an entry that holds all moves of running games.

        What earlier servers have left stays until the database has the mark, and `drop_old` or
        `keep_old` is called.

        Returns:
            What the database is to know of it.

        Raises:
            OSError: it can't be written.
        """
        self._database_id, self._epoch = database_id, epoch
        self._written = self._acknowledged = EntryId(entry.id - 1), self._format.first_link
        try:
            self._open_segment()
            assert self._segment is not None
            self._head = HeadFile(self.folder, self._log_id)
            self.append(entry)
            os.fsync(self._segment.file)
            sync_path(self.folder)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.folder)) from error
        self._acknowledge()
        self.settle()
        if self.is_synced:
            self._head.sync()
        return self.mark

    @property
    def mark(self) -> LogMark:
        """What is acknowledged in it by now."""
        return LogMark(self._database_id, self._log_id, self._epoch, *self._acknowledged)

    def drop_old(self) -> None:
        """Delete what earlier servers have left."""
        for path in self._old:
            path.unlink(missing_ok=True)
        self._old = []

    def keep_old(self) -> Path:
        """Put what earlier servers have left into a folder of its own, as evidence; return that."""
        aside = self.folder / f"kept-{self._epoch}"
        aside.mkdir(mode=0o700)
        for path in self._old:
            path.rename(aside / path.name)
        sync_path(aside)
        sync_path(self.folder)
        self._old = []
        return aside

    # -- what is committed -------------------------------------------------------------------

    @property
    def last_entry(self) -> EntryId:
        """The id of the newest entry that was appended."""
        return self._written[0]

    def append(
        self, entry: LogEntry, *, keep_from: EntryId | None = None, renew: bool = False
    ) -> None:
        """Append an entry; its id is greater than that of the one before.

        Args:
            keep_from: Segments of which no entry from this one on is a part are needed no more,
                once the entry is acknowledged.
            renew: The log has lost its files, and the entry holds all moves of running games:
                none beside it is needed.

        Raises:
            OSError: it is not written.
        """
        if renew and self.is_lost:
            self._renew()
        if self._has_failed or (self._size >= SEGMENT_BYTES and not self._is_preparing):
            self._open_segment()
        if keep_from is not None:
            self._doom_before(keep_from)
        assert self._segment is not None
        before = self._written[1]
        data, link = self._format.encode(entry, before, oldest=next(iter(self._segments)))
        if not self._size:
            data = self._header(entry.id, before).encode() + data
        self._has_failed = True
        written = os.pwrite(self._segment.file, data, self._size)
        self._has_failed = False
        if written < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._size += written
        self._written = entry.id, link
        if not self.is_synced:
            self._acknowledge()
        if self._size >= PREPARED_AT and self._next is None:
            self._next = NextSegment(self._make_segment)

    def sync(self) -> None:
        """Wait until everything that was appended is on the disk.

        Raises:
            OSError: the last entry may not be there: append it again, which goes to a new segment.
        """
        assert self._segment is not None
        self._has_failed = True
        _sync_data(self._segment.file)
        self._has_failed = False
        self._acknowledge()

    def settle(self) -> None:
        """Note the newest entry apart from the others, and delete what is needed no more.

        It is done after the entry was told of: nobody waits for it.
        """
        assert self._head is not None
        self._head.note(Head(self._log_id, *self._acknowledged))
        for path in self._doomed:
            with suppress(OSError):  # then the next server deletes it
                path.unlink()
        self._doomed = []

    def close(self) -> None:
        if self._head is not None:
            self.settle()
            self._head.close()
            self._head = None
        if self._segment is not None:
            os.close(self._segment.file)
            self._segment = None
        if self._next is None or self._next.discard(CLOSING_TIME):
            self._next = None
            self._claims.close()

    def _acknowledge(self) -> None:
        self._acknowledged = self._written
        self._is_needed = True

    # -- its segments ------------------------------------------------------------------------

    def look(self) -> bool:
        """Look whether the newest segment has lost its name, and maybe all others have."""
        segment, inode = self._segment, self._inode
        if segment is None or self.is_lost:
            return self.is_lost
        try:
            is_named = segment.path.stat().st_ino == inode
        except OSError:
            is_named = False
        self.is_lost = not is_named and segment is self._segment
        return self.is_lost

    def _renew(self) -> None:
        """Go on after a segment has lost its name, in a folder that may have to be made anew."""
        self._claims.close()
        self._claim()
        if self._next is not None:
            self._next.discard(CLOSING_TIME)
            self._next = None
        self._open_segment()
        (*others, newest) = self._segments.items()
        self._doomed += [segment_path(self.folder, number) for number, _ in others]
        self._segments = dict([newest])
        assert self._head is not None
        self._head.close()
        self._head = HeadFile(self.folder, self._log_id)
        self._head.note(Head(self._log_id, *self._acknowledged))
        sync_path(self.folder)
        self.is_lost = False

    def _doom_before(self, entry_id: EntryId) -> None:
        starts = list(self._segments.items())
        for (number, _), (_, before_next) in itertools.pairwise(starts):
            if before_next >= entry_id:
                break
            self._doomed.append(segment_path(self.folder, number))
            del self._segments[number]

    def _header(self, first: EntryId, before: Link) -> SegmentHeader:
        assert self._segment is not None
        return SegmentHeader(
            self._database_id,
            self._log_id,
            self._epoch,
            self._segment.number,
            first,
            before,
            self._segment.reserved,
        )

    @property
    def _is_preparing(self) -> bool:
        return self._next is not None and not self._next.is_done

    def _make_segment(self) -> Segment:
        path = segment_path(self.folder, next(self._numbers))
        return Segment.make(path, SEGMENT_BYTES, is_synced=self.is_synced)

    def _open_segment(self) -> None:
        """Go on in the segment that was made ahead of time; without one the caller waits for it."""
        made = None if self._next is None else self._next.take()
        self._next = None
        new = made or self._make_segment()
        if self._has_failed:
            self._written = self._acknowledged
        old, self._segment = self._segment, new
        if old is not None:
            self._leave_segment(old)
        self._inode = os.fstat(new.file).st_ino
        self._size, self._has_failed, self._is_needed = 0, False, False
        self._segments[new.number] = self._written[0]

    def _leave_segment(self, old: Segment) -> None:
        """Close a segment, and give back the room that it has not used.

        One that nothing counts in goes: a disk that fails would have many made.
        """
        with suppress(OSError):
            os.ftruncate(old.file, self._size)
        with suppress(OSError):
            os.close(old.file)
        if not self._is_needed:
            del self._segments[old.number]
            with suppress(OSError):
                old.path.unlink()


def _sync_data(file: int) -> None:
    sync = os.fdatasync if hasattr(os, "fdatasync") else os.fsync
    sync(file)
