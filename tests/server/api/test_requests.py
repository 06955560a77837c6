"""Pages of lists, and ids as text."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import pytest
from sqlalchemy import Connection

from meijin.server.api.requests import (
    BATCH,
    DEFAULT_SIZE,
    MAX_PAGE_BYTES,
    MAX_SIZE,
    number,
    page_key,
    page_size,
    read_page,
)
from meijin.server.errors import InvalidRequestError
from meijin.server.storage import Storage
from meijin.v1 import bot_service_pb2


def test_a_page_has_a_size() -> None:
    """None asked for means the default; the largest is allowed."""
    assert page_size(0) == DEFAULT_SIZE
    assert page_size(1) == 1
    assert page_size(MAX_SIZE) == MAX_SIZE


def test_a_page_is_bounded() -> None:
    """The error names the field and the bound."""
    with pytest.raises(InvalidRequestError, match="page_size 1001 is above 1000"):
        page_size(MAX_SIZE + 1)


def test_a_token_is_a_place() -> None:
    """The first page begins after nothing."""
    assert page_key("") is None
    assert page_key("12") == 12


@pytest.mark.parametrize("token", ["x", "-1", "1.5", " 1", "٣", "1" * 19, "1e3", "\0"])
def test_a_foreign_token_is_refused(token: str) -> None:
    """Only what the server itself gave is read."""
    with pytest.raises(InvalidRequestError, match="page_token"):
        page_key(token)


def test_an_id_is_refused_with_its_field() -> None:
    """The caller learns which field it was."""
    assert number("7", "game_id") == 7
    with pytest.raises(InvalidRequestError, match='game_id "" is none of this'):
        number("", "game_id")


class Rows:
    """A list of so many rows in place of a store, which says what is read of it."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.reads: list[int] = []

    async def read(self, query: Callable[..., Any], **arguments: Any) -> Any:
        """What a query says."""
        return query(cast("Connection", None), **arguments)

    def after(
        self,
        connection: Connection,  # noqa: ARG002 - a query's signature
        *,
        limit: int,
        after: str,
    ) -> list[int]:
        """The rows behind a token."""
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
    """One page of rows whose names are so long."""
    page = await read_page(
        cast("Storage", rows),
        rows.after,
        partial(_message, characters),
        size=size,
        start=start,
        token=_token,
    )
    return [message.running_games for message in page.messages], page.next_token


@pytest.mark.parametrize(
    ("count", "page"), [(0, ([], "")), (2, ([1, 2], "")), (3, ([1, 2], "2")), (5, ([1, 2], "2"))]
)
async def test_a_page_says_where_the_next_begins(count: int, page: tuple[list[int], str]) -> None:
    """Unless nothing comes after it."""
    assert await page_of(Rows(count), 2) == page


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
