"""A server's database, opened by a command itself: beside the server, or without one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from meijin.cli.commands.servers import read_settings
from meijin.cli.errors import CommandError, missing_part, unusable_database


@contextmanager
def server_database(data: Path | None, database: str | None) -> Iterator[str]:
    """The URL of a server's database, whose failures are told in a line.

    Raises:
        CommandError: it isn't there, or can't be used; or the server is not installed.
    """
    try:
        from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415 - not in the bare install

        from meijin.store import StoreError  # noqa: PLC0415
        from meijin.store.database import database_file  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise missing_part(error) from None
    url = read_settings(data=data, database_url=database).database
    try:
        file = database_file(url)
        if file is not None and not file.exists():
            raise CommandError(f"there is no {file}; give the server's folder with --data")
        yield url
    except StoreError as error:
        raise CommandError(str(error)) from None
    except SQLAlchemyError as error:
        raise unusable_database(error) from None
