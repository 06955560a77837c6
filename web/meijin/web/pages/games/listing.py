"""The list of games."""

from meijin.v1 import game_pb2, game_service_pb2
from meijin.web.cache import LazyPage
from meijin.web.labels import by_word
from meijin.web.refusals import bad_request
from meijin.web.request import Page, PageRequest

SHOWN = 50
"""Games on a page."""

STATES = {"": game_pb2.GAME_STATE_UNSPECIFIED, **by_word(game_pb2.GameState)}


async def show(request: PageRequest) -> LazyPage:
    state = request.text("state")
    if state not in STATES:
        raise bad_request(f'no state "{state}" of games; write running, finished or void')
    asked = game_service_pb2.ListGamesRequest(
        tournament_id=request.text("tournament").strip(),
        bot=request.text("bot").strip(),
        ladder=request.text("ladder").strip(),
        state=STATES[state],
        page_size=SHOWN,
    )
    return await request.list_page("games.html", request.services.games.ListGames, asked)


ROUTES = (Page("/games", show),)
