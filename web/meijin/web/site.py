"""The site: the application, with the routes of every part of it."""

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from grpc.aio import AioRpcError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from meijin.web.api.routes import routes as api_routes
from meijin.web.cache import LazyPage
from meijin.web.pages import ROUTES
from meijin.web.pages.errors import error_page
from meijin.web.policy import BrowserPolicy
from meijin.web.refusals import Refusal
from meijin.web.request import Form, Handle, Page, PageRequest, Private
from meijin.web.state import SiteState
from meijin.web.static import AT_THE_TOP

MAX_QUERY = 2000
"""Characters of an address behind its path."""


def application(site: SiteState) -> Starlette:
    app = Starlette(
        routes=[
            *(_route(site, route) for route in ROUTES),
            *api_routes(),
            Route("/static/{version}/{name:path}", site.static),
            *(Route(path, site.static) for path in AT_THE_TOP),
        ],
        middleware=[Middleware(BrowserPolicy, hosts=site.hosts)],
        exception_handlers={
            error: partial(error_page, site)
            for error in (AioRpcError, Refusal, HTTPException, Exception)
        },
    )
    app.state.site = site
    return app


def _route(site: SiteState, route: Page | Form | Private | BaseRoute) -> BaseRoute:
    match route:
        case Page():
            return Route(route.path, _shown(site, route), methods=["GET"])
        case Form():
            return Route(route.path, _handled(site, route.handle), methods=["POST"])
        case Private():
            return Route(route.path, _handled(site, route.handle), methods=["GET"])
        case _:
            return route


def _shown(site: SiteState, page: Page) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(http: Request) -> Response:
        request, url = PageRequest(http, site), http.url

        async def look_up() -> LazyPage:
            await site.names.look(request.services)
            found = await page.show(request)
            return replace(found, shown=(*found.shown, site.names.version))

        if len(url.query) > MAX_QUERY:
            raise HTTPException(414, "the address is longer than any of ours")
        stored = await site.cache.page(_key(request, url.path, url.query), look_up, page.max_age)
        return stored.response(http)

    return endpoint


def _key(request: PageRequest, path: str, query: str) -> Hashable:
    """What a page is kept by: its address, and whose it is."""
    return request.origin, path, query, request.visitor.token


def _handled(site: SiteState, handle: Handle) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(http: Request) -> Response:
        request = PageRequest(http, site)
        await site.names.look(request.services)
        answer = await handle(request)
        if isinstance(answer, LazyPage):
            return await request.private(answer)
        to = urlsplit(answer.headers.get("location", ""))
        site.cache.expire(_key(request, to.path, to.query))
        return answer

    return endpoint
