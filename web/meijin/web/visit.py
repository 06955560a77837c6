"""A visit: one request, and what is to be had for whoever has sent it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial
from http import HTTPStatus
from urllib.parse import parse_qsl, urlencode

from google.protobuf.message import Message
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from meijin.web.cache import StoredPage
from meijin.web.drafts import Draft
from meijin.web.gateway import Services, Visitor
from meijin.web.refusals import bad_request
from meijin.web.sessions import COOKIE
from meijin.web.shell import Shell

MAX_FIELDS = 100
"""Of a form."""

FORM_TIMEOUT = timedelta(seconds=15)
"""How long a form may take to come."""

MAX_FORM_BYTES = 256 * 1024
"""Of a form: a tournament with a thousand bots takes 40 KB."""


class Visit:
    """One request for a page."""

    def __init__(self, request: Request, shell: Shell) -> None:
        self.request = request
        self.shell = shell

    @cached_property
    def visitor(self) -> Visitor:
        """Who asks."""
        client = self.request.client
        return Visitor("" if client is None else client.host, self.shell.sessions.token(self._key))

    @cached_property
    def services(self) -> Services:
        """The services, as the visitor may call them."""
        return Services(self.shell.gateway.channel(self.visitor))

    @property
    def is_signed_in(self) -> bool:
        """Whether the visitor has shown a token."""
        return bool(self.visitor.token)

    @property
    def origin(self) -> str:
        """Where the pages are for people, such as ``https://arena.example``."""
        url = self.request.url
        return self.shell.hosts.public_url or f"{url.scheme}://{url.netloc}"

    def place(self, name: str) -> str:
        """A part of the path."""
        return str(self.request.path_params[name])

    def text(self, name: str, default: str = "", *, most: int = 200) -> str:
        """A parameter of the address.

        Raises:
            Refusal: it is longer than it may be.
        """
        value = self.request.query_params.get(name, default)
        if len(value) > most:
            raise bad_request(f"{name} has more than {most} characters")
        return value

    def number(self, name: str, default: int, *, least: int = 0, most: int = 2**31 - 1) -> int:
        """A parameter of the address that is a whole number.

        Raises:
            Refusal: it is none, or out of its range.
        """
        value = self.text(name)
        if not value:
            return default
        if not (value.isascii() and value.isdecimal() and least <= int(value[:12]) <= most):
            raise bad_request(f"{name} must be a whole number from {least} to {most}")
        return int(value)

    def flag(self, name: str) -> bool:
        """Whether a parameter of the address is set, as a ticked box is."""
        return self.text(name) not in {"", "0", "false"}

    def address(self, **changes: object) -> str:
        """The address of this page with other parameters; ``None`` takes one out."""
        given = dict(parse_qsl(self.request.url.query))
        given |= {name: str(value) for name, value in changes.items() if value is not None}
        kept = {name: value for name, value in given.items() if changes.get(name, "") is not None}
        query = urlencode(kept)
        return self.request.url.path + (f"?{query}" if query else "")

    async def form(self) -> FormData:
        """What a form has sent.

        Raises:
            Refusal: it is larger than any of ours.
        """
        length = self.request.headers.get("content-length", "")
        if not length.isdecimal() or int(length[:12]) > MAX_FORM_BYTES:
            raise bad_request(f"a form may have {MAX_FORM_BYTES} bytes, and has to say how many")
        try:
            async with asyncio.timeout(FORM_TIMEOUT.total_seconds()):
                return await self.request.form(max_files=0, max_fields=MAX_FIELDS)
        except TimeoutError:
            raise bad_request("the form did not come to its end; send it again") from None

    def page(self, template: str, view: Callable[[], object], *messages: Message) -> Draft:
        """A page by a template.

        Args:
            view: Makes what the template shows as `page`, in a thread.
            messages: All that `view` is a function of, beside the address.
        """
        write = partial(self.shell.render, template, view, self._surroundings())
        return Draft(messages, write)

    async def answer(
        self,
        template: str,
        view: Callable[[], object],
        *,
        status: HTTPStatus = HTTPStatus.OK,
    ) -> Response:
        """A page that is the visitor's alone: it is kept by nobody."""
        page = await self.shell.cache.write(self.page(template, view))
        return private_response(page, self.request, status)

    def sign_in(self, token: str, to: str) -> Response:
        """Have the browser keep a session of a token, and go on to another page."""
        response = see_other(to)
        self.keep(token, response)
        return response

    def keep(self, token: str, response: Response) -> None:
        """Have the browser keep a session of a token with a response."""
        response.set_cookie(
            COOKIE,
            self.shell.sessions.open(token),
            httponly=True,
            samesite="lax",
            secure=self.origin.startswith("https:"),
        )

    def sign_out(self, to: str) -> Response:
        """Have the browser forget its session."""
        self.shell.sessions.close(self._key)
        response = see_other(to)
        response.delete_cookie(COOKIE)
        return response

    @property
    def _key(self) -> str:
        return self.request.cookies.get(COOKIE, "")

    def _surroundings(self) -> "Surroundings":
        return Surroundings(self.request.url.path, self.origin, self.address, self.is_signed_in)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every template may show beside its page, as `here`."""

    path: str
    origin: str
    """Where the pages are for people."""
    address: Callable[..., str]
    """The page's own address with other parameters."""
    is_signed_in: bool


def see_other(to: str) -> Response:
    """Have the browser look at another page of ours."""
    return RedirectResponse(to, HTTPStatus.SEE_OTHER)


def private_response(
    page: StoredPage, request: Request, status: HTTPStatus = HTTPStatus.OK
) -> Response:
    """A page that no cache keeps."""
    response = page_response(page, request)
    response.status_code = status
    response.headers["cache-control"] = "no-store"
    return response


def page_response(page: StoredPage, request: Request) -> Response:
    """A page as it is sent, or that it is still what the browser has."""
    headers = {
        "etag": page.etag,
        "cache-control": "no-cache",
        "vary": "accept-encoding, cookie",
    }
    if page.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    if page.filename:
        headers["content-disposition"] = f'attachment; filename="{page.filename}"'
    body = page.body
    if page.is_compressed and "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
    elif page.is_compressed:
        body = page.plain_body
    return Response(body, headers=headers, media_type=page.media_type)


Show = Callable[[Visit], Awaitable[Draft]]
"""Drafts a page that many may see."""

Handle = Callable[[Visit], Awaitable[Response]]
"""Answers a visitor alone, such as one who has sent a form."""
