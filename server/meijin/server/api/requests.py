"""Pagination of requests: a page's size, and the token of the next page; and ids as text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, Self, TypeVar

from sqlalchemy import Connection

from meijin.server.errors import InvalidRequestError
from meijin.server.storage import Storage

DEFAULT_SIZE = 100
MAX_SIZE = 1000

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class ListQuery(Protocol[R_co]):
    """Reads at most so many rows of a list."""

    def __call__(self, connection: Connection, *, limit: int) -> Sequence[R_co]:
        """The rows, from where the page begins."""


@dataclass(frozen=True, slots=True)
class Page(Generic[R]):
    """A page of a list."""

    rows: Sequence[R]
    next_token: str
    """Where the next page begins; empty on the last."""

    @classmethod
    def of(cls, rows: Sequence[R], size: int, token: Callable[[R], object]) -> Self:
        """The page that begins with these rows, which are more than its size unless it is the last.

        Args:
            rows: At least one more than fit, if there are so many.
            size: How many fit.
            token: What the page after one that ends with a row begins after.
        """
        next_token = str(token(rows[size - 1])) if len(rows) > size else ""
        return cls(rows[:size], next_token)


async def read_page(
    storage: Storage, query: ListQuery[R], *, size: int, token: Callable[[R], object]
) -> Page[R]:
    """One page of a list in the store, of the size that was asked for.

    Raises:
        InvalidRequestError: it is more than a page may have.
    """
    rows = page_size(size)
    return Page.of(await storage.read(partial(query, limit=rows + 1)), rows, token)


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
        raise InvalidRequestError(f'{field} "{text}" is none of this server\'s')
    return int(text)
