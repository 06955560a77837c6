"""The log of moves: appended to, read while that goes on, and taken up after a crash."""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread, current_thread

import pytest

from meijin.store import StoreInUseError
from meijin.store.fence import NO_ENTRY
from meijin.store.journal import pack_move
from meijin.store.move_log import log as module
from meijin.store.move_log.entry import HEADER_BYTES, EntryFormat, LogEntry
from meijin.store.move_log.log import MoveLog
from meijin.store.move_log.mark import LogMark
from meijin.store.move_log.reader import LogReader
from meijin.store.move_log.segment import (
    SEGMENT_HEADER_BYTES,
    Segment,
    SegmentHeader,
    log_folder,
    segments_in,
)
from meijin.store.schema import ID_BYTES, EntryId, Epoch

PATIENCE = 20.0

DATABASE_ID = bytes(ID_BYTES)

ENTRY_BYTES = HEADER_BYTES + 28
"""Of an entry with one move."""

TWO_ENTRIES = SEGMENT_HEADER_BYTES + 2 * ENTRY_BYTES
"""What fills a segment here."""


def entry(number: int) -> LogEntry:
    """An entry with a move that has its number."""
    return LogEntry(EntryId(number), pack_move(number, 0, 0, 1, 1), {})


def begin(log: MoveLog, number: int, epoch: int = 1) -> LogMark:
    """Begin a log with an entry."""
    return log.begin(entry(number), database_id=DATABASE_ID, epoch=Epoch(epoch))


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """A log's folder, which isn't there yet."""
    return log_folder(tmp_path / "meijin.db")


@pytest.fixture(name="log")
def _log(folder: Path) -> Iterator[MoveLog]:
    """A log that has begun with entry 1; two entries fill a segment."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "SEGMENT_BYTES", TWO_ENTRIES)
        patched.setattr(module, "PREPARED_AT", 2**30)
        log = MoveLog(folder, is_synced=True)
        begin(log, 1)
        yield log
        log.close()


def append(log: MoveLog, *numbers: int) -> None:
    """Commit entries."""
    for number in numbers:
        log.append(entry(number))
        log.sync()
        log.settle()


def keep_from(log: MoveLog, number: int, first: int) -> None:
    """Commit an entry beside which only those from another one on are needed."""
    log.append(entry(number), keep_from=EntryId(first))
    log.sync()
    log.settle()


def left_of(log: MoveLog, folder: Path | None = None) -> Sequence[int]:
    """The numbers of the entries that the next server reads, and takes for all there were."""
    with LogReader(folder or log.folder) as reader:
        reading = reader.read(log.mark, NO_ENTRY)
        numbers = [each.id for each in reading]
        assert reading.problem is None
        return numbers


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


def open_files(folder: Path) -> list[str]:
    """The files of a folder that this process has open, also those that were deleted."""
    links = []
    for number in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            links.append(str(number.readlink()))
    return [link for link in links if link.startswith(f"{folder}/")]


# -- what is kept ------------------------------------------------------------------------


def test_entries_are_read_as_they_were_appended(folder: Path, log: MoveLog) -> None:
    """With what the bots said, over several segments; only the owner may read them."""
    said = {"7": {"0": {"score": -3, "pv": [1, 2]}}}
    log.append(LogEntry(EntryId(2), b"", said))
    append(log, 3, 4)
    log.close()
    assert len(segments_in(folder)) > 1
    with LogReader(folder) as reader:
        entries = list(reader.read(log.mark, NO_ENTRY))
    assert entries == [entry(1), LogEntry(EntryId(2), b"", said), entry(3), entry(4)]
    modes = {path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert (folder.stat().st_mode & 0o777, modes) == (0o700, {0o600})


def test_a_log_that_begins_holds_nothing_else(folder: Path, log: MoveLog) -> None:
    """What earlier servers left goes when the database knows of the new one, and no sooner."""
    append(log, 2, 3, 4)
    log.close()
    again = MoveLog(folder, is_synced=True)
    begin(again, 1, epoch=2)
    assert left_of(log, folder) == [1, 2, 3, 4]
    again.drop_old()
    assert (again.last_entry, left_of(again), len(segments_in(folder))) == (1, [1], 1)
    again.close()


def test_what_earlier_servers_left_stays_when_a_log_can_not_begin(
    folder: Path, log: MoveLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full: the next server finds what this one has found."""
    append(log, 2, 3)
    log.close()
    again = MoveLog(folder, is_synced=True)
    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", refuse(errno.ENOSPC))
        with pytest.raises(OSError, match="No space left"):
            begin(again, 1, epoch=2)
    again.close()
    assert left_of(log, folder) == [1, 2, 3]


def test_what_was_found_can_be_kept(folder: Path, log: MoveLog) -> None:
    """As evidence, in a folder that no server reads."""
    append(log, 2, 3)
    log.close()
    again = MoveLog(folder, is_synced=True)
    begin(again, 1, epoch=2)
    kept = again.keep_old()
    assert (by_segment(kept), left_of(again)) == ([[1, 2], [3]], [1])
    again.close()


def test_old_segments_are_deleted(log: MoveLog) -> None:
    """Those of which no entry from the given one on is a part; the newest stays in any case."""
    append(log, 2, 3, 4, 5)
    keep_from(log, 6, 4)
    assert left_of(log) == [3, 4, 5, 6]
    keep_from(log, 7, 7)
    assert left_of(log) == [7]
    keep_from(log, 8, 8)
    assert left_of(log) == [7, 8]


def test_old_segments_stay_until_the_entry_is_told_of(folder: Path, log: MoveLog) -> None:
    """Nobody waits for the disk to delete them; those that a crash has left are not read."""
    append(log, 2, 3, 4)
    log.append(entry(5), keep_from=EntryId(5))
    log.sync()
    assert by_segment(folder) == [[1, 2], [3, 4], [5]]
    assert left_of(log)[-1] == 5
    os.truncate(segments_in(folder)[0], 300)
    assert left_of(log)[-1] == 5


def test_a_second_process_is_refused(folder: Path, log: MoveLog) -> None:
    """Also in the moment after a new segment, until the first one closes it."""
    script = (
        "import sys; from pathlib import Path; from meijin.store.move_log.log import MoveLog\n"
        "MoveLog(Path(sys.argv[1]), is_synced=False)"
    )
    append(log, 2, 3)
    done = subprocess.run(
        [sys.executable, "-c", script, folder], capture_output=True, text=True, check=False
    )
    words = f"StoreInUseError: another server is running on {folder}; stop it first\n"
    assert done.stderr.endswith(words)
    with pytest.raises(StoreInUseError):
        MoveLog(folder, is_synced=False)
    log.close()
    assert left_of(log) == [1, 2, 3]


# -- a disk that fails -------------------------------------------------------------------


def refuse(number: int) -> Callable[..., int]:
    """A call of the system that fails."""

    def fail(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    return fail


def test_half_a_write_is_undone(
    folder: Path, log: MoveLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk was full: the entry is none, and the next one follows those before."""
    write = os.pwrite
    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", lambda file, data, at: write(file, data[:30], at))
        with pytest.raises(OSError, match="No space left"):
            log.append(entry(2))
    assert by_segment(folder) == [[1]]
    append(log, 2)
    assert by_segment(folder) == [[1, 2]]


def test_after_a_failed_write_a_new_segment_begins(
    folder: Path, log: MoveLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows what is in the old one now; however often it fails, one is left of the new."""
    for _ in range(5):
        with monkeypatch.context() as patched:
            patched.setattr(os, "pwrite", refuse(errno.EIO))
            with pytest.raises(OSError, match="Input/output error"):
                log.append(entry(2))
    assert by_segment(folder) == [[1], []]
    append(log, 2)
    assert by_segment(folder) == [[1], [2]]


def test_after_a_failed_sync_the_entry_goes_to_a_new_segment(
    folder: Path, log: MoveLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system may have dropped it, and would say of the same file that all is well."""
    log.append(entry(2))
    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", refuse(errno.EIO))
        with pytest.raises(OSError, match="Input/output error"):
            log.sync()
    append(log, 2)
    assert by_segment(folder) == [[1, 2], [2]]


def test_a_segment_that_is_left_gives_back_its_room(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small disk whose syncs fail would be full of what no entry has used."""
    monkeypatch.setattr(module, "SEGMENT_BYTES", 100_000)
    with closing(MoveLog(folder, is_synced=True)) as log:
        begin(log, 1)
        with monkeypatch.context() as patched:
            patched.setattr(os, "fdatasync", refuse(errno.EIO))
            log.append(entry(2))
            with pytest.raises(OSError, match="Input/output error"):
                log.sync()
        append(log, 2)
        sizes = [path.stat().st_size for path in segments_in(folder)]
        assert sizes == [TWO_ENTRIES, 100_000]
        assert left_of(log) == [1, 2]


def test_a_disk_that_fails_is_not_filled(
    folder: Path, log: MoveLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often an entry is tried again, what was told to nobody is not kept."""
    append(log, 2)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", refuse(errno.EIO))
        for _ in range(5):
            log.append(entry(3))
            with pytest.raises(OSError, match="Input/output error"):
                log.sync()
    assert by_segment(folder) == [[1, 2], [3]]
    append(log, 3)
    assert by_segment(folder) == [[1, 2], [3]]


def test_a_segment_whose_name_is_not_stored_is_none(
    folder: Path, log: MoveLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut could take it with all its entries."""
    append(log, 2)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", refuse(errno.EIO))
        with pytest.raises(OSError, match="Input/output error"):
            log.append(entry(3))
    assert len(segments_in(folder)) == 1
    append(log, 3)
    assert left_of(log) == [1, 2, 3]


# -- a segment that is made ahead of time --------------------------------------------------


@pytest.fixture(name="ahead")
def _ahead(log: MoveLog, monkeypatch: pytest.MonkeyPatch) -> MoveLog:
    """The log, which has the next segment made at its next entry."""
    monkeypatch.setattr(module, "PREPARED_AT", SEGMENT_HEADER_BYTES + ENTRY_BYTES)
    return log


def prepare(log: MoveLog, number: int) -> None:
    """Commit an entry, and wait until the next segment is made, or can't be."""
    append(log, number)
    assert log._next is not None
    log._next.take()


@pytest.fixture(name="gate")
def _gate(monkeypatch: pytest.MonkeyPatch) -> Event:
    """Until it is set no segment is made."""
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
    folder: Path, ahead: MoveLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names stay in the order of their entries."""
    prepare(ahead, 2)
    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", refuse(errno.EIO))
        for _ in range(3):
            with pytest.raises(OSError, match="Input/output error"):
                ahead.append(entry(3))
    append(ahead, 3)
    assert by_segment(folder)[:2] == [[1, 2], [3]]


def test_a_full_disk_that_has_room_again_gets_its_segment(
    folder: Path, ahead: MoveLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be made ahead of time is made when it is needed; nothing is left of the tries."""
    with monkeypatch.context() as patched:
        patched.setattr(os, "posix_fallocate", refuse(errno.ENOSPC))
        prepare(ahead, 2)
        for _ in range(3):
            with pytest.raises(OSError, match="No space left"):
                ahead.append(entry(3))
        assert by_segment(folder) == [[1, 2]]
    prepare(ahead, 3)
    assert by_segment(folder) == [[1, 2], [3], []]


def test_a_system_without_threads_has_segments(
    folder: Path, ahead: MoveLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are made when they are needed."""

    def fail(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", fail)
    append(ahead, 2, 3)
    assert by_segment(folder) == [[1, 2], [3]]


def test_a_crash_leaves_an_empty_segment(folder: Path, ahead: MoveLog, tmp_path: Path) -> None:
    """The next server reads what is before it, and deletes both."""
    prepare(ahead, 2)
    left = tmp_path / "left"
    shutil.copytree(folder, left)
    assert len(segments_in(left)) == 2
    assert left_of(ahead, left) == [1, 2]
    again = MoveLog(left, is_synced=True)
    begin(again, 1, epoch=2)
    again.drop_old()
    assert left_of(again) == [1]
    again.close()
    assert by_segment(left) == [[1]]


def test_a_reader_passes_over_no_entries(
    folder: Path, ahead: MoveLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A segment that was empty when it came is not read: the one before it went on meanwhile."""
    monkeypatch.setattr(module, "SEGMENT_BYTES", SEGMENT_HEADER_BYTES + 4 * ENTRY_BYTES)
    prepare(ahead, 2)
    with LogReader(folder) as reader:
        reading = reader.read(ahead.mark, NO_ENTRY)
        entries = iter(reading)
        seen = [next(entries).id]
        append(ahead, 3, 4, 5)
        seen += [each.id for each in entries]
        assert (seen, reading.problem) == ([*range(1, len(seen) + 1)], None)
    assert by_segment(folder)[:2] == [[1, 2, 3, 4], [5]]


def test_a_log_that_is_closed_leaves_no_empty_segment(folder: Path, ahead: MoveLog) -> None:
    """Nor its file open."""
    prepare(ahead, 2)
    assert len(open_files(folder)) == 4
    ahead.close()
    assert open_files(folder) == []
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
    """Remove the newest segment by hand."""
    segments_in(folder)[-1].unlink()


def remove(folder: Path) -> None:
    """Remove the folder by hand."""
    shutil.rmtree(folder)


def move_away(folder: Path) -> None:
    """Give the folder another name."""
    folder.rename(folder.with_name("elsewhere"))


@pytest.mark.parametrize("lose", [unlink_newest, remove, move_away])
def test_a_log_that_has_lost_its_files_goes_on_in_new_ones(
    folder: Path, log: MoveLog, lose: Callable[[Path], None]
) -> None:
    """What it holds would be gone with its server: an entry with all moves begins it anew."""
    append(log, 2, 3, 4, 5)
    assert not log.look()
    lose(folder)
    assert log.look()
    assert log.is_lost
    log.append(entry(6), renew=True)
    log.sync()
    log.settle()
    assert not log.look()
    append(log, 7, 8)
    assert left_of(log) == [6, 7, 8]
    with pytest.raises(StoreInUseError):
        MoveLog(folder, is_synced=False)


def test_a_log_that_can_not_be_begun_anew_tries_again(
    folder: Path, log: MoveLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk costs time, and no move."""
    append(log, 2)
    remove(folder)
    assert log.look()
    with monkeypatch.context() as patched:
        patched.setattr(os, "posix_fallocate", refuse(errno.ENOSPC))
        for _ in range(2):
            with pytest.raises(OSError, match="No space left"):
                log.append(entry(3), renew=True)
    log.append(entry(3), renew=True)
    log.sync()
    log.settle()
    assert left_of(log) == [3]


# -- reading beside a server -------------------------------------------------------------


def test_a_reader_has_what_is_deleted_meanwhile(folder: Path, log: MoveLog) -> None:
    """Its segments were open; those that have come since are opened when it is told to."""
    append(log, 2)
    with LogReader(folder) as reader:
        before = log.mark
        append(log, 3, 4, 5)
        keep_from(log, 6, 5)
        assert [each.id for each in reader.read(before, NO_ENTRY)] == [1, 2]
    with LogReader(folder) as reader:
        append(log, 7)
        keep_from(log, 8, 7)
        reader.open_new()
        reading = reader.read(log.mark, NO_ENTRY)
        assert [each.id for each in reading] == [5, 6, 7, 8]
        assert reading.problem is None
    assert left_of(log) == [7, 8]


def test_a_reader_stops_at_what_is_being_written(folder: Path, log: MoveLog) -> None:
    """Half an entry was told to nobody."""
    log.append(entry(2))
    (path,) = segments_in(folder)
    os.truncate(path, path.stat().st_size - 4)
    assert left_of(log) == [1]


def test_no_file_stays_open(folder: Path, log: MoveLog) -> None:
    """A log has its newest segment, its head and its lock; a reader has what it reads."""
    append(log, 2, 3, 4, 5)
    assert len(open_files(folder)) == 3
    with LogReader(folder):
        assert len(open_files(folder)) == 6
    keep_from(log, 6, 5)
    with pytest.raises(StoreInUseError):
        MoveLog(folder, is_synced=False)
    assert len(open_files(folder)) == 3
    log.close()
    assert open_files(folder) == []
