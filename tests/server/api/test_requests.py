"""Pages of lists, and ids as text."""

import pytest

from meijin.server.api.requests import (
    DEFAULT_SIZE,
    MAX_SIZE,
    Page,
    number,
    page_key,
    page_size,
)
from meijin.server.errors import InvalidRequestError


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
    with pytest.raises(InvalidRequestError, match='game_id "" is none of'):
        number("", "game_id")


@pytest.mark.parametrize(
    ("rows", "page"),
    [
        ([], Page([], "")),
        ([1, 2], Page([1, 2], "")),
        ([1, 2, 3], Page([1, 2], "after 2")),
        ([1, 2, 3, 4, 5], Page([1, 2], "after 2")),
    ],
)
def test_a_page_says_where_the_next_begins(rows: list[int], page: Page[int]) -> None:
    """Unless nothing comes after it."""
    assert Page.of(rows, 2, lambda row: f"after {row}") == page
