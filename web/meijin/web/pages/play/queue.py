"""Waiting for a bot: the place in its queue, other bots that are free, and leaving it."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from meijin.v1 import challenge_service_pb2 as pb
from meijin.v1 import game_service_pb2, tournament_service_pb2
from meijin.web.forms import fields_of
from meijin.web.pages.play.person import PlayingPerson
from meijin.web.play.game_events import tell
from meijin.web.refusals import not_found
from meijin.web.request import Answer, Form, PageRequest, Private, see_other
from meijin.web.state import SiteState
from meijin.web.streaming import transport_of
from meijin.web.wording import text

START_TIMEOUT = timedelta(seconds=3)
"""How long a page waits for a game to start that nothing keeps from it."""

LOOK_INTERVAL = timedelta(seconds=0.5)
"""Between two looks for a game that is about to start, unless the person hears of one."""

QUEUE_INTERVAL = timedelta(seconds=2)
"""Between two looks at a queue."""

LOOKS_FOR_FREE_BOTS = 5
"""Every how many of these a queue's page is told of bots that are free: the server looks at all."""

RUNNING = tournament_service_pb2.TOURNAMENT_STATE_RUNNING


async def show(request: PageRequest) -> Answer:
    """Lead to the game of a challenge once it has begun, and show its place until then.

    What is somebody else's is looked at where challenges are.
    """
    person, challenge_id = await PlayingPerson.of(request), request.path["challenge"]
    begun, found = await _look(person, challenge_id)
    last = asyncio.get_running_loop().time() + START_TIMEOUT.total_seconds()
    while not begun and _is_starting(found) and asyncio.get_running_loop().time() < last:
        await _until_changed(person, LOOK_INTERVAL)
        begun, found = await _look(person, challenge_id)
    if begun:
        person.stream.release(challenge_id)
        return see_other(f"/play/{begun}")
    if not found.challenge.mine:
        return see_other(f"/tournaments/{challenge_id}")
    if found.challenge.state == RUNNING:
        person.stream.hold(challenge_id)
    return request.page("play/waiting.html", found=found, mark=_mark(begun, found))


async def _look(
    person: PlayingPerson, challenge_id: str, *, with_free_bots: bool = True
) -> tuple[str, pb.GetChallengeResponse]:
    """The newest game of a challenge if the person sits at its board, else an empty id."""
    asked = pb.GetChallengeRequest(challenge_id=challenge_id, with_free_bots=with_free_bots)
    found = await person.services.challenges.GetChallenge(asked)
    if found.HasField("queue_place"):
        return "", found
    listed = game_service_pb2.ListGamesRequest(tournament_id=challenge_id, page_size=1)
    games = (await person.services.games.ListGames(listed)).games
    game_id = games[0].game_id if games else ""
    return game_id if game_id in person.stream.games else "", found


def _is_starting(found: pb.GetChallengeResponse) -> bool:
    challenge = found.challenge
    is_kept = found.HasField("queue_place") or challenge.waiting_for
    return challenge.state == RUNNING and not is_kept


async def _until_changed(person: PlayingPerson, longest: timedelta) -> None:
    changing = asyncio.ensure_future(person.stream.change())
    try:
        await asyncio.wait((changing,), timeout=longest.total_seconds())
    finally:
        changing.cancel()


def _mark(begun: str, found: pb.GetChallengeResponse) -> str:
    """Differs where the page does."""
    place = found.queue_place
    told = (found.challenge.state, found.challenge.waiting_for, str(place))
    return json.dumps((begun, *told, *found.free_bots))


class QueueEvents:
    """The stream of a page that waits."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = Request(scope, receive)
        site: SiteState = http.app.state.site
        request = PageRequest(http, site)
        person, challenge_id = await PlayingPerson.of(request), request.path["challenge"]
        _, found = await _look(person, challenge_id)
        if not found.challenge.mine:
            raise not_found(text("play.not_waiting", challenge=challenge_id))
        marks, transport = _marks(person, challenge_id), transport_of(scope)
        await tell(person.stream, marks, site.closing, receive, send, transport=transport)


async def _marks(person: PlayingPerson, challenge_id: str) -> AsyncGenerator[bytes]:
    """A mark at each look; while it is looked at, the place is kept."""
    begun, is_running, looks = "", True, 0
    free: Sequence[str] = ()
    while is_running and not begun and not person.stream.is_over:
        is_for_all = looks % LOOKS_FOR_FREE_BOTS == 0
        begun, found = await _look(person, challenge_id, with_free_bots=is_for_all)
        if is_for_all:
            free = found.free_bots
        else:
            found.free_bots.extend(free)
        looks += 1
        is_running = found.challenge.state == RUNNING
        if is_running:
            person.stream.hold(challenge_id)
        yield f"data: {_mark(begun, found)}\n\n".encode()
        if is_running and not begun:
            await _until_changed(person, QUEUE_INTERVAL)


async def play_another(request: PageRequest) -> Response:
    """Ask a bot, another or the same once more, for the game that a challenge was to be."""
    person, challenge_id = await PlayingPerson.of(request), request.path["challenge"]
    opponent = (await fields_of(request)).get("opponent", "")
    asked = pb.GetChallengeRequest(challenge_id=challenge_id)
    settings = (await person.services.challenges.GetChallenge(asked)).challenge.settings
    return await person.challenge(request, opponent, settings, in_place_of=challenge_id)


async def leave(request: PageRequest) -> Response:
    """Give a place up."""
    person, challenge_id = await PlayingPerson.of(request), request.path["challenge"]
    person.stream.release(challenge_id)
    asked = pb.CancelChallengeRequest(challenge_id=challenge_id)
    await person.services.challenges.CancelChallenge(asked)
    return see_other("/play")


ROUTES = (
    Private("/play/challenges/{challenge}", show),
    Form("/play/challenges/{challenge}/against", play_another),
    Form("/play/challenges/{challenge}/leave", leave),
    Route("/play/challenges/{challenge}/events", QueueEvents()),
)
