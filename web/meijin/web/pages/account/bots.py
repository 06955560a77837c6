"""A bot as its owner or an operator manages it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import token_service_pb2 as token_pb
from meijin.web.cache import LazyPage
from meijin.web.forms import fields_of
from meijin.web.labels import by_word
from meijin.web.pages.account.overview import show_secret
from meijin.web.pages.programs.listing import newest_programs
from meijin.web.refusals import bad_request, not_found
from meijin.web.request import Form, PageRequest, Private, see_other
from meijin.web.wording import text

CHANGES: Mapping[str, Mapping[str, Any]] = {
    "challenges": {},
    "disable": {"state": pb.BOT_STATE_DISABLED},
    "enable": {"state": pb.BOT_STATE_ACTIVE},
    "hide": {"hidden": True},
    "unhide": {"hidden": False},
    "unpause": {"paused": False},
}
"""What each form sets."""


async def show(request: PageRequest) -> LazyPage:
    """Show what may be done to a bot.

    Raises:
        Refusal: the visitor may manage no bot of that name.
    """
    name = request.path["name"]
    bot = (await request.services.bots.GetBot(pb.GetBotRequest(name=name))).bot
    if request.is_signed_in and not bot.state:
        raise not_found(f'you have no bot "{name}"')
    programs = await newest_programs(request, name)
    return request.page("own_bot.html", bot=bot, programs=programs)


async def rotate(request: PageRequest) -> LazyPage:
    """Give a bot a new token, and show it."""
    name = request.path["name"]
    made = await request.services.tokens.RotateToken(token_pb.RotateTokenRequest(bot=name))
    return show_secret(request, made.secret, address_of(name), use=text("account.secret_bot"))


async def change(request: PageRequest) -> Response:
    """Change a bot, as one of the forms says."""
    name, fields = request.path["name"], await fields_of(request)
    action = fields.get("action", "")
    if action not in CHANGES:
        raise bad_request(f"there is no action {action[:40]}")
    asked = pb.UpdateBotRequest(name=name, reason=fields.get("reason", ""), **CHANGES[action])
    if action == "challenges":
        policies, policy = by_word(pb.ChallengePolicy), fields.get("challenges", "")
        asked.challenges = policies.get(policy, pb.CHALLENGE_POLICY_UNSPECIFIED)
    await request.services.bots.UpdateBot(asked)
    return see_other(address_of(name))


def address_of(name: str) -> str:
    return f"/account/bots/{quote(name)}"


ROUTES = (
    Private("/account/bots/{name}", show),
    Form("/account/bots/{name}", change),
    Form("/account/bots/{name}/token", rotate),
)
