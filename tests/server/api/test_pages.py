"""Pages of lists, and ids as text."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import pytest
from sqlalchemy import Connection

from meijin.server.api.answers.pages import (
    BATCH,
    DEFAULT_SIZE,
    MAX_PAGE_BYTES,
    MAX_SIZE,
    BoundedRows,
    list_page,
    number,
    page_key,
    page_size,
)
from meijin.server.errors import InvalidRequestError
from meijin.server.storage import Storage
from meijin.v1 import bot_service_pb2


def test_a_page_has_a_size() -> None:
    """None asked for means the default; the largest is allowed, and what is above it named."""
    assert [page_size(asked) for asked in (0, 1, MAX_SIZE)] == [DEFAULT_SIZE, 1, MAX_SIZE]
    with pytest.raises(InvalidRequestError, match="page_size 1001 is above 1000"):
        page_size(MAX_SIZE + 1)


def test_a_token_is_a_place() -> None:
    """The first page begins after nothing."""
    assert (page_key(""), page_key("12"), number("7", "game_id")) == (None, 12, 7)


@pytest.mark.parametrize("token", ["x", "-1", "1.5", " 1", "٣", "1" * 19, "1e3", "\0"])
def test_a_foreign_token_is_refused(token: str) -> None:
    """Only what the server itself gave is read; the caller learns which field it was."""
    with pytest.raises(InvalidRequestError, match="page_token"):
        page_key(token)


class Rows:
    """A list of this many rows in place of a store, which says what is read of it."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.reads: list[int] = []

    async def read(self, query: Callable[..., Any], **arguments: Any) -> Any:
        return query(cast("Connection", None), **arguments)

    def after(
        self,
        connection: Connection,  # noqa: ARG002 - a query's signature
        *,
        limit: int,
        after: str,
    ) -> list[int]:
        first = int(after or 0) + 1
        self.reads.append(limit)
        return list(range(first, min(first + limit, self.count + 1)))


def _message(characters: int, row: int) -> bot_service_pb2.Bot:
    return bot_service_pb2.Bot(name="n" * characters, running_games=row)


def _token(row: int) -> int:
    return row


async def page_of(
    rows: Rows, size: int, start: str = "", characters: int = 1
) -> tuple[list[int], str]:
    page = await list_page(
        cast("Storage", rows),
        bot_service_pb2.ListBotsRequest(page_size=size, page_token=start),
        bot_service_pb2.ListBotsResponse,
        rows.after,
        partial(_message, characters),
        token=_token,
    )
    return [bot.running_games for bot in page.bots], page.next_page_token


@pytest.mark.parametrize(
    ("count", "page"), [(0, ([], "")), (2, ([1, 2], "")), (3, ([1, 2], "2")), (5, ([1, 2], "2"))]
)
async def test_a_page_says_where_the_next_begins(count: int, page: tuple[list[int], str]) -> None:
    """Unless nothing comes after it."""
    assert await page_of(Rows(count), 2) == page


async def test_a_bounded_look_says_where_it_goes_on() -> None:
    """Also where it has found nothing; a page that is full says where it ends."""

    class Few(Rows):
        def after(self, connection: Connection, *, limit: int, after: str) -> list[int]:
            return BoundedRows(super().after(connection, limit=limit, after=after), "99")

    assert await page_of(Few(0), 2) == ([], "99")
    assert await page_of(Few(2), 2) == ([1, 2], "99")
    assert await page_of(Few(3), 2) == ([1, 2], "2")


async def test_a_long_page_is_read_in_parts() -> None:
    """No more rows than are made messages at once, so that the loop is not held up."""
    rows = Rows(500)
    assert await page_of(rows, 250) == (list(range(1, 251)), "250")
    assert rows.reads == [BATCH + 1, BATCH + 1, 51]


async def test_a_page_is_bounded_in_bytes() -> None:
    """It ends where no more fit, the next goes on there, and none is empty."""
    rows = Rows(30)
    share = MAX_PAGE_BYTES // 10 - 10
    first, token = await page_of(rows, 100, characters=share)
    second, again = await page_of(rows, 100, token, characters=share)
    assert (first, token) == (list(range(1, 11)), "10")
    assert (second, again) == (list(range(11, 21)), "20")
    assert await page_of(rows, 100, characters=2 * MAX_PAGE_BYTES) == ([1], "1")
    assert len(rows.reads) == 3
