"""Lists of a server as long as they are wanted, a page at a time."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from meijin.cli.connection import PAGE

if TYPE_CHECKING:
    import grpc

Q = TypeVar("Q")
A = TypeVar("A")

USUAL_LIMIT = 20
OLDER = "there are older ones: give a higher --limit, or 0 for all"
"""What is said below a list that was cut off."""

LimitOption = Annotated[int, typer.Option(min=0, help="How many; 0 for all.")]


def read_list(
    ask: Callable[[Any, Any], Any],
    method: "grpc.UnaryUnaryMultiCallable[Q, A]",
    request: Q,
    *,
    rows: Callable[[A], Any],
    limit: int,
) -> A:
    """The first rows of a list as one response, whose token says whether there are more.

    Args:
        ask: Of a `Connection`.
        method: What lists.
        request: What is asked for; its page's size and token are set here.
        rows: The rows of a response.
        limit: How many; 0 for all.
    """
    asked: Any = request
    whole: Any = None
    while whole is None or (whole.next_page_token and (not limit or len(rows(whole)) < limit)):
        left = limit - len(rows(whole)) if whole and limit else limit
        asked.page_size = min(left, PAGE) if limit else PAGE
        page = ask(method, asked)
        asked.page_token = page.next_page_token
        if whole is None:
            whole = page
        else:
            rows(whole).extend(rows(page))
            whole.next_page_token = page.next_page_token
    return whole  # type: ignore[no-any-return]  # a response of the method
