"""How pages look: what is in the first screen, on paper, and to those who want no motion."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from tests.web.browser.chromium import PATIENCE_MS, PHONE, Watched
from tests.web.browser.conftest import sign_in

if TYPE_CHECKING:
    from tests.web.browser.stage import Stage

expect.set_options(timeout=PATIENCE_MS)

LAPTOPS = ((1366, 768), (1440, 900))
GAME_CONTROLS = (
    ".board-box svg",
    ".player >> nth=0",
    ".player >> nth=1",
    "[data-step=first]",
    "[data-step=last]",
    "[data-slider]",
    "[data-position]",
    "[data-chance]",
    "[data-ply-link] >> nth=0",
)


@pytest.mark.parametrize("size", LAPTOPS)
@pytest.mark.parametrize("form", ["/games/{game}?ply=20", "/games/{live_game}"])
def test_a_game_is_above_the_fold(
    watched: Watched, stage: Stage, form: str, size: tuple[int, int]
) -> None:
    """The board with its controls, both players, the chances and the moves, on a laptop."""
    page = watched.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    watched.open(stage.address(form))
    expect(page.locator("[data-chance]")).to_be_visible()
    for selector in GAME_CONTROLS:
        box = page.locator(selector).bounding_box()
        assert box is not None, selector
        assert box["y"] + box["height"] <= size[1], selector
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


@pytest.mark.parametrize("size", LAPTOPS)
def test_a_board_leads_the_front_page(
    watched: Watched, stage: Stage, size: tuple[int, int]
) -> None:
    """Live and whole, with its players."""
    del stage
    page = watched.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    watched.open("/")
    board = page.locator(".tv svg.board")
    expect(page.locator(".tv[data-live]")).to_be_visible()
    for shown in (board, page.locator(".tv .player >> nth=1")):
        box = shown.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= size[1]
    before = board.inner_html()
    changed = "before => document.querySelector('.tv svg.board').innerHTML !== before"
    page.wait_for_function(changed, arg=before)


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("/", ".tv svg.board"),
        ("/ladders/{ladder}", "#standings tbody tr"),
        ("/bots", "tbody tr"),
        ("/games", "tbody tr"),
        ("/tournaments", "tbody tr"),
        ("/games/{game}", ".board-box svg"),
        ("/live", ".live-board"),
    ],
)
def test_a_phone_begins_with_content(
    watched: Watched, stage: Stage, form: str, content: str
) -> None:
    """The menu is one line, filters are folded, and what the page is for is in the first screen."""
    page = watched.page
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    watched.open(stage.address(form))
    header = page.locator(".site-header").bounding_box()
    assert header is not None
    assert header["height"] < 64
    first = page.locator(content).first.bounding_box()
    assert first is not None
    assert first["y"] < PHONE[1] * 2 / 3


def test_nothing_moves_for_those_who_want_no_motion(watched: Watched, stage: Stage) -> None:
    """But boards, whose stones are what is watched."""
    watched.page.emulate_media(reduced_motion="reduce")
    for form in ("/", "/games/{live_game}", "/ladders/{ladder}"):
        watched.open(stage.address(form))
        assert watched.page.evaluate("document.getAnimations().length") == 0


def test_paper_has_all_moves_and_no_controls(watched: Watched, stage: Stage) -> None:
    page = watched.page
    watched.open(stage.address("/games/{game}"))
    page.emulate_media(media="print")
    expect(page.locator(".board-box svg")).to_be_visible()
    for gone in (".site-header", ".site-footer", ".stepper", ".board-tools"):
        expect(page.locator(gone).first).to_be_hidden()
    frame = page.locator(".moves-frame")
    assert frame.evaluate("each => each.scrollHeight <= each.clientHeight + 1")


def test_what_can_not_be_taken_back_asks(watched: Watched, stage: Stage) -> None:
    """One press says what would happen; nothing has happened until the second."""
    sign_in(watched, stage.operator_token)
    page = watched.page
    watched.open("/account")
    tokens = page.locator("tbody tr").count()
    revoke = page.locator(".ask", has_text=re.compile("Revoke")).last
    revoke.locator("summary").click()
    expect(revoke.locator("form p")).to_be_visible()
    page.reload()
    assert page.locator("tbody tr").count() == tokens
    for form in ("/account", "/manage", "/manage/tournaments", "/account/bots/{bot}"):
        watched.open(stage.address(form))
        bare = page.evaluate(
            """[...document.querySelectorAll("form[method=post]")]
            .filter((each) => /revoke|rotate|cancel|delete|token$|manage.(games|bots)$/.test(each.action))
            .filter((each) => !each.closest("details.ask"))
            .map((each) => each.action)"""
        )
        assert bare == []
