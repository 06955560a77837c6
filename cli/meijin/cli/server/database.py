"""A server's database, for commands that open it themselves: beside the server, or without one."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from meijin.cli.command import Output, option
from meijin.cli.errors import CommandError, in_one_line, needed_parts
from meijin.cli.output import console
from meijin.cli.server.commands import ENV_FILE_HELP, read_settings
from meijin.wire.contract import DEFAULT_DATA, SERVER_LOCK_FILE

if TYPE_CHECKING:
    from meijin.server.settings import Settings
    from meijin.store.verification import Verification


@dataclass(frozen=True, slots=True)
class ServerDatabase:
    """Where it is."""

    data: Annotated[Path | None, f"The server's data folder. \\[{DEFAULT_DATA}]"] = None
    database: Annotated[
        str | None, "The server's SQLAlchemy URL; else SQLite in the data folder."
    ] = None


@contextmanager
def server_database(where: ServerDatabase) -> Iterator[str]:
    """The URL of a server's database, whose failures are told in a line."""
    with needed_parts():
        from meijin.store.database import database_file  # noqa: PLC0415 - not in the bare install
    url = read_settings(data=where.data, database_url=where.database).database
    with in_one_line():
        file = database_file(url)
        if file is not None and not file.exists():
            raise CommandError(f"there is no {file}; give the server's folder with --data")
        yield url


@dataclass(frozen=True, slots=True)
class ServerOptions(ServerDatabase):
    """Whose database it is."""

    env_file: Annotated[Path | None, ENV_FILE_HELP] = None

    def settings(self) -> "Settings":
        return read_settings(self.env_file, data=self.data, database_url=self.database)


def backup(
    to: Annotated[
        Path | None, "A file, or a folder that is there. \\[backups in the data folder]"
    ] = None,
    keep: Annotated[
        int | None, option("Delete all but this many of the folder's backups afterwards.", 1)
    ] = None,
    *,
    server: ServerOptions,
) -> None:
    """Back up the database of a server, which may run meanwhile, and check the copy.

    The copy is one SQLite file. A server on PostgreSQL is backed up with pg_dump.
    """
    settings = server.settings()
    file = _file(settings, "pg_dump --format=custom --file=meijin.dump {}")
    from meijin.store.backup import back_up, free_backup, prune  # noqa: PLC0415 - as in serve

    if not file.is_file():
        raise CommandError(f"there is no database {file}; give the server's folder with --data")
    if to is not None and not to.parent.is_dir():
        raise CommandError(f"there is no folder {to.parent}; make it, or mount what is to be there")
    target = settings.backups if to is None else to
    if to is None or to.is_dir():
        target = free_backup(target, datetime.now(UTC))
    with in_one_line():
        size = back_up(file, target)
        deleted = prune(target.parent, keep) if keep is not None else []
    rest = f"; deleted {len(deleted)} older" if deleted else ""
    console.print(
        f"backed up {size / 1e6:.1f} MB to {target}, and checked it{rest}", soft_wrap=True
    )


def restore(file: Annotated[Path, typer.Argument(help="A backup.")], server: ServerOptions) -> None:
    """Put a backup in the place of a server's database; stop the server and its workers first.

    The replaced database is kept beside it. Games go on where they were at the backup.
    """
    settings = server.settings()
    target = _file(settings, "pg_restore --clean --if-exists --dbname={} meijin.dump")
    from meijin.store import Database, FileClaim  # noqa: PLC0415 - as in serve
    from meijin.store import backup as backups  # noqa: PLC0415 - as in serve

    if not file.is_file():
        raise CommandError(f"there is no {file}; name a backup, such as one in {settings.backups}")
    if target.exists() and file.samefile(target):
        raise CommandError(f"{file} is the database itself; name a backup of it")
    with in_one_line(), ExitStack() as stack:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        stack.enter_context(FileClaim(settings.data / SERVER_LOCK_FILE, of=str(settings.data)))
        stack.enter_context(stack.enter_context(Database(settings.database)).claim())
        kept = backups.restore(file, target, datetime.now(UTC))
    rest = "" if kept is None else f"; what was there is {kept}"
    console.print(f"restored {file} to {target}{rest}", soft_wrap=True)


def _file(settings: "Settings", instead: str) -> Path:
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


def verify(server: ServerDatabase) -> Output:
    """Prove that no acknowledged move is missing, beside a running server or without one.

    Reads the database and the log of moves through as a start does, and changes nothing: whether
    every page is whole, the chain of the log has every link up to the newest that was noted, and
    the moves of all running games follow each other on a board. Ends with 1 when they do not.
    """
    with server_database(server) as url:
        from meijin.store import Database  # noqa: PLC0415 - not in the bare install
        from meijin.store.verification import verify as read_through  # noqa: PLC0415

        with Database(url) as opened:
            found = read_through(opened)
    return Output(_as_json(found), _lines(found), typer.Exit(1) if found.failures else None)


def _lines(found: "Verification") -> list[str]:
    failures = [f"NOT whole: {failure}" for failure in found.failures]
    if found.running is None:
        return failures
    games, log = len(found.running.rows), found.running.log
    lines = [f"{games} running games with {found.moves} moves"]
    if log is not None and log.last:
        lines.append(
            f"the log of moves goes up to entry {log.last}, with the link {log.link.hex()}"
        )
    lines += failures or ["no acknowledged move is missing"]
    if failures and found.running.short:
        lines.append(f"games that may be short: {len(found.running.short)}")
    return lines


def _as_json(found: "Verification") -> dict[str, object]:
    running = found.running
    log = None if running is None else running.log
    return {
        "failures": list(found.failures),
        "running_games": 0 if running is None else len(running.rows),
        "moves": found.moves,
        "short_games": [] if running is None else [str(each) for each in sorted(running.short)],
        "entry": None if log is None else log.last,
        "link": None if log is None else log.link.hex(),
    }
