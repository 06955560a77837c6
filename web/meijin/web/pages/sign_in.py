"""Signing in with a token, and out again."""

from dataclasses import dataclass

from grpc.aio import AioRpcError
from starlette.responses import Response

from meijin.v1 import token_service_pb2 as pb
from meijin.web.gateway import Services, Visitor
from meijin.web.refusals import refusal_of
from meijin.web.routes import Form, Private
from meijin.web.visit import Visit, see_other

HOME = "/account"
"""Where one goes who has signed in, unless a page has asked for it."""

MAX_TOKEN = 200
"""Characters of a token; ours have fewer."""


@dataclass(frozen=True, slots=True)
class SignInView:
    """The form for a token."""

    next: str
    """The page that asked for it."""
    message: str = ""
    """Why the last token was refused."""


async def ask(visit: Visit) -> Response:
    """Ask for a token."""
    if visit.is_signed_in:
        return see_other(_own(visit.text("next", most=2000)))
    view = SignInView(_own(visit.text("next", most=2000)))
    return await visit.answer("sign_in.html", lambda: view)


async def take(visit: Visit) -> Response:
    """Take a token that the server knows."""
    form = await visit.form()
    token = str(form.get("token", "")).strip()[:MAX_TOKEN]
    to = _own(str(form.get("next", "")))
    try:
        channel = visit.shell.gateway.channel(Visitor(visit.visitor.host, token))
        await Services(channel).tokens.GetOwnToken(pb.GetOwnTokenRequest())
    except AioRpcError as error:
        refusal = refusal_of(error)
        view = SignInView(to, str(refusal))
        return await visit.answer("sign_in.html", lambda: view, status=refusal.status)
    return visit.sign_in(token, to)


async def leave(visit: Visit) -> Response:
    """Sign out."""
    return visit.sign_out("/")


def _own(path: str) -> str:
    """A path of ours, whatever was asked for: nobody is sent to another host."""
    is_own = path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if is_own and path.isprintable() else HOME


ROUTES = (Private("/sign-in", ask), Form("/sign-in", take), Form("/sign-out", leave))
