"""The standings of a ladder: asked for, and as tables and sentences."""

import time
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from operator import itemgetter
from typing import Any, TypeVar

from rich.cells import cell_len
from rich.table import Table

from meijin.cli.errors import CommandError
from meijin.cli.ladder.diagnosis import verdict
from meijin.cli.tables import TableColumn, number, table, text
from meijin.local.connection import Connection, get_tournament, read_list
from meijin.v1 import ladder_service_pb2 as pb
from meijin.v1 import tournament_service_pb2 as tournament_pb
from meijin.wire.run_notes import draws_note, foretold_note, width_note
from meijin.wire.standings import (
    COLUMNS,
    MARKS,
    MARKS_COLUMN,
    Column,
    chance_text,
    marks,
    verify_line,
    version_names,
)

TIMEOUT = timedelta(minutes=1)
"""The ladder's job may take this time."""
POLL_INTERVAL = timedelta(milliseconds=100)
"""Between two looks whether it is done."""
_Found = TypeVar("_Found")
GAP = 2
"""Cells between two columns."""


def whole_table(connection: Connection, ladder: str, **asked: Any) -> pb.GetStandingsResponse:  # noqa: ANN401 - fields of the request
    """A ladder's table with all of its pages; of an earlier run, or of some lines, if asked so."""
    request = pb.GetStandingsRequest(ladder=ladder, **asked)
    return read_list(connection.ask, connection.ladders.GetStandings, request)


def published_table(connection: Connection, ladder: str, run: str = "") -> pb.GetStandingsResponse:
    """A ladder's table with its run, of which there has to be one."""
    found = whole_table(connection, ladder, run_id=run)
    if not found.HasField("run"):
        raise CommandError(f'ladder "{found.ladder.name}" has no run yet; play rated games')
    return found


def final_standings(
    connection: Connection, tournament_id: str
) -> tuple[tournament_pb.GetTournamentResponse, pb.GetStandingsResponse]:
    """A tournament that has settled its ladder, and the standings of its final run."""

    def look() -> tournament_pb.GetTournamentResponse | None:
        found = get_tournament(connection, tournament_id)
        return found if found.tournament.final_run else None

    found = _computed(look)
    run = found.tournament.final_run
    return found, whole_table(connection, found.tournament.ladder, run_id=run)


def current_standings(connection: Connection, ladder: str) -> pb.GetStandingsResponse:
    """A ladder's standings once its job has taken in every finished game."""

    def look() -> pb.GetStandingsResponse | None:
        found = whole_table(connection, ladder)
        return found if found.ladder.current else None

    return _computed(look)


def _computed(look: Callable[[], _Found | None]) -> _Found:
    """What the ladder's job comes to in its time."""
    deadline = time.monotonic() + TIMEOUT.total_seconds()
    while time.monotonic() < deadline:
        if (found := look()) is not None:
            return found
        time.sleep(POLL_INTERVAL.total_seconds())
    limit = f"{TIMEOUT.total_seconds():g} s"
    raise CommandError(f"the ladder was not computed within {limit}; is a worker running?")


def ladder_table(response: pb.GetStandingsResponse, width: int, top: int = 0) -> Table:
    """A ladder's standings, as many columns of them as the screen has room for.

    What all run on is a note, and no column.
    """
    rows = list(
        zip(response.standings[: top or None], version_names(response.standings), strict=False)
    )
    left = (text("#", lambda row: row[0].rank), text("bot", itemgetter(1)))
    left_out = {"rank", "bot", "hardware" if _shared_hardware(response) else ""}
    rest = [column for column in COLUMNS.values() if column.name not in left_out]
    kept = [each for each in (MARKS_COLUMN, *rest) if any(each.cell(row) for row, _ in rows)]
    while _width(shown := [*left, *map(_plain, kept)], rows) > width and kept:
        kept.remove(max(reversed(kept), key=lambda column: column.drop))
    return table(f"Ladder {response.ladder.name}", shown, rows)


def _shared_hardware(response: pb.GetStandingsResponse) -> str:
    """What all lines run on; empty where they differ."""
    told = {row.hardware for row in response.standings}
    return told.pop() if len(told) == 1 else ""


def _plain(column: Column) -> TableColumn:
    return number(column.title, lambda row: column.cell(row[0]))


def _width(columns: Iterable[TableColumn], rows: Sequence[tuple[pb.Standing, str]]) -> int:
    cells = ([column.title, *(str(column.cell(row)) for row in rows)] for column in columns)
    return sum(GAP + max(map(cell_len, each)) for each in cells)


def notes(response: pb.GetStandingsResponse, settled: str = "") -> list[str]:
    """What is said below the table.

    Args:
        settled: The verdict of the tournament whose final run it is.
    """
    run, rows = response.run, response.standings
    if not response.HasField("run"):
        return [f"{response.ladder.name}: no ratings yet; the first rated games bring them"]
    left_out = f", {run.repeats} repeats left out" if run.repeats else ""
    time, checksum = f"{run.create_time.ToDatetime():%Y-%m-%d %H:%M} UTC", run.checksum[:12]
    said = [
        f"run {run.run_id} of {time} from {run.games} games{left_out}; checksum {checksum}",
        f"± is half of the 95 % interval relative to {_mean(rows)} at 1500",
        f"moving first is worth {run.advantage:+.0f} Elo{_priors(run)}",
        f"100 Elo more score {run.score_at_100:.1%}",
    ]
    found = (draws_note(run), width_note(run.overdispersion), foretold_note(response.foretold))
    said += filter(None, found)
    if hardware := _shared_hardware(response):
        said.append(f"all ran on {hardware}, as they say")
    if run.fit.rejected:
        said.append(f"{verdict(run.fit)}; see --diagnose")
    if run.final_of:
        final = f"the final run of tournament {run.final_of}, which settled the ladder"
        said.append(f"{final}: {settled}" if settled else final)
    if seen := {mark for row in rows for mark in marks(row)}:
        said.append("; ".join(f"{mark} {MARKS[mark].meaning}" for mark in MARKS if mark in seen))
    return said


def _mean(rows: Iterable[pb.Standing]) -> str:
    """Of whom 1500 is the mean: of all, as long as nobody has played enough."""
    if any(row.anchor for row in rows):
        return "the anchors"
    if all(row.provisional for row in rows):
        return "the mean of all"
    return "the mean of the established and active"


def _priors(run: pb.RatingRun) -> str:
    """How far openings and versions deviate, as far as the run tells."""
    said = ""
    if run.opening_is_sure:
        said += f", give or take {run.opening_deviation:.0f} with the opening"
    if run.HasField("lineage_deviation"):
        said += f"; versions deviate from their parents by {run.lineage_deviation:.0f}"
    return said


def final_lines(response: pb.GetStandingsResponse) -> list[str]:
    run, name = response.run, response.ladder.name
    return [
        f"final run {run.run_id} of {name} from {run.games} games; checksum {run.checksum}",
        verify_line(name, run.run_id),
    ]


def matrix_table(response: pb.GetMatrixResponse) -> Table:
    """The chances that the row's version is stronger than the column's, in per cent."""
    rows = list(
        zip(response.rows, version_names(row.standing for row in response.rows), strict=True)
    )

    def against(place: int) -> TableColumn:
        def cell(row: tuple[pb.MatrixRow, str]) -> str:
            own = row is rows[place]
            return "·" if own else chance_text(row[0].cells[place].superiority)

        return number(_rank(rows[place]), cell)

    columns = (
        text("#", _rank),
        text("bot", itemgetter(1)),
        number("Elo", lambda row: COLUMNS["elo"].cell(row[0].standing)),
        *map(against, range(len(rows))),
    )
    return table(f"Ladder {response.ladder.name}", columns, rows)


def _rank(row: tuple[pb.MatrixRow, str]) -> str:
    return str(row[0].standing.rank or "-")
