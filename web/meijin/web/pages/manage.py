"""What operators manage: the start of it, voided games, and bots of all owners."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from meijin.v1 import admin_service_pb2 as pb
from meijin.v1 import bot_service_pb2 as bot_pb
from meijin.v1 import game_service_pb2 as game_pb
from meijin.web.pages.own_bots import address_of
from meijin.web.refusals import bad_request
from meijin.web.routes import Form, Private
from meijin.web.terms import fields_of
from meijin.web.visit import Visit, see_other


@dataclass(frozen=True, slots=True)
class ManageView:
    """The start of what is managed."""

    game: str
    """The game to be voided, as a link has named it."""
    bot: str


async def show(visit: Visit) -> Response:
    """Show what there is to manage."""
    await check_operator(visit)
    view = ManageView(visit.text("game", most=20), visit.text("bot", most=60))
    return await visit.answer("manage.html", lambda: view)


async def check_operator(visit: Visit) -> None:
    """Have who is not an operator be told so, or be asked to sign in.

    Raises:
        AioRpcError: it is none.
    """
    await visit.services.admin.ListAudit(pb.ListAuditRequest(page_size=1))


async def void(visit: Visit) -> Response:
    """Void a game, and show it."""
    fields = fields_of(await visit.form())
    request = game_pb.VoidGameRequest(
        game_id=fields.get("game", ""), reason=fields.get("reason", "")
    )
    made = await visit.services.games.VoidGame(request)
    return see_other(f"/games/{made.game.game_id}")


async def change(visit: Visit) -> Response:
    """Change a bot as operators alone may, and show how it is managed."""
    fields = fields_of(await visit.form())
    name, action, text = (fields.get(key, "") for key in ("name", "action", "text"))
    changes: Mapping[str, Mapping[str, Any]] = {
        "ban": {"state": bot_pb.BOT_STATE_BANNED, "reason": text},
        "unban": {"state": bot_pb.BOT_STATE_ACTIVE},
        "rename": {"new_name": text},
    }
    if action not in changes:
        raise bad_request(f"there is no action {action[:40]}")
    request = bot_pb.UpdateBotRequest(name=name, **changes[action])
    await visit.services.bots.UpdateBot(request)
    return see_other(address_of(text if action == "rename" else name))


async def find(visit: Visit) -> Response:
    """Go on to where a bot is managed."""
    return see_other(address_of(visit.text("name", most=60)))


ROUTES = (
    Private("/manage", show),
    Form("/manage/games", void),
    Form("/manage/bots", change),
    Private("/manage/bots", find),
)
