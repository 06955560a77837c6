"""People's games: choosing a bot."""

from datetime import timedelta
from http import HTTPStatus

from starlette.responses import Response

from meijin.game import RULES
from meijin.v1 import bot_service_pb2
from meijin.v1 import challenge_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.forms import fields_of
from meijin.web.gateway import Services, Visitor
from meijin.web.pages.play.person import MAX_CLASS_KEY, PlayingPerson, class_of, has_person
from meijin.web.pages.play.terms import BOT_TIMES, CLOCKS, asked_settings
from meijin.web.play.stream import CAPABILITIES
from meijin.web.refusals import Refusal
from meijin.web.request import Form, Page, PageRequest

BOT_AGE = timedelta(seconds=10)
"""How old the list of bots may be."""

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
    class_key = request.text("class", most=MAX_CLASS_KEY)
    return request.page(
        "play/lobby.html", bots=bots, opponent=opponent, class_key=class_key, offered=OFFERED
    )


async def start(request: PageRequest) -> Response:
    """Challenge a bot, as a person who is there already or comes now."""
    fields = await fields_of(request)
    opponent, settings = fields.get("opponent", ""), asked_settings(fields)
    class_key = fields.get("class", "")[:MAX_CLASS_KEY]
    if has_person(request):
        try:
            person = await PlayingPerson.of(request)
            return await person.challenge(request, opponent, settings, class_key=class_key)
        except Refusal as refusal:
            if refusal.status is not HTTPStatus.UNAUTHORIZED:  # forgotten: the person comes anew
                raise
    asked = pb.EnterAsPersonRequest(
        display_name=fields.get("name", ""), class_key=class_key or class_of(request)
    )
    anyone = Services(request.site.gateway.channel(Visitor(request.visitor.host)))
    entered = await anyone.challenges.EnterAsPerson(asked)
    request.site.names.expire()
    person = await PlayingPerson.enter(request, entered.token)
    return await person.challenge(request, opponent, settings, class_key=class_key)


ROUTES = (
    Page("/play", show, max_age=BOT_AGE),
    Form("/play", start),
)
