"""The endpoint of live boards: one stream of server-sent events a page, of all that it shows."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from meijin.web.live.cell import event
from meijin.web.live.subscription import now_ms
from meijin.web.live.topics import Topic
from meijin.web.live.watcher import Watcher
from meijin.web.refusals import bad_request
from meijin.web.shell import Shell
from meijin.web.streaming import EVENT_STREAM, transport_of, until_left
from meijin.web.visit import Visit

PATH = "/events"

MAX_TOPICS = 4
"""Of one stream: a page shows a grid, or a few games."""

RETRY = timedelta(seconds=3)
"""When a browser is to come back whose stream has ended."""


class Events:
    """Answers with a stream of events; plain ASGI, whose price a watcher is a third of others'."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream the topics of a request until the browser leaves, or the site stops."""
        request = Request(scope)
        shell: Shell = request.app.state.shell
        visit = Visit(request, shell)
        watcher, topics = Watcher(send, transport_of(scope)), _topics(visit)
        host, token, delay = visit.visitor.host, visit.visitor.token, shell.settings.delay
        if request.method == "HEAD":
            await _begin(send)
            await _end(send)
            return
        watching = shell.live.watching(watcher, host, topics, token=token, delay=delay)
        async with watching as subscriptions:
            await _begin(send)
            leaving = asyncio.create_task(_await_end(receive, watcher))
            try:
                await watcher.follow(subscriptions)
            finally:
                leaving.cancel()
        await _end(send)


def _topics(visit: Visit) -> Sequence[Topic]:
    names = dict.fromkeys(visit.text("topics", most=400).split(","))
    if len(names) > MAX_TOPICS:
        raise bad_request(f"topics: {len(names)} of them; at most {MAX_TOPICS} a stream")
    return [Topic.parse(name) for name in names]


async def _begin(send: Send) -> None:
    """Say when to come back, and what time it is by the clock of the frames."""
    await send({"type": "http.response.start", "status": 200, "headers": list(EVENT_STREAM)})
    retry = f"retry: {RETRY // timedelta(milliseconds=1)}\n"
    hello = retry.encode() + event("hello", {"now": now_ms()})
    await send({"type": "http.response.body", "body": hello, "more_body": True})


async def _end(send: Send) -> None:
    """Say that the stream ends, so that the browser does not take it for a fault."""
    body = event("end", {})
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _await_end(receive: Receive, watcher: Watcher) -> None:
    await until_left(receive)
    watcher.leave()


ROUTES = (Route(PATH, Events(), methods=["GET"]),)
