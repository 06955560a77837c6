"""The design system: its page is for everyone, and the typeface is as small as it may be."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Browser, Page, Route
from tests.web.browser.chromium import PHONE
from tests.web.browser.test_every_page import CONTRAST, WHOLE, assert_accessible, assert_fits
from tests.web.browsing import ORIGIN, Browsing
from tests.web.design import design_app

from meijin.web.static import FOLDER

FONT_BYTES = 40_000
"""That all files of the typeface have at most."""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """The page, in a browser that is answered without a network."""
    browsing = Browsing(design_app())

    def answer(route: Route) -> None:
        with ThreadPoolExecutor(1) as thread:
            asked = browsing.get(route.request.url.removeprefix(ORIGIN))
            found = thread.submit(asyncio.run, asked).result()
        route.fulfill(status=found.status, headers=found.headers, body=found.body)

    page = browser.new_page()
    page.route("**/*", answer)
    page.goto(f"{ORIGIN}/design")
    yield page
    page.close()


def test_every_piece_is_for_everyone(page: Page) -> None:
    """Axe finds nothing grave in either theme, and no width makes it scroll sideways."""
    assert_accessible(page, WHOLE)
    page.emulate_media(color_scheme="dark")
    assert_accessible(page, CONTRAST)
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert_fits(page)


def test_lines_are_short(page: Page) -> None:
    """At most 75 characters, in the typeface that is shipped."""
    assert page.evaluate("document.fonts.check('16px Figtree')")
    widest = page.evaluate(
        """() => {
          const paragraph = document.querySelector("main > p");
          paragraph.textContent = "The quick brown fox jumps over a lazy dog and naps. ".repeat(9);
          const range = document.createRange(), text = paragraph.firstChild, lines = new Map();
          for (let at = 0; at < text.length; at++) {
            range.setStart(text, at);
            range.setEnd(text, at + 1);
            const { top } = range.getBoundingClientRect();
            lines.set(top, (lines.get(top) ?? 0) + 1);
          }
          return Math.max(...lines.values());
        }"""
    )
    assert 60 < widest <= 76  # with the blank at its end


def test_what_asks_unfolds_first(page: Page) -> None:
    """One press shows what is to happen, and the button of the form is another."""
    sure = page.locator(".ask form button")
    assert not sure.is_visible()
    page.locator(".ask > summary").click()
    assert sure.is_visible()


def test_the_typeface_is_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.glob("fonts/*.woff2")) <= FONT_BYTES
