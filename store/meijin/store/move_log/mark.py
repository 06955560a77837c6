"""The mark of the move log: what the database knows of it, in the one row of `claim`."""

from typing import NamedTuple

from sqlalchemy import Connection, update

from meijin.store.move_log.entry import Link
from meijin.store.schema import Claim, EntryId, Epoch

SELECT_MARK = "SELECT database_id, log_id, log_epoch, log_entry, log_link FROM claim"
"""What `LogMark.of_row` reads."""

FORGET_LOG = "UPDATE claim SET log_id = NULL"
"""What a copy says that has the moves of the log in itself."""


class LogMark(NamedTuple):
    """Which log belongs to a database, and what was acknowledged in it at least."""

    database_id: bytes
    log_id: bytes | None
    """``None`` where no log belongs to it: it is new, or a copy that has its moves in itself."""
    epoch: Epoch
    """Of the claim that began the log, or the last one that there was."""
    entry: EntryId
    """An entry that was acknowledged: all before it were too."""
    link: Link

    @classmethod
    def of_row(cls, row: tuple[str, str | None, int, int, str]) -> "LogMark":
        """The mark that stands in a row of `SELECT_MARK`."""
        database_id, log_id, epoch, entry, link = row
        return cls(
            bytes.fromhex(database_id),
            None if log_id is None else bytes.fromhex(log_id),
            Epoch(epoch),
            EntryId(entry),
            Link(bytes.fromhex(link)),
        )


def read_mark(connection: Connection) -> LogMark:
    return LogMark.of_row(tuple(connection.exec_driver_sql(SELECT_MARK).one()))


def write_mark(connection: Connection, mark: LogMark) -> None:
    connection.execute(
        update(Claim).values(
            log_id=None if mark.log_id is None else mark.log_id.hex(),
            log_epoch=mark.epoch,
            log_entry=mark.entry,
            log_link=mark.link.hex(),
        )
    )
