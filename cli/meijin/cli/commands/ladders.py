"""`meijin ladder`: standings, comparisons, history, anchors and proof."""

from collections.abc import Sequence
from datetime import UTC, date
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from meijin.cli.commands.ladder_compare import compare
from meijin.cli.commands.ladder_export import cite, export
from meijin.cli.commands.ladder_run import run as run_ladder
from meijin.cli.commands.ladder_run import settle
from meijin.cli.commands.ladder_verify import verify
from meijin.cli.connection import PAGE, Connection, JsonOption, pages, with_server
from meijin.cli.diagnosis_views import diagnosis_notes, diagnosis_tables
from meijin.cli.errors import CommandError
from meijin.cli.follow import EVERY_MACHINE, Machines, whole_table
from meijin.cli.ladder_views import ladder_table, matrix_table, notes, version_names
from meijin.cli.options import MAX_INT64, MAX_UINT32, LadderArgument, LadderOption
from meijin.cli.output import console, print_file, print_json
from meijin.cli.plots import Point, check_picture, save_plot, terminal_plot
from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.standings import standings_csv

CURVES = 8
"""Bots in a plot when nobody says how many."""

MOST_PLOT_COLUMNS = 120
"""Of a plot in characters, however wide what it is printed on."""


class LadderGroup(TyperGroup):
    """Shows the standings when its first word is none of its commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's own
        """Put `show` in front where no command is named."""
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["show", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=LadderGroup,
    help="Show a ladder, compare bots, set anchors, and prove a run. "
    "`meijin ladder NAME` is short for `meijin ladder show NAME`.",
)

app.command()(verify)
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
@with_server
def show(
    connection: Connection,
    name: LadderArgument = "",
    top: Annotated[
        int, typer.Option(min=0, max=MAX_UINT32, help="Only so many of the best; 0 for all.")
    ] = 0,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="The chance to be stronger, for each two.")
    ] = False,
    history: Annotated[
        bool, typer.Option("--history", help="A plot of the ratings day by day.")
    ] = False,
    diagnose: Annotated[
        bool,
        typer.Option("--diagnose", help="Pairs, circles and trends that ratings don't explain."),
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="With --history: a PNG, SVG or PDF file to draw it in.")
    ] = None,
    run: Annotated[str, typer.Option(help="An earlier run by its number.")] = "",
    all_versions: Annotated[
        bool, typer.Option("--all-versions", help="Each bot's earlier versions too.")
    ] = False,
    hardware: Annotated[
        str, typer.Option(help="Only lines with this in what they say they run on.")
    ] = "",
    min_nodes_per_second: Annotated[
        int, typer.Option(min=0, max=MAX_INT64, help="Only lines that told of at least so many.")
    ] = 0,
    max_nodes_per_second: Annotated[
        int,
        typer.Option(min=0, max=MAX_INT64, help="Only lines that told of at most so many; 0: all."),
    ] = 0,
    export: Annotated[
        ExportFormat | None, typer.Option(help="Print the standings as CSV or JSON.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show a ladder: each bot's newest rated version with its Elo, interval, games and faults."""
    as_json = as_json or export is ExportFormat.JSON
    machines = Machines(hardware, min_nodes_per_second, max_nodes_per_second)
    views = {"--matrix": matrix, "--history": history, "--diagnose": diagnose}
    _check_views(
        [view for view, is_asked in views.items() if is_asked], plot, run, export, machines
    )
    if matrix:
        _show_matrix(connection, name, top, all_versions=all_versions, as_json=as_json)
    elif history:
        table = whole_table(connection, name, all_versions=all_versions)
        _show_history(connection, table, top or CURVES, plot, as_json=as_json)
    elif diagnose:
        _show_diagnosis(connection, name, run, top, as_json=as_json)
    else:
        response = whole_table(connection, name, run, all_versions=all_versions, machines=machines)
        _show_standings(response, top, is_csv=export is ExportFormat.CSV, as_json=as_json)
        if machines != EVERY_MACHINE and not as_json and export is None:
            console.print("only some lines are shown; ratings are of all games", style="dim")


def _check_views(
    views: Sequence[str],
    plot: Path | None,
    run: str,
    export: ExportFormat | None,
    machines: Machines,
) -> None:
    if machines != EVERY_MACHINE and views:
        raise CommandError(
            f"--hardware and nodes per second choose lines of the standings; leave "
            f"them out with {views[0]}"
        )
    if 0 < machines.max_nodes < machines.min_nodes:
        raise CommandError("--max-nodes-per-second is below --min-nodes-per-second")
    if len(views) > 1:
        raise CommandError(f"give {views[0]} or {views[1]}, not both")
    if export is ExportFormat.CSV and views:
        raise CommandError("--export csv is for the standings; use --json here")
    if run and views and views[0] != "--diagnose":
        raise CommandError("--run is for the standings; leave it out with --matrix and --history")
    if plot is not None:
        if "--history" not in views:
            raise CommandError("--plot needs --history")
        check_picture(plot)


def _show_standings(
    response: pb.GetStandingsResponse, top: int, *, is_csv: bool, as_json: bool
) -> None:
    if (as_json or is_csv) and top:
        del response.standings[top:]
    if as_json:
        print_json(response)
        return
    if is_csv:
        print_file(standings_csv(response.standings))
        return
    if response.standings:
        console.print(ladder_table(response, console.width, top))
    for note in notes(response):
        console.print(note, style="dim")
    if response.HasField("run") and not response.ladder.current:
        rated = response.run.games
        console.print(f"computed from {rated} of {response.ladder.games} games; being updated")


def _show_matrix(
    connection: Connection, name: str, top: int, *, all_versions: bool, as_json: bool
) -> None:
    request = pb.GetMatrixRequest(ladder=name, limit=top, all_versions=all_versions)
    response = connection.ask(connection.ladders.GetMatrix, request)
    if as_json:
        print_json(response)
    else:
        console.print(matrix_table(response))
        console.print(
            "the chance, in per cent, that the row is stronger than the column", style="dim"
        )


def _show_diagnosis(
    connection: Connection, name: str, run: str, top: int, *, as_json: bool
) -> None:
    request = pb.GetDiagnosisRequest(ladder=name, run_id=run)
    response = connection.ask(connection.ladders.GetDiagnosis, request)
    if as_json:
        print_json(response)
        return
    for each in diagnosis_tables(response, top):
        console.print(each)
        console.print()
    for note in diagnosis_notes(response):
        console.print(note)
    console.print(
        "z: standard deviations from what ratings let expect; p: the chance of one so large "
        "anywhere in the ladder; sure: more than chance",
        style="dim",
    )


# -- history ----------------------------------------------------------------------


def _show_history(
    connection: Connection,
    table: pb.GetStandingsResponse,
    top: int,
    plot: Path | None,
    *,
    as_json: bool,
) -> None:
    if not table.HasField("run"):
        raise CommandError(f'ladder "{table.ladder.name}" has no ratings yet; play rated games')
    curves = _curves(connection, table, top)
    if as_json:
        print_json({"ladder": table.ladder.name, "curves": _plain(curves)})
        return
    title = f"Ladder {table.ladder.name}"
    if plot is not None:
        save_plot(curves, title, plot)
        typer.echo(f"drawn in {plot}")
        return
    text = terminal_plot(
        curves, title, min(console.width, MOST_PLOT_COLUMNS), color=console.color_system is not None
    )
    typer.echo(text)
    if all(len(points) == 1 for points in curves.values()):
        console.print("one day so far; each day (UTC) adds a point", style="dim")


def _curves(
    connection: Connection, table: pb.GetStandingsResponse, top: int
) -> dict[str, list[Point]]:
    """The best versions' ratings at the end of each day, and now."""
    names = version_names(table.standings)
    today = table.run.create_time.ToDatetime(UTC).date()
    curves = {}
    for row in table.standings[:top]:
        past = [
            Point(date.fromisoformat(rating.day), rating.elo, rating.margin)
            for rating in _ratings(connection, table.ladder.name, row.bot)
            if rating.version == row.version and rating.day < today.isoformat()
        ]
        now = Point(today, row.elo, row.margin)
        curves[names[row.bot, row.version]] = [*reversed(past), now]
    return curves


def _ratings(connection: Connection, ladder: str, bot: str) -> list[pb.DayRating]:
    """All of a bot's ratings, newest first."""
    request = pb.ListRatingsRequest(ladder=ladder, bot=bot, page_size=PAGE)
    found = pages(connection.ask, connection.ladders.ListRatings, request)
    return [rating for page in found for rating in page.ratings]


def _plain(curves: dict[str, list[Point]]) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [
            {"day": point.day.isoformat(), "elo": point.elo, "margin": point.margin}
            for point in points
        ]
        for name, points in curves.items()
    }


# -- anchors ---------------------------------------------------------------------


@app.command()
@with_server
def anchors(
    connection: Connection,
    bots: Annotated[
        list[str] | None, typer.Argument(help="One to three bots; their mean will be 1500.")
    ] = None,
    none: Annotated[
        bool,
        typer.Option("--none", help="Relative to the mean of the established and active instead."),
    ] = False,
    ladder: LadderOption = "",
) -> None:
    """Make a ladder's ratings relative to some bots, such as house bots that never change.

    Each is taken with the version it was last there with; a new version is no anchor.
    """
    if bool(bots) == none:
        raise CommandError("name one to three bots, or give --none")
    request = pb.SetAnchorsRequest(ladder=ladder, bots=bots or [])
    response = connection.ask_with_token(connection.ladders.SetAnchors, request)
    what = ", ".join(bots) if bots else "the mean of the established and active"
    console.print(
        f"{response.ladder.name} is relative to {what} from the next run on", soft_wrap=True
    )
