"""The move log: a write-ahead log of the moves of running games, beside an SQLite database.

A commit to the database takes the interpreter 0.3 ms, and waits for whoever else writes there; an
entry here is one write to the end of a file. A game's start is the database's, and so is its end,
with which all of its moves are stored.

The log is a folder of segments, files of entries one after another. An entry is what `_HEADER`
says, the moves as `pack_move` makes them, and as JSON what the bots said they thought. After the last
one a segment holds zeros, or what a crash has left of one that was told to nobody.
"""

import errno
import itertools
import json
import os
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self, TypeAlias

from meijin.store.claims import FileClaim
from meijin.store.disk import sync_path
from meijin.store.log_segment import NextSegment, Segment
from meijin.store.schema import EntryId

SEGMENT_BYTES = 16 * 2**20
"""A segment that has so many is followed by another one.

It takes them on the disk from its beginning on: waiting for an entry that makes its file no longer
takes 0.15 ms at the median, and 0.2 in nine of ten times, instead of 0.3 and 4 ms.
"""

PREPARED_AT = SEGMENT_BYTES // 2
"""The next segment is made, by a thread, when the newest one has so many bytes."""

CLOSING_TIME = timedelta(seconds=1)
"""How long the end of that thread is waited for."""

Analysis: TypeAlias = dict[str, Any]
"""By game and ply, what the bots said they thought."""

_HEADER = struct.Struct("<QII")
"""Of an entry, after a checksum of all the rest: its id, and the bytes of its two parts."""

_CHECKSUM_BYTES = 4

_NAME = re.compile(r"(\d{10})\.moves")


class LogEntry(NamedTuple):
    """What was committed together."""

    id: EntryId
    moves: bytes | bytearray
    """What `pack_move` makes of each, one after another."""
    analysis: Analysis


def log_folder(database: Path) -> Path:
    """Where the log of a database is."""
    return database.with_name(f"{database.name}-moves")


def claim_log(folder: Path) -> FileClaim:
    """Hold a log, whose folder is there, for whoever writes to it.

    The claim of its database alone does not do: a server that lost that one without noticing goes
    on appending, and telling, until it sees that it was replaced.
    """
    return FileClaim(folder / "lock", of=str(folder))


class MoveLog:
    """Appends entries, and deletes those that hold no move of a running game.

    One process appends to a log at a time, which nobody else reads to go on from there.

    Args:
        folder: Is made when it is not there.
        is_synced: An entry has to be on the disk before it counts as committed, and not in the
            system's memory alone: `sync` is to be called.

    Raises:
        StoreInUseError: another process appends to it.
    """

    def __init__(self, folder: Path, *, is_synced: bool) -> None:
        self.is_synced = is_synced
        self._folder = folder
        folder.mkdir(mode=0o700, exist_ok=True)
        sync_path(folder.parent)
        self._claims = ExitStack()
        self._claims.enter_context(claim_log(folder))
        self._old = segments_in(folder)
        """What earlier servers have left."""
        number = int(self._old[-1].stem) if self._old else 0
        self._numbers = itertools.count(number + 1)
        self._file = -1
        self._next: NextSegment | None = None
        self._size = 0
        self._has_failed = False
        """The system has failed in the newest segment: what it says of it can't be believed."""
        self._is_needed = False
        """The newest segment has an entry that counts as committed."""
        self._last = EntryId(0)
        self._segments: dict[Path, EntryId] = {}
        """Those that this process has made, oldest first, with the id before each's first entry."""

    def read(self) -> Iterator[LogEntry]:
        """The entries that earlier servers have left, oldest first."""
        for path in self._old:
            with path.open("rb") as file:
                yield from read_entries(file)

    @property
    def last_entry(self) -> EntryId:
        """The id of the newest entry that was appended."""
        return self._last

    def begin(self, entry: LogEntry) -> None:
        """Begin anew with an entry that holds all moves of running games; delete the others.

        Raises:
            OSError: it can't be written; nothing was deleted.
        """
        self._last = EntryId(entry.id - 1)
        try:
            self._open_segment()
            self.append(entry)
            os.fsync(self._file)
            sync_path(self._folder)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._folder)) from error
        self._is_needed = True
        for path in self._old:
            path.unlink()
        self._old = []

    def append(self, entry: LogEntry) -> None:
        """Append an entry; its id is greater than that of the one before.

        Raises:
            OSError: it is not written.
        """
        if self._has_failed or (self._size >= SEGMENT_BYTES and not self._is_preparing):
            self._open_segment()
        data = _encode(entry)
        self._has_failed = True
        written = os.pwrite(self._file, data, self._size)
        self._has_failed = False
        if written < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._size += written
        self._last = entry.id
        self._is_needed |= not self.is_synced
        if self._size >= PREPARED_AT and self._next is None:
            self._next = NextSegment(self._make_segment)

    def sync(self) -> None:
        """Wait until everything that was appended is on the disk.

        Raises:
            OSError: the last entry may not be there: append it again, which goes to a new segment.
        """
        self._has_failed = True
        _sync_data(self._file)
        self._has_failed = False
        self._is_needed = True

    def delete_before(self, entry_id: EntryId) -> None:
        """Delete segments of which no entry from this one on is a part."""
        starts = list(self._segments.items())
        for (path, _), (_, before_next) in itertools.pairwise(starts):
            if before_next >= entry_id:
                break
            with suppress(OSError):  # then the next server deletes it
                path.unlink()
            del self._segments[path]

    def close(self) -> None:
        """Append no more."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if self._next is None or self._next.discard(CLOSING_TIME):
            self._next = None
            self._claims.close()

    @property
    def _is_preparing(self) -> bool:
        return self._next is not None and not self._next.is_done

    def _make_segment(self) -> Segment:
        path = self._folder / f"{next(self._numbers):010}.moves"
        return Segment.make(path, SEGMENT_BYTES, is_synced=self.is_synced)

    def _open_segment(self) -> None:
        """Go on in the segment that was made ahead of time; without one the caller waits for it."""
        made = None if self._next is None else self._next.take()
        self._next = None
        path, file = made or self._make_segment()
        old, self._file = self._file, file
        if old >= 0:
            self._leave_segment(old)
        self._size, self._has_failed, self._is_needed = 0, False, False
        self._segments[path] = self._last

    def _leave_segment(self, file: int) -> None:
        """Close a segment. One that nothing counts in goes: a disk that fails would have many made."""
        with suppress(OSError):
            os.close(file)
        if not self._is_needed:
            path, _ = self._segments.popitem()
            with suppress(OSError):
                path.unlink()


def segments_in(folder: Path) -> list[Path]:
    """The segments in a folder, oldest first; the last one may be empty."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))


def read_entries(file: BinaryIO) -> Iterator[LogEntry]:
    """The entries of a segment, up to one that is not whole."""
    left, size = os.fstat(file.fileno()).st_size, _CHECKSUM_BYTES + _HEADER.size
    while (left := left - size) >= 0:
        start = file.read(size)
        head = start[_CHECKSUM_BYTES:]
        entry_id, moves, said = _HEADER.unpack(head)
        left -= moves + said
        if left < 0:
            return
        body = file.read(moves + said)
        if zlib.crc32(body, zlib.crc32(head)) != int.from_bytes(start[:_CHECKSUM_BYTES], "little"):
            return
        yield LogEntry(entry_id, body[:moves], json.loads(body[moves:]) if said else {})


class LogReader:
    """Reads a log while a server appends to it.

    Segments are opened first and read later: until they are read one that is deleted stays.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[Path, BinaryIO] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self.open_new()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def segments(self) -> int:
        """How many are open."""
        return len(self._files)

    def open_new(self) -> None:
        """Open the segments that have come since."""
        for path in segments_in(self._folder):
            if path not in self._files:
                with suppress(FileNotFoundError):
                    self._open(path)

    def _open(self, path: Path) -> None:
        """Open a segment, unless it is empty: the one before it may be written to yet."""
        file = path.open("rb")
        if any(os.pread(file.fileno(), _CHECKSUM_BYTES + _HEADER.size, 0)):
            self._files[path] = self._stack.enter_context(file)
        else:
            file.close()

    def read(self) -> Iterator[LogEntry]:
        """The entries that are there now in the segments that are open, oldest first."""
        for _, file in sorted(self._files.items()):
            yield from read_entries(file)


def _encode(entry: LogEntry) -> bytes:
    said = json.dumps(entry.analysis).encode() if entry.analysis else b""
    rest = b"".join((_HEADER.pack(entry.id, len(entry.moves), len(said)), entry.moves, said))
    return zlib.crc32(rest).to_bytes(_CHECKSUM_BYTES, "little") + rest


def _sync_data(file: int) -> None:
    """Wait until what was written is on the disk."""
    sync = os.fdatasync if hasattr(os, "fdatasync") else os.fsync
    sync(file)
