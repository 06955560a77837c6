"""Names as wide as there may be, on every page: cut by an ellipsis, and no number off the page."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf.message import Message
from tests.web.browser.chromium import PATIENCE_MS, PHONE
from tests.web.browser.test_every_page import assert_fits
from tests.web.filled import BOT_FIELDS, FORMS, PLACES, filled
from tests.web.prepared import PreparedGateway

from meijin.v1.bot_service_pb2 import ListDisplayNamesResponse
from meijin.web.host import Host, open_listener
from meijin.web.state import SiteSettings, SiteState

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDE = {"W": "W" * 60, "m": "囲" * 60}
"""Display names, by the letter that the names of their bots are made of."""
CALLED = {
    "owner",
    "creator",
    "version",
    "black_version",
    "white_version",
    "label",
    "tournament_name",
    "hardware",
    "student_id",
    "actor",
    "subject",
}
"""Fields of what else others have given names."""
LAPTOP = (1366, 768)

NUMBERS = """[...document.querySelectorAll("tbody .number, .clock, .figure, .chip")].map((cell) => {
  const box = cell.getBoundingClientRect();
  const frame = cell.closest(".table-frame")?.getBoundingClientRect();
  const [left, right] = [Math.max(0, frame?.left ?? 0), Math.min(innerWidth, frame?.right ?? innerWidth)];
  return cell.checkVisibility() && box.left > left - 1 && box.right < right + 1;
})"""
"""Whether each cell of a number is to be seen without scrolling sideways."""

CUT = """[...document.querySelectorAll("body *")].filter((each) => {
  const style = getComputedStyle(each);
  return ["hidden", "clip"].includes(style.overflowX) && style.textOverflow !== "ellipsis"
    && each.scrollWidth > each.clientWidth + 1 && !each.closest(".hidden-text, svg, .uplot");
}).map((each) => each.outerHTML.slice(0, 120))"""
"""What is cut without an ellipsis."""


@contextmanager
def served(text: Any, names: dict[str, str]) -> Iterator[str]:
    """Where the pages are of a server that says such texts."""

    def answer(method: str, read: Any) -> Message:
        if method == "ListDisplayNames":
            return ListDisplayNamesResponse(version="1", display_names=names)
        return filled(read(b""), text)

    host: Host = Host(
        SiteState(PreparedGateway(answer), SiteSettings()), open_listener("127.0.0.1", 0)
    )
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    running = asyncio.run_coroutine_threadsafe(host.run(), loop)
    try:
        yield host.url
    finally:
        asyncio.run_coroutine_threadsafe(host.stop(), loop).result()
        running.result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture(scope="module")
def short(browser: Browser) -> Iterator[Page]:
    """A page of a server where all names are short."""
    with served(texts("ada", "ada"), {}) as origin, page_of(browser, origin) as page:
        yield page


@pytest.fixture(scope="module", params=WIDE)
def wide(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of a server where all names are as wide as they may be."""
    name, shown = request.param * 40, WIDE[request.param]
    with served(texts(name, shown), {name: shown}) as origin, page_of(browser, origin) as page:
        yield page


def texts(name: str, called: str) -> Callable[[str], str]:
    """The text of each field, where a bot's name and whatever else others call something is so."""

    def text(field: str) -> str:
        last = field.partition(".")[2]
        if field == "Bot.name" or last in BOT_FIELDS:
            return name
        return called if field == "TournamentSettings.name" or last in CALLED else "other"

    return text


@contextmanager
def page_of(browser: Browser, origin: str) -> Iterator[Page]:
    """A page of one who has signed in."""
    context = browser.new_context(base_url=origin, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    answer = page.request.post(
        f"{origin}/sign-in",
        form={"token": "mj_x", "next": "/api"},
        headers={"origin": origin},
    )
    assert answer.ok
    try:
        yield page
    finally:
        context.close()


@pytest.mark.parametrize("form", FORMS)
def test_no_name_pushes_a_number_off_a_page(short: Page, wide: Page, form: str) -> None:
    """What is to be seen beside short names is so beside the widest, and no page scrolls sideways."""
    for width, height in (LAPTOP, PHONE):
        for page in (short, wide):
            page.set_viewport_size({"width": width, "height": height})
            if (width, height) == LAPTOP:
                page.goto(form.format_map(PLACES))
        assert_fits(wide)
        assert wide.evaluate(CUT) == [], width
        numbers = zip(short.evaluate(NUMBERS), wide.evaluate(NUMBERS), strict=True)
        lost = [place for place, (before, now) in enumerate(numbers) if before and not now]
        assert lost == [], width
