"""The list of games."""

from __future__ import annotations

from dataclasses import dataclass

from meijin.v1 import game_pb2, game_service_pb2
from meijin.web.drafts import Draft
from meijin.web.refusals import bad_request
from meijin.web.routes import Page
from meijin.web.visit import Visit
from meijin.wire import outcome_from_proto, time_control_from_proto, variant_from_proto

SHOWN = 50
"""Games on a page."""

STATES = {
    "": game_pb2.GAME_STATE_UNSPECIFIED,
    "running": game_pb2.GAME_STATE_RUNNING,
    "finished": game_pb2.GAME_STATE_FINISHED,
    "void": game_pb2.GAME_STATE_VOID,
}


@dataclass(frozen=True, slots=True)
class GameLine:
    """A game in the list."""

    game: game_pb2.Game
    result: str
    end: str
    """How it ended; empty while it runs."""
    variant: str
    control: str


@dataclass(frozen=True, slots=True)
class GamesView:
    """A page of the list."""

    bot: str
    tournament: str
    ladder: str
    state: str
    is_later: bool
    """Whether it is not the first page."""
    next: str
    """The token of the next page; empty on the last."""
    lines: tuple[GameLine, ...]


async def games(visit: Visit) -> Draft:
    """Show games, newest first."""
    bot, tournament, ladder = (visit.text(each) for each in ("bot", "tournament", "ladder"))
    state, token = visit.text("state"), visit.text("page")
    if state not in STATES:
        raise bad_request(f'no state "{state}" of games; write running, finished or void')
    request = game_service_pb2.ListGamesRequest(
        tournament_id=tournament.strip(),
        bot=bot.strip(),
        ladder=ladder.strip(),
        state=STATES[state],
        page_size=SHOWN,
        page_token=token,
    )
    found = await visit.services.games.ListGames(request)

    def view() -> GamesView:
        lines = tuple(map(game_line, found.games))
        return GamesView(bot, tournament, ladder, state, bool(token), found.next_page_token, lines)

    return visit.page("games.html", view, found)


def game_line(game: game_pb2.Game) -> GameLine:
    """A game in a list."""
    outcome = outcome_from_proto(game.outcome) if game.HasField("outcome") else None
    return GameLine(
        game,
        result="*" if outcome is None else outcome.result.value,
        end="" if outcome is None else str(outcome),
        variant=str(variant_from_proto(game.variant)),
        control=str(time_control_from_proto(game.time_control)),
    )


ROUTES = (Page("/games", games),)
