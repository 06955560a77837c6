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
from tests.cli.browser import CHROMIUM, Browser
from tests.game.made_records import records

from meijin.game import (
    GOMOKU,
    Analysis,
    Color,
    Ending,
    GameRecord,
    Outcome,
    Party,
    TimeControl,
)
from meijin.game.records.json import json_object
from meijin.game.records.position_string import parse_position
from meijin.web.replay.replay_page import replay_page

EVIL = "</script><script>document.title='owned'</script><!-- <img src=x onerror=alert(1)> @data@ &"
MOVES = parse_position("h8i9h9i8h7i7h6i6h5", GOMOKU)
RECORD = GameRecord(
    variant=GOMOKU,
    black=f"ann{EVIL}",
    white=EVIL,
    moves=MOVES,
    times=(timedelta(0),) * 2 + (timedelta(seconds=1.5),) * 7,
    analysis=(None,) * 4 + (Analysis(-30, 9, 4000, MOVES[4:6]),) + (None,) * 4,
    opening_plies=2,
    time_control=TimeControl.parse("60+0.5"),
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
        """Keep an element."""
        self.elements.append((tag, dict(attrs)))
        self._name = dict(attrs).get("type") or tag

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the parser's
        """Forget the element."""
        self._name = ""

    def handle_data(self, data: str) -> None:
        """Keep a text by its element."""
        self.texts[self._name] = data

    def count(self, tag: str) -> int:
        """How many elements of a kind there are."""
        return sum(name == tag for name, _ in self.elements)


def data_of(page: str) -> dict[str, Any]:
    """What the page's script is given."""
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
    """By its checksum; and nothing from a network."""
    taken = Taken(replay_page(RECORD))
    (policy,) = (each["content"] for _, each in taken.elements if "http-equiv" in each)
    assert policy is not None
    for name in ("script", "style"):
        checksum = b64encode(sha256(taken.texts[name].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{checksum}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not any("src" in each or "href" in each for _, each in taken.elements)


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
    """With its cause."""
    forfeit = Outcome(Ending.TIME, Color.WHITE, Party.BLACK, "9 s")
    assert data_of(replay_page(replace(RECORD, outcome=forfeit)))["end"] == (
        "black forfeits: time (9 s)"
    )
    assert data_of(replay_page(replace(RECORD, outcome=None)))["end"] == "The game has no result."


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser that shows the page of the record."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    folder = tmp_path_factory.mktemp("browser")
    page = folder / "game.html"
    page.write_text(replay_page(RECORD))
    with Browser(folder / "profile") as browser:
        browser.open(page.as_uri())
        yield browser


def stones(browser: Browser) -> list[int]:
    """Black and white ones on the board."""
    found: list[int] = browser.value(
        "['black', 'white'].map(c => document.querySelectorAll(`#stones circle.${c}`).length)"
    )
    return found


def text(browser: Browser, name: str) -> str:
    """The text of an element."""
    found: str = browser.value(f"document.getElementById('{name}').textContent")
    return found


def test_keys_and_buttons_replay_the_game(browser: Browser) -> None:
    """To the beginning, on, back, and to the end."""
    browser.press("Home")
    assert stones(browser) == [0, 0]
    for _ in range(5):
        browser.press("ArrowRight")
    assert stones(browser) == [3, 2]
    assert text(browser, "move") == "5. black h7, 1.500 s"
    assert text(browser, "analysis") == "score -30, depth 9, 4000 nodes, expects h7 i7"
    assert "58.000 s" in text(browser, "black")
    assert text(browser, "end") == ""
    browser.value("document.getElementById('back').click()")
    assert stones(browser) == [2, 2]
    browser.value("document.getElementById('last').click()")
    browser.press("ArrowRight")
    assert stones(browser) == [5, 4]
    assert text(browser, "end").startswith("black wins by five")
    browser.value("document.querySelectorAll('#moves li')[0].click()")
    assert text(browser, "move") == "1. black h8 (opening)"


def test_a_browser_takes_names_for_text(browser: Browser) -> None:
    """No script of theirs runs, and nothing is asked for or complained of."""
    assert browser.value("document.title") == f"ann{EVIL} - {EVIL}"
    assert text(browser, "players") == f"ann{EVIL} - {EVIL}"
    assert browser.value("document.images.length") == 0
    assert browser.value("document.scripts.length") == 2
    assert browser.value("performance.getEntriesByType('resource').length") == 0
    complaints = ("Log.entryAdded", "Runtime.exceptionThrown")
    assert [event for event in browser.events if event.get("method") in complaints] == []
