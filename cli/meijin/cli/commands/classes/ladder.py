"""`meijin class ladder`: the ladder of a class, under aliases for a projector."""

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.classroom.aliases import aliases
from meijin.cli.commands.classes.rosters import ClassArgument, get_class
from meijin.cli.connection import Connection, JsonOption, with_server
from meijin.cli.errors import CommandError, unusable_file
from meijin.cli.follow import whole_table
from meijin.cli.ladder_views import ladder_table
from meijin.cli.options import LadderOption
from meijin.cli.output import console, print_json
from meijin.cli.private_files import make_folder, write_private
from meijin.v1 import ladder_service_pb2 as pb


@with_server
def ladder(
    connection: Connection,
    name: ClassArgument,
    ladder_name: LadderOption = "",
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Aliases in place of names, and no versions.")
    ] = False,
    secret: Annotated[
        Path | None,
        typer.Option(
            help="The file that the aliases hang on; CLASS/aliases.secret else, made when missing."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show where the bots of a class stand on a ladder, by their students' names or by aliases."""
    students = get_class(connection, name).students
    table = whole_table(connection, ladder_name)
    if anonymous:
        names = aliases(_secret(name, secret), [each.handle for each in students])
    else:
        names = {each.handle: each.display_name for each in students}
    shown = of_class(table, names, is_anonymous=anonymous)
    if not shown.standings:
        raise CommandError(f"no bot of {name} has rated games on {table.ladder.name}")
    if as_json:
        print_json(shown)
    else:
        console.print(ladder_table(shown, console.width))


def of_class(
    table: pb.GetStandingsResponse, names: Mapping[str, str], *, is_anonymous: bool
) -> pb.GetStandingsResponse:
    """The lines of some bots, ranked among themselves and called by other names.

    Where they are to be anonymous, what tells them apart otherwise is left out.
    """
    shown = pb.GetStandingsResponse(ladder=table.ladder)
    for row in table.standings:
        if row.bot not in names:
            continue
        line = shown.standings.add()
        line.CopyFrom(row)
        line.rank = len(shown.standings)
        line.bot = names[row.bot]
        line.ClearField("superiority")  # over the next of the whole ladder
        if is_anonymous:
            line.version = line.hardware = line.version_id = line.digest = ""
            line.nodes_per_second = 0
    return shown


def _secret(name: str, path: Path | None) -> str:
    """What the aliases hang on; made where there is none yet."""
    file = path or Path(name) / "aliases.secret"
    try:
        if kept := file.read_text().strip():
            return kept
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError) as error:
        raise unusable_file(OSError(0, str(error), str(file))) from None
    make_folder(file.parent)
    made = secrets.token_hex(16)
    write_private(file, f"{made}\n", is_new=False)
    return made
