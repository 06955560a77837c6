"""Routes: every path of the API, and the document that describes it."""

from collections.abc import Iterator
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from meijin.web.api.answers import JSON, page_answer, refused
from meijin.web.api.methods import METHODS, PREFIX, Method
from meijin.web.api.resources import Resource
from meijin.web.api.streams import Places
from meijin.web.drafts import Draft
from meijin.web.refusals import Refusal
from meijin.web.shell import Shell

DOCUMENT = Path(__file__).parent / "openapi.json"
"""The OpenAPI document, made of the contract by ``scripts/generate.py``."""

DOCUMENT_PATH = f"{PREFIX}/openapi.json"


def routes() -> Iterator[BaseRoute]:
    """Every path of the API; the first that fits answers."""
    places = Places()
    yield Route(DOCUMENT_PATH, _document)
    resources: dict[str, list[Method]] = {}
    for method in METHODS:
        resources.setdefault(method.full_path, []).append(method)
    for path, methods in resources.items():
        yield Route(path, Resource(methods, places))
    yield Route(PREFIX + "/{rest:path}", _nothing, methods=ANY)


ANY = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


async def _document(request: Request) -> Response:
    shell: Shell = request.app.state.shell

    async def draft() -> Draft:
        return Draft((), DOCUMENT.read_bytes, JSON)

    page = await shell.cache.page(("api", DOCUMENT_PATH), draft, timedelta(days=1))
    return page_answer(request, page, "no-cache")


async def _nothing(_: Request) -> Response:
    message = f"the API has nothing here; {DOCUMENT_PATH} says what there is"
    return refused(Refusal(HTTPStatus.NOT_FOUND, message))
