"""What is shown when a page is refused, or fails."""

import logging
import secrets
from http import HTTPStatus
from urllib.parse import urlencode

from grpc.aio import AioRpcError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from meijin.web.refusals import Refusal, refusal_of
from meijin.web.request import PageRequest, see_other
from meijin.web.state import SiteState
from meijin.web.wording import text

log = logging.getLogger(__name__)


async def error_page(site: SiteState, http: Request, error: Exception) -> Response:
    """Tell why there is no page, and what to do; who has to sign in is asked to."""
    request, refusal = PageRequest(http, site), _refusal(error)
    status = refusal.status
    if status is HTTPStatus.UNAUTHORIZED and http.method == "GET":
        query = urlencode({"next": request.address()})
        to = f"/sign-in?{query}"
        return request.sign_out(to) if request.is_signed_in else see_other(to)
    page = request.page(
        "error.html",
        status=status,
        title=status.phrase,
        message=str(refusal),
        is_forbidden=status is HTTPStatus.FORBIDDEN and http.method == "GET",
    )
    try:
        response = await request.private(page)
    except Refusal:  # too many pages wait to be written
        response = Response(str(refusal), status, media_type="text/plain")
    response.headers.update(refusal.headers)
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
