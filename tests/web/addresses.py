"""Addresses: how every route of the site is visited by the tests that look at all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from starlette.routing import BaseRoute, Route

from meijin.web.pages import ROUTES
from meijin.web.routes import Form

PAGES: Mapping[str, tuple[str, ...]] = {
    "/": ("/",),
    "/api": ("/api",),
    "/sign-in": ("/sign-in",),
}
"""Pages for people, by their routes; what stands in braces is the stage's."""

FILES: Mapping[str, tuple[str, ...]] = {}
"""What is no page: pictures, tables, records, feeds."""

ELSEWHERE: Mapping[str, str] = {}
"""Routes that are visited by other tests alone, and why."""


def looked_at() -> Iterator[str]:
    """The paths of every route of the site that can be looked at."""
    for route in ROUTES:
        if isinstance(route, Form):
            continue
        if isinstance(route, Route) and "GET" not in (route.methods or {"GET"}):
            continue
        assert not isinstance(route, BaseRoute) or isinstance(route, Route)
        yield route.path
