"""The life of a move log, and of the one that follows it, with whatever may happen to either."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.power.calls import Calls
from tests.power.small_log import small_log

from meijin.store.fence import EntryKey
from meijin.store.journal import pack_game, pack_move, unpack_moves
from meijin.store.move_log.entry import Analysis, Link, LogEntry
from meijin.store.move_log.log import FIRST_ENTRY, MoveLog
from meijin.store.move_log.mark import LogMark
from meijin.store.move_log.reader import LogReader, LogReading
from meijin.store.move_log.segment import log_folder
from meijin.store.schema import EntryId, Epoch, GameId

GAME = GameId(1)

SEGMENT_BYTES = 2000
"""For two entries or three, so that most segments are left, and some are deleted."""

SAID: Analysis = {"1": {"0": {"pv": ["a1"] * 100}}}
"""With each entry, which is longer than a sector by that: it may be torn."""

DATABASE_ID = bytes(16)

NO_LOG = LogMark(DATABASE_ID, None, Epoch(0), EntryId(0), Link(b""))
"""What a database that is new knows of its log."""


class LogLife:
    """A game whose moves are committed to a log; the cell of each move is its ply."""

    def __init__(self) -> None:
        self.made = 0
        """Moves that were appended, or about to be."""
        self.told = 0
        """Those of them whose entry was synced."""
        self._log: MoveLog | None = None
        self._mark = NO_LOG
        """What the database knows of the log: its commits are durable."""

    def run(self, root: Path, calls: Calls) -> None:
        """Play in two servers, with a disk that fails at times; the log's folder is new."""
        with small_log(SEGMENT_BYTES):
            self._open(root)
            for _ in range(6):
                self._move()
            self._move(is_written_anew=True)
            for fault in _FAULTS:
                self._move()
                fault(calls)
                for _ in range(3):
                    self._move(calls)
                calls.mend()
            self._move()
            self.close()
            self._open(root)
            for _ in range(4):
                self._move()
            self._move(is_written_anew=True)
            self._move()
            self.close()

    def _open(self, root: Path) -> None:
        self._log = log = MoveLog(log_folder(root / "meijin.db"), is_synced=True)
        left = self._left(root)
        assert left == list(range(self.told)), f"{left} are left of {self.told} moves"
        epoch = Epoch(self._mark.epoch + 1)
        first = LogEntry(FIRST_ENTRY, self._all(), {})
        self._mark = log.begin(first, database_id=DATABASE_ID, epoch=epoch)
        log.drop_old()

    def _left(self, root: Path) -> list[int]:
        with LogReader(log_folder(root / "meijin.db")) as reader:
            reading = LogReading(reader, self._mark, EntryKey(self._mark.epoch, EntryId(0)))
            left = plies(reading)
        assert reading.problem is None, str(reading.problem)
        assert reading.is_headed or not reading.last, "the head is lost"
        return left

    def _all(self) -> bytes:
        moves = [(ply, 1, 1) for ply in range(self.made)]
        return bytes(pack_game(GAME, moves, opening_plies=0))

    def _move(self, calls: Calls | None = None, *, is_written_anew: bool = False) -> None:
        """Commit a move, with the game written anew, and old segments deleted, or without."""
        assert self._log is not None
        moves = pack_move(GAME, self.made, self.made, 1, 1)
        self.made += 1
        moves += self._all() if is_written_anew else b""
        entry = LogEntry(EntryId(self._log.last_entry + 1), moves, SAID)
        try:
            self._commit(self._log, entry, is_written_anew=is_written_anew)
        except OSError:
            assert calls is not None
            calls.mend()
            self._commit(self._log, entry, is_written_anew=is_written_anew)
        if is_written_anew:
            self._mark = self._log.mark

    def _commit(self, log: MoveLog, entry: LogEntry, *, is_written_anew: bool) -> None:
        log.append(entry, keep_from=entry.id if is_written_anew else None)
        log.sync()
        self.told = self.made
        log.settle()

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None

    def check(self, root: Path) -> None:
        """The next server finds each move that was told, and none that was not made."""
        left = self._left(root)
        assert left == list(range(len(left))), f"left are {left}"
        assert self.told <= len(left) <= self.made, f"{len(left)} left, {self.told} were told"


def _write_little(calls: Calls) -> None:
    calls.most_bytes = 30


def _fail(name: str, number: int) -> Callable[[Calls], None]:
    return lambda calls: calls.fails.update({name: number})


_FAULTS = [
    _fail("fdatasync", errno.EIO),
    _write_little,
    _fail("pwrite", errno.EIO),
    _fail("posix_fallocate", errno.ENOSPC),
]


def plies(entries: Iterable[LogEntry]) -> list[int]:
    """The cells of the game as a server takes it up: what is stored twice counts once."""
    cells: list[int] = []
    for entry in entries:
        for move in unpack_moves(entry.moves):
            if move.is_anew:
                cells = []
            elif move.ply == len(cells):
                cells.append(move.code)
    return cells
