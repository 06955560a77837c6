"""`meijin openings`: books of openings, read in any form and judged; and what was played."""

from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.commands.explored_openings import explore
from meijin.cli.commands.game_export import ForceOption, OutputOption
from meijin.cli.commands.recounted_openings import recount
from meijin.cli.errors import CommandError
from meijin.cli.opening_files import openings_in
from meijin.cli.options import DEFAULT_VARIANT, VariantOption
from meijin.cli.output import PlainConsole, console
from meijin.cli.record_files import text_output
from meijin.game import Color, Opening, Variant, format_opening
from meijin.game.openings.file import MAX_OPENING_PLIES

app = typer.Typer(
    help="Explore what was played, read books of openings, and judge them.", no_args_is_help=True
)

app.command()(explore)
app.command()(recount)

FileArgument = Annotated[
    Path,
    typer.Argument(
        help='A file with an opening a line: "h8 i9", "h8i9", or offsets from the centre, '
        '"0,0, 1,-1"; or games in SGF or RIF.',
        metavar="FILE",
    ),
]
PliesOption = Annotated[
    int | None,
    typer.Option(min=1, max=MAX_OPENING_PLIES, help="Moves to take of a game in SGF or RIF."),
]


@app.command("list")
def list_(
    file: FileArgument,
    variant: VariantOption = DEFAULT_VARIANT,
    plies: PliesOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Write the openings of a file in one form, a line each, for --openings to read."""
    board = _variant(variant)
    openings = openings_in(file, board, plies)
    with text_output(output, force=force) as write:
        for opening in openings:
            write(format_opening(opening, board) + "\n")


@app.command()
def vet(
    file: FileArgument,
    variant: VariantOption = DEFAULT_VARIANT,
    plies: PliesOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Judge a book by a search: keep what favours neither side, and tell what was thrown out.

    The search counts positions, not time, so the verdicts are the same everywhere. An opening
    goes where the side ahead would score more than 62% by it.
    """
    board = _variant(variant)
    openings = openings_in(file, board, plies)
    told = PlainConsole(stderr=True)
    kept = 0
    with text_output(output, force=force) as write:
        for opening in openings:
            score = _imbalance(opening, board)
            line = format_opening(opening, board)
            if score is None:
                kept += 1
                write(f"{line}\n")
            else:
                told.print(f"thrown out: {line}: {_ahead(opening, score)}", soft_wrap=True)
    told.print(f"{kept} of {len(openings)} openings kept")
    if output is not None:
        console.print(f"written to {output}", soft_wrap=True)


def _variant(text: str) -> Variant:
    try:
        return Variant.parse(text)
    except ValueError as error:
        raise CommandError(str(error)) from None


def _imbalance(opening: Opening, variant: Variant) -> int | None:
    try:
        from meijin.bots.core.balance import imbalance  # noqa: PLC0415 - needs numba
    except ModuleNotFoundError as error:
        raise CommandError(
            f"{error.name} is not installed; run: pip install 'meijin[bots]'"
        ) from None
    try:
        return imbalance(opening, variant)
    except ValueError as error:  # the search plays fewer variants than there are
        raise CommandError(str(error)) from None


def _ahead(opening: Opening, score: int) -> str:
    """Who is ahead, and by how much."""
    to_move = (Color.BLACK, Color.WHITE)[len(opening) % 2]
    ahead = to_move if score > 0 else to_move.other
    return f"{ahead.name.lower()} is ahead by {abs(score)}"
