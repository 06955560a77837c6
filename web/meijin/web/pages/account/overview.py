"""The account: who has signed in, an owner's bots and the tokens of both."""

from datetime import UTC, datetime, timedelta

from starlette.responses import Response

from meijin.v1 import bot_service_pb2 as bot_pb
from meijin.v1 import token_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.forms import button, fields_of, number_of
from meijin.web.labels import by_word
from meijin.web.pages.programs.listing import newest_programs
from meijin.web.refusals import refusing_values
from meijin.web.request import Form, PageRequest, Private
from meijin.web.wording import text

SHOWN = 100
"""Tokens of a page."""

MAX_DAYS = 3650

KINDS = {
    pb.TOKEN_KIND_OWNER: ("bot", "owner"),
    pb.TOKEN_KIND_OPERATOR: ("bot", "owner", "operator", "read"),
}
"""What tokens may be made by those who have bots and tokens to manage."""


async def own_token(request: PageRequest) -> pb.Token:
    return (await request.services.tokens.GetOwnToken(pb.GetOwnTokenRequest())).token


async def show(request: PageRequest) -> LazyPage:
    """Show who has signed in, and what is theirs."""
    own, programs = await own_token(request), await newest_programs(request)
    if own.kind not in KINDS:
        return request.page("account.html", own=own, programs=programs)
    bots = bot_pb.ListBotsResponse()
    if own.kind == pb.TOKEN_KIND_OWNER:
        asked = bot_pb.ListBotsRequest(owner=own.owner, page_size=1000)
        bots = await request.services.bots.ListBots(asked)
    return await request.list_page(
        "account.html",
        request.services.tokens.ListTokens,
        pb.ListTokensRequest(page_size=SHOWN),
        own=own,
        bots=bots.bots,
        programs=programs,
        kinds=KINDS[own.kind],
    )


async def register(request: PageRequest) -> LazyPage:
    fields = await fields_of(request)
    names = {name: fields.get(name, "") for name in ("name", "owner", "display_name")}
    made = await request.services.bots.RegisterBot(bot_pb.RegisterBotRequest(**names))
    request.site.names.expire()
    return show_secret(request, made.token, "/account", use=text("account.secret_bot"))


def show_secret(request: PageRequest, secret: str, back: str, *, use: str = "") -> LazyPage:
    """Show a secret this once; a bot may play with it, and a link leads on."""
    return request.page("secret.html", secret=secret, back=back, use=use)


def use_of(token: pb.Token) -> str:
    """What a token is for, where that is to be said."""
    return text("account.secret_bot") if token.kind == pb.TOKEN_KIND_BOT else ""


async def make_token(request: PageRequest) -> LazyPage:
    fields = await fields_of(request)
    asked = pb.CreateTokenRequest(
        kind=by_word(pb.TokenKind).get(fields.get("kind", ""), pb.TOKEN_KIND_UNSPECIFIED),
        name=fields.get("name", ""),
        label=fields.get("label", ""),
    )
    with refusing_values():
        days = number_of(fields, "days", most=MAX_DAYS)
    if days:
        asked.expire_time.FromDatetime(datetime.now(UTC) + timedelta(days=days))
    made = await request.services.tokens.CreateToken(asked)
    return show_secret(request, made.secret, "/account", use=use_of(made.token))


async def rotate_token(request: PageRequest) -> Response:
    """Replace a token, and show the new one; a session of the old one goes on with it."""
    own, key = await own_token(request), request.path["token_id"]
    made = await request.services.tokens.RotateToken(pb.RotateTokenRequest(token_id=key))
    page = show_secret(request, made.secret, "/account", use=use_of(made.token))
    response = await request.private(page)
    if own.token_id == key:
        request.keep(made.secret, response, is_operator=request.is_operator)
    return response


ROUTES = (
    Private("/account", show),
    Form("/account/bots", register),
    Form("/account/tokens", make_token),
    Form("/account/tokens/{token_id}/rotate", rotate_token),
    button("/account/tokens/{token_id}/revoke", pb.RevokeTokenRequest, "/account"),
)
