"""A log that is read after its server: what a crash leaves, and what is no crash's doing."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.store.move_log.entries import DATABASE_ID, ENTRY_BYTES, append, begin, entry

from meijin.store.fence import NO_ENTRY, EntryKey
from meijin.store.move_log import log as module
from meijin.store.move_log import reader as reader_module
from meijin.store.move_log.head import head_path
from meijin.store.move_log.log import MoveLog
from meijin.store.move_log.mark import LogMark
from meijin.store.move_log.problem import LogProblem, ProblemKind
from meijin.store.move_log.reader import LogReader, LogReading
from meijin.store.move_log.segment import (
    SEGMENT_HEADER_BYTES,
    log_folder,
    segment_path,
    segments_in,
)
from meijin.store.schema import ID_BYTES, EntryId, Epoch

ENTRIES_OF_A_SEGMENT = 10
RESERVED = SEGMENT_HEADER_BYTES + ENTRIES_OF_A_SEGMENT * ENTRY_BYTES
LAST = 25
"""The newest entry of the log here: its last segment is half full."""
ALL = [*range(1, LAST + 1)]


@dataclass
class Left:
    """What a server that has ended left."""

    folder: Path
    mark: LogMark
    """Of the last entry."""
    early: LogMark
    """Of the first."""
    problem: LogProblem | None = None
    """Of the last look."""
    is_headed: bool = False

    @classmethod
    def by(cls, log: MoveLog, early: LogMark) -> "Left":
        log.close()
        return cls(log.folder, log.mark, early)

    def read(self, mark: LogMark | None = None, newest: EntryKey = NO_ENTRY) -> Sequence[int]:
        """The numbers of the entries that are read, if by no other mark by the early one."""
        with LogReader(self.folder) as reader:
            reading = LogReading(reader, self.early if mark is None else mark, newest)
            numbers = [each.id for each in reading]
            self.problem, self.is_headed = reading.problem, reading.is_headed
            return numbers

    def is_whole(self, mark: LogMark | None = None, numbers: Sequence[int] = ALL) -> bool:
        """Whether these entries are read and nothing is the matter."""
        return (self.read(mark), self.problem) == (numbers, None)

    @property
    def trouble(self) -> LogProblem:
        assert self.problem is not None
        return self.problem

    @property
    def paths(self) -> Sequence[Path]:
        return segments_in(self.folder)

    @property
    def head(self) -> Path:
        assert self.mark.log_id is not None
        return head_path(self.folder, self.mark.log_id)


@pytest.fixture(autouse=True)
def _small() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "SEGMENT_BYTES", RESERVED)
        patched.setattr(module, "PREPARED_AT", 2**30)
        yield


@pytest.fixture(name="left")
def _left(tmp_path: Path) -> Left:
    return make(tmp_path / "meijin.db")


@pytest.fixture(name="live")
def _live(tmp_path: Path) -> Iterator[MoveLog]:
    """The log of a server that runs, of which nothing is synced; it has not begun."""
    with closing(MoveLog(log_folder(tmp_path / "live.db"), is_synced=False)) as log:
        yield log


def make(
    database: Path, *, epoch: int = 1, last: int = LAST, database_id: bytes = DATABASE_ID
) -> Left:
    log = MoveLog(log_folder(database), is_synced=True)
    early = begin(log, epoch=epoch, database_id=database_id)
    append(log, *range(2, last + 1))
    return Left.by(log, early)


def offset_of(number: int) -> int:
    return SEGMENT_HEADER_BYTES + (number - 1) % ENTRIES_OF_A_SEGMENT * ENTRY_BYTES


END = offset_of(LAST) + ENTRY_BYTES
"""Where the last segment ends."""


def overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def flip(path: Path, at: int) -> None:
    overwrite(path, at, bytes([path.read_bytes()[at] ^ 4]))


# -- after a crash -----------------------------------------------------------------------


@pytest.mark.parametrize("torn", ["shorter", "zeros", "garbage", "no length"])
@pytest.mark.parametrize("kept", [1, 30, ENTRY_BYTES - 9])
def test_what_was_written_last_may_be_torn(left: Left, torn: str, kept: int) -> None:
    """It was told to nobody: nothing is the matter."""
    path = left.paths[-1]
    piece = path.read_bytes()[offset_of(LAST) : END][:kept]
    rest = {
        "shorter": piece,
        "zeros": piece + bytes(ENTRY_BYTES - kept),
        "garbage": piece + os.urandom(ENTRY_BYTES - kept),
        "no length": piece[:40] + b"\xff" * (ENTRY_BYTES - len(piece[:40])),
    }[torn]
    overwrite(path, END, rest)
    assert left.is_whole(left.mark)


def test_the_first_entry_of_a_segment_may_be_torn(left: Left) -> None:
    segment_path(left.folder, 4).write_bytes(left.paths[-1].read_bytes()[:50] + bytes(1000))
    assert left.is_whole(left.mark)


def test_an_entry_may_have_been_written_twice(tmp_path: Path) -> None:
    """After a sync that failed it stands in the next segment again, and counts there."""
    log = MoveLog(log_folder(tmp_path / "meijin.db"), is_synced=True)
    early = begin(log)
    log.append(entry(2))
    log._has_failed = True
    append(log, 2, 3)
    left = Left.by(log, early)
    assert left.is_whole(numbers=[1, 2, 3])
    assert len(left.paths) == 2


def test_a_server_that_was_cut_off_as_it_began_has_left_two_logs(left: Left) -> None:
    """The database knows of the old one: the new one holds no more than that."""
    with closing(MoveLog(left.folder, is_synced=True)) as new:
        mark = begin(new, epoch=2)
    assert left.is_whole(left.mark)
    assert left.is_whole(mark, numbers=[1])


# -- damage ------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2, 7, 10, 11, 19, 20, 21, 24])
@pytest.mark.parametrize("at", [0, 5, 10, 40, ENTRY_BYTES - 3])
def test_a_flipped_bit_is_told(left: Left, number: int, at: int) -> None:
    """Which entry, where, and that those behind it are read."""
    path = left.paths[(number - 1) // ENTRIES_OF_A_SEGMENT]
    flip(path, offset_of(number) + at)
    assert left.read() == [each for each in ALL if each != number]
    problem = left.trouble
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
    assert left.read() == ALL[:-1]
    assert (left.trouble.lost, left.trouble.is_at_the_end) == ((LAST, LAST), True)


@pytest.mark.parametrize("segment", [0, 1, 2])
def test_a_flipped_bit_of_a_header_loses_nothing(left: Left, segment: int) -> None:
    """All that it says can be told by the entries behind it."""
    flip(left.paths[segment], 20)
    assert left.is_whole(left.mark)


def test_a_flipped_bit_of_the_oldest_header_loses_nothing(live: MoveLog) -> None:
    """Also where what was before it was deleted, so that nothing tells where it begins."""
    early = begin(live)
    for number in ALL[1:]:
        append(live, number, keep=max(number - 5, 1))
    left = Left.by(live, early)
    flip(left.paths[0], 20)
    assert left.is_whole(left.mark, numbers=ALL[10:])


@pytest.mark.parametrize("segment", [0, 1, 2])
@pytest.mark.parametrize("share", [0, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("zeroed", [300, 10_000])
def test_zeroed_bytes_are_told(left: Left, segment: int, share: float, zeroed: int) -> None:
    """A page that was lost in the middle, to the end, and with the header."""
    path = left.paths[segment]
    size = path.stat().st_size
    at = int(size * share)
    if segment == len(left.paths) - 1 and at >= END:
        at = offset_of(LAST)
    overwrite(path, at, bytes(min(zeroed, size - at)))
    lost = set(ALL) - set(left.read())
    assert left.trouble.kind is ProblemKind.DAMAGED
    assert left.trouble.lost == (min(lost), max(lost))


def test_a_cut_is_told_at_each_offset(left: Left) -> None:
    """Of every segment: what was acknowledged behind it is missing."""
    for path in left.paths:
        data = path.read_bytes()
        for at in range(0, END if path == left.paths[-1] else len(data), 37):
            path.write_bytes(data[:at])
            assert len(left.read()) < LAST
            assert left.problem is not None, f"{path.name} cut at {at}"
        path.write_bytes(data)
    assert left.is_whole()


def test_a_cut_behind_the_last_entry_loses_nothing(left: Left) -> None:
    """The head proves it; without a head it might."""
    os.truncate(left.paths[-1], END + 1)
    assert left.is_whole()
    left.head.unlink()
    left.read()
    assert "was cut off: it had" in str(left.trouble)
    assert left.trouble.lost == (LAST + 1, None)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_missing_segment_is_told(left: Left, number: int) -> None:
    """The oldest, one in the middle, and the newest."""
    segment_path(left.folder, number).unlink()
    lost = set(ALL) - set(left.read())
    assert left.trouble.lost == (min(lost), max(lost))
    assert left.trouble.kind is (ProblemKind.MISSING if number == 1 else ProblemKind.DAMAGED)


@pytest.mark.parametrize("has_folder", [False, True])
def test_a_missing_log_is_told(left: Left, *, has_folder: bool) -> None:
    """With or without its folder; a database that is new, or a copy that has the moves, needs none."""
    shutil.rmtree(left.folder)
    if has_folder:
        left.folder.mkdir()
    assert left.read() == []
    assert left.trouble.kind is ProblemKind.MISSING
    assert str(left.trouble).startswith(f"{left.folder} does not hold the log of this database")
    assert left.is_whole(left.mark._replace(log_id=None), numbers=[])


def test_a_missing_head_is_told_of(left: Left) -> None:
    """What it proves is not proven then; what the database knows still is."""
    left.head.unlink()
    assert left.is_whole()
    assert not left.is_headed
    os.truncate(left.paths[-1], 0)
    left.read(left.mark)
    assert left.problem is not None


@pytest.mark.parametrize("slot", [0, 512])
def test_half_a_head_is_enough(left: Left, slot: int) -> None:
    """A crash may tear the slot that was written last."""
    flip(left.head, slot + 4)
    assert left.is_whole(left.mark)
    assert left.is_headed


# -- whose it is -------------------------------------------------------------------------


def test_an_older_log_is_told(left: Left, tmp_path: Path) -> None:
    """The same log as it was when the database knew less of it."""
    old = make(tmp_path / "old.db", last=12)
    assert old.read(old.mark._replace(entry=EntryId(20), link=left.mark.link)) == ALL[:12]
    assert old.trouble.kind is ProblemKind.OLDER
    assert "ends with entry 12, and entry 20 was acknowledged" in str(old.trouble)


@pytest.mark.parametrize(
    ("epoch", "kind"),
    [(1, ProblemKind.OLDER), (2, ProblemKind.NEWER), (3, ProblemKind.NEWER)],
    ids=["before", "of a copy", "after"],
)
def test_a_log_that_the_database_does_not_know_is_told(
    left: Left, tmp_path: Path, epoch: int, kind: ProblemKind
) -> None:
    """One of another claim than the one that began what belongs to it."""
    other = make(tmp_path / "other.db", epoch=epoch)
    assert other.read(left.mark._replace(epoch=Epoch(2))) == []
    assert other.trouble.kind is kind


def test_a_log_beside_a_database_that_has_none_is_told(left: Left) -> None:
    """Somebody has put a backup in the place of the database by hand."""
    assert left.read(left.early._replace(log_id=None, epoch=Epoch(1))) == []
    assert left.trouble.kind is ProblemKind.NEWER
    assert "of which it knows nothing" in str(left.trouble)


def test_a_foreign_log_is_told(left: Left, tmp_path: Path) -> None:
    """Of another database, also a single segment of it; and of a copy, whose entries are others."""
    other = make(tmp_path / "other.db", database_id=bytes(ID_BYTES))
    assert other.read(left.mark) == []
    assert other.trouble.kind is ProblemKind.FOREIGN
    assert "of the log of another database (00000000; this one is 00010203)" in str(other.trouble)
    assert left.read(left.mark._replace(link=left.early.link)) == ALL
    assert left.trouble.kind is ProblemKind.FOREIGN
    shutil.copy(other.paths[0], segment_path(left.folder, 9))
    left.read()
    assert left.trouble.kind is ProblemKind.FOREIGN


def test_an_older_database_is_told(live: MoveLog) -> None:
    """The log knows what was acknowledged in the database."""
    early = begin(live, epoch=3)
    live.append(entry(2, stored=9))
    left = Left.by(live, early)
    left.read(newest=EntryKey(Epoch(3), EntryId(9)))
    assert left.problem is None
    for newest in (EntryKey(Epoch(3), EntryId(8)), EntryKey(Epoch(2), EntryId(70))):
        left.read(newest=newest)
        assert left.trouble.kind is ProblemKind.NEWER
        assert f"knows of entry 9 of the database, which ends with {newest.id}" in str(left.trouble)


# -- while a server appends --------------------------------------------------------------


def test_a_log_that_goes_on_behind_the_look_at_the_database_is_not_newer(live: MoveLog) -> None:
    """What the database got meanwhile is in the log, and not in what was seen of it."""
    early = begin(live, epoch=3)
    with LogReader(live.folder) as reader:
        live.append(entry(2, stored=9))
        live.settle()
        reader.open_new()
        reading = LogReading(reader, early, EntryKey(Epoch(3), EntryId(8)))
        assert [each.id for each in reading] == [1, 2]
        assert reading.problem is None


def test_what_is_appended_while_it_is_read_is_no_damage(
    live: MoveLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry may come between the look at its place and the look at what is behind it."""
    early = begin(live)
    read, looks = reader_module._all_of, []

    def read_late(file: object) -> bytes:
        data: bytes = read(file)  # type: ignore[arg-type]
        looks.append(len(data))
        if len(looks) == 1:
            append(live, 2, 3)
            whole = read(file)  # type: ignore[arg-type]
            at = offset_of(2)
            return whole[:at] + bytes(ENTRY_BYTES) + whole[at + ENTRY_BYTES :]
        return data

    monkeypatch.setattr(reader_module, "_all_of", read_late)
    assert Left(live.folder, live.mark, early).is_whole(numbers=[1, 2, 3])


def test_a_log_is_read_while_it_is_written(live: MoveLog) -> None:
    """Whenever somebody looks, what was acknowledged before is there, and nothing is amiss."""
    early = begin(live)
    left = Left(live.folder, early, early)
    for number in range(2, 60):
        append(live, number, keep=max(number - 15, 1))
        assert left.read(live.mark)[-1] == number
        assert left.problem is None
