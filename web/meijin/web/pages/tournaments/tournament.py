"""The list of tournaments, and the page of one: standings, rounds or crosstable, and its test."""

import asyncio
from functools import partial

from starlette.responses import Response

from meijin.v1 import game_pb2, game_service_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.pages.tournaments.crosstable import crosstable, crosstable_csv, share
from meijin.web.pages.tournaments.files import KINDS, game_file
from meijin.web.pages.tournaments.progress import (
    elo_chart,
    last_end,
    leaders,
    llr_chart,
    pace_of,
    rounds_of,
)
from meijin.web.refusals import not_found
from meijin.web.request import Page, PageRequest, Private
from meijin.wire.match_report import evidence_text

LISTED = 50
"""Tournaments of a page of the list."""

SHOWN = 20
"""Games of a tournament; the rest has pages of its own."""

LAST_ENDED = 5
"""Games with a result that tell when the last one came."""

MAX_COLUMNS = 60
"""Bots of a crosstable that is shown; a larger one is to be had as a file."""

MAX_MEETINGS = 400
"""Of the newest rounds; a bracket of 512 bots has one less than 400 behind its first round."""

MAX_STANDINGS = 200

MAX_LEVEL = 4
"""Bots that are named where several share the first place."""

POINTS = 400
"""Of a test's path."""


async def show_list(request: PageRequest) -> LazyPage:
    """List tournaments, the newest first."""
    asked = pb.ListTournamentsRequest(page_size=LISTED, with_leaders=True)
    tournaments = request.services.tournaments.ListTournaments
    return await request.list_page("tournaments.html", tournaments, asked)


async def show(request: PageRequest) -> LazyPage:
    key, services = request.path["tournament"], request.services
    finished = game_pb2.GAME_STATE_FINISHED
    found, games, ended = await asyncio.gather(
        services.tournaments.GetTournament(pb.GetTournamentRequest(tournament_id=key)),
        services.games.ListGames(
            game_service_pb2.ListGamesRequest(tournament_id=key, page_size=SHOWN)
        ),
        services.games.ListGames(
            game_service_pb2.ListGamesRequest(
                tournament_id=key, state=finished, page_size=LAST_ENDED
            )
        ),
    )
    path = pb.ListTestPointsResponse()
    if found.tournament.HasField("sprt"):
        points = pb.ListTestPointsRequest(tournament_id=key, max_points=POINTS)
        path = await services.tournaments.ListTestPoints(points)
    return request.page(
        "tournament.html",
        found=found,
        games=games.games,
        ended=ended.games,
        path=path,
        pace=lambda: pace_of(found.tournament, last_end(found.tournament, ended.games)),
        crosstable=crosstable,
        share=share,
        leaders=leaders,
        max_level=MAX_LEVEL,
        rounds_of=partial(rounds_of, most=MAX_MEETINGS),
        llr_chart=llr_chart,
        evidence_text=evidence_text,
        elo_chart=elo_chart,
        max_standings=MAX_STANDINGS,
        max_columns=MAX_COLUMNS,
    )


async def crosstable_file(request: PageRequest) -> LazyPage:
    found = await _found(request)
    name = f"tournament-{found.tournament.tournament_id}-crosstable.csv"
    return LazyPage((found,), partial(crosstable_csv, found), "text/csv; charset=utf-8", name)


async def games_file(request: PageRequest) -> Response:
    ending = request.path["ending"]
    if ending not in KINDS:
        raise not_found(f'no file of games ends in "{ending}"; there are: {", ".join(KINDS)}')
    key = (await _found(request)).tournament.tournament_id
    return game_file(request.services, key, ending, request.site.closing)


async def _found(request: PageRequest) -> pb.GetTournamentResponse:
    asked = pb.GetTournamentRequest(tournament_id=request.path["tournament"])
    return await request.services.tournaments.GetTournament(asked)


ROUTES = (
    Page("/tournaments", show_list),
    Page("/tournaments/{tournament}", show),
    Page("/tournaments/{tournament}/crosstable.csv", crosstable_file),
    Private("/tournaments/{tournament}/games.{ending}", games_file),
)
