"""`meijin backup` and `meijin restore`."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from meijin.cli.commands.servers import EnvFileOption, read_settings
from meijin.cli.errors import CommandError, unusable_file
from meijin.cli.output import console
from meijin.wire.contract import BACKUP_FOLDER, DEFAULT_DATA, SERVER_LOCK_FILE

if TYPE_CHECKING:
    from meijin.server.settings import Settings

DataOption = Annotated[
    Path | None, typer.Option(help=f"The server's data folder. \\[{DEFAULT_DATA}]")
]
DatabaseOption = Annotated[
    str | None, typer.Option(help="The server's SQLAlchemy URL; else SQLite in the data folder.")
]


def backup(
    to: Annotated[
        Path | None,
        typer.Option(help="A file, or a folder that is there. \\[backups in the data folder]"),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option(min=1, help="Delete all but so many of the folder's backups afterwards."),
    ] = None,
    data: DataOption = None,
    database: DatabaseOption = None,
    env_file: EnvFileOption = None,
) -> None:
    """Back up the database of a server, which may run meanwhile, and check the copy.

    The copy is one SQLite file. A server on PostgreSQL is backed up with pg_dump.
    """
    settings = read_settings(env_file, data=data, database_url=database)
    file = _file(settings, "pg_dump --format=custom --file=meijin.dump {}")
    from meijin.store.backup import back_up, backup_name, prune  # noqa: PLC0415 - as in serve

    if not file.is_file():
        raise CommandError(f"there is no database {file}; give the server's folder with --data")
    if to is not None and not to.parent.is_dir():
        raise CommandError(f"there is no folder {to.parent}; make it, or mount what is to be there")
    target = settings.data / BACKUP_FOLDER if to is None else to
    if to is None or to.is_dir():
        target /= backup_name(datetime.now(UTC))
    with _one_line():
        size = back_up(file, target)
        deleted = prune(target.parent, keep) if keep is not None else []
    rest = f"; deleted {len(deleted)} older" if deleted else ""
    console.print(
        f"backed up {size / 1e6:.1f} MB to {target}, and checked it{rest}", soft_wrap=True
    )


def restore(
    file: Annotated[Path, typer.Argument(help="A backup.")],
    data: DataOption = None,
    database: DatabaseOption = None,
    env_file: EnvFileOption = None,
) -> None:
    """Put a backup in the place of a server's database; stop the server and its workers first.

    The replaced database is kept beside it. Games go on where they were at the backup.
    """
    settings = read_settings(env_file, data=data, database_url=database)
    target = _file(settings, "pg_restore --clean --if-exists --dbname={} meijin.dump")
    from meijin.store import Database, FileClaim  # noqa: PLC0415 - as in serve
    from meijin.store import backup as backups  # noqa: PLC0415 - as in serve

    if not file.is_file():
        backups_folder = settings.data / BACKUP_FOLDER
        raise CommandError(f"there is no {file}; name a backup, such as one in {backups_folder}")
    if target.exists() and file.samefile(target):
        raise CommandError(f"{file} is the database itself; name a backup of it")
    with _one_line(), ExitStack() as stack:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        stack.enter_context(FileClaim(settings.data / SERVER_LOCK_FILE, of=str(settings.data)))
        stack.enter_context(stack.enter_context(Database(settings.database)).claim())
        kept = backups.restore(file, target, datetime.now(UTC))
    rest = "" if kept is None else f"; what was there is {kept}"
    console.print(f"restored {file} to {target}{rest}", soft_wrap=True)


def _file(settings: "Settings", instead: str) -> Path:
    """The file of the database.

    Raises:
        CommandError: it is on a server; the message names the command to use instead.
    """
    from sqlalchemy import make_url  # noqa: PLC0415 - as in serve
    from sqlalchemy.exc import ArgumentError  # noqa: PLC0415 - as in serve

    from meijin.store.database import database_file  # noqa: PLC0415 - as in serve

    try:
        file = database_file(settings.database)
        url = make_url(settings.database).set(drivername="postgresql")
    except ArgumentError as error:
        raise CommandError(str(error)) from None
    if file is None:
        raise CommandError(
            "the database is on a PostgreSQL server; run: "
            + instead.format(url.render_as_string(hide_password=True))
        )
    return file


@contextmanager
def _one_line() -> Iterator[None]:
    """What the store refuses, in one line."""
    from meijin.store import StoreError  # noqa: PLC0415 - as in serve

    try:
        yield
    except StoreError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise unusable_file(error) from None
