"""The page of a student's report."""

import json
from base64 import b64encode
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from tests.cli.browser import CHROMIUM, Browser
from tests.web.replay.test_replay_page import EVIL, RECORD, Taken

from meijin.cli.classroom.report_page import report_page
from meijin.cli.classroom.student_report import PlayedGame, Score, StudentReport
from meijin.game import Color
from meijin.v1 import class_service_pb2 as pb
from meijin.v1 import fault_service_pb2 as fault_pb


def made_report(text: str) -> StudentReport:
    """A report in which everything that others choose is a text."""
    student = pb.Student(handle="ada", display_name=text, version=text, version_id="1")
    fault = fault_pb.Fault(detail=text, version=text, game_id=text, traceback=f"bot.py:3\n{text}")
    return StudentReport(text, student, [PlayedGame(RECORD, Color.BLACK)], [fault])


def test_the_page_is_the_same_whatever_others_are_called() -> None:
    """Texts make no element, and the data hold them."""
    plain, evil = Taken(report_page(made_report("x"))), Taken(report_page(made_report(EVIL)))
    assert [tag for tag, _ in evil.elements] == [tag for tag, _ in plain.elements]
    assert evil.count("script") == 2
    (board,) = json.loads(evil.texts["application/json"])["games"].values()
    assert board["names"] == [RECORD.black, RECORD.white]
    assert board["cells"][0] == [7, 7]


def test_the_page_needs_no_network() -> None:
    """Its policy allows its own script and style, by their checksums."""
    taken = Taken(report_page(made_report("x")))
    (policy,) = (each["content"] for _, each in taken.elements if "http-equiv" in each)
    assert policy is not None
    for name in ("script", "style"):
        checksum = b64encode(sha256(taken.texts[name].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{checksum}'" in policy
    assert not any("src" in each or "href" in each for _, each in taken.elements)


def test_what_is_told() -> None:
    """Scores, faults with their tracebacks, and the slowest moves of the bot's own."""
    report = made_report("Ada")
    assert report.scores == [Score(RECORD.white, 1, 0, 0)]
    assert [(move.ply, move.time) for move in report.slowest] == [
        (ply, timedelta(seconds=1.5)) for ply in (2, 4, 6, 8)
    ]
    page = report_page(report)
    assert "<pre>bot.py:3\nAda</pre>" in page
    assert "<h1>Ada: Ada</h1>" in page
    lost = StudentReport("", pb.Student(), [PlayedGame(RECORD, Color.WHITE)], [])
    assert lost.scores == [Score(RECORD.black, 0, 0, 1)]
    assert "<p>None.</p>" in report_page(lost)


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_a_browser_shows_the_boards(tmp_path: Path) -> None:
    """A click shows a game, names stay text, and nothing is asked for or complained of."""
    page = tmp_path / "ada.html"
    page.write_text(report_page(made_report(EVIL)))
    with Browser(tmp_path / "profile") as browser:
        browser.open(page.as_uri())
        browser.value("document.querySelector('#games button').click()")
        assert browser.value("document.querySelectorAll('circle.black').length") == 5
        browser.value("document.getElementById('back').click()")
        assert browser.value("document.querySelectorAll('circle.white').length") == 4
        assert browser.value("document.querySelectorAll('circle.black').length") == 4
        assert browser.value("document.title") == f"{EVIL}: {EVIL}"
        assert browser.value("document.images.length") == 0
        assert browser.value("performance.getEntriesByType('resource').length") == 0
        complaints = ("Log.entryAdded", "Runtime.exceptionThrown")
        assert [event for event in browser.events if event.get("method") in complaints] == []
