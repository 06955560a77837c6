"""`meijin ladder export` and `cite`: a published run for other tools and for papers."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.connection import Connection, JsonOption, with_server
from meijin.cli.errors import CommandError, unusable_file
from meijin.cli.ladder_exports import RunFormat, citation, export_run, manifest, published_table
from meijin.cli.options import LadderArgument
from meijin.cli.output import console, print_file, print_json, replaced


@with_server
def export(
    connection: Connection,
    form: Annotated[
        RunFormat,
        typer.Argument(
            metavar="FORMAT",
            help="pairs: who met whom, as CSV. pgn: the games without moves, for BayesElo and "
            "Ordo. npz: ratings and covariances, for numpy. manifest: the run itself, as JSON.",
        ),
    ],
    name: LadderArgument = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file; else standard output.")
    ] = None,
) -> None:
    """Write a ladder's published run for other tools.

    In PGN the one who moved first is "White", since that is whose advantage the tools know;
    in Gomoku it has the black stones.
    """
    if output is None and form is RunFormat.NPZ and sys.stdout.isatty():
        raise CommandError("npz is no text; give a file with --output")
    if output is None:
        export_run(connection, name, form, sys.stdout.buffer)
        return
    try:
        with replaced(output) as file:
            export_run(connection, name, form, file)
    except OSError as error:
        raise unusable_file(error) from None
    console.print(f"written to {output}", soft_wrap=True)


@with_server
def cite(
    connection: Connection,
    name: LadderArgument = "",
    run: Annotated[str, typer.Option(help="An earlier run by its number.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Print how to cite a ladder's run, with a BibTeX entry, and how to check it."""
    table = published_table(connection, name, run)
    if as_json:
        print_json(manifest(table))
    else:
        print_file(f"{citation(table)}\n")
