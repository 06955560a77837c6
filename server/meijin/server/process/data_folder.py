"""The data folder: for its owner's eyes alone, with a database that is whole."""

import os
import stat
from pathlib import Path

import structlog

from meijin.server.process.operator_token import operator_token_path
from meijin.server.settings import Settings
from meijin.store.database import database_file
from meijin.store.integrity import check_integrity
from meijin.wire.contract import BACKUP_FOLDER

log = structlog.get_logger()

OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""What a file or folder allows to anybody but its owner."""

NOTABLE_SIZE = 100_000_000
"""Bytes of a database whose check takes long enough to be told of: a second of CPU a gigabyte."""


def make_private(folder: Path) -> None:
    """Make the folder if it isn't there, and have this process make files that nobody else reads.

    A folder that is there is left as it is: its owner may have reasons. It is warned of if others
    may look into it.
    """
    os.umask(OTHERS)
    folder.mkdir(parents=True, exist_ok=True)
    if folder.stat().st_mode & OTHERS:
        log.warning("others may look into the data folder", fix=f"chmod 700 {folder}")


def check_database(settings: Settings) -> None:
    """See that the database of SQLite is whole, unless the settings say not to.

    Raises:
        StoreError: it is not; the message names the newest backup.
    """
    file = database_file(settings.database)
    if file is None or not settings.check_database:
        return
    if file.is_file() and file.stat().st_size > NOTABLE_SIZE:
        log.info("checking the database", bytes=file.stat().st_size)
    check_integrity(
        file,
        backups=settings.data / BACKUP_FOLDER,
        is_new=not operator_token_path(settings.data).exists(),
    )
