"""Signing in with a token, and out again."""

from grpc.aio import AioRpcError
from starlette.responses import Response

from meijin.v1 import token_service_pb2 as pb
from meijin.web.gateway import Services, Visitor
from meijin.web.refusals import refusal_of
from meijin.web.request import Answer, Form, PageRequest, Private, see_other

HOME = "/account"
"""Where one goes who has signed in, unless a page has asked for it."""

MAX_TOKEN = 200
"""Characters of a token; ours have fewer."""


async def ask(request: PageRequest) -> Answer:
    to = _own(request.text("next", most=2000))
    return (
        see_other(to) if request.is_signed_in else request.page("sign_in.html", next=to, message="")
    )


async def take(request: PageRequest) -> Answer:
    """Take a token that the server knows."""
    form = await request.form()
    token = str(form.get("token", "")).strip()[:MAX_TOKEN]
    to = _own(str(form.get("next", "")))
    channel = request.site.gateway.channel(Visitor(request.visitor.host, token))
    try:
        own = await Services(channel).tokens.GetOwnToken(pb.GetOwnTokenRequest())
    except AioRpcError as error:
        refusal = refusal_of(error)
        return request.page("sign_in.html", status=refusal.status, next=to, message=str(refusal))
    is_operator = own.token.kind == pb.TOKEN_KIND_OPERATOR
    return request.sign_in(token, to, is_operator=is_operator)


async def leave(request: PageRequest) -> Response:
    return request.sign_out("/")


def _own(path: str) -> str:
    """A path of ours, whatever was asked for: nobody is sent to another host."""
    is_own = path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if is_own and path.isprintable() else HOME


ROUTES = (Private("/sign-in", ask), Form("/sign-in", take), Form("/sign-out", leave))
