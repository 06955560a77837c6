"""The log of moves: appended to, read while that goes on, and taken up after a crash."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread, current_thread

import pytest
from tests.conftest import PATIENCE
from tests.store.move_log.entries import ENTRY_BYTES, append, begin, entry

from meijin.store import StoreInUseError
from meijin.store.fence import NO_ENTRY
from meijin.store.move_log import log as module
from meijin.store.move_log.entry import EntryFormat, LogEntry
from meijin.store.move_log.log import MoveLog
from meijin.store.move_log.mark import LogMark
from meijin.store.move_log.reader import LogReader, LogReading
from meijin.store.move_log.segment import (
    SEGMENT_HEADER_BYTES,
    Segment,
    SegmentHeader,
    log_folder,
    segments_in,
)
from meijin.store.schema import EntryId

TWO_ENTRIES = SEGMENT_HEADER_BYTES + 2 * ENTRY_BYTES
"""What fills a segment here."""


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    return log_folder(tmp_path / "meijin.db")


@pytest.fixture(name="log")
def _log(folder: Path) -> Iterator[MoveLog]:
    """A log that has begun with entry 1; two entries fill a segment."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "SEGMENT_BYTES", TWO_ENTRIES)
        patched.setattr(module, "PREPARED_AT", 2**30)
        with closing(MoveLog(folder, is_synced=True)) as log:
            begin(log)
            yield log


@pytest.fixture(name="again")
def _again(folder: Path, log: MoveLog) -> Iterator[MoveLog]:
    """The log of the server after the one that has appended entries 1 to 3; it has not begun."""
    append(log, 2, 3)
    log.close()
    with closing(MoveLog(folder, is_synced=True)) as again:
        yield again


def read(reader: LogReader, mark: LogMark) -> Sequence[int]:
    """The numbers of the entries that are read, and are taken for all there were."""
    reading = LogReading(reader, mark, NO_ENTRY)
    numbers = [each.id for each in reading]
    assert reading.problem is None
    return numbers


def left_of(log: MoveLog, folder: Path | None = None) -> Sequence[int]:
    """The numbers of the entries that the next server reads."""
    with LogReader(folder or log.folder) as reader:
        return read(reader, log.mark)


def by_segment(folder: Path) -> Sequence[Sequence[int]]:
    """The numbers of the whole entries in each segment, however they came there."""
    numbers = []
    for path in segments_in(folder):
        data, found = path.read_bytes(), []
        header = SegmentHeader.decode(data)
        at = SEGMENT_HEADER_BYTES
        form = EntryFormat(b"" if header is None else header.log_id)
        while (each := form.decode(data, at, form.first_link)) is not None:
            found.append(each.entry.id)
            at = each.end
        numbers.append(found)
    return numbers


def open_files(folder: Path) -> int:
    """How many files of a folder this process has open, also those that were deleted."""
    links = []
    for number in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            links.append(str(number.readlink()))
    return sum(link.startswith(f"{folder}/") for link in links)


def fail(call: str, number: int, work: Callable[[], object], *, times: int = 1) -> None:
    """Do something while a call of the system fails: it tells of that, however often."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, call, refuse)
        for _ in range(times):
            with pytest.raises(OSError, match=os.strerror(number)):
                work()


# -- what is kept ------------------------------------------------------------------------


def test_entries_are_read_as_they_were_appended(folder: Path, log: MoveLog) -> None:
    """With what the bots said, over several segments; only the owner may read them."""
    said = LogEntry(EntryId(2), b"", {"7": {"0": {"score": -3, "pv": [1, 2]}}})
    log.append(said)
    append(log, 3, 4)
    log.close()
    assert len(segments_in(folder)) > 1
    with LogReader(folder) as reader:
        assert list(LogReading(reader, log.mark, NO_ENTRY)) == [entry(1), said, entry(3), entry(4)]
    modes = {path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert (folder.stat().st_mode & 0o777, modes) == (0o700, {0o600})


def test_a_log_that_begins_holds_nothing_else(folder: Path, log: MoveLog, again: MoveLog) -> None:
    """What earlier servers left goes when the database knows of the new one, and no sooner."""
    begin(again, epoch=2)
    assert left_of(log, folder) == [1, 2, 3]
    again.drop_old()
    assert (again.last_entry, left_of(again), len(segments_in(folder))) == (1, [1], 1)


def test_what_earlier_servers_left_stays_when_a_log_can_not_begin(
    folder: Path, log: MoveLog, again: MoveLog
) -> None:
    """The disk is full: the next server finds what this one has found."""
    fail("pwrite", errno.ENOSPC, lambda: begin(again, epoch=2))
    again.close()
    assert left_of(log, folder) == [1, 2, 3]


def test_what_was_found_can_be_kept(again: MoveLog) -> None:
    """As evidence, in a folder that no server reads."""
    begin(again, epoch=2)
    kept = again.keep_old()
    assert (by_segment(kept), left_of(again)) == ([[1, 2], [3]], [1])


def test_old_segments_are_deleted(log: MoveLog) -> None:
    """Those of which no entry from the given one on is a part; the newest stays in any case."""
    append(log, 2, 3, 4, 5)
    for number, first, left in ((6, 4, [3, 4, 5, 6]), (7, 7, [7]), (8, 8, [7, 8])):
        append(log, number, keep=first)
        assert left_of(log) == left


def test_old_segments_stay_until_the_entry_is_told_of(folder: Path, log: MoveLog) -> None:
    """Nobody waits for the disk to delete them; those that a crash has left are not read."""
    append(log, 2, 3, 4)
    log.append(entry(5), keep_from=EntryId(5))
    log.sync()
    assert by_segment(folder) == [[1, 2], [3, 4], [5]]
    assert left_of(log)[-1] == 5
    os.truncate(segments_in(folder)[0], 300)
    assert left_of(log)[-1] == 5


# -- a disk that fails -------------------------------------------------------------------


def test_after_a_failed_write_a_new_segment_begins(folder: Path, log: MoveLog) -> None:
    """Nobody knows what is in the old one now; however often it fails, one is left of the new."""
    fail("pwrite", errno.EIO, lambda: log.append(entry(2)), times=5)
    assert by_segment(folder) == [[1], []]
    append(log, 2)
    assert by_segment(folder) == [[1], [2]]


def test_after_a_failed_sync_the_entry_goes_to_a_new_segment(folder: Path, log: MoveLog) -> None:
    """The system may have dropped it, and would say of the same file that all is well.

    However often it is tried again, what was told to nobody is not kept.
    """
    fail("fdatasync", errno.EIO, lambda: append(log, 2))
    append(log, 2)
    assert by_segment(folder) == [[1, 2], [2]]
    append(log, 3)
    fail("fdatasync", errno.EIO, lambda: append(log, 4), times=5)
    assert by_segment(folder) == [[1, 2], [2, 3], [4]]
    append(log, 4)
    assert by_segment(folder) == [[1, 2], [2, 3], [4]]


def test_a_segment_that_is_left_gives_back_its_room(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small disk whose syncs fail would be full of what no entry has used."""
    monkeypatch.setattr(module, "SEGMENT_BYTES", 100_000)
    with closing(MoveLog(folder, is_synced=True)) as log:
        begin(log)
        fail("fdatasync", errno.EIO, lambda: append(log, 2))
        append(log, 2)
        sizes = [path.stat().st_size for path in segments_in(folder)]
        assert sizes == [TWO_ENTRIES, 100_000]
        assert left_of(log) == [1, 2]


# -- a segment that is made ahead of time --------------------------------------------------


@pytest.fixture(name="ahead")
def _ahead(log: MoveLog, monkeypatch: pytest.MonkeyPatch) -> MoveLog:
    monkeypatch.setattr(module, "PREPARED_AT", SEGMENT_HEADER_BYTES + ENTRY_BYTES)
    return log


def prepare(log: MoveLog, number: int) -> None:
    """Commit an entry, and wait until the next segment is made, or can't be."""
    append(log, number)
    assert log._next is not None
    log._next.take()


@pytest.fixture(name="gate")
def _gate(monkeypatch: pytest.MonkeyPatch) -> Event:
    gate, make = Event(), Segment.make

    def hold(path: Path, size: int, *, is_synced: bool) -> Segment:
        gate.wait(PATIENCE)
        return make(path, size, is_synced=is_synced)

    monkeypatch.setattr(Segment, "make", hold)
    return gate


def test_a_thread_makes_the_next_segment(
    folder: Path, ahead: MoveLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever appends waits for none."""
    makers = set()
    make = Segment.make

    def note(path: Path, size: int, *, is_synced: bool) -> Segment:
        makers.add(current_thread().name)
        return make(path, size, is_synced=is_synced)

    monkeypatch.setattr(Segment, "make", note)
    prepare(ahead, 2)
    assert by_segment(folder) == [[1, 2], []]
    prepare(ahead, 3)
    append(ahead, 4, 5)
    assert left_of(ahead) == [1, 2, 3, 4, 5]
    assert makers == {"segment"}


def test_entries_do_not_wait_for_a_segment_that_is_being_made(
    folder: Path, ahead: MoveLog, gate: Event
) -> None:
    """They go on in the one before, however large it grows."""
    append(ahead, 2, 3, 4)
    assert by_segment(folder) == [[1, 2, 3, 4]]
    gate.set()
    prepare(ahead, 5)
    append(ahead, 6)
    assert by_segment(folder)[:2] == [[1, 2, 3, 4, 5], [6]]


def test_after_a_failed_write_the_segment_that_is_ready_is_next(
    folder: Path, ahead: MoveLog
) -> None:
    """Names stay in the order of their entries."""
    prepare(ahead, 2)
    fail("pwrite", errno.EIO, lambda: ahead.append(entry(3)), times=3)
    append(ahead, 3)
    assert by_segment(folder)[:2] == [[1, 2], [3]]


def test_a_full_disk_that_has_room_again_gets_its_segment(folder: Path, ahead: MoveLog) -> None:
    """What could not be made ahead of time is made when it is needed; nothing is left of the tries."""

    def go_on() -> None:
        if ahead.last_entry == 1:
            prepare(ahead, 2)
        ahead.append(entry(3))

    fail("posix_fallocate", errno.ENOSPC, go_on, times=3)
    assert by_segment(folder) == [[1, 2]]
    prepare(ahead, 3)
    assert by_segment(folder) == [[1, 2], [3], []]


def test_a_system_without_threads_has_segments(
    folder: Path, ahead: MoveLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", refuse)
    append(ahead, 2, 3)
    assert by_segment(folder) == [[1, 2], [3]]


def test_a_crash_leaves_an_empty_segment(folder: Path, ahead: MoveLog, tmp_path: Path) -> None:
    """The next server reads what is before it, and deletes both."""
    prepare(ahead, 2)
    left = tmp_path / "left"
    shutil.copytree(folder, left)
    assert (len(segments_in(left)), left_of(ahead, left)) == (2, [1, 2])
    with closing(MoveLog(left, is_synced=True)) as again:
        begin(again, epoch=2)
        again.drop_old()
        assert left_of(again) == [1]
    assert by_segment(left) == [[1]]


def test_a_reader_passes_over_no_entries(
    folder: Path, ahead: MoveLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A segment that was empty when it came is not read: the one before it went on meanwhile."""
    monkeypatch.setattr(module, "SEGMENT_BYTES", SEGMENT_HEADER_BYTES + 4 * ENTRY_BYTES)
    prepare(ahead, 2)
    with LogReader(folder) as reader:
        reading = LogReading(reader, ahead.mark, NO_ENTRY)
        entries = iter(reading)
        seen = [next(entries).id]
        append(ahead, 3, 4, 5)
        seen += [each.id for each in entries]
        assert (seen, reading.problem) == ([*range(1, len(seen) + 1)], None)
    assert by_segment(folder)[:2] == [[1, 2, 3, 4], [5]]


def test_a_log_that_is_closed_leaves_no_empty_segment(folder: Path, ahead: MoveLog) -> None:
    """Nor its file open."""
    prepare(ahead, 2)
    assert open_files(folder) == 4
    ahead.close()
    assert open_files(folder) == 0
    assert by_segment(folder) == [[1, 2]]


def test_a_log_whose_disk_hangs_stays_claimed(
    folder: Path, ahead: MoveLog, gate: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its thread may still make a segment: until the process ends nobody else begins there."""
    monkeypatch.setattr(module, "CLOSING_TIME", timedelta(milliseconds=1))
    append(ahead, 2)
    ahead.close()
    with pytest.raises(StoreInUseError):
        MoveLog(folder, is_synced=False)
    gate.set()
    monkeypatch.setattr(module, "CLOSING_TIME", timedelta(seconds=20))
    ahead.close()
    assert left_of(ahead) == [1, 2]


# -- a log that loses its files ------------------------------------------------------------


def unlink_newest(folder: Path) -> None:
    segments_in(folder)[-1].unlink()


def move_away(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


@pytest.mark.parametrize("lose", [unlink_newest, shutil.rmtree, move_away])
def test_a_log_that_has_lost_its_files_goes_on_in_new_ones(
    folder: Path, log: MoveLog, lose: Callable[[Path], None]
) -> None:
    """What it holds would be gone with its server: an entry with all moves begins it anew."""
    append(log, 2, 3, 4, 5)
    assert not log.look()
    lose(folder)
    assert log.look()
    assert log.is_lost
    fail("posix_fallocate", errno.ENOSPC, lambda: append(log, 6, renew=True), times=2)
    append(log, 6, renew=True)
    assert not log.look()
    append(log, 7, 8)
    assert left_of(log) == [6, 7, 8]
    with pytest.raises(StoreInUseError):
        MoveLog(folder, is_synced=False)


# -- reading beside a server -------------------------------------------------------------


def test_a_reader_has_what_is_deleted_meanwhile(folder: Path, log: MoveLog) -> None:
    """Its segments were open; those that have come since are opened when it is told to."""
    append(log, 2)
    with LogReader(folder) as reader:
        before = log.mark
        append(log, 3, 4, 5)
        append(log, 6, keep=5)
        assert [each.id for each in LogReading(reader, before, NO_ENTRY)] == [1, 2]
    with LogReader(folder) as reader:
        append(log, 7)
        append(log, 8, keep=7)
        reader.open_new()
        assert read(reader, log.mark) == [5, 6, 7, 8]
    assert left_of(log) == [7, 8]


def test_no_file_stays_open(folder: Path, log: MoveLog) -> None:
    """A log has its newest segment, its head and its lock; a reader has what it reads."""
    append(log, 2, 3, 4, 5)
    assert open_files(folder) == 3
    with LogReader(folder):
        assert open_files(folder) == 6
    append(log, 6, keep=5)
    with pytest.raises(StoreInUseError):
        MoveLog(folder, is_synced=False)
    assert open_files(folder) == 3
    log.close()
    assert open_files(folder) == 0
