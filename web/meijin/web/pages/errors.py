"""What is shown when a page is refused, or fails."""

import logging
import secrets
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlencode

from grpc.aio import AioRpcError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from meijin.web.refusals import Refusal, refusal_of
from meijin.web.shell import Shell
from meijin.web.visit import Visit, see_other
from meijin.web.wording import text

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ErrorView:
    """A refusal as people read it."""

    status: int
    title: str
    message: str


async def error_page(shell: Shell, request: Request, error: Exception) -> Response:
    """Tell why there is no page, and what to do; who has to sign in is asked to."""
    visit, refusal = Visit(request, shell), _refusal(error)
    if refusal.status is HTTPStatus.UNAUTHORIZED and request.method == "GET":
        query = urlencode({"next": visit.address()})
        to = f"/sign-in?{query}"
        return visit.sign_out(to) if visit.is_signed_in else see_other(to)
    view = ErrorView(refusal.status.value, refusal.status.phrase, str(refusal))
    try:
        response = await visit.answer("error.html", lambda: view, status=refusal.status)
    except Refusal:  # too many pages wait to be written
        response = Response(str(refusal), refusal.status, media_type="text/plain")
    if refusal.retry_after is not None:
        seconds = max(1, round(refusal.retry_after.total_seconds()))
        response.headers["retry-after"] = str(seconds)
    return response


def _refusal(error: Exception) -> Refusal:
    match error:
        case Refusal():
            return error
        case AioRpcError():
            return refusal_of(error)
        case HTTPException(status_code=HTTPStatus.NOT_FOUND):
            return Refusal(HTTPStatus.NOT_FOUND, text("errors.no_page"))
        case HTTPException():
            return Refusal(HTTPStatus(error.status_code), error.detail)
    incident = secrets.token_hex(4)
    log.error("incident %s", incident, exc_info=error)
    return Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, text("errors.incident", incident=incident))
