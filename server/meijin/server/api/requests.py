"""Pages of lists: a size, and a token that says where the next page begins."""

from meijin.server.errors import InvalidRequestError

DEFAULT_SIZE = 100
MAX_SIZE = 1000


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
