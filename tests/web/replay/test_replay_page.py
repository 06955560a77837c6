"""The page that replays a game."""

import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page
from tests.game.made_records import records
from tests.web.browser.chromium import watched_page
from tests.web.pages.test_game import RECORD as PLAIN

from meijin.game import (
    Color,
    Ending,
    GameRecord,
    Outcome,
    Party,
    TimeControl,
)
from meijin.game.records.json import json_object
from meijin.web.replay.replay_page import replay_page

EVIL = "</script><script>document.title='owned'</script><!-- <img src=x onerror=alert(1)> @data@ &"
RECORD = replace(
    PLAIN,
    black=f"ann{EVIL}",
    white=EVIL,
    times=(timedelta(0),) * 2 + (timedelta(seconds=1.5),) * 7,
    raw_times=(),
    outcome=Outcome(Ending.FIVE, Color.BLACK, detail=EVIL),
    event=EVIL,
    game_id=EVIL,
    black_version=EVIL,
)


class Taken(HTMLParser):
    """A page taken apart: its elements, and the text of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._name = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._name = dict(attrs).get("type") or tag

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the parser's
        self._name = ""

    def handle_data(self, data: str) -> None:
        self.texts[self._name] = data

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)

    def check_policy(self) -> None:
        """The page's policy allows its own script and style alone, and nothing from a network."""
        (policy,) = (each["content"] for _, each in self.elements if "http-equiv" in each)
        assert policy is not None
        for name in ("script", "style"):
            checksum = b64encode(sha256(self.texts[name].encode()).digest()).decode()
            assert f"{name}-src 'sha256-{checksum}'" in policy
        assert policy.startswith("default-src 'none'")
        assert not any("src" in each or "href" in each for _, each in self.elements)


def data_of(page: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(Taken(page).texts["application/json"])
    return data


@settings(max_examples=30)
@given(records(), st.sampled_from(("", EVIL)))
def test_the_page_holds_the_record_whatever_is_in_it(record: GameRecord, text: str) -> None:
    """Its elements are the same for all names and texts, and its data are the record."""
    page = replay_page(replace(record, black=record.black + text, event=record.event + text))
    taken = Taken(page)
    assert (taken.count("script"), taken.count("img"), taken.count("meta")) == (2, 0, 3)
    expected = json_object(replace(record, black=record.black + text, event=record.event + text))
    assert data_of(page)["game"] == expected


def test_the_policy_allows_the_page_s_own_script_alone() -> None:
    Taken(replay_page(RECORD)).check_policy()


def test_clocks_run_as_they_did() -> None:
    """From the time control and the charged times; unknown without either."""
    clocks = data_of(replay_page(RECORD))["clocks"]
    assert clocks[0] == clocks[2] == [60_000_000, 60_000_000]
    assert clocks[3] == [59_000_000, 60_000_000]
    assert clocks[9] == [56_000_000, 57_000_000]
    assert data_of(replay_page(replace(RECORD, times=())))["clocks"] is None
    no_clock = replace(RECORD, time_control=TimeControl.parse("5/move"))
    assert data_of(replay_page(no_clock))["clocks"] is None


def test_the_end_is_told() -> None:
    forfeit = Outcome(Ending.TIME, Color.WHITE, Party.BLACK, "9 s")
    assert data_of(replay_page(replace(RECORD, outcome=forfeit)))["end"] == (
        "black forfeits: time (9 s)"
    )
    assert data_of(replay_page(replace(RECORD, outcome=None)))["end"] == "The game has no result."


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page of the record in a browser, which asks for nothing and complains of nothing."""
    folder = tmp_path_factory.mktemp("browser")
    (folder / "game.html").write_text(replay_page(RECORD))
    with watched_page(browser, folder.as_uri()) as watched:
        watched.open("/game.html")
        yield watched.page


def stones(page: Page) -> list[int]:
    return [page.locator(f"#board .stone.{color}:not(.pv)").count() for color in ("black", "white")]


def text(page: Page, name: str) -> str:
    return page.locator(f"#{name}").text_content() or ""


def test_keys_and_buttons_replay_the_game(page: Page) -> None:
    """To the beginning, on, back, and to the end."""
    page.keyboard.press("Home")
    assert stones(page) == [0, 0]
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert stones(page) == [3, 2]
    assert text(page, "move") == "5. black h7, 1.500 s"
    assert text(page, "analysis") == "score -30, depth 9, 4000 nodes, expects h7 i7"
    assert "58.000 s" in text(page, "black")
    assert text(page, "end") == ""
    page.click("#back")
    assert stones(page) == [2, 2]
    page.click("#last")
    page.keyboard.press("ArrowRight")
    assert stones(page) == [5, 4]
    assert text(page, "end").startswith("black wins by five")
    page.locator("#moves tr").first.click()
    assert text(page, "move") == "1. black h8 (opening)"


def test_the_board_is_that_of_the_game_s_page(page: Page) -> None:
    """Its wood and dots, and the line that has won at the end alone."""
    page.keyboard.press("End")
    assert page.locator("#board :is(.wood, .stars, .win)").count() == 3
    page.keyboard.press("ArrowLeft")
    assert page.locator("#board .win").count() == 0


def test_a_browser_takes_names_for_text(page: Page) -> None:
    """No script of theirs runs."""
    assert page.evaluate("document.title") == f"ann{EVIL} 1\N{EN DASH}0 {EVIL}"
    assert page.locator("h1 .name").all_text_contents() == [f"ann{EVIL}", EVIL]
    assert page.evaluate("document.images.length") == 0
    assert page.evaluate("document.scripts.length") == 2
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0
