"""`meijin openings recount`: the openings' counts forgotten, for the worker to make anew."""

from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.commands.servers import read_settings
from meijin.cli.errors import CommandError, missing_part, unusable_database
from meijin.cli.output import console, count_text


def recount(
    data: Annotated[
        Path | None, typer.Option(help="The server's folder, with its database.")
    ] = None,
    database: Annotated[
        str | None, typer.Option("--database", help="The database's SQLAlchemy URL instead.")
    ] = None,
) -> None:
    """Have the worker count all openings anew, by the ratings that are published now.

    Changes the database itself, beside a running server or without one. No game is touched.
    """
    try:
        from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415 - not in the bare install

        from meijin.store import StoreError  # noqa: PLC0415
        from meijin.store.database import database_file  # noqa: PLC0415
        from meijin.store.openings.counting import forget_in  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise missing_part(error) from None
    settings = read_settings(data=data, database_url=database)
    try:
        file = database_file(settings.database)
        if file is not None and not file.exists():
            raise CommandError(f"there is no {file}; give the server's folder with --data")
        games = forget_in(settings.database)
    except StoreError as error:
        raise CommandError(str(error)) from None
    except SQLAlchemyError as error:
        raise unusable_database(error) from None
    console.print(f"{count_text(games)} will be counted anew, by the ratings of now")
