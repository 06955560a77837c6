"""Resources: what answers at a path of the API, whatever the verb."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from http import HTTPStatus
from urllib.parse import urlsplit

from google.protobuf.message import Message
from grpc.aio import AioRpcError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from meijin.web.api import requests
from meijin.web.api.answers import JSON, refused
from meijin.web.api.methods import STREAM_TYPE, Method
from meijin.web.api.streams import WRITE_TIMEOUT, lines_of
from meijin.web.cache import LazyPage
from meijin.web.gateway import Visitor
from meijin.web.refusals import Refusal
from meijin.web.request import FRESH
from meijin.web.state import SiteState
from meijin.web.streaming import OpenStreams, PartedAnswer, transport_of
from meijin.wire.json import json_text

MAX_TOKEN = 200
"""Characters of a token; ours have fewer."""

IDENTITY = "authorization"
"""The header by which clients say who they are."""

CALL_TIMEOUT = 60.0
"""Seconds that a server elsewhere may take to answer."""

OWN_SITES = frozenset({"same-origin", "none"})
"""What browsers say of requests that no page of another host has made."""


class Resource:
    """The methods at one path."""

    def __init__(self, methods: Sequence[Method], streams: OpenStreams) -> None:
        self._methods: Mapping[str, Method] = {method.verb: method for method in methods}
        self._streams = streams
        verbs = {*self._methods, "OPTIONS"}
        if "GET" in verbs and not self._methods["GET"].is_stream:
            verbs.add("HEAD")
        self._allowed = ", ".join(sorted(verbs))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        site: SiteState = request.app.state.site
        try:
            response = await self._answer(request, site, send)
        except (AioRpcError, Refusal) as error:
            response = refused(error)
        if response is not None:
            response.headers.update(_for_other_sites(site, self._allowed))
            await response(scope, receive, send)

    async def _answer(self, request: Request, site: SiteState, send: Send) -> Response | None:
        verb = "GET" if request.method == "HEAD" and "HEAD" in self._allowed else request.method
        if verb == "OPTIONS":
            return Response(status_code=HTTPStatus.NO_CONTENT, headers={"allow": self._allowed})
        method = self._methods.get(verb)
        if method is None:
            message = f"{request.method} is not offered here, but {self._allowed}"
            raise Refusal(HTTPStatus.METHOD_NOT_ALLOWED, message)
        visitor = _visitor(request)
        if method.is_stream:
            await self._stream(request, site, send, method, visitor)
            return None
        if verb == "GET":
            return await _look_up(request, site, method, visitor)
        return await _change(request, site, method, visitor)

    async def _stream(
        self, request: Request, site: SiteState, send: Send, method: Method, visitor: Visitor
    ) -> None:
        path = request.path_params
        if request.method == "GET":
            query = request.url.query
            message = requests.message_of_query(method.request, path, query)
        else:
            message = await _sent(request, site, method, visitor)
        headers = {
            "content-type": STREAM_TYPE,
            "cache-control": "no-store",
            **_for_other_sites(site, self._allowed),
        }
        encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
        channel = site.gateway.channel(visitor)
        with self._streams.hold(visitor.host):
            call = channel.unary_stream(method.call_path, **method.codecs)(message)
            answer = PartedAnswer(lines_of(call, site.cache), encoded, site.closing)
            transport = transport_of(request.scope)
            await answer.send(request.receive, send, transport, WRITE_TIMEOUT)


async def _look_up(request: Request, site: SiteState, method: Method, visitor: Visitor) -> Response:
    """What a GET answers: from the cache of pages, unless the request shows a token."""
    path, query = request.path_params, request.url.query

    async def look_up() -> LazyPage:
        message = requests.message_of_query(method.request, path, query)
        answer = await _call(site, method, visitor, message)
        return LazyPage((answer,), partial(json_text, answer), JSON)

    if visitor.token:
        page, control = await site.cache.write(await look_up()), "no-store"
    else:
        address = f"{request.url.path}?{query}".encode()
        key = ("api", hashlib.sha256(address).digest())
        page, control = await site.cache.page(key, look_up, FRESH), "no-cache"
    return page.response(request, control=control, identity=IDENTITY)


async def _change(request: Request, site: SiteState, method: Method, visitor: Visitor) -> Response:
    """What any other verb answers."""
    _check_own(request)
    message = await _sent(request, site, method, visitor)
    answer = await _call(site, method, visitor, message)
    page = await site.cache.write(LazyPage((), partial(json_text, answer), JSON))
    return page.response(request, control="no-store", identity=IDENTITY)


async def _sent(request: Request, site: SiteState, method: Method, visitor: Visitor) -> Message:
    _check_own(request)
    if request.url.query:
        raise Refusal(HTTPStatus.BAD_REQUEST, "the fields of this request stand in its body")
    body = await requests.read_body(request)
    path = request.path_params
    read = partial(requests.message_of_body, method.request, path, body)
    return await site.cache.in_turn(visitor.host, read)


async def _call(site: SiteState, method: Method, visitor: Visitor, message: Message) -> Message:
    call = site.gateway.channel(visitor).unary_unary(method.call_path, **method.codecs)
    answer: Message = await call(message, timeout=CALL_TIMEOUT)
    return answer


def _visitor(request: Request) -> Visitor:
    """Who asks: cookies count for nothing here."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    host = "" if request.client is None else request.client.host
    if not scheme:
        return Visitor(host)
    token = token.strip()
    if scheme.lower() != "bearer" or not 0 < len(token) <= MAX_TOKEN or not token.isascii():
        message = "the header has to be `Authorization: Bearer TOKEN`"
        raise Refusal(HTTPStatus.UNAUTHORIZED, message)
    return Visitor(host, token)


def _check_own(request: Request) -> None:
    """Refuse what a page of another host has a browser send: it may reach where others can't."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    is_own = origin is None or urlsplit(origin).netloc == request.headers.get("host", "")
    if not is_own or site not in {None, *OWN_SITES}:
        message = "pages of other hosts may look, and change nothing"
        raise Refusal(HTTPStatus.FORBIDDEN, message)


def _for_other_sites(site: SiteState, allowed: str) -> dict[str, str]:
    """What browsers let pages of other hosts do: look, but not at what this machine alone reaches."""
    if site.hosts.is_local and not site.hosts.public_url:
        return {}
    return {
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD" if "HEAD" in allowed else "GET",
        "access-control-allow-headers": "authorization, if-none-match",
        "access-control-expose-headers": "etag, retry-after",
        "access-control-max-age": "600",
    }
