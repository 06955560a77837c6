"""Challenges: made with a bot of one's own, listed and taken back."""

from http import HTTPStatus

from starlette.responses import Response

from meijin.v1 import bot_service_pb2 as bot_pb
from meijin.v1 import challenge_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.forms import (
    CHOICES,
    USUAL,
    Fields,
    button,
    clock_of,
    form_page,
    number_of,
    offered_bots,
    opening_of,
    variant_of,
)
from meijin.web.labels import by_word
from meijin.web.pages.account.overview import own_token
from meijin.web.refusals import Refusal
from meijin.web.request import Answer, Form, PageRequest, Private, see_other

SHOWN = 50
"""Challenges of a page."""

MAX_GAMES = 20

COLORS = by_word(pb.ChallengeColors)


async def show(request: PageRequest) -> LazyPage:
    """List challenges below the form for a new one."""
    return await _page(request, {"opponent": request.text("opponent", most=60)})


async def _page(request: PageRequest, fields: Fields, refusal: Refusal | None = None) -> LazyPage:
    owner, shows = "", request.text("show", "all")
    if request.is_signed_in:
        owner = (await own_token(request)).owner
    asked = pb.ListChallengesRequest(
        page_size=SHOWN,
        mine=shows == "mine" and request.is_signed_in,
        running=shows == "running",
    )
    bots = await offered_bots(request.services, connected=True)
    mine = [each.name for each in bots if not owner or each.owner == owner]
    return await request.list_page(
        "challenges.html",
        request.services.challenges.ListChallenges,
        asked,
        opponents=[each.name for each in bots if _accepts(each, owner)],
        mine=mine,
        shows=shows,
        is_signed_in=request.is_signed_in,
        values={**USUAL, "challenger": mine[0] if len(mine) == 1 else "", **fields},
        offered=CHOICES,
        refusal=refusal,
        status=HTTPStatus.BAD_REQUEST if refusal else HTTPStatus.OK,
    )


def _accepts(bot: bot_pb.Bot, owner: str) -> bool:
    is_own = bool(owner) and bot.owner == owner
    return is_own or bot.challenges != bot_pb.CHALLENGE_POLICY_NONE


async def make(request: PageRequest) -> Answer:
    """Make a challenge, and show its games."""

    async def act(fields: Fields) -> Response:
        made = await request.services.challenges.CreateChallenge(_asked(fields))
        return see_other(f"/tournaments/{made.challenge.challenge_id}")

    return await form_page(request, act, _page, HTTPStatus.UNAUTHORIZED)


def _asked(fields: Fields) -> pb.CreateChallengeRequest:
    """What the form asks for.

    Raises:
        ValueError: a field can't be what it should be.
    """
    settings = pb.ChallengeSettings(
        games=number_of(fields, "games", least=1, most=MAX_GAMES),
        variant=variant_of(fields),
        time_control=clock_of(fields),
        colors=COLORS.get(fields.get("colors", ""), pb.CHALLENGE_COLORS_ALTERNATE),
        server_openings=fields.get("start", "server") == "server",
    )
    if fields.get("opponent_time"):
        settings.opponent_time_control.CopyFrom(clock_of(fields, "opponent_time"))
    if fields.get("start") == "position":
        settings.openings.append(opening_of(fields))
    return pb.CreateChallengeRequest(
        opponent=fields.get("opponent", ""),
        challenger=fields.get("challenger", ""),
        settings=settings,
    )


ROUTES = (
    Private("/challenges", show),
    Form("/challenges", make),
    button("/challenges/{challenge_id}/cancel", pb.CancelChallengeRequest, "/challenges"),
)
