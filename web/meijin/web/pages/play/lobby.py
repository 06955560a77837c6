"""People's games: choosing a bot and the terms, from the empty board or from a position."""

from collections.abc import Iterator
from datetime import timedelta
from http import HTTPStatus
from urllib.parse import urlencode

from starlette.responses import Response

from meijin.game import RULES
from meijin.web.cache import LazyPage
from meijin.web.forms import MAX_FIELD, Fields, form_page
from meijin.web.pages.play import position as positions
from meijin.web.pages.play.opponents import opponents, takers
from meijin.web.pages.play.person import MAX_CLASS_KEY, PlayingPerson
from meijin.web.pages.play.position import Position, asked_position
from meijin.web.pages.play.terms import BOT_TIMES, CLOCKS, COLORS, PRESETS, USUAL, asked_settings
from meijin.web.play.stream import CAPABILITIES
from meijin.web.refusals import Refusal, bad_request
from meijin.web.request import Answer, Form, Page, PageRequest
from meijin.web.wording import text

BOT_AGE = timedelta(seconds=10)
"""How old the list of bots may be."""

OFFERED = {
    "rule": tuple(RULES),
    "opening_rule": tuple(each.name for each in CAPABILITIES.opening_rules),
    "size": ("15", "19", "20", "13", "11", "9"),
    "color": tuple(COLORS),
    "bot_time": BOT_TIMES,
    "clock": CLOCKS,
}
"""What the form offers; an address may ask for more."""

OF_BOARD = ("rule", "size", "line", "opening_rule")
"""Terms that a position has."""
OF_PLAYERS = ("color", "bot_time", "clock")

FIELDS = (*USUAL, *positions.FIELDS, "class")
"""What an address may ask for."""


async def show(request: PageRequest) -> LazyPage:
    """Show whom one may play, on the terms that the address asks for."""
    given = [name for name in FIELDS if name in request.http.query_params]
    return await _page(request, {name: request.text(name, most=MAX_FIELD) for name in given})


async def _page(request: PageRequest, fields: Fields, refusal: Refusal | None = None) -> LazyPage:
    """The page with the terms of some fields; with the usual ones where these can't be."""
    bots = await takers(request.services)
    position: Position | None = None
    values = {**USUAL, "bot": fields.get("bot", ""), "class": fields.get("class", "")}
    settings = asked_settings(values)
    try:
        position = await asked_position(request, fields)
        side = {} if position is None else {"color": position.side.name.lower()}
        filled = {**values, **side, **fields}
        settings = asked_settings(filled, position)
        values = filled
    except ValueError as error:
        refusal, position = refusal or bad_request(str(error)), None
    if refusal is None and values["bot"] and values["bot"] not in {bot.name for bot in bots}:
        refusal = Refusal(HTTPStatus.OK, text("play.away", opponent=values["bot"]))
    values["class"] = values["class"][:MAX_CLASS_KEY]
    return request.page(
        "play/lobby.html",
        status=HTTPStatus.OK if refusal is None else refusal.status,
        bots=bots,
        opponents=lambda: opponents(bots, values["bot"], settings),
        settings=settings,
        position=position,
        link=_link(values, position),
        offered={
            name: each if values[name] in each else (*each, values[name])
            for name, each in OFFERED.items()
        },
        presets=list(_presets(values)),
        values=values,
        refusal=refusal,
    )


def _presets(values: Fields) -> Iterator[tuple[str, str, bool]]:
    """The name of each, its address, and whether its terms are the page's."""
    kept = {name: values[name] for name in ("bot", "class") if values[name]}
    for name, terms in PRESETS.items():
        query = urlencode(kept | terms)
        wanted = {**USUAL, **terms}
        is_chosen = all(values[each] == wanted[each] for each in (*OF_BOARD, "bot_time", "clock"))
        yield name, f"/play?{query}" if query else "/play", is_chosen


def _link(values: Fields, position: Position | None) -> str:
    """The address that asks for the same, behind the site's."""
    on_board = OF_BOARD if position is None else ()
    named = {} if position is None else position.named
    terms = {name: values[name] for name in ("bot", *on_board, *OF_PLAYERS, "class")}
    return "/play?" + urlencode({name: value for name, value in (terms | named).items() if value})


async def start(request: PageRequest) -> Answer:
    """Challenge a bot, as a person who is there already or comes now."""

    async def act(fields: Fields) -> Response:
        settings = asked_settings(fields, await asked_position(request, fields))
        if not (opponent := fields.get("opponent") or fields.get("bot")):
            raise ValueError(text("play.no_opponent"))
        class_key = fields.get("class", "")[:MAX_CLASS_KEY]
        person = await PlayingPerson.come(request, fields.get("name", ""), class_key)
        return await person.challenge(request, opponent, settings, class_key=class_key)

    return await form_page(
        request, act, _page, HTTPStatus.UNAUTHORIZED, HTTPStatus.TOO_MANY_REQUESTS
    )


ROUTES = (
    Page("/play", show, max_age=BOT_AGE),
    Form("/play", start),
)
