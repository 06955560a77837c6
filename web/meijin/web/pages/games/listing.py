"""The list of games."""

from collections.abc import Mapping
from typing import Any

from meijin.v1 import game_pb2, game_service_pb2
from meijin.web.cache import LazyPage
from meijin.web.labels import by_word
from meijin.web.live.topics import RULE_NAMES, RULES
from meijin.web.pages.games.game import MOST_PLIES
from meijin.web.refusals import bad_request
from meijin.web.request import Page, PageRequest
from meijin.web.wording import text

SHOWN = 50
"""Games on a page."""

FINISHED = game_pb2.GAME_STATE_FINISHED
STATES: Mapping[str, Mapping[str, Any]] = {
    "": {},
    **{word: {"state": state} for word, state in by_word(game_pb2.GameState).items()},
    "black": {"state": FINISHED, "winner": game_pb2.COLOR_BLACK},
    "white": {"state": FINISHED, "winner": game_pb2.COLOR_WHITE},
    "drawn": {"state": FINISHED, "drawn": True},
}
"""What is asked for by the words of where a game stands, or of its result."""
SHOWN_STATES = ("running", "finished", "black", "white", "drawn", "void")

ENDINGS = {"": game_pb2.ENDING_UNSPECIFIED, **by_word(game_pb2.Ending)}


async def show(request: PageRequest) -> LazyPage:
    """List games, the newest first, by what the address says of them."""
    state, rule, ending = [request.text(name) for name in ("state", "rule", "ending")]
    for word, known in ((state, STATES), (rule, RULES), (ending, ENDINGS)):
        if word not in known:
            raise bad_request(f'no "{word}" of games; there are {", ".join(filter(None, known))}')
    asked = game_service_pb2.ListGamesRequest(
        tournament_id=request.text("tournament").strip(),
        bot=request.text("bot").strip(),
        opponent=request.text("opponent").strip(),
        ladder=request.text("ladder").strip(),
        rule=RULES[rule],
        ending=ENDINGS[ending],
        min_plies=request.number("least", 0, most=MOST_PLIES),
        max_plies=request.number("most", 0, most=MOST_PLIES),
        page_size=SHOWN,
        **STATES[state],
    )
    return await request.list_page(
        "games.html",
        request.services.games.ListGames,
        asked,
        chosen={"state": state, "rule": rule, "ending": ending},
        states={word: text(f"games.state.{word}") for word in SHOWN_STATES},
        endings={word: text(f"labels.ending.{word}") for word in ENDINGS if word},
        rules=RULE_NAMES,
        most_stones=MOST_PLIES,
        is_sought=any(request.http.query_params.values()),
    )


ROUTES = (Page("/games", show),)
