"""Who is the stronger: a heat map of each two of some versions, and two bots head to head."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from urllib.parse import quote_plus

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.forms import OFFERED
from meijin.web.pages.ladders.names import LadderName
from meijin.web.pages.ladders.reading import as_json, chosen_bots, csv_file, query_of
from meijin.web.refusals import bad_request
from meijin.web.request import Page, PageRequest
from meijin.wire.standings import (
    added,
    chance_text,
    results,
    version_names,
)
from meijin.wire.text import spreadsheet_text

SIZE, MAX_SIZE = 20, 100
"""Rows when nobody says how many, and the most: each two are a cell."""
SIZES = (10, 20, 50, 100)
STEPS = 10
"""Colours of cells."""
MAX_AGE = timedelta(seconds=10)


async def _matrix(request: PageRequest) -> pb.GetMatrixResponse:
    bots = chosen_bots(request, MAX_SIZE)
    limit = request.number("top", MAX_SIZE if bots else SIZE, least=2, most=MAX_SIZE)
    asked = pb.GetMatrixRequest(ladder=request.path["name"], bots=bots, limit=limit)
    asked.all_versions = request.flag("versions")
    return await request.services.ladders.GetMatrix(asked)


async def show_matrix(request: PageRequest) -> LazyPage:
    matrix = await _matrix(request)
    return request.page(
        "ladders/matrix.html",
        matrix=matrix,
        name=LadderName.parse(matrix.ladder.name),
        bots=chosen_bots(request, MAX_SIZE),
        limit=request.number("top", SIZE, least=2, most=MAX_SIZE),
        query=query_of(request),
        sizes=SIZES,
        names=version_names((row.standing for row in matrix.rows), request.site.names.shown),
        cells=cells_of,
    )


def cells_of(matrix: pb.GetMatrixResponse, place: int) -> Iterator[tuple[int, str, str, str]]:
    """The cells of a row: colour, the opponent as addresses have it, score and chance.

    The opponent is empty where the two are of one bot.
    """
    own = matrix.rows[place].standing.bot
    for other, (row, cell) in enumerate(zip(matrix.rows, matrix.rows[place].cells, strict=True)):
        bot, chance = row.standing.bot, cell.superiority
        address = "" if bot == own else quote_plus(bot)
        text = "·" if other == place else chance_text(chance)
        yield round(STEPS * chance), address, results(cell.score), text


async def show_matrix_csv(request: PageRequest) -> LazyPage:
    """The chances as CSV, in full precision."""
    matrix = await _matrix(request)
    return csv_file(f"{matrix.ladder.name}-matrix", partial(_rows, matrix), matrix)


def _rows(matrix: pb.GetMatrixResponse) -> Iterator[Sequence[object]]:
    names = [spreadsheet_text(name) for name in version_names(row.standing for row in matrix.rows)]
    yield ("bot", *names)
    for place, (name, row) in enumerate(zip(names, matrix.rows, strict=True)):
        cells = ["" if place == other else cell.superiority for other, cell in enumerate(row.cells)]
        yield (name, *cells)


async def _met(request: PageRequest) -> pb.GetHeadToHeadResponse:
    bot, opponent = request.text("bot"), request.text("opponent")
    if not (bot and opponent):
        raise bad_request("name two bots: ?bot=...&opponent=...")
    asked = pb.GetHeadToHeadRequest(ladder=request.path["name"], bot=bot, opponent=opponent)
    return await request.services.ladders.GetHeadToHead(asked)


async def show_head_to_head(request: PageRequest) -> LazyPage:
    """Show what two bots scored against each other, and what is to be expected.

    Where the address does not name two there is but the choice.
    """
    ladder, bots = request.path["name"], [request.text(name) for name in ("bot", "opponent")]
    ranked = pb.GetStandingsRequest(ladder=ladder, page_size=OFFERED)
    standings = (await request.services.ladders.GetStandings(ranked)).standings
    return request.page(
        "ladders/head_to_head.html",
        met=await _met(request) if all(bots) else None,
        bots=bots,
        names=[each.bot for each in standings],
        name=LadderName.parse(request.path["name"]),
        added=added,
    )


ROUTES = (
    Page("/ladders/{name}/matrix.csv", show_matrix_csv, MAX_AGE),
    Page("/ladders/{name}/matrix.json", as_json(_matrix), MAX_AGE),
    Page("/ladders/{name}/matrix", show_matrix, MAX_AGE),
    Page("/ladders/{name}/head-to-head.json", as_json(_met)),
    Page("/ladders/{name}/head-to-head", show_head_to_head),
)
