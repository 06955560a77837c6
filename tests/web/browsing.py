"""A browser without a network: asks a site's application for pages, and keeps its cookies."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

if TYPE_CHECKING:
    from starlette.applications import Starlette

HOST = "127.0.0.1"
ORIGIN = f"http://{HOST}"


def scope_of(method: str, path: str, address: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """A request as ASGI has it; the names of headers may have underscores."""
    place, _, query = path.partition("?")
    return {
        "type": "http",
        "method": method,
        "path": place,
        "raw_path": place.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "scheme": "http",
        "server": (HOST, 80),
        "client": (address, 1234),
        "headers": [
            (name.replace("_", "-").lower().encode(), value.encode("latin-1"))
            for name, value in {"host": HOST, **headers}.items()
        ],
    }


@dataclass(frozen=True, slots=True)
class Answer:
    """What the site has answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """Its body as a text, whether it came compressed or not."""
        is_compressed = self.headers.get("content-encoding") == "gzip"
        return (gzip.decompress(self.body) if is_compressed else self.body).decode()


@dataclass(slots=True)
class Browsing:
    """One who looks at a site."""

    app: Starlette
    cookies: dict[str, str] = field(default_factory=dict)
    address: str = HOST

    async def get(self, path: str, **headers: str) -> Answer:
        return await self.send("GET", path, b"", headers)

    async def post(self, path: str, **fields: str) -> Answer:
        headers = {"content-type": "application/x-www-form-urlencoded", "origin": ORIGIN}
        return await self.send("POST", path, urlencode(fields).encode(), headers)

    async def send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        """Send any request; the names of headers may have underscores."""
        told = {"content-length": str(len(body)), **headers}
        if self.cookies:
            told["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return await self._exchange(scope_of(method, path, self.address, told), body)

    async def _exchange(self, scope: dict[str, Any], body: bytes) -> Answer:
        sent: list[dict[str, Any]] = []
        unread = [body]

        async def receive() -> dict[str, Any]:
            if unread:
                return {"type": "http.request", "body": unread.pop(), "more_body": False}
            await asyncio.Event().wait()  # nobody leaves
            raise AssertionError

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        start = sent[0]
        headers: dict[str, str] = {}
        for name, value in start["headers"]:
            headers[name.decode()] = value.decode("latin-1")
            if name == b"set-cookie":
                self._keep(value.decode("latin-1"))
        content = b"".join(message.get("body", b"") for message in sent[1:])
        return Answer(start["status"], headers, content)

    def _keep(self, cookie: str) -> None:
        pair, _, attributes = cookie.partition(";")
        name, _, value = pair.partition("=")
        if "max-age=0" in attributes.lower() or value in {"", '""'}:
            self.cookies.pop(name, None)
        else:
            self.cookies[name] = value
