"""What operators manage: the start of it, voided games, and bots of all owners."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from meijin.v1 import admin_service_pb2 as pb
from meijin.v1 import bot_service_pb2 as bot_pb
from meijin.v1 import game_service_pb2 as game_pb
from meijin.web.cache import LazyPage
from meijin.web.forms import fields_of, offered_bots
from meijin.web.pages.account.bots import address_of
from meijin.web.refusals import bad_request
from meijin.web.request import Form, PageRequest, Private, see_other


async def show(request: PageRequest) -> LazyPage:
    """Show what there is to manage, and the game or bot that a link has named.

    Raises:
        AioRpcError: the visitor is no operator, who alone may read the log.
    """
    await request.services.admin.ListAudit(pb.ListAuditRequest(page_size=1))
    game, bot = request.text("game", most=20), request.text("bot", most=60)
    bots = [each.name for each in await offered_bots(request.services)]
    return request.page("manage.html", game=game, bot=bot, bots=bots)


async def void(request: PageRequest) -> Response:
    fields = await fields_of(request)
    asked = game_pb.VoidGameRequest(game_id=fields.get("game", ""), reason=fields.get("reason", ""))
    made = await request.services.games.VoidGame(asked)
    return see_other(f"/games/{made.game.game_id}")


async def change(request: PageRequest) -> Response:
    """Change a bot as operators alone may, and show how it is managed."""
    fields = await fields_of(request)
    name, action, text = (fields.get(key, "") for key in ("name", "action", "text"))
    changes: Mapping[str, Mapping[str, Any]] = {
        "ban": {"state": bot_pb.BOT_STATE_BANNED, "reason": text},
        "unban": {"state": bot_pb.BOT_STATE_ACTIVE},
        "rename": {"new_name": text},
    }
    if action not in changes:
        raise bad_request(f"there is no action {action[:40]}")
    await request.services.bots.UpdateBot(bot_pb.UpdateBotRequest(name=name, **changes[action]))
    request.site.names.expire()
    return see_other(address_of(text if action == "rename" else name))


async def find(request: PageRequest) -> Response:
    """Go on to where a bot is managed."""
    return see_other(address_of(request.text("name", most=60)))


ROUTES = (
    Private("/manage", show),
    Form("/manage/games", void),
    Form("/manage/bots", change),
    Private("/manage/bots", find),
)
