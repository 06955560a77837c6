"""Resources: what answers at a path of the API, whatever the verb."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from google.protobuf.message import Message
from grpc.aio import AioRpcError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from meijin.web.api import requests
from meijin.web.api.answers import JSON, page_answer, refused, text_of
from meijin.web.api.contract import Signature, signature
from meijin.web.api.methods import Method
from meijin.web.api.streams import MEDIA_TYPE, Lines, Places
from meijin.web.drafts import Draft
from meijin.web.gateway import Visitor
from meijin.web.refusals import Refusal
from meijin.web.routes import FRESH
from meijin.web.shell import Shell
from meijin.web.streaming import transport_of

MAX_TOKEN = 200
"""Characters of a token; ours have fewer."""

CALL_TIMEOUT = 60.0
"""Seconds that a server elsewhere may take to answer."""

OWN_SITES = frozenset({"same-origin", "none"})
"""What browsers say of requests that no page of another host has made."""


class Resource:
    """The methods at one path."""

    def __init__(self, methods: Sequence[Method], places: Places) -> None:
        self._methods: Mapping[str, Method] = {method.verb: method for method in methods}
        self._places = places
        verbs = {*self._methods, "OPTIONS"}
        if "GET" in verbs and not signature(self._methods["GET"].name).is_stream:
            verbs.add("HEAD")
        self._allowed = ", ".join(sorted(verbs))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        shell: Shell = request.app.state.shell
        try:
            response = await self._answer(request, shell, send)
        except (AioRpcError, Refusal) as error:
            response = refused(error)
        if response is not None:
            response.headers.update(_for_other_sites(shell, self._allowed))
            await response(scope, receive, send)

    async def _answer(self, request: Request, shell: Shell, send: Send) -> Response | None:
        verb = "GET" if request.method == "HEAD" and "HEAD" in self._allowed else request.method
        if verb == "OPTIONS":
            return Response(status_code=HTTPStatus.NO_CONTENT, headers={"allow": self._allowed})
        method = self._methods.get(verb)
        if method is None:
            message = f"{request.method} is not offered here, but {self._allowed}"
            raise Refusal(HTTPStatus.METHOD_NOT_ALLOWED, message)
        call, visitor = signature(method.name), _visitor(request)
        if call.is_stream:
            await self._stream(request, shell, send, call)
            return None
        if verb == "GET":
            return await _look_up(request, shell, call, visitor)
        return await _change(request, shell, call, visitor)

    async def _stream(self, request: Request, shell: Shell, send: Send, call: Signature) -> None:
        visitor, path = _visitor(request), request.path_params
        if request.method == "GET":
            query = request.url.query
            message = requests.message_of_query(call.request, path, query)
        else:
            message = await _sent(request, shell, call)
        headers = {
            "content-type": MEDIA_TYPE,
            "cache-control": "no-store",
            **_for_other_sites(shell, self._allowed),
        }
        encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
        channel = shell.gateway.channel(visitor)
        with self._places.hold(visitor.host):
            method = channel.unary_stream(call.path, **_codecs(call))
            lines = Lines(method(message), shell.cache, shell.closing)
            transport = transport_of(request.scope)
            await lines.send(request.receive, send, encoded, transport)


async def _look_up(request: Request, shell: Shell, call: Signature, visitor: Visitor) -> Response:
    """What a GET answers: from the cache of pages, unless the request shows a token."""
    path, query = request.path_params, request.url.query

    async def draft() -> Draft:
        message = requests.message_of_query(call.request, path, query)
        answer = await _call(shell, call, visitor, message)
        return Draft((answer,), partial(text_of, answer), JSON)

    if visitor.token:
        page, control = await shell.cache.write(await draft()), "no-store"
    else:
        address = f"{request.url.path}?{query}".encode()
        key = ("api", hashlib.sha256(address).digest())
        page, control = await shell.cache.page(key, draft, FRESH), "no-cache"
    return page_answer(request, page, control)


async def _change(request: Request, shell: Shell, call: Signature, visitor: Visitor) -> Response:
    """What any other verb answers."""
    _check_own(request)
    message = await _sent(request, shell, call)
    answer = await _call(shell, call, visitor, message)
    page = await shell.cache.write(Draft((), partial(text_of, answer), JSON))
    return page_answer(request, page, "no-store")


async def _sent(request: Request, shell: Shell, call: Signature) -> Message:
    _check_own(request)
    if request.url.query:
        raise Refusal(HTTPStatus.BAD_REQUEST, "the fields of this request stand in its body")
    body = await requests.read_body(request)
    path = request.path_params
    read = partial(requests.message_of_body, call.request, path, body)
    return await shell.cache.in_thread(read)


async def _call(shell: Shell, call: Signature, visitor: Visitor, message: Message) -> Message:
    channel = shell.gateway.channel(visitor)
    method = channel.unary_unary(call.path, **_codecs(call))
    answer: Message = await method(message, timeout=CALL_TIMEOUT)
    return answer


def _codecs(call: Signature) -> dict[str, Any]:
    return {
        "request_serializer": call.request.SerializeToString,
        "response_deserializer": call.response.FromString,
    }


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


def _for_other_sites(shell: Shell, allowed: str) -> dict[str, str]:
    """What browsers let pages of other hosts do: look, but not at what this machine alone reaches."""
    if shell.hosts.is_local and not shell.hosts.public_url:
        return {}
    return {
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD" if "HEAD" in allowed else "GET",
        "access-control-allow-headers": "authorization, if-none-match",
        "access-control-expose-headers": "etag, retry-after",
        "access-control-max-age": "600",
    }
