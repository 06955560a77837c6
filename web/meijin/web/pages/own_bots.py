"""A bot as its owner or an operator manages it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from starlette.responses import Response

from meijin.v1 import admin_service_pb2 as pb
from meijin.v1 import bot_service_pb2 as bot_pb
from meijin.web.gateway import Services
from meijin.web.pages.account import SecretView, show_secret
from meijin.web.refusals import bad_request, not_found
from meijin.web.routes import Form, Private
from meijin.web.terms import fields_of
from meijin.web.visit import Visit, see_other

POLICIES = {
    "none": bot_pb.CHALLENGE_POLICY_NONE,
    "owners": bot_pb.CHALLENGE_POLICY_OWNERS,
    "anyone": bot_pb.CHALLENGE_POLICY_ANYONE,
}

STATES = {
    pb.BOT_STATE_ACTIVE: "active",
    pb.BOT_STATE_DISABLED: "disabled",
    pb.BOT_STATE_BANNED: "banned",
}

Change = Callable[[Services, str, Mapping[str, str]], Awaitable[object]]
"""Changes a bot by what a form says."""


@dataclass(frozen=True, slots=True)
class OwnBotView:
    """A bot to be managed."""

    bot: bot_pb.Bot
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


async def _find(visit: Visit, name: str) -> bot_pb.Bot:
    """The bot of a name, where the visitor may manage it.

    Raises:
        Refusal: there is none.
    """
    found = await visit.services.bots.GetBot(bot_pb.GetBotRequest(name=name))
    if visit.is_signed_in and not found.bot.state:
        raise not_found(f'you have no bot "{name}"')
    return found.bot


async def rotate(visit: Visit) -> Response:
    """Give a bot a new token, and show it."""
    name = visit.place("name")
    made = await visit.services.bots.RotateToken(bot_pb.RotateTokenRequest(name=name))
    return await show_secret(visit, SecretView(made.token, address_of(name), is_bot=True))


async def change(visit: Visit) -> Response:
    """Change a bot, as one of the forms says."""
    name, fields = visit.place("name"), fields_of(await visit.form())
    action = CHANGES.get(fields.get("action", ""))
    if action is None:
        raise bad_request(f"there is no action {fields.get('action', '')[:40]}")
    await action(visit.services, name, fields)
    return see_other(address_of(name))


def address_of(name: str) -> str:
    """Where a bot is managed."""
    return f"/account/bots/{quote(name)}"


async def _set_challenges(services: Services, name: str, fields: Mapping[str, str]) -> None:
    policy = POLICIES.get(fields.get("challenges", ""), bot_pb.CHALLENGE_POLICY_UNSPECIFIED)
    await services.bots.SetChallenges(bot_pb.SetChallengesRequest(name=name, challenges=policy))


async def _disable(services: Services, name: str, fields: Mapping[str, str]) -> None:
    reason = fields.get("reason", "")
    await services.admin.DisableBot(pb.DisableBotRequest(name=name, reason=reason))


async def _enable(services: Services, name: str, _: Mapping[str, str]) -> None:
    await services.admin.EnableBot(pb.EnableBotRequest(name=name))


async def _hide(services: Services, name: str, _: Mapping[str, str]) -> None:
    await services.admin.HideBot(pb.HideBotRequest(name=name))


async def _unhide(services: Services, name: str, _: Mapping[str, str]) -> None:
    await services.admin.ShowBot(pb.ShowBotRequest(name=name))


async def _unpause(services: Services, name: str, _: Mapping[str, str]) -> None:
    await services.admin.UnpauseBot(pb.UnpauseBotRequest(name=name))


CHANGES: Mapping[str, Change] = {
    "challenges": _set_challenges,
    "disable": _disable,
    "enable": _enable,
    "hide": _hide,
    "unhide": _unhide,
    "unpause": _unpause,
}

ROUTES = (
    Private("/account/bots/{name}", show),
    Form("/account/bots/{name}", change),
    Form("/account/bots/{name}/token", rotate),
)
