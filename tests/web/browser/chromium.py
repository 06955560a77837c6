"""The system's Chromium, and a page in it that nothing goes wrong on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, Request, Response

NAMES = ("chromium", "chromium-browser", "google-chrome")
"""What it is called on the PATH."""

MISSING = "needs Chromium or Chrome on the PATH"

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

DESKTOP = (1280, 900)
PHONE = (390, 844)
"""Widths and heights, in CSS pixels."""

PATIENCE_MS = 30_000
"""How long anything may take in the browser, on a busy machine."""


def executable() -> str | None:
    """Where the browser is; ``None`` where there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=executable(), headless=True, args=list(FLAGS))


class Watched:
    """A page, and what went wrong on it."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page = page
        self.origin = origin
        self.problems: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        page.on("request", self._asked)
        page.on("response", self._answered)

    def open(self, path: str) -> None:
        self.page.goto(self.origin + path)

    def check(self) -> None:
        """Fail where anything went wrong since the last look.

        An error of the console, of a script, of the content security policy, a request to
        another host or one that was refused.
        """
        problems, self.problems = self.problems, []
        assert problems == [], f"{self.page.url}: {problems}"

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.problems.append(f"{message.type}: {message.text}")

    def _asked(self, request: Request) -> None:
        url = urlsplit(request.url)
        if url.scheme not in {"data", "blob"} and not request.url.startswith(f"{self.origin}/"):
            self.problems.append(f"request to {request.url}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self.problems.append(f"{response.status} for {response.url}")


@contextmanager
def watched_page(
    browser: Browser,
    origin: str,
    size: tuple[int, int] = DESKTOP,
    *,
    has_touch: bool = False,
    has_scripts: bool = True,
) -> Iterator[Watched]:
    """A page of a profile of its own; what went wrong on it is an error at the end."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="light",
        reduced_motion="reduce",
        has_touch=has_touch,
        is_mobile=has_touch,
        java_script_enabled=has_scripts,
    )
    try:
        watched = Watched(context.new_page(), origin)
        yield watched
        watched.check()
    finally:
        context.close()
