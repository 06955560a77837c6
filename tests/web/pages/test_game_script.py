"""The scripts of the page of a game, in a browser that is answered without a network."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import pytest
from playwright.sync_api import Browser, Page, Route
from tests.game.board.test_forbidden import CROSS, RENJU
from tests.web.browsing import ORIGIN, Browsing
from tests.web.pages.game_messages import game_message
from tests.web.pages.test_game import CHANCES, GAME_CLOCK, GAMES, RECORD
from tests.web.prepared import browse

from meijin.game import Analysis, GameRecord
from meijin.game.records.record import parse_position
from meijin.v1 import fault_service_pb2, game_service_pb2

LINE = parse_position("h7i7g6", RECORD.variant)
SAID = replace(RECORD, analysis=(None,) * 4 + (Analysis(-30, 9, 4000, LINE),) + (None,) * 4)


@dataclass(slots=True)
class Seen:
    """A page of the browser, and what went wrong on it."""

    page: Page
    browsing: Browsing = field(default_factory=browse)
    problems: list[str] = field(default_factory=list)

    def open(self, record: GameRecord, path: str = "/games/17") -> None:
        self.browsing = browse(
            GetGame=game_service_pb2.GetGameResponse(game=game_message(record)),
            GetChances=CHANCES,
            ListFaults=fault_service_pb2.ListFaultsResponse(),
        )
        self.page.goto(ORIGIN + path)

    def answer(self, route: Route) -> None:
        """Answer the browser as the site does, whose loop can't be the browser's."""
        url = route.request.url
        assert url.startswith(ORIGIN), url
        if url.startswith(f"{ORIGIN}/events"):  # a stream without end, of a game that runs
            route.fulfill(status=204)
            return
        with ThreadPoolExecutor(1) as thread:
            asked = self.browsing.get(url.removeprefix(ORIGIN))
            answer = thread.submit(asyncio.run, asked).result()
        route.fulfill(status=answer.status, headers=answer.headers, body=answer.body)

    def text(self, selector: str) -> str:
        return (self.page.inner_text(selector)).strip()

    def position(self) -> str:
        return self.text("[data-position]")

    def count(self, selector: str) -> int:
        return self.page.locator(selector).count()

    def wait_for_position(self, words: str) -> None:
        self.page.get_by_text(re.compile(f"^{re.escape(words)}$")).wait_for()


@pytest.fixture
def seen(browser: Browser) -> Iterator[Seen]:
    """A page of a profile of its own, on which nothing may go wrong."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    found = Seen(page)
    page.on("console", lambda said: found.problems.append(said.text))
    page.on("pageerror", lambda error: found.problems.append(str(error)))
    page.route("**/*", lambda route: found.answer(route))  # noqa: PLW0108 - it sets attributes
    yield found
    page.close()
    assert found.problems == []


def test_one_steps_through_a_game(seen: Seen) -> None:
    """By keys, buttons, the wheel, the slider, and the moves of the table."""
    seen.open(SAID)
    assert seen.position() == "9. black h5"
    assert seen.count(".board .win") == 1
    keyboard, page = seen.page.keyboard, seen.page
    for key, words in (
        ("ArrowLeft", "8. white i6"),
        ("Home", "start"),
        ("ArrowLeft", "start"),
        ("ArrowRight", "1. black h8 (opening)"),
        ("End", "9. black h5"),
    ):
        keyboard.press(key)
        assert seen.position() == words
    page.click("[data-step=back]")
    assert (seen.position(), seen.count(".board .stone")) == ("8. white i6", 8)
    assert seen.count(".board .win") == 0
    page.hover(".board-box")
    page.mouse.wheel(0, -100)
    seen.wait_for_position("7. black h6")
    page.click('tr[data-ply="4"] a')
    assert seen.position() == "4. white i8"
    page.locator("[data-slider]").fill("3")
    assert seen.position() == "3. black h9"
    label = page.get_attribute(".board", "aria-label")
    assert label == "15x15 board, 3 moves, the last one black h9"
    assert seen.text("[data-clock=black]") == "0:59.5"
    page.wait_for_url("**/games/17?ply=3")
    href = page.get_attribute('a[href*=".png"]', "href")
    assert href == "/games/17.png?ply=3"


def test_an_expected_line_is_drawn(seen: Seen) -> None:
    """While it is pointed at, or has the focus: from the position after its move on."""
    seen.open(SAID, "/games/17?ply=5")
    assert seen.text('[data-said] [data-field="depth"]') == "9"
    seen.page.hover("[data-said] [data-field=line]")
    ghosts = seen.page.locator(".board .stone.pv")
    assert ghosts.all_text_contents() == ["1", "2"]
    seen.page.hover("h1")
    assert ghosts.count() == 0
    seen.page.focus("[data-said] [data-field=line]")
    assert ghosts.count() == 2
    seen.page.keyboard.press("End")
    seen.page.hover('tr[data-ply="5"] [data-field=line]')
    assert (ghosts.count(), seen.count(".board .stone:not(.pv)")) == (2, 5)


def test_charts_lead_to_plies(seen: Seen) -> None:
    """A click goes to the nearest; both are there, and hidden from screen readers."""
    seen.open(SAID)
    assert seen.count("[data-chart][aria-hidden=true] canvas") == 2
    over = seen.page.locator("[data-chart=time] .u-over")
    box = over.bounding_box()
    assert box is not None
    over.click(position={"x": box["width"] * 5 / 9, "y": 20})
    assert seen.position() == "5. black h7"


def test_numbers_can_be_hidden(seen: Seen) -> None:
    """And stay so on the next page."""
    seen.open(SAID)
    assert seen.count(".board .digits text") == 9
    seen.page.uncheck("[data-numbers]")
    assert seen.count(".board .digits text") == 0
    seen.open(SAID)
    assert (seen.count(".board .stone"), seen.count(".board .digits text")) == (9, 0)


def test_forbidden_cells_follow_the_ply(seen: Seen) -> None:
    """They are those of the move that comes next."""
    seen.open(GameRecord(RENJU, "ann", "bob", moves=CROSS, time_control=GAME_CLOCK))
    assert seen.count(".board .forbidden") == 1
    seen.page.keyboard.press("ArrowLeft")
    assert seen.count(".board .forbidden") == 0


@pytest.mark.parametrize("path", ["/games/17", "/embed/games/17"])
def test_a_running_game_goes_on(seen: Seen, path: str) -> None:
    """With new moves, clocks and thoughts; who looks at an earlier ply stays there."""
    seen.open(GAMES["running"], path)
    update = {
        "ply": 4,
        "cells": [0, 1],
        "clocks": {"black": "0:12.3", "white": "0:45.6"},
        "evaluations": [{"ply": 6, "score": 7, "depth": 3, "nodes": 9, "pv": [1, 2]}],
    }
    tell = """(detail) => document.querySelector("[data-live]")
        .dispatchEvent(new CustomEvent("meijin:update", { detail }))"""
    seen.page.evaluate(tell, update)
    assert (seen.position(), seen.count(".board .stone")) == ("6. white b15", 6)
    assert seen.text("[data-clock=black]") == "0:12.3"
    seen.page.keyboard.press("Home")
    seen.page.evaluate(tell, {"ply": 6, "cells": [2]})
    assert seen.position() == "start"
    seen.page.keyboard.press("End")
    assert seen.position() == "7. black c15"


def test_a_board_is_played_on(seen: Seen) -> None:
    """By the arrow keys and Enter, or by the pointer; what is under the cursor is told."""
    seen.open(SAID)
    script = seen.page.locator('script[type="module"]')
    module = str(script.get_attribute("src")).replace("game.js", "board.js")
    seen.page.evaluate(
        """async (module) => {
            const { Board } = await import(module);
            document.querySelector("main").innerHTML = "<div><svg id='own'></svg></div>";
            const board = new Board(document.querySelector("#own"), { width: 3, height: 3 });
            board.show({ moves: [4] });
            window.chosen = [];
            board.onCell((cell) => window.chosen.push(board.name(cell)));
        }""",
        module,
    )
    seen.page.focus("#own")
    assert seen.text("[aria-live]") == "b2, black, move 1"
    for key in ("ArrowUp", "ArrowUp", "ArrowRight", "Enter"):
        seen.page.keyboard.press(key)
    assert seen.text("[aria-live]") == "c3, empty"
    box = seen.page.locator("#own").bounding_box()
    assert box is not None
    margin = 30 / 108  # of the picture
    x, y = box["x"] + box["width"] * margin, box["y"] + box["height"] * (1 - margin)
    seen.page.mouse.click(x, y)
    assert seen.page.evaluate("window.chosen") == ["c3", "a1"]
