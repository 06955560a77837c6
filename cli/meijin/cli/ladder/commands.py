"""`meijin ladder`: standings, comparisons, history, anchors and proof."""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from meijin.cli.command import Commands, Output, default_group, option
from meijin.cli.errors import CommandError
from meijin.cli.ladder.compare import compare
from meijin.cli.ladder.diagnosis import (
    LEGEND,
    calibration_lines,
    diagnosis_notes,
    diagnosis_tables,
)
from meijin.cli.ladder.exports import cite, export
from meijin.cli.ladder.history import Curves, check_picture, rating_curves, save_plot, terminal_plot
from meijin.cli.ladder.run import run as run_ladder
from meijin.cli.ladder.run import settle
from meijin.cli.ladder.standings import ladder_table, matrix_table, notes, whole_table
from meijin.cli.ladder.verification import head, verify
from meijin.cli.options import MAX_INT64, MAX_UINT32, LadderArgument, LadderOption, RunOption
from meijin.cli.output import Styled, console, print_file
from meijin.local.connection import Connection, get_tournament
from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.standings import standings_csv

CURVES = 8
"""Bots in a plot when nobody says how many."""

MOST_PLOT_COLUMNS = 120
"""Of a plot in characters, however wide what it is printed on."""


app = Commands(cls=default_group("show"), no_args_is_help=False)


app.command()(verify)
app.command()(head)
app.command("run")(run_ladder)
app.command("compare")(compare)
app.command("export")(export)
app.command("cite")(cite)
app.command()(settle)


class ExportFormat(str, Enum):
    """What a table is written as."""

    CSV = "csv"
    JSON = "json"


@app.command()
def show(
    connection: Connection,
    name: LadderArgument = "",
    top: Annotated[int, option("Only this many of the best; 0 for all.", 0, MAX_UINT32)] = 0,
    matrix: Annotated[bool, "The chance to be stronger, for each two."] = False,
    history: Annotated[bool, "A plot of the ratings day by day."] = False,
    diagnose: Annotated[bool, "Pairs, circles and trends that ratings don't explain."] = False,
    calibration: Annotated[bool, "What favourites scored, by what they were told."] = False,
    plot: Annotated[Path | None, "With --history: a PNG, SVG or PDF file to draw it in."] = None,
    run: RunOption = "",
    all_versions: Annotated[bool, "Each bot's earlier versions too."] = False,
    hardware: Annotated[str, "Only lines with this in what they say they run on."] = "",
    min_nodes_per_second: Annotated[
        int, option("Only lines that told of at least this many.", 0, MAX_INT64)
    ] = 0,
    max_nodes_per_second: Annotated[
        int, option("Only lines that told of at most this many; 0: all.", 0, MAX_INT64)
    ] = 0,
    hosted: Annotated[
        bool | None,
        typer.Option(
            "--hosted/--remote", help="Only bots that the arena runs, or only others; else all."
        ),
    ] = None,
    export: Annotated[ExportFormat | None, "Print the standings as CSV or JSON."] = None,
) -> Output:
    """Show a ladder: each bot's newest rated version with its Elo, interval, games and faults."""
    is_chosen = any((hardware, min_nodes_per_second, max_nodes_per_second, hosted is not None))
    asked = {
        "--matrix": matrix,
        "--history": history,
        "--diagnose": diagnose,
        "--calibration": calibration,
    }
    views = [view for view, is_asked in asked.items() if is_asked]
    _check_views(views, plot, run, is_csv=export is ExportFormat.CSV, is_chosen=is_chosen)
    if 0 < max_nodes_per_second < min_nodes_per_second:
        raise CommandError("--max-nodes-per-second is below --min-nodes-per-second")
    is_json = export is ExportFormat.JSON
    if matrix:
        wanted = pb.GetMatrixRequest(ladder=name, limit=top, all_versions=all_versions)
        found = connection.ask(connection.ladders.GetMatrix, wanted)
        note = Styled("the chance, in per cent, that the row is stronger than the column")
        return Output(found, [matrix_table(found), note], is_json=is_json)
    if diagnose:
        request = pb.GetDiagnosisRequest(ladder=name, run_id=run)
        diagnosis = connection.ask(connection.ladders.GetDiagnosis, request)
        return Output(diagnosis, _diagnosis_lines(diagnosis, top), is_json=is_json)
    if calibration:
        told = pb.GetCalibrationRequest(ladder=name)
        calibrated = connection.ask(connection.ladders.GetCalibration, told)
        return Output(calibrated, calibration_lines(calibrated), is_json=is_json)
    if history:
        table = whole_table(connection, name, all_versions=all_versions)
        curves = rating_curves(connection, table, top or CURVES)
        plain = {
            bot: [point._asdict() | {"day": point.day.isoformat()} for point in points]
            for bot, points in curves.items()
        }
        value = {"ladder": table.ladder.name, "curves": plain}
        return Output(value, _history_lines(table.ladder.name, curves, plot), is_json=is_json)
    table = whole_table(
        connection,
        name,
        run_id=run,
        all_versions=all_versions,
        hardware=hardware,
        min_nodes_per_second=min_nodes_per_second,
        max_nodes_per_second=max_nodes_per_second,
        hosted=hosted,
    )
    best = deepcopy(table)
    del best.standings[top or len(best.standings) :]
    if export is ExportFormat.CSV:
        return Output(best, [partial(print_file, standings_csv(best.standings))])
    settled = ""
    if table.run.final_of:
        settled = get_tournament(connection, table.run.final_of).tournament.verdict
    lines = standings_lines(table, top, is_chosen=is_chosen, settled=settled)
    return Output(best, lines, is_json=is_json)


def _check_views(
    views: Sequence[str], plot: Path | None, run: str, *, is_csv: bool, is_chosen: bool
) -> None:
    if is_chosen and views:
        raise CommandError(
            f"--hardware, --hosted and nodes per second choose lines of the standings; leave "
            f"them out with {views[0]}"
        )
    if len(views) > 1:
        raise CommandError(f"give {views[0]} or {views[1]}, not both")
    if is_csv and views:
        raise CommandError("--export csv is for the standings; use --json here")
    if run and views and views[0] != "--diagnose":
        raise CommandError(f"--run is for the standings; leave it out with {views[0]}")
    if plot is not None:
        if "--history" not in views:
            raise CommandError("--plot needs --history")
        check_picture(plot)


def standings_lines(
    table: pb.GetStandingsResponse, top: int = 0, *, is_chosen: bool = False, settled: str = ""
) -> Iterator[RenderableType | Styled]:
    if table.standings:
        yield ladder_table(table, console.width, top)
    yield from map(Styled, notes(table, settled))
    if table.HasField("run") and not table.ladder.current:
        yield f"computed from {table.run.games} of {table.ladder.games} games; being updated"
    if is_chosen:
        yield Styled("only some lines are shown; ratings are of all games")


def _diagnosis_lines(found: pb.GetDiagnosisResponse, top: int) -> Iterator[RenderableType | Styled]:
    for each in diagnosis_tables(found, top):
        yield each
        yield ""
    yield from diagnosis_notes(found)
    yield Styled(LEGEND)


def _history_lines(
    ladder: str, curves: Curves, plot: Path | None
) -> Iterator[RenderableType | Styled | Callable[[], object]]:
    title = f"Ladder {ladder}"
    if plot is not None:
        save_plot(curves, title, plot)
        yield f"drawn in {plot}"
        return
    width, color = min(console.width, MOST_PLOT_COLUMNS), console.color_system is not None
    yield partial(typer.echo, terminal_plot(curves, title, width, color=color))
    if all(len(points) == 1 for points in curves.values()):
        yield Styled("one day so far; each day (UTC) adds a point")


@app.command()
def anchors(
    connection: Connection,
    bots: Annotated[
        list[str] | None, typer.Argument(help="One to three bots; their mean will be 1500.")
    ] = None,
    none: Annotated[bool, "Relative to the mean of the established and active instead."] = False,
    force: Annotated[
        bool, "Also one that has won or lost every game, or is not linked to most others."
    ] = False,
    ladder: LadderOption = "",
) -> None:
    """Make a ladder's ratings relative to some bots, such as house bots that never change.

    Each is taken with the version it was last there with; a new version is no anchor.
    """
    if bool(bots) == none:
        raise CommandError("name one to three bots, or give --none")
    request = pb.SetAnchorsRequest(ladder=ladder, bots=bots or [], force=force)
    response = connection.ask_with_token(connection.ladders.SetAnchors, request)
    what = ", ".join(bots) if bots else "the mean of the established and active"
    console.print(
        f"{response.ladder.name} is relative to {what} from the next run on", soft_wrap=True
    )
