"""A bot as its owner or an operator manages it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import token_service_pb2 as token_pb
from meijin.web.pages.account import SecretView, show_secret
from meijin.web.refusals import bad_request, not_found
from meijin.web.routes import Form, Private
from meijin.web.terms import fields_of
from meijin.web.visit import Visit, see_other

POLICIES = {
    "none": pb.CHALLENGE_POLICY_NONE,
    "owners": pb.CHALLENGE_POLICY_OWNERS,
    "anyone": pb.CHALLENGE_POLICY_ANYONE,
}

STATES = {
    pb.BOT_STATE_ACTIVE: "active",
    pb.BOT_STATE_DISABLED: "disabled",
    pb.BOT_STATE_BANNED: "banned",
}


@dataclass(frozen=True, slots=True)
class OwnBotView:
    """A bot to be managed."""

    bot: pb.Bot
    state: str
    """Whether it may play; empty where that is not told."""
    policy: str
    """Whose challenges it accepts."""


async def show(visit: Visit) -> Response:
    """Show what may be done to a bot."""
    bot = await _find(visit, visit.place("name"))
    names = {value: name for name, value in POLICIES.items()}

    def view() -> OwnBotView:
        return OwnBotView(bot, STATES.get(bot.state, ""), names.get(bot.challenges, ""))

    return await visit.answer("own_bot.html", view)


async def _find(visit: Visit, name: str) -> pb.Bot:
    """The bot of a name, where the visitor may manage it.

    Raises:
        Refusal: there is none.
    """
    found = await visit.services.bots.GetBot(pb.GetBotRequest(name=name))
    if visit.is_signed_in and not found.bot.state:
        raise not_found(f'you have no bot "{name}"')
    return found.bot


async def rotate(visit: Visit) -> Response:
    """Give a bot a new token, and show it."""
    name = visit.place("name")
    request = token_pb.RotateTokenRequest(bot=name)
    made = await visit.services.tokens.RotateToken(request)
    return await show_secret(visit, SecretView(made.secret, address_of(name), is_bot=True))


async def change(visit: Visit) -> Response:
    """Change a bot, as one of the forms says."""
    name, fields = visit.place("name"), fields_of(await visit.form())
    action = fields.get("action", "")
    if action not in CHANGES:
        raise bad_request(f"there is no action {action[:40]}")
    request = pb.UpdateBotRequest(name=name, reason=fields.get("reason", ""), **CHANGES[action])
    if action == "challenges":
        request.challenges = POLICIES.get(
            fields.get("challenges", ""), pb.CHALLENGE_POLICY_UNSPECIFIED
        )
    await visit.services.bots.UpdateBot(request)
    return see_other(address_of(name))


def address_of(name: str) -> str:
    """Where a bot is managed."""
    return f"/account/bots/{quote(name)}"


CHANGES: Mapping[str, Mapping[str, Any]] = {
    "challenges": {},
    "disable": {"state": pb.BOT_STATE_DISABLED},
    "enable": {"state": pb.BOT_STATE_ACTIVE},
    "hide": {"hidden": True},
    "unhide": {"hidden": False},
    "unpause": {"paused": False},
}
"""What each form sets."""

ROUTES = (
    Private("/account/bots/{name}", show),
    Form("/account/bots/{name}", change),
    Form("/account/bots/{name}/token", rotate),
)
