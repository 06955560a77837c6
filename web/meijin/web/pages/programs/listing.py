"""The list of programs, with the form that uploads one."""

from collections.abc import Sequence
from http import HTTPStatus

from grpc import StatusCode
from grpc.aio import AioRpcError

from meijin.v1 import bot_service_pb2 as bot_pb
from meijin.v1 import hosting_service_pb2 as pb
from meijin.v1 import token_service_pb2 as token_pb
from meijin.web.cache import LazyPage
from meijin.web.forms import Fields, offered_bots
from meijin.web.refusals import Refusal
from meijin.web.request import PageRequest, Private

LIST = "/programs"

SHOWN = 50
"""Programs of a page."""

NEWEST = 10
"""Programs of another page that has them among other things."""

CLOSED = frozenset(
    {
        StatusCode.FAILED_PRECONDITION,  # no programs are hosted
        StatusCode.PERMISSION_DENIED,
        StatusCode.UNAUTHENTICATED,
    }
)
"""How a list is refused to those who have no programs to manage."""


async def show(request: PageRequest) -> LazyPage:
    """List programs beside the form for a new one."""
    return await show_form(request, {"bot": request.text("bot", most=60)})


async def show_form(
    request: PageRequest, fields: Fields, refusal: Refusal | None = None
) -> LazyPage:
    """The list, with a form as it was filled in and why it was refused."""
    shown_bot = request.text("bot", most=60)
    own = (await request.services.tokens.GetOwnToken(token_pb.GetOwnTokenRequest())).token
    bots = await _bots_of(request, own)
    return await request.list_page(
        "programs.html",
        request.services.hosting.ListPrograms,
        pb.ListProgramsRequest(bot=shown_bot, page_size=SHOWN),
        bots=bots,
        is_typed=own.kind == token_pb.TOKEN_KIND_OPERATOR,
        values={"bot": bots[0] if len(bots) == 1 else "", "label": "", **_filled(fields)},
        refusal=refusal,
        status=refusal.status if refusal else HTTPStatus.OK,
    )


def _filled(fields: Fields) -> Fields:
    return {name: value for name, value in fields.items() if value}


async def _bots_of(request: PageRequest, own: token_pb.Token) -> Sequence[str]:
    """The bots whose programs the visitor may upload, as far as a form names them."""
    match own.kind:
        case token_pb.TOKEN_KIND_BOT:
            return [own.bot]
        case token_pb.TOKEN_KIND_OWNER:
            asked = bot_pb.ListBotsRequest(owner=own.owner, page_size=1000)
            return [bot.name for bot in (await request.services.bots.ListBots(asked)).bots]
        case _:
            return [bot.name for bot in await offered_bots(request.services)]


async def newest_programs(request: PageRequest, bot: str = "") -> pb.ListProgramsResponse | None:
    """The newest programs of a bot, or of all that the visitor manages.

    Returns:
        ``None`` where the visitor manages none, or the server hosts none.
    """
    try:
        return await request.services.hosting.ListPrograms(
            pb.ListProgramsRequest(bot=bot, page_size=NEWEST)
        )
    except AioRpcError as error:
        if error.code() in CLOSED:
            return None
        raise


ROUTES = (Private(LIST, show),)
