"""Mutants: the store with one guard against power cuts taken away.

Each takes a call to the system away, or makes one, while a function of the store runs: so that none
of them knows how the function is written.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

from meijin.store import backup
from meijin.store.move_log.head import HeadFile
from meijin.store.move_log.log import MoveLog
from meijin.store.move_log.mark import LogMark
from meijin.store.move_log.reader import LogReader
from meijin.store.move_log.segment import segments_in

Mutant = Callable[[], AbstractContextManager[Any]]

LOG_MUTANTS: dict[str, Mutant] = {}
"""Of the move log, by name."""

BACKUP_MUTANTS: dict[str, Mutant] = {}
"""Of backups."""

RESTORE_MUTANTS: dict[str, Mutant] = {}
"""Of their restoring."""


def _mutant(mutants: dict[str, Mutant]) -> Callable[[Mutant], Mutant]:
    def add(mutant: Mutant) -> Mutant:
        mutants[mutant.__name__.replace("_", "-")] = mutant
        return mutant

    return add


def _within(
    owner: Any, name: str, changed: Callable[[], AbstractContextManager[Any]]
) -> AbstractContextManager[Any]:
    """Have the system changed while a function runs."""
    function = getattr(owner, name)

    @wraps(function)
    def run(*arguments: Any, **more: Any) -> Any:
        with changed():
            return function(*arguments, **more)

    return patch.object(owner, name, run)


@contextmanager
def _no_sync_of(is_meant: Callable[[int], bool]) -> Iterator[None]:
    """Files, or folders, are not synced."""
    with ExitStack() as stack:
        for name in ("fsync", "fdatasync"):
            stack.enter_context(patch.object(os, name, _unless(is_meant, getattr(os, name))))
        yield


def _unless(is_meant: Callable[[int], bool], sync: Callable[[int], None]) -> Callable[[int], None]:
    def run(number: int) -> None:
        if not is_meant(os.fstat(number).st_mode):
            sync(number)

    return run


def _no_file_sync() -> AbstractContextManager[None]:
    return _no_sync_of(stat.S_ISREG)


def _no_folder_sync() -> AbstractContextManager[None]:
    return _no_sync_of(stat.S_ISDIR)


# -- the log ---------------------------------------------------------------------------------


@_mutant(LOG_MUTANTS)
def begins_without_syncing_the_file() -> AbstractContextManager[Any]:
    """The first entry may not be on the disk when old segments are deleted."""
    return _within(MoveLog, "begin", _no_file_sync)


@_mutant(LOG_MUTANTS)
def begins_without_syncing_the_folder() -> AbstractContextManager[Any]:
    """The first segment may have no name when old segments are deleted."""
    return _within(MoveLog, "begin", _no_folder_sync)


@_mutant(LOG_MUTANTS)
def syncs_no_head() -> AbstractContextManager[Any]:
    """A log may lose what proves its end."""
    return patch.object(HeadFile, "sync", lambda _: None)


@_mutant(LOG_MUTANTS)
def deletes_before_it_begins() -> AbstractContextManager[Any]:
    """Old segments are deleted first."""
    begin = MoveLog.begin

    def begin_late(self: MoveLog, *arguments: Any, **more: Any) -> LogMark:
        self.drop_old()
        return begin(self, *arguments, **more)

    return patch.object(MoveLog, "begin", begin_late)


@_mutant(LOG_MUTANTS)
def deletes_before_the_database_knows() -> AbstractContextManager[Any]:
    """Old segments are deleted while the database takes them for its log."""
    begin = MoveLog.begin

    def begin_alone(self: MoveLog, *arguments: Any, **more: Any) -> LogMark:
        mark = begin(self, *arguments, **more)
        self.drop_old()
        return mark

    return patch.object(MoveLog, "begin", begin_alone)


@_mutant(LOG_MUTANTS)
def syncs_no_entry() -> AbstractContextManager[Any]:
    """Entries are told of before they are on the disk."""
    return _within(MoveLog, "sync", _no_file_sync)


@_mutant(LOG_MUTANTS)
def goes_on_after_a_failed_sync() -> AbstractContextManager[Any]:
    """What is appended again goes to the segment whose sync has failed."""
    sync = MoveLog.sync

    def sync_and_forget(self: MoveLog) -> None:
        try:
            sync(self)
        finally:
            self._has_failed = False

    return patch.object(MoveLog, "sync", sync_and_forget)


@_mutant(LOG_MUTANTS)
def syncs_no_new_segments_name() -> AbstractContextManager[Any]:
    """Entries are told of whose segment may have no name."""
    return _within(MoveLog, "append", _no_folder_sync)


@_mutant(LOG_MUTANTS)
def syncs_no_new_folders_name() -> AbstractContextManager[Any]:
    """The log's folder itself may have none."""
    return _within(MoveLog, "__init__", _no_folder_sync)


@_mutant(LOG_MUTANTS)
def deletes_one_segment_too_many() -> AbstractContextManager[Any]:
    """One of which an entry is still needed."""
    settle = MoveLog.settle

    def delete(self: MoveLog) -> None:
        are_deleted = bool(self._doomed)
        settle(self)
        if are_deleted:
            segments_in(self.folder)[0].unlink()

    return patch.object(MoveLog, "settle", delete)


@_mutant(LOG_MUTANTS)
def deletes_before_it_syncs() -> AbstractContextManager[Any]:
    """Segments are deleted that are needed until the entry that makes them needless is durable."""
    sync = MoveLog.sync

    def delete_first(self: MoveLog) -> None:
        self.settle()
        sync(self)

    return patch.object(MoveLog, "sync", delete_first)


@_mutant(LOG_MUTANTS)
def looks_at_no_checksum() -> AbstractContextManager[Any]:
    """An entry that is not whole is taken for one."""
    return patch.object(zlib, "crc32", lambda *_: 0)


@_mutant(LOG_MUTANTS)
def takes_a_short_write_for_a_whole_one() -> AbstractContextManager[Any]:
    """The rest of an entry is missing."""

    @contextmanager
    def believed() -> Iterator[None]:
        pwrite = os.pwrite

        def write(number: int, data: bytes, offset: int) -> int:
            pwrite(number, data, offset)
            return len(data)

        with patch.object(os, "pwrite", write):
            yield

    return _within(MoveLog, "append", believed)


# -- backups ---------------------------------------------------------------------------------


@_mutant(BACKUP_MUTANTS)
def opens_the_log_late() -> AbstractContextManager[Any]:
    """What is deleted while the database is copied is not in the backup."""
    return patch.object(LogReader, "__enter__", lambda self: self)


@_mutant(BACKUP_MUTANTS)
def names_a_backup_before_it_is_synced() -> AbstractContextManager[Any]:
    """What has a backup's name may not be whole."""
    return _within(backup, "back_up", _no_file_sync)


@_mutant(BACKUP_MUTANTS)
def syncs_no_backups_name() -> AbstractContextManager[Any]:
    """A backup that was told of may be gone."""
    return _within(backup, "back_up", _no_folder_sync)


# -- restoring -------------------------------------------------------------------------------


@_mutant(RESTORE_MUTANTS)
def keeps_the_log() -> AbstractContextManager[Any]:
    """The restored database is given the moves of the one before."""

    @contextmanager
    def kept() -> Iterator[None]:
        rename = os.rename

        def rename_files(path: Path, *arguments: Any) -> None:
            if not Path(path).is_dir():
                rename(path, *arguments)

        with patch.object(os, "rename", rename_files):
            yield

    return _within(backup, "restore", kept)


@_mutant(RESTORE_MUTANTS)
def syncs_no_copy() -> AbstractContextManager[Any]:
    """The database that takes the other's place may not be whole."""
    return _within(backup, "restore", _no_file_sync)


@_mutant(RESTORE_MUTANTS)
def syncs_no_name() -> AbstractContextManager[Any]:
    """The other one may be back."""
    return _within(backup, "restore", _no_folder_sync)
