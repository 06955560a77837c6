"""Pagination of requests: a page's size, and the token of the next page; and ids as text."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from google.protobuf.message import Message
from sqlalchemy import Connection

from meijin.server.errors import InvalidRequestError
from meijin.server.storage import Storage

DEFAULT_SIZE = 100
MAX_SIZE = 1000

MAX_PAGE_BYTES = 512 * 1024
"""Of the messages of a page, unless it is of one alone; the next page goes on behind them."""

BATCH = 100
"""Rows that are read and made messages at once, so that a long page does not hold up the loop."""

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
M = TypeVar("M", bound=Message)


class ListQuery(Protocol[R_co]):
    """Reads at most so many rows of a list."""

    def __call__(self, connection: Connection, *, limit: int, after: str) -> Sequence[R_co]:
        """The rows from where a token says on; from the first where it is empty.

        Raises:
            InvalidRequestError: the token is none of ours.
        """


@dataclass(frozen=True, slots=True)
class Page(Generic[M]):
    """A page of a list."""

    messages: Sequence[M]
    next_token: str
    """Where the next page begins; empty on the last."""


async def read_page(
    storage: Storage,
    query: ListQuery[R],
    convert: Callable[[R], M],
    *,
    size: int,
    start: str,
    token: Callable[[R], object],
    batch: int = BATCH,
) -> Page[M]:
    """One page of a list in the store, of the size that was asked for or of fewer bytes.

    Args:
        convert: Makes the message of a row.
        start: The token of the page.
        token: What a page that ends with a row is followed by.
        batch: Rows that are read at once.

    Raises:
        InvalidRequestError: it is more than a page may have.
    """
    wanted = page_size(size)
    messages: list[M] = []
    room, place = MAX_PAGE_BYTES, start
    while len(messages) < wanted:
        limit = min(batch, wanted - len(messages))
        rows = await storage.read(query, limit=limit + 1, after=place)
        for row in rows[:limit]:
            message = convert(row)
            room -= message.ByteSize()
            if messages and room < 0:
                return Page(messages, place)
            messages.append(message)
            place = str(token(row))
        if len(rows) <= limit:
            return Page(messages, "")
    return Page(messages, place)


def within(messages: Iterable[M]) -> list[M]:
    """The first messages that a page has the bytes for; one of any size."""
    taken: list[M] = []
    room = MAX_PAGE_BYTES
    for message in messages:
        room -= message.ByteSize()
        if taken and room < 0:
            break
        taken.append(message)
    return taken


def page_size(asked: int) -> int:
    """How many rows a page has.

    Raises:
        InvalidRequestError: more than a page may have.
    """
    if asked > MAX_SIZE:
        raise InvalidRequestError(f"page_size {asked} is above {MAX_SIZE}")
    return asked or DEFAULT_SIZE


def page_key(token: str) -> int | None:
    """The id that a page begins after; ``None`` for the first page.

    Raises:
        InvalidRequestError: the token is none of ours.
    """
    return number(token, "page_token") if token else None


def number(text: str, field: str) -> int:
    """An id from its text.

    Raises:
        InvalidRequestError: it is none of ours.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= 18):  # noqa: PLR2004 - fits 64 bits
        raise InvalidRequestError(f'{field} "{text}" is none of this server\'s, which are numbers')
    return int(text)
