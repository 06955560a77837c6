"""Routes: every path of the API, and the document that describes it."""

from collections.abc import Iterator
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from meijin.web.api.answers import JSON, refused
from meijin.web.api.methods import METHODS, PREFIX, Method
from meijin.web.api.resources import IDENTITY, Resource
from meijin.web.api.streams import MAX_STREAMS, MAX_STREAMS_OF_HOST
from meijin.web.cache import LazyPage
from meijin.web.refusals import Refusal
from meijin.web.state import SiteState
from meijin.web.streaming import OpenStreams

DOCUMENT = Path(__file__).parent / "openapi.json"
"""The OpenAPI document, made of the contract by ``scripts/generate.py``."""

DOCUMENT_PATH = f"{PREFIX}/openapi.json"


def routes() -> Iterator[BaseRoute]:
    """Every path of the API; the first that fits answers."""
    streams = OpenStreams(MAX_STREAMS, of_host=MAX_STREAMS_OF_HOST)
    yield Route(DOCUMENT_PATH, _document)
    resources: dict[str, list[Method]] = {}
    for method in METHODS:
        resources.setdefault(method.full_path, []).append(method)
    for path, methods in resources.items():
        yield Route(path, Resource(methods, streams))
    yield Route(PREFIX + "/{rest:path}", _nothing, methods=ANY)


ANY = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


async def _document(request: Request) -> Response:
    site: SiteState = request.app.state.site

    async def look_up() -> LazyPage:
        return LazyPage((), DOCUMENT.read_bytes, JSON)

    page = await site.cache.page(("api", DOCUMENT_PATH), look_up, timedelta(days=1))
    return page.response(request, identity=IDENTITY)


async def _nothing(_: Request) -> Response:
    message = f"the API has nothing here; {DOCUMENT_PATH} says what there is"
    return refused(Refusal(HTTPStatus.NOT_FOUND, message))
