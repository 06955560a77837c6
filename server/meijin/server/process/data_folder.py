"""The data folder: for its owner's eyes alone, with a database that is whole."""

import os
import stat
from pathlib import Path

import structlog

from meijin.server.process.operator_token import OperatorTokenFile
from meijin.server.settings import Settings
from meijin.store.backup import backups_in, check_integrity, undo_restore
from meijin.store.database import database_file
from meijin.store.errors import MoveLogError
from meijin.store.move_log.problem import ProblemKind
from meijin.store.running_games import RunningGames

log = structlog.get_logger()

OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""What a file or folder allows to anybody but its owner."""

NOTABLE_SIZE = 100_000_000
"""Bytes of a database whose check takes long enough to be logged: a second of CPU a gigabyte."""


def make_private(folder: Path) -> None:
    """Make the folder if it isn't there, and have this process make files that nobody else reads.

    A folder that is there is left as it is: its owner may have reasons. That others may look into
    it is logged.
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
        file, backups=settings.backups, is_new=not OperatorTokenFile(settings.data).path.exists()
    )


def undo_cut_restore(settings: Settings) -> None:
    """Have the database and its log be what they were before a restore that was cut off."""
    file = database_file(settings.database)
    if file is not None and undo_restore(file):
        log.warning("a restore was cut off; it is undone, so run it again", database=str(file))


def check_move_log(running: RunningGames, settings: Settings) -> None:
    """Accept a log that holds what was acknowledged, or one of which no running game needs any.

    Raises:
        MoveLogError: it is another one, or does not; the message says what is lost, and what to do.
    """
    problem, short = running.problem, len(running.short)
    if problem is None:
        return
    is_others = problem.kind in {ProblemKind.NEWER, ProblemKind.FOREIGN}
    if settings.accept_lost_moves or not (short or is_others):
        log.warning("the log of moves is not whole", problem=str(problem), void_games=short)
        return
    newest = [f"run meijin restore {each.path}" for each in backups_in(settings.backups)[:1]]
    ways = ", or ".join(["Put the right log back", *newest, "start with --accept-lost-moves"])
    raise MoveLogError(
        f"{problem}; {short} running games may have lost moves. {ways}: then those games are void "
        "and played again, and what was found is kept"
    )
