"""A log that is read after its server: what a crash leaves, and what is no crash's doing."""

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from meijin.store.fence import NO_ENTRY, EntryKey
from meijin.store.journal import pack_move
from meijin.store.move_log import log as module
from meijin.store.move_log.entry import HEADER_BYTES, LogEntry
from meijin.store.move_log.head import head_path
from meijin.store.move_log.log import MoveLog
from meijin.store.move_log.mark import LogMark
from meijin.store.move_log.problem import LogProblem, ProblemKind
from meijin.store.move_log.reader import LogReader
from meijin.store.move_log.segment import (
    SEGMENT_HEADER_BYTES,
    log_folder,
    segment_path,
    segments_in,
)
from meijin.store.schema import ID_BYTES, EntryId, Epoch

DATABASE_ID = bytes(range(ID_BYTES))

ENTRY_BYTES = HEADER_BYTES + 28
"""Of an entry with one move."""

ENTRIES_OF_A_SEGMENT = 10

RESERVED = SEGMENT_HEADER_BYTES + ENTRIES_OF_A_SEGMENT * ENTRY_BYTES

LAST = 25
"""The newest entry of the log here: its last segment is half full."""


def entry(number: int, stored: int = 0) -> LogEntry:
    """An entry with a move that has its number."""
    return LogEntry(EntryId(number), pack_move(number, 0, 0, 1, 1), {}, EntryId(stored))


def begin(log: MoveLog, epoch: int, database_id: bytes = DATABASE_ID) -> LogMark:
    """Begin a log."""
    return log.begin(entry(1), database_id=database_id, epoch=Epoch(epoch))


@dataclass
class Left:
    """What a server that has ended left."""

    folder: Path
    mark: LogMark
    """Of the last entry."""
    early: LogMark
    """Of the first."""

    def read(self, mark: LogMark | None = None, newest: EntryKey = NO_ENTRY) -> Sequence[int]:
        """The numbers of the entries that are read, by the early mark if by no other."""
        with LogReader(self.folder) as reader:
            reading = reader.read(self.early if mark is None else mark, newest)
            numbers = [each.id for each in reading]
            self.problem = reading.problem
            self.is_headed = reading.is_headed
            return numbers

    problem: LogProblem | None = None
    """Of the last look."""
    is_headed: bool = False

    @property
    def paths(self) -> Sequence[Path]:
        """Its segments."""
        return segments_in(self.folder)


@pytest.fixture(autouse=True)
def _small() -> Iterator[None]:
    """Ten entries fill a segment."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "SEGMENT_BYTES", RESERVED)
        patched.setattr(module, "PREPARED_AT", 2**30)
        yield


@pytest.fixture(name="left")
def _left(tmp_path: Path) -> Left:
    """A log of 25 entries in three segments."""
    return make(tmp_path / "meijin.db", 1)


def make(database: Path, epoch: int, *, last: int = LAST, database_id: bytes = DATABASE_ID) -> Left:
    """A log of a server that has ended."""
    log = MoveLog(log_folder(database), is_synced=True)
    early = begin(log, epoch, database_id)
    for number in range(2, last + 1):
        log.append(entry(number))
        log.sync()
        log.settle()
    log.close()
    return Left(log.folder, log.mark, early)


def log_id(left: Left) -> bytes:
    """The id of its log."""
    assert left.mark.log_id is not None
    return left.mark.log_id


def offset_of(number: int) -> int:
    """Where an entry stands in its segment."""
    return SEGMENT_HEADER_BYTES + (number - 1) % ENTRIES_OF_A_SEGMENT * ENTRY_BYTES


def overwrite(path: Path, at: int, data: bytes) -> None:
    """Change some bytes of a file."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def flip(path: Path, at: int) -> None:
    """Change one bit of a file."""
    data = path.read_bytes()
    overwrite(path, at, bytes([data[at] ^ 4]))


# -- after a crash -----------------------------------------------------------------------


def test_a_log_is_whole(left: Left) -> None:
    """Every entry is proven, up to the last one."""
    assert left.read(left.mark) == [*range(1, LAST + 1)]
    assert (left.problem, left.is_headed) == (None, True)


@pytest.mark.parametrize("torn", ["shorter", "zeros", "garbage", "no length"])
@pytest.mark.parametrize("kept", [1, 30, ENTRY_BYTES - 9])
def test_what_was_written_last_may_be_torn(left: Left, torn: str, kept: int) -> None:
    """It was told to nobody: nothing is the matter."""
    path = left.paths[-1]
    whole = path.read_bytes()
    after = offset_of(LAST) + ENTRY_BYTES
    piece = whole[offset_of(LAST) : after][:kept]
    rest = {
        "shorter": piece,
        "zeros": piece + bytes(ENTRY_BYTES - kept),
        "garbage": piece + os.urandom(ENTRY_BYTES - kept),
        "no length": piece[:40] + b"\xff" * (ENTRY_BYTES - len(piece[:40])),
    }[torn]
    overwrite(path, after, rest)
    assert left.read(left.mark) == [*range(1, LAST + 1)]
    assert left.problem is None


def test_the_first_entry_of_a_segment_may_be_torn(left: Left) -> None:
    """With the segment's header, which is written with it."""
    segment_path(left.folder, 4).write_bytes(left.paths[-1].read_bytes()[:50] + bytes(1000))
    assert left.read(left.mark) == [*range(1, LAST + 1)]
    assert left.problem is None


def test_an_entry_may_have_been_written_twice(left: Left) -> None:
    """After a sync that failed it stands in the next segment again, and counts there."""
    log = MoveLog(left.folder.with_name("again-moves"), is_synced=True)
    early = begin(log, 1)
    log.append(entry(2))
    log._has_failed = True
    log.append(entry(2))
    log.sync()
    log.append(entry(3))
    log.sync()
    log.close()
    again = Left(log.folder, log.mark, early)
    assert (again.read(), again.problem) == ([1, 2, 3], None)


def test_a_server_that_was_cut_off_as_it_began_has_left_two_logs(left: Left) -> None:
    """The database knows of the old one: the new one holds no more than that."""
    new = MoveLog(left.folder, is_synced=True)
    mark = begin(new, 2)
    new.close()
    assert left.read(left.mark) == [*range(1, LAST + 1)]
    assert left.problem is None
    assert (left.read(mark), left.problem) == ([1], None)


# -- damage ------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2, 7, 10, 11, 19, 20, 21, 24])
@pytest.mark.parametrize("at", [0, 5, 10, 40, ENTRY_BYTES - 3])
def test_a_flipped_bit_is_told(left: Left, number: int, at: int) -> None:
    """Which entry, where, and that those behind it are read."""
    path = left.paths[(number - 1) // ENTRIES_OF_A_SEGMENT]
    flip(path, offset_of(number) + at)
    assert left.read() == [each for each in range(1, LAST + 1) if each != number]
    problem = left.problem
    assert problem is not None
    assert (problem.kind, problem.path) == (ProblemKind.DAMAGED, path)
    assert (problem.offset, problem.lost) == (offset_of(number), (number, number))
    assert str(problem) == (
        f"{path} is damaged at byte {offset_of(number)}; entry {number} can't be read, "
        f"at most {ENTRY_BYTES // 28} moves"
    )
    assert not problem.is_at_the_end


def test_a_flipped_bit_of_the_newest_entry_is_told(left: Left) -> None:
    """By the head: it looks like what a crash leaves, and was acknowledged."""
    flip(left.paths[-1], offset_of(LAST) + 30)
    assert left.read() == [*range(1, LAST)]
    assert left.problem is not None
    assert (left.problem.lost, left.problem.is_at_the_end) == ((LAST, LAST), True)


@pytest.mark.parametrize("segment", [0, 1, 2])
def test_a_flipped_bit_of_a_header_loses_nothing(left: Left, segment: int) -> None:
    """All that it says can be told by the entries behind it."""
    flip(left.paths[segment], 20)
    assert left.read(left.mark) == [*range(1, LAST + 1)]
    assert left.problem is None


def test_a_flipped_bit_of_the_oldest_header_loses_nothing(tmp_path: Path) -> None:
    """Also where what was before it was deleted, so that nothing tells where it begins."""
    log = MoveLog(log_folder(tmp_path / "meijin.db"), is_synced=False)
    early = begin(log, 1)
    for number in range(2, LAST + 1):
        log.append(entry(number), keep_from=EntryId(max(number - 5, 1)))
        log.settle()
    log.close()
    left = Left(log.folder, log.mark, early)
    flip(left.paths[0], 20)
    assert left.read(left.mark) == [*range(11, LAST + 1)]
    assert left.problem is None


@pytest.mark.parametrize("segment", [0, 1, 2])
@pytest.mark.parametrize("share", [0, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("zeroed", [300, 10_000])
def test_zeroed_bytes_are_told(left: Left, segment: int, share: float, zeroed: int) -> None:
    """A page that was lost in the middle, to the end, and with the header."""
    path = left.paths[segment]
    at = int(path.stat().st_size * share)
    if segment == len(left.paths) - 1 and at >= offset_of(LAST) + ENTRY_BYTES:
        at = offset_of(LAST)
    size = path.stat().st_size
    overwrite(path, at, bytes(min(zeroed, size - at)))
    numbers = left.read()
    assert len(numbers) < LAST
    assert left.problem is not None
    assert left.problem.kind is ProblemKind.DAMAGED
    assert left.problem.lost is not None
    first, last = left.problem.lost
    lost = set(range(1, LAST + 1)) - set(numbers)
    assert (min(lost), max(lost)) == (first, last)


def test_a_cut_is_told_at_each_offset(left: Left) -> None:
    """Of every segment: what was acknowledged behind it is missing."""
    whole = [path.read_bytes() for path in left.paths]
    for path, data in zip(left.paths, whole, strict=True):
        used = offset_of(LAST) + ENTRY_BYTES if path == left.paths[-1] else len(data)
        for at in range(0, used, 37):
            path.write_bytes(data[:at])
            numbers = left.read()
            assert len(numbers) < LAST
            assert left.problem is not None, f"{path.name} cut at {at}"
        path.write_bytes(data)
    assert (left.read(), left.problem) == ([*range(1, LAST + 1)], None)


def test_a_cut_behind_the_last_entry_loses_nothing(left: Left) -> None:
    """The head proves it; without a head it might."""
    path = left.paths[-1]
    os.truncate(path, offset_of(LAST) + ENTRY_BYTES + 1)
    assert (left.read(), left.problem) == ([*range(1, LAST + 1)], None)
    head_path(left.folder, log_id(left)).unlink()
    left.read()
    assert left.problem is not None
    assert "was cut off: it had" in str(left.problem)
    assert left.problem.lost == (LAST + 1, None)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_missing_segment_is_told(left: Left, number: int) -> None:
    """The oldest, one in the middle, and the newest."""
    segment_path(left.folder, number).unlink()
    numbers = left.read()
    assert left.problem is not None
    assert left.problem.lost is not None
    first, last = left.problem.lost
    lost = set(range(1, LAST + 1)) - set(numbers)
    assert (min(lost), max(lost)) == (first, last)
    kind = ProblemKind.MISSING if number == 1 else ProblemKind.DAMAGED
    assert left.problem.kind is kind


@pytest.mark.parametrize("folders", [0, 1])
def test_a_missing_log_is_told(left: Left, folders: int) -> None:
    """With or without its folder."""
    shutil.rmtree(left.folder)
    if folders:
        left.folder.mkdir()
    assert left.read() == []
    assert left.problem is not None
    assert left.problem.kind is ProblemKind.MISSING
    assert str(left.problem).startswith(f"{left.folder} does not hold the log of this database")


def test_a_database_without_a_log_needs_none(left: Left) -> None:
    """It is new, or a copy that has the moves in itself."""
    shutil.rmtree(left.folder)
    assert left.read(left.mark._replace(log_id=None)) == []
    assert left.problem is None


def test_a_missing_head_is_told_of(left: Left) -> None:
    """What it proves is not proven then; what the database knows still is."""
    head_path(left.folder, log_id(left)).unlink()
    assert (left.read(), left.problem, left.is_headed) == ([*range(1, LAST + 1)], None, False)
    os.truncate(left.paths[-1], 0)
    left.read(left.mark)
    assert left.problem is not None


@pytest.mark.parametrize("slot", [0, 512])
def test_half_a_head_is_enough(left: Left, slot: int) -> None:
    """A crash may tear the slot that was written last."""
    flip(head_path(left.folder, log_id(left)), slot + 4)
    assert (left.read(left.mark), left.problem) == ([*range(1, LAST + 1)], None)
    assert left.is_headed


# -- whose it is -------------------------------------------------------------------------


def test_an_older_log_is_told(left: Left, tmp_path: Path) -> None:
    """The same log as it was when the database knew less of it."""
    old = make(tmp_path / "old.db", 1, last=12)
    mark = old.mark._replace(entry=EntryId(20), link=left.mark.link)
    assert old.read(mark) == [*range(1, 13)]
    assert old.problem is not None
    assert old.problem.kind is ProblemKind.OLDER
    assert "ends with entry 12, and entry 20 was acknowledged" in str(old.problem)


@pytest.mark.parametrize(
    ("epoch", "kind"),
    [(1, ProblemKind.OLDER), (2, ProblemKind.NEWER), (3, ProblemKind.NEWER)],
    ids=["before", "of a copy", "after"],
)
def test_a_log_that_the_database_does_not_know_is_told(
    left: Left, tmp_path: Path, epoch: int, kind: ProblemKind
) -> None:
    """One of another claim than the one that began what belongs to it."""
    other = make(tmp_path / "other.db", epoch)
    mark = left.mark._replace(epoch=Epoch(2))
    assert other.read(mark) == []
    assert other.problem is not None
    assert other.problem.kind is kind


def test_a_log_beside_a_database_that_has_none_is_told(left: Left) -> None:
    """Somebody has put a backup in the place of the database by hand."""
    mark = left.early._replace(log_id=None, epoch=Epoch(1))
    assert left.read(mark) == []
    assert left.problem is not None
    assert left.problem.kind is ProblemKind.NEWER
    assert "of which it knows nothing" in str(left.problem)


def test_a_foreign_log_is_told(left: Left, tmp_path: Path) -> None:
    """Of another database; also a single segment of it."""
    other = make(tmp_path / "other.db", 1, database_id=bytes(ID_BYTES))
    assert other.read(left.mark) == []
    assert other.problem is not None
    assert other.problem.kind is ProblemKind.FOREIGN
    assert "of the log of another database (00000000; this one is 00010203)" in str(other.problem)
    shutil.copy(other.paths[0], segment_path(left.folder, 9))
    left.read()
    assert left.problem is not None
    assert left.problem.kind is ProblemKind.FOREIGN


def test_a_log_of_a_copy_is_told(left: Left) -> None:
    """Another server has gone on with it: its entries are others."""
    assert left.read(left.mark._replace(link=left.early.link)) == [*range(1, LAST + 1)]
    assert left.problem is not None
    assert left.problem.kind is ProblemKind.FOREIGN


def test_an_older_database_is_told(tmp_path: Path) -> None:
    """The log knows what was acknowledged in the database."""
    log = MoveLog(log_folder(tmp_path / "meijin.db"), is_synced=True)
    early = begin(log, 3)
    log.append(entry(2, stored=9))
    log.sync()
    log.settle()
    log.close()
    left = Left(log.folder, log.mark, early)
    left.read(newest=EntryKey(Epoch(3), EntryId(9)))
    assert left.problem is None
    for newest in (EntryKey(Epoch(3), EntryId(8)), EntryKey(Epoch(2), EntryId(70))):
        left.read(newest=newest)
        assert left.problem is not None
        assert left.problem.kind is ProblemKind.NEWER
        assert f"knows of entry 9 of the database, which ends with {newest.id}" in str(left.problem)


# -- while a server appends --------------------------------------------------------------


def test_a_log_that_goes_on_behind_the_look_at_the_database_is_not_newer(tmp_path: Path) -> None:
    """What the database got meanwhile is in the log, and not in what was seen of it."""
    log = MoveLog(log_folder(tmp_path / "meijin.db"), is_synced=False)
    early = begin(log, 3)
    with LogReader(log.folder) as reader:
        log.append(entry(2, stored=9))
        log.settle()
        reader.open_new()
        reading = reader.read(early, EntryKey(Epoch(3), EntryId(8)))
        assert [each.id for each in reading] == [1, 2]
        assert reading.problem is None
    log.close()


def test_what_is_appended_while_it_is_read_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry may come between the look at its place and the look at what is behind it."""
    log = MoveLog(log_folder(tmp_path / "meijin.db"), is_synced=True)
    early = begin(log, 1)
    from meijin.store.move_log import reader as reader_module

    read, looks = reader_module._all_of, []

    def read_late(file: object) -> bytes:
        data: bytes = read(file)  # type: ignore[arg-type]
        looks.append(len(data))
        if len(looks) == 1:
            for number in (2, 3):
                log.append(entry(number))
                log.sync()
            whole = read(file)  # type: ignore[arg-type]
            at = offset_of(2)
            return whole[:at] + bytes(ENTRY_BYTES) + whole[at + ENTRY_BYTES :]
        return data

    monkeypatch.setattr(reader_module, "_all_of", read_late)
    left = Left(log.folder, log.mark, early)
    assert (left.read(), left.problem) == ([1, 2, 3], None)
    log.close()


def test_a_log_is_read_while_it_is_written(tmp_path: Path) -> None:
    """Whenever somebody looks, what was acknowledged before is there, and nothing is amiss."""
    log = MoveLog(log_folder(tmp_path / "meijin.db"), is_synced=False)
    early = begin(log, 1)
    left = Left(log.folder, log.mark, early)
    for number in range(2, 60):
        log.append(entry(number), keep_from=EntryId(max(number - 15, 1)))
        log.settle()
        numbers = left.read(log.mark)
        assert left.problem is None
        assert numbers[-1] == number
    log.close()
