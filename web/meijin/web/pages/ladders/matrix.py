"""Who is the stronger, for each two of some versions: a heat map."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from urllib.parse import quote_plus

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.drafts import Draft
from meijin.web.pages.ladders.bots import chosen_bots
from meijin.web.pages.ladders.downloads import csv_draft, json_draft, message_json
from meijin.web.pages.ladders.names import LadderName
from meijin.web.routes import Page
from meijin.web.visit import Visit
from meijin.wire.text import spreadsheet_text

SIZE, MAX_SIZE = 20, 100
"""Rows when nobody says how many, and the most: each two are a cell."""
SIZES = (10, 20, 50, 100)
STEPS = 10
"""Colours of cells."""
MAX_AGE = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Cell:
    """What is known of two, from the row's side."""

    text: str
    """The chance that the row is the stronger, in per cent."""
    step: int
    """Its colour, 0 to `STEPS`."""
    opponent: str
    """The column's bot as addresses have it; empty where the two are of one bot."""
    score: str
    """What the row's scored."""


@dataclass(frozen=True, slots=True)
class Row:
    """A version with its cells."""

    rank: int
    name: str
    bot: str
    elo: float
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class MatrixView:
    """What the page of a matrix shows."""

    ladder: pb.Ladder
    name: LadderName
    rows: Sequence[Row]
    bots: Sequence[str]
    """Those that were chosen; none for the best."""
    limit: int
    sizes: Sequence[int]
    steps: Sequence[int]
    query: str


async def _matrix(visit: Visit) -> pb.GetMatrixResponse:
    bots = chosen_bots(visit, MAX_SIZE)
    limit = visit.number("top", MAX_SIZE if bots else SIZE, least=2, most=MAX_SIZE)
    request = pb.GetMatrixRequest(ladder=visit.place("name"), bots=bots, limit=limit)
    request.all_versions = visit.flag("versions")
    return await visit.services.ladders.GetMatrix(request)


async def show(visit: Visit) -> Draft:
    """Show the chances of each two."""
    matrix, bots = await _matrix(visit), chosen_bots(visit, MAX_SIZE)
    limit = visit.number("top", SIZE, least=2, most=MAX_SIZE)
    query = visit.address().partition("?")[2]

    def view() -> MatrixView:
        return MatrixView(
            ladder=matrix.ladder,
            name=LadderName.parse(matrix.ladder.name),
            rows=matrix_rows(matrix),
            bots=bots,
            limit=limit,
            sizes=SIZES,
            steps=range(STEPS + 1),
            query=query,
        )

    return visit.page("ladders/matrix.html", view, matrix)


def matrix_rows(matrix: pb.GetMatrixResponse) -> list[Row]:
    """The rows of a matrix as they are shown."""
    names, bots = version_names(matrix), [row.standing.bot for row in matrix.rows]
    opponents = [(bot, quote_plus(bot)) for bot in bots]
    return [
        Row(
            rank=row.standing.rank,
            name=names[place],
            bot=row.standing.bot,
            elo=row.standing.elo,
            cells=[
                _cell(cell, "" if bot == bots[place] else address, is_own=place == other)
                for other, (cell, (bot, address)) in enumerate(
                    zip(row.cells, opponents, strict=True)
                )
            ],
        )
        for place, row in enumerate(matrix.rows)
    ]


def version_names(matrix: pb.GetMatrixResponse) -> list[str]:
    """What the rows are called: by their bots, and by their labels where a bot has several."""
    several = Counter(row.standing.bot for row in matrix.rows)
    return [
        f"{row.standing.bot} {row.standing.version}".rstrip()
        if several[row.standing.bot] > 1
        else row.standing.bot
        for row in matrix.rows
    ]


def _cell(cell: pb.MatrixCell, opponent: str, *, is_own: bool) -> Cell:
    score = cell.score
    return Cell(
        text="·" if is_own else chance_text(cell.superiority),
        step=round(STEPS * cell.superiority),
        opponent=opponent,
        score=f"{score.wins}-{score.draws}-{score.losses}",
    )


def chance_text(share: float) -> str:
    """In whole per cent, and no 0 or 100 for what may be otherwise."""
    if 0 < share < 0.01:  # noqa: PLR2004 - one per cent
        return "<1"
    if 0.99 < share < 1:  # noqa: PLR2004
        return ">99"
    return f"{100 * share:.0f}"


async def show_csv(visit: Visit) -> Draft:
    """The chances as CSV, in full precision."""
    matrix = await _matrix(visit)
    return csv_draft(f"{matrix.ladder.name}-matrix", partial(_csv, matrix), matrix)


def _csv(matrix: pb.GetMatrixResponse) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    names = [spreadsheet_text(name) for name in version_names(matrix)]
    writer.writerow(("bot", *names))
    for place, (name, row) in enumerate(zip(names, matrix.rows, strict=True)):
        cells = ["" if place == other else cell.superiority for other, cell in enumerate(row.cells)]
        writer.writerow((name, *cells))
    return file.getvalue()


async def show_json(visit: Visit) -> Draft:
    """The contract's answer as JSON."""
    matrix = await _matrix(visit)
    return json_draft(partial(message_json, matrix), matrix)


ROUTES = (
    Page("/ladders/{name}/matrix.csv", show_csv, MAX_AGE),
    Page("/ladders/{name}/matrix.json", show_json, MAX_AGE),
    Page("/ladders/{name}/matrix", show, MAX_AGE),
)
