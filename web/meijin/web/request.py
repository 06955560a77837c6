"""One request for a page, what is to be had for its sender, and the routes that lead to pages."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial
from http import HTTPStatus
from typing import Protocol, TypeVar
from urllib.parse import parse_qsl, urlencode

from google.protobuf.message import Message
from starlette.datastructures import FormData
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from meijin.v1.bot_service_pb2 import GetRatingsRequest, GetRatingsResponse
from meijin.v1.game_pb2 import Game
from meijin.web.cache import LazyPage
from meijin.web.gateway import Services, Visitor
from meijin.web.refusals import bad_request, refusing_values
from meijin.web.sessions import COOKIE, BrowserSession
from meijin.web.state import SiteState

MAX_FIELDS = 300
"""Of a form: one in which bots are ticked has most."""

FORM_TIMEOUT = timedelta(seconds=15)
"""How long a form may take to come."""

MAX_FORM_BYTES = 256 * 1024
"""Of a form: a tournament with a thousand bots takes 40 KB."""

FRESH = timedelta(seconds=2)
"""How old a page may be that many look at, unless its route says otherwise."""


class PagedRequest(Protocol):
    """A request of the contract for one page of a list."""

    page_token: str


L = TypeVar("L", bound=PagedRequest)


class PageRequest:
    """One request for a page."""

    def __init__(self, http: Request, site: SiteState) -> None:
        self.http = http
        self.site = site

    @cached_property
    def visitor(self) -> Visitor:
        client = self.http.client
        return Visitor("" if client is None else client.host, self._session.token)

    @cached_property
    def services(self) -> Services:
        """The services, as the visitor may call them."""
        return Services(self.site.gateway.channel(self.visitor))

    @property
    def is_signed_in(self) -> bool:
        return bool(self.visitor.token)

    @property
    def origin(self) -> str:
        """Where the pages are for people, such as ``https://arena.example``."""
        url = self.http.url
        return self.site.hosts.public_url or f"{url.scheme}://{url.netloc}"

    @property
    def url_path(self) -> str:
        return self.http.url.path

    @property
    def path(self) -> Mapping[str, str]:
        """The parts of the path that its route names."""
        return self.http.path_params

    def text(self, name: str, default: str = "", *, most: int = 200) -> str:
        """A parameter of the address.

        Raises:
            Refusal: it is longer than it may be.
        """
        value = self.http.query_params.get(name, default)
        if len(value) > most:
            raise bad_request(f"{name} has more than {most} characters")
        return value

    def number(self, name: str, default: int, *, least: int = 0, most: int = 2**31 - 1) -> int:
        """A parameter of the address that is a whole number.

        Raises:
            Refusal: it is none, or out of its range.
        """
        value = self.text(name)
        with refusing_values():
            return whole(value, name, least=least, most=most) if value else default

    def flag(self, name: str) -> bool:
        """Whether a parameter of the address is set, as a ticked box is."""
        return self.text(name) not in {"", "0", "false"}

    def address(self, **changes: object) -> str:
        """The address of this page with other parameters; ``None`` takes one out."""
        given = dict(parse_qsl(self.http.url.query))
        given |= {name: str(value) for name, value in changes.items() if value is not None}
        kept = {name: value for name, value in given.items() if changes.get(name, "") is not None}
        query = urlencode(kept)
        return self.http.url.path + (f"?{query}" if query else "")

    async def form(
        self, *, most: int = MAX_FORM_BYTES, files: int = 0, limit: timedelta = FORM_TIMEOUT
    ) -> FormData:
        """What a form has sent; one with files has to be closed.

        Args:
            most: Bytes that it may have.
            files: How many files may be in it; they lie on the disk.
            limit: How long it may take to come.

        Raises:
            Refusal: it is larger or slower than it may be, or ends early.
            HTTPException: it can't be read, or has more in it than it may.
        """
        length = self.http.headers.get("content-length", "")
        if not length.isdecimal() or int(length[:12]) > most:
            raise bad_request(f"a form may have {most} bytes, and has to say how many")
        try:
            async with asyncio.timeout(limit.total_seconds()):
                return await self.http.form(max_files=files, max_fields=MAX_FIELDS)
        except (TimeoutError, ClientDisconnect):
            raise bad_request("the form did not come to its end; send it again") from None

    def page(
        self, template: str, *, status: HTTPStatus = HTTPStatus.OK, **values: object
    ) -> LazyPage:
        """A page by a template; messages and texts among the values are all that it shows.

        The template has the request as `here`.
        """
        write = partial(self.site.render, template, here=self, **values)
        return LazyPage(tuple(_shown(values.values())), write, status=status)

    async def list_page(
        self,
        template: str,
        call: Callable[[L], Awaitable[Message]],
        asked: L,
        *,
        status: HTTPStatus = HTTPStatus.OK,
        **values: object,
    ) -> LazyPage:
        """One page of a list, from where the address says: what was `asked`, and was `found`."""
        asked.page_token = self.text("page")
        found = await call(asked)
        return self.page(template, status=status, asked=asked, found=found, **values)

    async def ratings(self, games: Iterable[Game]) -> GetRatingsResponse:
        """The Elo of those who play some games, by their names."""
        names = {name for game in games for name in (game.black, game.white)}
        return await self.services.bots.GetRatings(GetRatingsRequest(bots=sorted(names)))

    @property
    def is_operator(self) -> bool:
        return self._session.is_operator

    async def private(self, page: LazyPage) -> Response:
        """A page that is the visitor's alone: it is kept by nobody."""
        stored = await self.site.cache.write(page)
        return stored.response(self.http, control="no-store")

    def sign_in(self, token: str, to: str, *, is_operator: bool) -> Response:
        """Have the browser keep a session of a token, and go on to another page."""
        response = see_other(to)
        self.keep(token, response, is_operator=is_operator)
        return response

    def keep(self, token: str, response: Response, *, is_operator: bool) -> None:
        key = self.site.sessions.open(token, is_operator=is_operator)
        self.set_cookie(response, COOKIE, key)

    def set_cookie(
        self, response: Response, name: str, value: str, max_age: timedelta | None = None
    ) -> None:
        """Have the browser show something with every request, and no script read it."""
        response.set_cookie(
            name,
            value,
            max_age=None if max_age is None else int(max_age.total_seconds()),
            httponly=True,
            samesite="lax",
            secure=self.origin.startswith("https:"),
        )

    def sign_out(self, to: str) -> Response:
        self.site.sessions.close(self._key)
        response = see_other(to)
        response.delete_cookie(COOKIE)
        return response

    @cached_property
    def _session(self) -> BrowserSession:
        return self.site.sessions.get(self._key)

    @property
    def _key(self) -> str:
        return self.http.cookies.get(COOKIE, "")


def _shown(values: Iterable[object]) -> Iterator[Message | str]:
    for value in values:
        if isinstance(value, Message | str):
            yield value
        elif isinstance(value, Mapping):
            yield from _shown(value.values())
        elif isinstance(value, Sequence):
            yield str(len(value))
            yield from _shown(value)


def whole(value: str, name: str, *, least: int = 0, most: int = 2**31 - 1) -> int:
    """A whole number.

    Raises:
        ValueError: it is none, or out of its range.
    """
    if not (value.isascii() and value.isdecimal() and least <= int(value[:12]) <= most):
        raise ValueError(f"{name} must be a whole number from {least} to {most}")
    return int(value)


def see_other(to: str) -> Response:
    """Have the browser look at another page of ours."""
    return RedirectResponse(to, HTTPStatus.SEE_OTHER)


Answer = LazyPage | Response

Show = Callable[[PageRequest], Awaitable[LazyPage]]
"""Looks up a page that many may see."""

Handle = Callable[[PageRequest], Awaitable[Answer]]
"""Answers a visitor alone, such as one who has sent a form."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page that is the same for all who may see it, and kept for a moment."""

    path: str
    show: Show
    max_age: timedelta = FRESH


@dataclass(frozen=True, slots=True)
class Private:
    """A page that is one visitor's."""

    path: str
    handle: Handle


@dataclass(frozen=True, slots=True)
class Form:
    """What is sent by a form of ours."""

    path: str
    handle: Handle
