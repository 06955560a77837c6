"""People's games: choosing a bot, and waiting for it."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from starlette.responses import Response

from meijin.game import OPENING_RULES, RULES
from meijin.v1 import bot_service_pb2, game_service_pb2
from meijin.v1 import challenge_service_pb2 as pb
from meijin.web.drafts import Draft
from meijin.web.gateway import Services, Visitor
from meijin.web.pages.person import Person, has_person
from meijin.web.play.terms import BOT_TIMES, CLOCKS, Terms
from meijin.web.refusals import Refusal
from meijin.web.routes import Form, Page, Private
from meijin.web.visit import Visit, see_other

BOT_AGE = timedelta(seconds=10)
"""How old the list of bots may be."""

START_TIMEOUT = timedelta(seconds=3)
"""How long a page waits for a game to start before it says why there is none yet."""

LOOK_INTERVAL = timedelta(seconds=0.5)
"""Between two looks whether a challenge has a game, unless the person hears of one."""

SIZES = (15, 19, 20, 13, 11, 9)


@dataclass(frozen=True, slots=True)
class LobbyView:
    """Whom one may play, and on which terms."""

    bots: tuple[bot_service_pb2.Bot, ...]
    """Strongest first."""
    opponent: str
    """The one that is asked for; empty for any."""
    rules: tuple[str, ...] = tuple(RULES)
    openings: tuple[str, ...] = tuple(OPENING_RULES)
    sizes: tuple[int, ...] = SIZES
    bot_times: tuple[str, ...] = BOT_TIMES
    clocks: tuple[str, ...] = CLOCKS


@dataclass(frozen=True, slots=True)
class WaitingView:
    """A challenge whose game has not begun."""

    challenge: pb.Challenge


async def lobby(visit: Visit) -> Draft:
    """Show whom one may play."""
    response = await visit.services.bots.ListBots(
        bot_service_pb2.ListBotsRequest(connected=True, page_size=1000)
    )
    opponent = visit.text("bot", most=40)

    def view() -> LobbyView:
        accepting = bot_service_pb2.CHALLENGE_POLICY_ANYONE
        bots = [bot for bot in response.bots if bot.challenges == accepting]
        bots.sort(key=lambda bot: (-bot.rating, bot.name))
        return LobbyView(tuple(bots), opponent)

    return visit.page("play/lobby.html", view, response)


async def start(visit: Visit) -> Response:
    """Challenge a bot, as a person who is there already or comes now."""
    form = {name: str(value) for name, value in (await visit.form()).items()}
    terms = Terms.read(form)
    if has_person(visit):
        try:
            person = await Person.of(visit)
            return await person.challenge(visit, terms)
        except Refusal as refusal:
            if refusal.status is not HTTPStatus.UNAUTHORIZED:  # forgotten: the person comes anew
                raise
    request = pb.EnterAsPersonRequest(display_name=form.get("name", "").strip())
    anyone = Services(visit.shell.gateway.channel(Visitor(visit.visitor.host)))
    entered = await anyone.challenges.EnterAsPerson(request)
    person = await Person.sit_down(visit, entered.token)
    return await person.challenge(visit, terms)


async def waiting(visit: Visit) -> Response:
    """Lead to the game of a challenge, once it has begun."""
    person, challenge_id = await Person.of(visit), visit.place("challenge")
    try:
        async with asyncio.timeout(START_TIMEOUT.total_seconds()):
            return see_other(f"/play/{await _begun(person, challenge_id)}")
    except TimeoutError:
        request = pb.GetChallengeRequest(challenge_id=challenge_id)
        found = await person.services.challenges.GetChallenge(request)
    return await visit.answer("play/waiting.html", lambda: WaitingView(found.challenge))


async def _begun(person: Person, challenge_id: str) -> str:
    """The game of a challenge, as soon as the person sits at its board."""
    while True:
        changing = asyncio.ensure_future(person.seat.change())
        try:
            game_id = await _game_of(person.services, challenge_id)
            if game_id in person.seat.games:
                return game_id
            await asyncio.wait((changing,), timeout=LOOK_INTERVAL.total_seconds())
        finally:
            changing.cancel()


async def _game_of(services: Services, challenge_id: str) -> str:
    """The newest game of a challenge; empty before it has one."""
    request = game_service_pb2.ListGamesRequest(tournament_id=challenge_id, page_size=1)
    games = (await services.games.ListGames(request)).games
    return games[0].game_id if games else ""


ROUTES = (
    Page("/play", lobby, max_age=BOT_AGE),
    Form("/play", start),
    Private("/play/challenges/{challenge}", waiting),
)
