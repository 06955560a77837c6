"""Logs of moves with entries of one move each."""

from meijin.store.journal import pack_move
from meijin.store.move_log.entry import HEADER_BYTES, LogEntry
from meijin.store.move_log.log import MoveLog
from meijin.store.move_log.mark import LogMark
from meijin.store.schema import ID_BYTES, EntryId, Epoch

DATABASE_ID = bytes(range(ID_BYTES))
ENTRY_BYTES = HEADER_BYTES + 28
"""Of an entry with one move."""


def entry(number: int, stored: int = 0) -> LogEntry:
    return LogEntry(EntryId(number), pack_move(number, 0, 0, 1, 1), {}, EntryId(stored))


def begin(log: MoveLog, *, epoch: int = 1, database_id: bytes = DATABASE_ID) -> LogMark:
    return log.begin(entry(1), database_id=database_id, epoch=Epoch(epoch))


def append(log: MoveLog, *numbers: int, keep: int | None = None, renew: bool = False) -> None:
    """Commit entries, beside which only those from another one on may be needed."""
    for number in numbers:
        kept = None if keep is None else EntryId(keep)
        log.append(entry(number), keep_from=kept, renew=renew)
        if log.is_synced:
            log.sync()
        log.settle()
