"""The account: who has signed in, an owner's bots and the tokens of both."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp
from starlette.responses import Response

from meijin.v1 import bot_service_pb2 as bot_pb
from meijin.v1 import token_service_pb2 as pb
from meijin.web.refusals import bad_request
from meijin.web.routes import Form, Private
from meijin.web.terms import fields_of, whole
from meijin.web.visit import Visit, see_other

SHOWN = 100
"""Bots and tokens of a page."""

MAX_DAYS = 3650

KINDS = {
    pb.TOKEN_KIND_BOT: "bot",
    pb.TOKEN_KIND_OWNER: "owner",
    pb.TOKEN_KIND_OPERATOR: "operator",
    pb.TOKEN_KIND_READ: "read",
    pb.TOKEN_KIND_PERSON: "person",
}

MANAGERS = (pb.TOKEN_KIND_OWNER, pb.TOKEN_KIND_OPERATOR)
"""Who has bots and tokens to manage."""


@dataclass(frozen=True, slots=True)
class AccountView:
    """Who has signed in, and what is theirs."""

    kind: str
    """Of the token: ``owner``, ``operator``, ``bot``, ``person`` or ``read``."""
    name: str
    bots: tuple[bot_pb.Bot, ...] = ()
    """An owner's."""
    tokens: tuple[tuple[pb.Token, str], ...] = ()
    """Each with its kind."""
    older: str = ""
    """The address of the next page of tokens; empty on the last."""
    kinds: tuple[str, ...] = ()
    """Those of tokens that may be made."""


@dataclass(frozen=True, slots=True)
class SecretView:
    """A secret, which is shown this once."""

    secret: str
    back: str
    """Where to go on."""
    is_bot: bool = False
    """A bot plays with it."""


async def show(visit: Visit) -> Response:
    """Show who has signed in."""
    own = (await visit.services.tokens.GetOwnToken(pb.GetOwnTokenRequest())).token
    kind, name = KINDS.get(own.kind, ""), own.bot or own.owner
    if own.kind not in MANAGERS:
        return await visit.answer("account.html", lambda: AccountView(kind, name))
    is_owner = own.kind == pb.TOKEN_KIND_OWNER
    bots = bot_pb.ListBotsResponse()
    if is_owner:
        request = bot_pb.ListBotsRequest(owner=own.owner, page_size=1000)
        bots = await visit.services.bots.ListBots(request)
    listed = await visit.services.tokens.ListTokens(
        pb.ListTokensRequest(page_size=SHOWN, page_token=visit.text("page"))
    )
    following = visit.address(page=listed.next_page_token) if listed.next_page_token else ""

    def view() -> AccountView:
        return AccountView(
            kind,
            name,
            bots=tuple(bots.bots),
            tokens=tuple((each, KINDS.get(each.kind, "")) for each in listed.tokens),
            older=following,
            kinds=("bot", "owner") if is_owner else ("bot", "owner", "operator", "read"),
        )

    return await visit.answer("account.html", view)


async def register(visit: Visit) -> Response:
    """Register a bot, and show its token."""
    fields = fields_of(await visit.form())
    request = bot_pb.RegisterBotRequest(
        name=fields.get("name", ""),
        owner=fields.get("owner", ""),
        display_name=fields.get("display_name", ""),
    )
    made = await visit.services.bots.RegisterBot(request)
    return await show_secret(visit, SecretView(made.token, "/account", is_bot=True))


async def show_secret(visit: Visit, view: SecretView) -> Response:
    """Show a secret on a page that nobody keeps."""
    return await visit.answer("secret.html", lambda: view)


async def make_token(visit: Visit) -> Response:
    """Make a token, and show it."""
    fields = fields_of(await visit.form())
    kinds = {name: kind for kind, name in KINDS.items()}
    request = pb.CreateTokenRequest(
        kind=kinds.get(fields.get("kind", ""), pb.TOKEN_KIND_UNSPECIFIED),
        name=fields.get("name", ""),
        label=fields.get("label", ""),
    )
    expire_time = _expire_time(fields)
    if expire_time is not None:
        request.expire_time.CopyFrom(expire_time)
    made = await visit.services.tokens.CreateToken(request)
    is_bot = made.token.kind == pb.TOKEN_KIND_BOT
    return await show_secret(visit, SecretView(made.secret, "/account", is_bot=is_bot))


def _expire_time(fields: dict[str, str]) -> Timestamp | None:
    """When a new token is to be refused; ``None`` for never."""
    try:
        days = whole(fields, "days", most=MAX_DAYS)
    except ValueError as error:
        raise bad_request(str(error)) from None
    if not days:
        return None
    time = Timestamp()
    time.FromDatetime(datetime.now(UTC) + timedelta(days=days))
    return time


async def rotate_token(visit: Visit) -> Response:
    """Replace a token, and show the new one; a session of the old one goes on with it."""
    own = (await visit.services.tokens.GetOwnToken(pb.GetOwnTokenRequest())).token
    key = visit.place("key")
    request = pb.RotateTokenRequest(token_id=key)
    made = await visit.services.tokens.RotateToken(request)
    is_bot = made.token.kind == pb.TOKEN_KIND_BOT
    response = await show_secret(visit, SecretView(made.secret, "/account", is_bot=is_bot))
    if own.token_id == key:
        visit.keep(made.secret, response)
    return response


async def revoke_token(visit: Visit) -> Response:
    """Have a token stop working."""
    request = pb.RevokeTokenRequest(token_id=visit.place("key"))
    await visit.services.tokens.RevokeToken(request)
    return see_other("/account")


ROUTES = (
    Private("/account", show),
    Form("/account/bots", register),
    Form("/account/tokens", make_token),
    Form("/account/tokens/{key}/rotate", rotate_token),
    Form("/account/tokens/{key}/revoke", revoke_token),
)
