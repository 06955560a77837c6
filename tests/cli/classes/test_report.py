import json
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright
from tests.web.browser.chromium import MISSING, executable, launch, watched_page
from tests.web.replay.test_replay_page import EVIL, RECORD, Taken

from meijin.cli.classes.report import OwnGame, StudentReport, report_page
from meijin.game import Color
from meijin.v1 import class_service_pb2 as pb
from meijin.v1 import fault_service_pb2 as fault_pb


def made_report(text: str) -> StudentReport:
    """A report in which everything that others choose is a text."""
    student = pb.Student(handle="ada", display_name=text, version=text, version_id="1")
    fault = fault_pb.Fault(detail=text, version=text, game_id=text, traceback=f"bot.py:3\n{text}")
    return StudentReport(text, student, [OwnGame(RECORD, Color.BLACK)], [fault])


def test_the_page_is_the_same_whatever_others_are_called() -> None:
    plain, evil = Taken(report_page(made_report("x"))), Taken(report_page(made_report(EVIL)))
    assert [tag for tag, _ in evil.elements] == [tag for tag, _ in plain.elements]
    assert evil.count("script") == 2
    (board,) = json.loads(evil.texts["application/json"])["games"].values()
    assert board["names"] == [RECORD.black, RECORD.white]
    assert board["cells"][0] == [7, 7]


def test_the_page_needs_no_network() -> None:
    Taken(report_page(made_report("x"))).check_policy()


def test_what_is_told() -> None:
    """Scores, faults with their tracebacks, and the slowest moves of the bot's own."""
    report = made_report("Ada")
    assert report.scores == {RECORD.white: (1, 0, 0)}
    assert [(move.ply, move.time) for move in report.slowest] == [
        (ply, timedelta(seconds=1.5)) for ply in (2, 4, 6, 8)
    ]
    page = report_page(report)
    assert "<pre>bot.py:3\nAda</pre>" in page
    assert "<h1>Ada: Ada</h1>" in page
    lost = StudentReport("", pb.Student(), [OwnGame(RECORD, Color.WHITE)], [])
    assert lost.scores == {RECORD.black: (0, 0, 1)}
    assert "<p>None.</p>" in report_page(lost)


@pytest.mark.skipif(executable() is None, reason=MISSING)
def test_a_browser_shows_the_boards(tmp_path: Path) -> None:
    """A click shows a game, names stay text, and nothing is asked for or complained of."""
    (tmp_path / "ada.html").write_text(report_page(made_report(EVIL)))
    with (
        sync_playwright() as playwright,
        launch(playwright) as browser,
        watched_page(browser, tmp_path.as_uri()) as watched,
    ):
        watched.open("/ada.html")
        page = watched.page
        page.click("#games button")
        assert page.locator("circle.black").count() == 5
        page.click("#back")
        assert page.locator("circle.white").count() == 4
        assert page.locator("circle.black").count() == 4
        assert page.title() == " ".join(f"{EVIL}: {EVIL}".split())
        assert page.evaluate("document.images.length") == 0
        assert page.evaluate("performance.getEntriesByType('resource').length") == 0
