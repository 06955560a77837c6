"""People's games: choosing a bot, and waiting for it."""

import asyncio
from datetime import timedelta
from http import HTTPStatus

from starlette.responses import Response

from meijin.game import RULES
from meijin.v1 import bot_service_pb2, game_service_pb2
from meijin.v1 import challenge_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.forms import fields_of
from meijin.web.gateway import Services, Visitor
from meijin.web.pages.play.person import PlayingPerson, has_person
from meijin.web.pages.play.terms import BOT_TIMES, CLOCKS, asked_settings
from meijin.web.play.stream import CAPABILITIES
from meijin.web.refusals import Refusal
from meijin.web.request import Answer, Form, Page, PageRequest, Private, see_other

BOT_AGE = timedelta(seconds=10)
"""How old the list of bots may be."""

START_TIMEOUT = timedelta(seconds=3)
"""How long a page waits for a game to start before it says why there is none yet."""

LOOK_INTERVAL = timedelta(seconds=0.5)
"""Between two looks whether a challenge has a game, unless the person hears of one."""

OFFERED = {
    "rules": tuple(RULES),
    "openings": tuple(each.name for each in CAPABILITIES.opening_rules),
    "sizes": (15, 19, 20, 13, 11, 9),
    "bot_times": BOT_TIMES,
    "clocks": CLOCKS,
}
"""What the form offers."""


async def show(request: PageRequest) -> LazyPage:
    """Show whom one may play, the strongest first, and on which terms."""
    asked = bot_service_pb2.ListBotsRequest(connected=True, page_size=1000)
    found = (await request.services.bots.ListBots(asked)).bots
    bots = [bot for bot in found if bot.challenges == bot_service_pb2.CHALLENGE_POLICY_ANYONE]
    bots.sort(key=lambda bot: (-bot.rating, bot.name))
    opponent = request.text("bot", most=40)
    return request.page("play/lobby.html", bots=bots, opponent=opponent, offered=OFFERED)


async def start(request: PageRequest) -> Response:
    """Challenge a bot, as a person who is there already or comes now."""
    fields = await fields_of(request)
    opponent, settings = fields.get("opponent", ""), asked_settings(fields)
    if has_person(request):
        try:
            person = await PlayingPerson.of(request)
            return await person.challenge(request, opponent, settings)
        except Refusal as refusal:
            if refusal.status is not HTTPStatus.UNAUTHORIZED:  # forgotten: the person comes anew
                raise
    asked = pb.EnterAsPersonRequest(display_name=fields.get("name", ""))
    anyone = Services(request.site.gateway.channel(Visitor(request.visitor.host)))
    entered = await anyone.challenges.EnterAsPerson(asked)
    person = await PlayingPerson.enter(request, entered.token)
    return await person.challenge(request, opponent, settings)


async def wait(request: PageRequest) -> Answer:
    """Lead to the game of a challenge, once it has begun."""
    person, challenge_id = await PlayingPerson.of(request), request.path["challenge"]
    try:
        async with asyncio.timeout(START_TIMEOUT.total_seconds()):
            return see_other(f"/play/{await _begun(person, challenge_id)}")
    except TimeoutError:
        asked = pb.GetChallengeRequest(challenge_id=challenge_id)
        found = await person.services.challenges.GetChallenge(asked)
    return request.page("play/waiting.html", challenge=found.challenge)


async def _begun(person: PlayingPerson, challenge_id: str) -> str:
    """The game of a challenge, as soon as the person sits at its board."""
    while True:
        changing = asyncio.ensure_future(person.stream.change())
        try:
            game_id = await _game_of(person.services, challenge_id)
            if game_id in person.stream.games:
                return game_id
            await asyncio.wait((changing,), timeout=LOOK_INTERVAL.total_seconds())
        finally:
            changing.cancel()


async def _game_of(services: Services, challenge_id: str) -> str:
    """The newest game of a challenge; empty before it has one."""
    asked = game_service_pb2.ListGamesRequest(tournament_id=challenge_id, page_size=1)
    games = (await services.games.ListGames(asked)).games
    return games[0].game_id if games else ""


ROUTES = (
    Page("/play", show, max_age=BOT_AGE),
    Form("/play", start),
    Private("/play/challenges/{challenge}", wait),
)
