"""Reading ladders: whole tables, however many calls they take."""

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.gateway import Services

PAGE = 1000
MAX_LINES = 10_000
"""Of a table; no ladder is known that has a tenth of them."""


async def whole_table(
    services: Services, request: pb.GetStandingsRequest
) -> pb.GetStandingsResponse:
    """All lines that a request asks for, as one answer."""
    asked = pb.GetStandingsRequest()
    asked.CopyFrom(request)
    asked.page_size = PAGE
    page = await services.ladders.GetStandings(asked)
    if not page.next_page_token:
        return page
    whole = pb.GetStandingsResponse(ladder=page.ladder, run=page.run, standings=page.standings)
    while page.next_page_token and len(whole.standings) < MAX_LINES:
        asked.page_token = page.next_page_token
        page = await services.ladders.GetStandings(asked)
        whole.standings.extend(page.standings)
    return whole


async def ladder_names(services: Services) -> pb.ListLaddersResponse:
    """The names of all ladders, without what changes with every game."""
    found = await services.ladders.ListLadders(pb.ListLaddersRequest(page_size=PAGE))
    return pb.ListLaddersResponse(ladders=[pb.Ladder(name=each.name) for each in found.ladders])
