"""The site: the application, with the routes of every part of it."""

from collections.abc import Awaitable, Callable
from functools import partial

from grpc.aio import AioRpcError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from meijin.web.api.routes import routes as api_routes
from meijin.web.pages import ROUTES
from meijin.web.pages.errors import error_page
from meijin.web.policy import BrowserPolicy
from meijin.web.refusals import Refusal
from meijin.web.routes import Form, Page, Private
from meijin.web.shell import Shell
from meijin.web.visit import Handle, Visit, page_response

MAX_QUERY = 2000
"""Characters of an address behind its path."""


def application(shell: Shell) -> Starlette:
    """The application of a site."""
    app = Starlette(
        routes=[
            *(_route(shell, route) for route in ROUTES),
            *api_routes(),
            Route("/static/{version}/{name:path}", shell.static),
        ],
        middleware=[Middleware(BrowserPolicy, hosts=shell.hosts)],
        exception_handlers={
            error: partial(error_page, shell)
            for error in (AioRpcError, Refusal, HTTPException, Exception)
        },
    )
    app.state.shell = shell
    return app


def _route(shell: Shell, route: Page | Form | Private | BaseRoute) -> BaseRoute:
    match route:
        case Page():
            return Route(route.path, _shown(shell, route), methods=["GET"])
        case Form():
            return Route(route.path, _handled(shell, route.handle), methods=["POST"])
        case Private():
            return Route(route.path, _handled(shell, route.handle), methods=["GET"])
        case _:
            return route


def _shown(shell: Shell, page: Page) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        visit = Visit(request, shell)
        url = request.url
        if len(url.query) > MAX_QUERY:
            raise HTTPException(414, "the address is longer than any of ours")
        key = (visit.origin, url.path, url.query, visit.visitor.token)
        stored = await shell.cache.page(key, partial(page.show, visit), page.max_age)
        return page_response(stored, request)

    return endpoint


def _handled(shell: Shell, handle: Handle) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await handle(Visit(request, shell))

    return endpoint
