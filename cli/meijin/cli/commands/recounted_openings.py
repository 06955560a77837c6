"""`meijin openings recount`: the openings' counts forgotten, for the worker to make anew."""

from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.commands.server_database import server_database
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
    with server_database(data, database) as url:
        from meijin.store.openings.counting import forget_in  # noqa: PLC0415 - not in the bare install

        games = forget_in(url)
    console.print(f"{count_text(games)} will be counted anew, by the ratings of now")
