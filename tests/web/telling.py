"""What pages say, as tables of their addresses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tests.web.browsing import Browsing


class Told(NamedTuple):
    """What a page says."""

    path: str
    words: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    status: int = 200


def refused(path: str, *words: str, status: int = 400) -> Told:
    """A page that can't be, with the reason; nothing of the address is markup on it."""
    return Told(path, words, ("<script>",), status)


async def assert_told(browsing: Browsing, pages: Iterable[Told]) -> None:
    wrong: list[str] = []
    for page in pages:
        answer = await browsing.get(page.path)
        if answer.status != page.status:
            wrong.append(f"{page.path}: {answer.status}")
        wrong += [f"{page.path} lacks {each}" for each in page.words if each not in answer.text]
        wrong += [f"{page.path} has {each}" for each in page.without if each in answer.text]
    assert wrong == []
