"""`meijin ladder verify`: a run computed again from the games."""

from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.commands.server_database import server_database
from meijin.cli.connection import JsonOption
from meijin.cli.options import MAX_INT64, LadderArgument
from meijin.cli.output import print_json


def verify(
    name: LadderArgument = "",
    run: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_INT64, help="A run by its number; else the newest."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="The server's folder, with its database.")
    ] = None,
    database: Annotated[
        str | None, typer.Option("--database", help="The database's SQLAlchemy URL instead.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compute a run again from the log of games, and compare it to the last byte.

    Reads the database itself, beside a running server or without one, and trusts no number in
    it but the games. Ends with 1 when the run is not what its games say.
    """
    with server_database(data, database) as url:
        from meijin.ladder.verify import verify_named  # noqa: PLC0415 - not in the bare install

        found = verify_named(url, name, run)
    if as_json:
        print_json(
            {
                "ladder": found.ladder,
                "run": str(found.run.id),
                "games": found.run.games,
                "checksum": found.run.checksum,
                "voided_since": found.voided_since,
                "differences": list(found.differences),
            }
        )
    else:
        subject = f"{found.ladder}, run {found.run.id} of {found.run.games} games"
        if found.differences:
            typer.echo(f"{subject}: NOT what the games say: {', '.join(found.differences)}")
        else:
            typer.echo(f"{subject}: as the games say, byte for byte ({found.run.checksum})")
        if found.voided_since:
            typer.echo(f"it stands for its time: games voided since: {found.voided_since}")
    if found.differences:
        raise typer.Exit(1)
