"""Addresses: how every route of the site is visited by the tests that look at all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from starlette.routing import Route

from meijin.web.pages import ROUTES
from meijin.web.request import Form

PAGES: Mapping[str, tuple[str, ...]] = {
    "/": ("/",),
    "/analysis": ("/analysis", "/analysis?game={game}&ply=3"),
    "/api": ("/api",),
    "/bots": ("/bots", "/bots?search=script"),
    "/bots/{name}": ("/bots/{bot}", "/bots/{other_bot}", "/bots/{failing_bot}"),
    "/bots/{name}/versions": ("/bots/{bot}/versions",),
    "/embed/games/{game_id}": ("/embed/games/{game}",),
    "/faults": ("/faults",),
    "/games": ("/games",),
    "/games/{game_id}": (
        "/games/{game}?ply=3",
        "/games/{faulty_game}",
        "/games/{swapped_game}",
        "/games/{live_game}",
    ),
    "/ladders": ("/ladders",),
    "/ladders/{name}": ("/ladders/{ladder}",),
    "/ladders/{name}/calibration": ("/ladders/{ladder}/calibration",),
    "/ladders/{name}/diagnosis": ("/ladders/{ladder}/diagnosis",),
    "/ladders/{name}/head-to-head": (
        "/ladders/{ladder}/head-to-head?bot={bot}&opponent={other_bot}",
        "/ladders/{ladder}/head-to-head?bot={bot}",
    ),
    "/ladders/{name}/history": ("/ladders/{ladder}/history",),
    "/ladders/{name}/matrix": ("/ladders/{ladder}/matrix",),
    "/ladders/{name}/runs": ("/ladders/{ladder}/runs",),
    "/live": ("/live", "/live?tournament={live}"),
    "/openings": ("/openings",),
    "/play": ("/play", "/play?bot={other_bot}", "/play?game={game}&ply=3"),
    "/sign-in": ("/sign-in",),
    "/status": ("/status",),
    "/tournaments": ("/tournaments",),
    "/tournaments/{tournament}": (
        "/tournaments/{tournament}",
        "/tournaments/{bracket}",
        "/tournaments/{test}",
        "/tournaments/{live}",
    ),
    "/tv": ("/tv", "/tv?tournament={live}"),
}
"""Pages for everybody, by their routes; what stands in braces is the stage's."""

OWN_PAGES: Mapping[str, tuple[str, ...]] = {
    "/account": ("/account",),
    "/account/bots/{name}": ("/account/bots/{bot}", "/account/bots/{hosted_bot}"),
    "/challenges": ("/challenges",),
    "/classes": ("/classes",),
    "/classes/{name}": ("/classes/{school_class}", "/classes/{school_class}?projector=1"),
    "/manage": ("/manage",),
    "/manage/audit": ("/manage/audit",),
    "/manage/bots": ("/manage/bots?name={bot}",),
    "/manage/invitations": ("/manage/invitations",),
    "/manage/tournaments": ("/manage/tournaments",),
    "/programs": ("/programs", "/programs?bot={hosted_bot}"),
    "/programs/{program_id}": ("/programs/{program}", "/programs/{open_program}"),
    "/webhooks": ("/webhooks",),
}
"""Pages for those who have signed in, as an operator sees them."""

FILES: Mapping[str, tuple[str, ...]] = {
    "/bots/{name}.atom": ("/bots/{bot}.atom",),
    "/games/{game_id}.{suffix}": tuple(
        f"/games/{{game}}.{suffix}" for suffix in ("sgf", "psq", "json", "html", "svg", "png")
    ),
    "/ladders/{name}.atom": ("/ladders/{ladder}.atom",),
    "/ladders/{name}.csv": ("/ladders/{ladder}.csv",),
    "/ladders/{name}.json": ("/ladders/{ladder}.json",),
    "/ladders/{name}/calibration.csv": ("/ladders/{ladder}/calibration.csv",),
    "/ladders/{name}/calibration.json": ("/ladders/{ladder}/calibration.json",),
    "/ladders/{name}/diagnosis.json": ("/ladders/{ladder}/diagnosis.json",),
    "/ladders/{name}/head-to-head.json": (
        "/ladders/{ladder}/head-to-head.json?bot={bot}&opponent={other_bot}",
    ),
    "/ladders/{name}/history.csv": ("/ladders/{ladder}/history.csv",),
    "/ladders/{name}/history.json": ("/ladders/{ladder}/history.json",),
    "/ladders/{name}/matrix.csv": ("/ladders/{ladder}/matrix.csv",),
    "/ladders/{name}/matrix.json": ("/ladders/{ladder}/matrix.json",),
    "/tournaments/{tournament}/crosstable.csv": ("/tournaments/{tournament}/crosstable.csv",),
    "/tournaments/{tournament}/games.{ending}": tuple(
        f"/tournaments/{{tournament}}/games.{ending}" for ending in ("sgf",)
    ),
}
"""What is no page: pictures, tables, records, feeds."""

ELSEWHERE: Mapping[str, str] = {
    "/events": "a stream, which the live board of a game reads",
    "/play/challenges/{challenge}": "one's own, while a bot is waited for",
    "/play/challenges/{challenge}/events": "a stream, which one who waits reads",
    "/play/{game}": "one's own game, which the test that plays one looks at",
    "/play/{game}/events": "a stream, which one's own game reads",
    "/programs/{program_id}/events": "a stream, which the page of a program reads",
    "/webhooks/{webhook_id}": "a webhook's own, which tests/web/test_webhooks.py looks at",
}
"""Routes that are visited by other tests alone, and why."""


def looked_at() -> Iterator[str]:
    """The paths of every route of the site that can be looked at."""
    for route in ROUTES:
        if isinstance(route, Form):
            continue
        assert not isinstance(route, Route) or "GET" in (route.methods or {"GET"})
        yield getattr(route, "path")  # noqa: B009 - a mount has one too
