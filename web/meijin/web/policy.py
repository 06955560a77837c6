"""The policy for browsers: what pages may load, who may frame them, and which hosts they are of."""

import re
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors {ancestors}"
)
"""Of every answer: nothing inline, nothing of other hosts."""

EMBED = "/embed/"
"""How the addresses begin of pages that others may frame."""

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

API = "/api/"
"""How the addresses begin where cookies count for nothing, so that no other page can use them."""

_HOST = re.compile(r"(?P<name>[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names under which the pages are looked at."""

    public_url: str = ""
    """Where people look, such as ``https://arena.example``; empty where nobody has said."""
    is_local: bool = True
    """Only this machine reaches the port: other names are those of pages that aim at it."""

    def allow(self, host: str) -> bool:
        """Whether a request may name a host."""
        found = _HOST.fullmatch(host.lower())
        if found is None:
            return False
        name = found["name"].strip("[]")
        if self.public_url and name == urlsplit(self.public_url).hostname:
            return True
        return not self.is_local or name == "localhost" or _is_address(name)


class BrowserPolicy:
    """Adds what browsers are told to every answer, and refuses forms that other pages send."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        path, host = scope["path"], headers.get("host", "")

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add(MutableHeaders(scope=message), path)
            await send(message)

        if not self._hosts.allow(host):
            answer = PlainTextResponse(
                "this server is not known by that name; its operator sets it with --web-url",
                HTTPStatus.MISDIRECTED_REQUEST,
            )
            await answer(scope, receive, tell)
        elif not path.startswith(API) and not _is_own(scope["method"], headers, host):
            answer = PlainTextResponse("this form was not sent by a page of here", 403)
            await answer(scope, receive, tell)
        else:
            await self._app(scope, receive, tell)


def _is_own(method: str, headers: Headers, host: str) -> bool:
    """Whether a request changes nothing, or is of one of our own pages."""
    if method in SAFE_METHODS:
        return True
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    return urlsplit(headers.get("origin", "")).netloc == host


def _add(headers: MutableHeaders, path: str) -> None:
    is_framed = path.startswith(EMBED)
    ancestors = "*" if is_framed else "'none'"
    headers.setdefault("content-security-policy", CONTENT_POLICY.format(ancestors=ancestors))
    headers["x-content-type-options"] = "nosniff"
    headers["referrer-policy"] = "same-origin"
    headers["cross-origin-opener-policy"] = "same-origin"
    headers["permissions-policy"] = "camera=(), geolocation=(), microphone=()"
    if not is_framed:
        headers["x-frame-options"] = "DENY"


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
