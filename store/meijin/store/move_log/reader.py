"""The move log as it is read: proven to be whole, or told where it is not.

A crash leaves what was written last torn, which was told to nobody. Everything before that was
acknowledged, so the log is damaged where an entry can't be read and a valid one follows, where a
segment does not end with the entry that the next one begins behind, where a file is shorter than it
was made, and where all ends before an entry that its head or the database knows of.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

from sqlalchemy import Connection

from meijin.store.fence import EntryKey
from meijin.store.journal import newest_entry
from meijin.store.move_log.entry import MAGIC, EntryFormat, FoundEntry, Link, LogEntry
from meijin.store.move_log.head import Head, read_heads
from meijin.store.move_log.mark import LogMark, read_mark
from meijin.store.move_log.problem import LogProblem, ProblemKind, foreign, missing, unknown
from meijin.store.move_log.segment import (
    SEGMENT_HEADER_BYTES,
    SegmentHeader,
    number_of,
    segment_path,
    segments_in,
)
from meijin.store.schema import EntryId

_FIRST = EntryId(1)
"""Of any log."""

_UNKNOWN = EntryId(-1)
"""The entry before the first that is there, where nothing tells it."""


class LogReader:
    """Reads a log, while a server appends to it or after that.

    Segments are opened first and read later: until they are read one that is deleted stays.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[Path, BinaryIO] = {}
        """The segments that are open."""
        self.heads: Sequence[Head] = ()
        """The newest entries as they were noted before the newest of those were opened."""
        self.first_heads: Sequence[Head] = ()
        """The same before the first were."""
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self.open_new()
        self.first_heads = self.heads
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def open_new(self) -> None:
        """Open the segments that have come since."""
        self.heads = read_heads(self.folder)
        for path in segments_in(self.folder):
            if path not in self.files:
                with suppress(FileNotFoundError):
                    self.files[path] = self._stack.enter_context(path.open("rb"))


def read_log(connection: Connection, reader: LogReader) -> "LogReading":
    """What a log holds, by what its database knows of it."""
    return LogReading(reader, read_mark(connection), newest_entry(connection))


class _Gap(NamedTuple):
    """Where an entry should follow, and another one does."""

    path: Path
    offset: int
    last: EntryId
    """The entry before it."""
    next: EntryId
    """The entry behind it."""
    bytes: int


class LogReading:
    """Goes through a log: its entries, oldest first, and then what is known of it.

    Entries that are needed no more may be among them.

    Args:
        reader: Whose segments that are open are read, as they are now.
        mark: What the database knew of its log before the newest of them were opened.
        newest: The newest entry of the journal that it had after the first of them were.
    """

    def __init__(self, reader: LogReader, mark: LogMark, newest: EntryKey) -> None:
        self._reader = reader
        self._mark = mark
        self._newest = newest
        self.problem: LogProblem | None = None
        """Why it does not hold what was acknowledged; ``None`` where it does."""
        self.last = EntryId(0)
        """The id of the newest entry."""
        self._form = EntryFormat(mark.log_id or b"")
        self.link = self._form.first_link
        """Its link, by which all before it are known."""
        self.gaps = 0
        """How many there were so far: entries behind the last one prove what is before it."""
        self.is_headed = False
        """Its head was there: without it a lost end is noticed by what the database knows alone."""
        self._headers = {path: _header_of(each) for path, each in sorted(reader.files.items())}
        self._ours: list[Path] = []
        self._gaps: list[_Gap] = []
        self._links: dict[EntryId, Link] = {}
        self._before = self.last
        """Entries up to this one were acknowledged before the database was looked at."""
        self._oldest = 0
        self._stored = EntryId(0)
        self._path: Path | None = None
        self._end = self._size = 0

    def __iter__(self) -> Iterator[LogEntry]:
        mark = self._mark
        others = {
            path: header
            for path, header in self._headers.items()
            if header is not None and header.log_id != mark.log_id
        }
        self.problem = self._intruder(others)
        if self.problem is not None or mark.log_id is None:
            return
        head = _newest(self._reader.heads, mark.log_id)
        first = _newest(self._reader.first_heads, mark.log_id)
        self._before = self.last if first is None else first.entry
        self.is_headed = head is not None
        known = {(mark.entry, mark.link)}
        if head is not None:
            known.add((head.entry, head.link))
        wanted = {entry for entry, _ in known}
        self._ours = [path for path in self._headers if path not in others and self._has_any(path)]
        for path, following in zip_longest(self._ours, self._ours[1:]):
            until = None if following is None else self._headers[following]
            for found in self._segment(path, None if until is None else until.first):
                if found.entry.id in wanted:
                    self._links[found.entry.id] = found.link
                yield found.entry
        self.problem = self._judge(others, head, known)

    def _has_any(self, path: Path) -> bool:
        """Whether a segment has begun; else it was made ahead of time."""
        if self._headers[path] is not None:
            return True
        return _next_entry(self._form, _all_of(self._reader.files[path]), 0)[1] is not None

    def _intruder(self, others: Mapping[Path, SegmentHeader]) -> LogProblem | None:
        """A log that is not the database's, and holds more than it."""
        mark = self._mark
        for path, header in others.items():
            if header.database_id != mark.database_id:
                return foreign(path, header, mark)
            if header.epoch >= mark.epoch and self._has_grown(path, header):
                return unknown(path, header, mark)
        return None

    def _has_grown(self, path: Path, header: SegmentHeader) -> bool:
        """Whether a log was more than begun: until then it holds what the one before it holds."""
        data = _all_of(self._reader.files[path])
        form = EntryFormat(header.log_id)
        first = form.decode(data, SEGMENT_HEADER_BYTES, header.before)
        if first is None or header.first != _FIRST:
            return header.first != _FIRST
        return _next_entry(form, data, first.end)[1] is not None

    # -- its segments ------------------------------------------------------------------------

    def _segment(self, path: Path, until: EntryId | None) -> Iterator[FoundEntry]:
        """The entries of a segment, also those behind one that can't be read.

        Args:
            until: Where the next one begins: what stands here of it was not acknowledged.
        """
        file, header = self._reader.files[path], self._headers[path]
        data, at = _all_of(file), SEGMENT_HEADER_BYTES
        if header is not None:
            self._enter(header)
        elif self._path is None:
            self._enter_without_header(data)
        self._path, self._end, self._size = path, at, len(data)
        while until is None or self.last + 1 < until:
            found = self._form.decode(data, at, self.link)
            if found is None or not self._is_next(found):
                behind, found = _next_entry(self._form, data, at)
                if found is None:
                    return
                again = _all_of(file)
                if again[at:behind] != data[at:behind]:  # its server goes on meanwhile
                    data = again
                    continue
                self._add_gap(_Gap(path, at, self.last, found.entry.id, behind - at))
            self.last, self.link, self._end = found.entry.id, found.link, found.end
            self._oldest = found.oldest
            if self.last <= self._before:
                self._stored = found.entry.stored
            at = found.end
            yield found

    def _enter(self, header: SegmentHeader) -> None:
        """Go on with a segment, which says where the one before it ends."""
        before = EntryId(header.first - 1), header.before
        if self._path is not None and before != (self.last, self.link):
            left = max(self._size - self._end, 0)
            self._add_gap(_Gap(self._path, self._end, self.last, header.first, left))
        self.last, self.link = before

    def _enter_without_header(self, data: bytes) -> None:
        """Begin with a segment whose header is lost, if its first entry is not."""
        first = self._form.decode(data, SEGMENT_HEADER_BYTES, self.link)
        if first is not None and not first.follows:
            self.last = _UNKNOWN

    def _is_next(self, found: FoundEntry) -> bool:
        if self.last == _UNKNOWN:
            return True
        return found.follows and found.entry.id == self.last + 1

    def _add_gap(self, gap: _Gap) -> None:
        self._gaps.append(gap)
        self.gaps += 1

    # -- what is known of it -----------------------------------------------------------------

    def _judge(
        self,
        others: Mapping[Path, SegmentHeader],
        head: Head | None,
        known: Collection[tuple[EntryId, Link]],
    ) -> LogProblem | None:
        if self._path is None:
            for path, header in others.items():
                return unknown(path, header, self._mark)
            return missing(
                self._reader.folder, (_FIRST, None), "does not hold the log of this database"
            )
        return (
            self._missing_start()
            or self._damage()
            or self._short_end(head)
            or self._disagreement(known)
            or self._older_database()
        )

    def _missing_start(self) -> LogProblem | None:
        """The oldest segment that is needed is not there."""
        first = self._headers[self._ours[0]]
        if first is None or first.number <= self._oldest:
            return None
        path = segment_path(self._reader.folder, self._oldest)
        lost = _FIRST, EntryId(first.first - 1)
        if path in self._reader.files:
            return LogProblem(ProblemKind.DAMAGED, path, "holds nothing", lost=lost)
        return missing(path, lost)

    def _damage(self) -> LogProblem | None:
        """Entries that can't be read, though others behind them can be, and are needed."""
        gaps = [gap for gap in self._gaps if number_of(gap.path) >= self._oldest]
        if not gaps:
            return None
        first = gaps[0]
        return LogProblem(
            ProblemKind.DAMAGED,
            first.path,
            "is damaged",
            offset=first.offset,
            lost=(EntryId(first.last + 1), EntryId(gaps[-1].next - 1)),
            lost_bytes=sum(gap.bytes for gap in gaps),
            is_at_the_end=False,
        )

    def _short_end(self, head: Head | None) -> LogProblem | None:
        """The end is before the newest acknowledged entry, or may be."""
        assert self._path is not None
        header, lost = self._headers[self._path], EntryId(self.last + 1)
        if head is not None and head.entry > self.last:
            return LogProblem(
                ProblemKind.DAMAGED,
                self._path,
                "is damaged",
                offset=self._end,
                lost=(lost, head.entry),
            )
        if head is None and header is not None and self._size < header.reserved:
            words = f"was cut off: it had {header.reserved} bytes, and has {self._size}"
            return LogProblem(ProblemKind.DAMAGED, self._path, words, lost=(lost, None))
        return None

    def _disagreement(self, known: Collection[tuple[EntryId, Link]]) -> LogProblem | None:
        """A later entry is known, or another one in the place of one that is there."""
        assert self._path is not None
        acknowledged = max(entry for entry, _ in known)
        if acknowledged > self.last:
            words = f"ends with entry {self.last}, and entry {acknowledged} was acknowledged"
            lost = EntryId(self.last + 1), acknowledged
            return LogProblem(ProblemKind.OLDER, self._path, words, lost=lost)
        for entry, link in known:
            if self._links.get(entry, link) != link:
                words = f"has another entry {entry} than was acknowledged: it is of a copy"
                return LogProblem(ProblemKind.FOREIGN, self._path, words)
        return None

    def _older_database(self) -> LogProblem | None:
        """The log knows of a later entry of the database than there is."""
        assert self._path is not None
        newest = self._newest
        if not self._stored or newest >= EntryKey(self._mark.epoch, self._stored):
            return None
        words = (
            f"knows of entry {self._stored} of the database, which ends with {newest.id}: an "
            "older database was put in its place"
        )
        return LogProblem(ProblemKind.NEWER, self._path, words)


def _newest(heads: Sequence[Head], log_id: bytes) -> Head | None:
    of_log = [head for head in heads if head.log_id == log_id]
    return max(of_log, key=lambda head: head.entry, default=None)


def _header_of(file: BinaryIO) -> SegmentHeader | None:
    file.seek(0)
    return SegmentHeader.decode(file.read(SEGMENT_HEADER_BYTES))


def _all_of(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read()


def _next_entry(form: EntryFormat, data: bytes, at: int) -> tuple[int, FoundEntry | None]:
    """The first entry from an offset on that is whole, and where it stands."""
    while (at := data.find(MAGIC, at)) >= 0:
        found = form.decode(data, at, form.first_link)
        if found is not None:
            return at, found
        at += 1
    return at, None
