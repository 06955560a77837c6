"""Pages of lists: their size, and the token of the next one; and what requests name by ids."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from operator import attrgetter
from typing import Protocol, TypeAlias, TypeVar

from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from sqlalchemy import Connection

from meijin.server.errors import InvalidRequestError, invalid_request
from meijin.server.storage import Storage
from meijin.wire.mapping import member_of, to_message
from meijin.wire.methods import list_field

DEFAULT_SIZE = 100
MAX_SIZE = 1000

MAX_PAGE_BYTES = 512 * 1024
"""Of the messages of a page, unless it is of one alone; the next page goes on behind them."""

BATCH = 100
"""Rows that are read and made messages at once, so that a long page does not hold up the loop."""

E = TypeVar("E", bound=Enum)
K = TypeVar("K")
R = TypeVar("R")
M = TypeVar("M", bound=Message)
A = TypeVar("A", bound=Message)


ListQuery: TypeAlias = Callable[..., Sequence[R]]
"""Reads at most `limit` rows of a list, from where the token `after` says on; it may be empty."""


class BoundedRows(list[R]):
    """Rows that were looked for among a bounded number."""

    def __init__(self, rows: Iterable[R], place: str) -> None:
        super().__init__(rows)
        self.place = place
        """The token from which the next look goes on; empty where all was looked through."""


class ListRequest(Protocol):
    page_size: int
    page_token: str


def newest_first(query: Callable[..., Sequence[R]]) -> ListQuery[R]:
    """A list whose tokens are ids, the highest first: `query` reads those `before` one."""

    def read(connection: Connection, *, limit: int, after: str) -> Sequence[R]:
        return query(connection, limit=limit, before=page_key(after))

    return read


def oldest_first(query: Callable[..., Sequence[R]]) -> ListQuery[R]:
    """A list whose tokens are ids, the lowest first."""

    def read(connection: Connection, *, limit: int, after: str) -> Sequence[R]:
        return query(connection, limit=limit, after=page_key(after) or 0)

    return read


async def list_page(
    storage: Storage,
    request: ListRequest,
    answer: type[A],
    query: ListQuery[R],
    convert: Callable[[R], Message] | None = None,
    *,
    token: Callable[[R], object] = attrgetter("id"),
    batch: int = BATCH,
) -> A:
    """One page of a list in the store, of the size that was asked for or of fewer bytes.

    Args:
        answer: The class of the message, whose first list the page is.
        convert: Makes the message of a row; by the names of its fields where it is left out.
        token: What a page that ends with a row is followed by.
        batch: Rows that are read at once.

    Raises:
        InvalidRequestError: it is more than a page may have.
    """
    field = list_field(answer)
    if convert is None:
        kind = GetMessageClass(field.message_type)

        def convert(row: R) -> Message:
            return to_message(row, kind)

    wanted, room, place = page_size(request.page_size), MAX_PAGE_BYTES, request.page_token
    messages: list[Message] = []

    def page(next_page_token: str) -> A:
        return answer(**{field.name: messages, "next_page_token": next_page_token})

    while len(messages) < wanted:
        limit = min(batch, wanted - len(messages))
        rows = await storage.read(query, limit=limit + 1, after=place)
        for row in rows[:limit]:
            message = convert(row)
            room -= message.ByteSize()
            if messages and room < 0:
                return page(place)
            messages.append(message)
            place = str(token(row))
        if len(rows) <= limit:
            return page(rows.place if isinstance(rows, BoundedRows) else "")
    return page(place)


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


def id_of(request: Message, field: str, kind: Callable[[int], K]) -> K:
    """The id in a field of a request.

    Raises:
        InvalidRequestError: it is none of ours.
    """
    return kind(number(getattr(request, field), field))


def id_if_any(request: Message, field: str, kind: Callable[[int], K]) -> K | None:
    """The id in a field of a request; ``None`` where it is left out.

    Raises:
        InvalidRequestError: it is none of ours.
    """
    return id_of(request, field, kind) if getattr(request, field) else None


def member_if_any(request: Message, field: str, members: type[E]) -> E | None:
    """The member that a field of a request names; ``None`` where it is left out.

    Raises:
        InvalidRequestError: this release knows no such one.
    """
    value = getattr(request, field)
    with invalid_request(field):
        return (
            member_of(request.DESCRIPTOR.fields_by_name[field], value, members) if value else None
        )


def number(text: str, field: str) -> int:
    """An id from its text.

    Raises:
        InvalidRequestError: it is none of ours.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= 18):  # noqa: PLR2004 - fits 64 bits
        raise InvalidRequestError(f'{field} "{text}" is none of this server\'s, which are numbers')
    return int(text)
