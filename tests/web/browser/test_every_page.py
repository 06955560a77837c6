"""Every page in the browser: both themes, desktop and phone, for everyone, hostile words in it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from tests.web.addresses import ELSEWHERE, FILES, OWN_PAGES, PAGES, looked_at
from tests.web.browser.chromium import PHONE, Watched
from tests.web.browser.conftest import sign_in
from tests.web.browser.stage import FORBIDDEN, Stage

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIRST_VISIT = Path(__file__).resolve().parents[3] / "benchmarks" / "first_visit.py"

WHOLE = {"resultTypes": ["violations"]}
CONTRAST = {**WHOLE, "runOnly": {"type": "rule", "values": ["color-contrast"]}}
"""What another theme can change."""

GRAVE = {"serious", "critical"}

ADDRESSES = [form for table in (PAGES, OWN_PAGES) for forms in table.values() for form in forms]
OWN = {form for forms in OWN_PAGES.values() for form in forms}


def test_every_route_is_visited() -> None:
    """What can be looked at is in one of the tables, and what is there can be looked at."""
    assert set(looked_at()) == {*PAGES, *OWN_PAGES, *FILES, *ELSEWHERE}
    assert all(ELSEWHERE.values())


@pytest.mark.parametrize("form", ADDRESSES)
def test_page_is_for_everyone(watched: Watched, stage: Stage, form: str) -> None:
    """Axe finds nothing grave in either theme, no width makes it scroll sideways, all is escaped."""
    if form in OWN:
        sign_in(watched, stage.operator_token)
    answer = watched.page.goto(stage.origin + stage.address(form))
    assert answer is not None
    assert answer.ok, answer.text()
    assert [words for words in FORBIDDEN if words in answer.text()] == []
    page = watched.page
    assert page.evaluate(
        "[...document.scripts].every((each) => each.src || each.type === 'application/json')"
    )
    assert page.evaluate("document.querySelectorAll('main h1').length") == 1
    assert_accessible(page, WHOLE)
    page.emulate_media(color_scheme="dark")
    assert_accessible(page, CONTRAST)
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert_fits(page)


@pytest.mark.parametrize("form", [form for forms in FILES.values() for form in forms])
def test_file_is_served(watched: Watched, stage: Stage, form: str) -> None:
    """It is there, and no browser takes it for a page."""
    answer = watched.page.request.get(stage.origin + stage.address(form))
    assert answer.ok, answer.text()
    assert answer.body()
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "text/html" not in answer.headers["content-type"] or "attachment" in answer.headers.get(
        "content-disposition", ""
    )


def assert_accessible(page: Page, options: dict[str, Any]) -> None:
    """Fail where axe finds anything serious or critical."""
    if not page.evaluate("typeof window.axe === 'object'"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(f"axe.run({json.dumps(options)})")
    grave = [
        f"{each['id']}: {node['html'][:200]} ({node['failureSummary']})"
        for each in found["violations"]
        if each["impact"] in GRAVE
        for node in each["nodes"][:3]
    ]
    assert grave == [], f"{page.url}: {grave}"


def assert_fits(page: Page) -> None:
    """Fail where the page has to be scrolled sideways, once its charts have their new sizes."""
    for _ in range(100):
        if not page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            return
        page.wait_for_timeout(50)
    too_wide = page.evaluate(
        """[...document.querySelectorAll("body *")]
        .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
        .filter((each) => !each.closest(".table-frame, pre, .skip, .hidden-text"))
        .map((each) => each.outerHTML.slice(0, 120)).slice(0, 3)"""
    )
    pytest.fail(f"{page.url} scrolls sideways: {too_wide}")


def test_first_visits_are_measured(stage: Stage) -> None:
    """The front page has a board in its first frames, and comes in few requests."""
    words = [sys.executable, str(FIRST_VISIT), stage.origin, "/", "--repeat=1", "--json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    (row,) = json.loads(done.stdout.splitlines()[-1])["results"]
    assert row["board_ms"] > 0
    assert 0 < row["requests"] < 30
    assert 0 < row["kilobytes"] < 150
