"""A program uploaded by a page, and its admission followed there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from tests.processes import Processes, free_port
from tests.system.server import NO_LADDER, Server
from tests.web.browser.chromium import Watched, watched_page
from tests.web.browser.conftest import sign_in
from tests.web.examined import FAILED, PASSED, Examination

from meijin.store import Database

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BIG = 11 * 1024 * 1024


@pytest.fixture(scope="module")
def hosting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A server that hosts programs, whose worker is the test, and where its pages are."""
    processes = Processes(tmp_path_factory.mktemp("hosting"))
    try:
        web = f"127.0.0.1:{free_port()}"
        server = Server(processes, "--hosting", NO_LADDER, f"--web={web}")
        server.tell("bot", "register", "ada")
        yield server, f"http://{web}"
    finally:
        processes.kill_all()


@pytest.fixture
def database(hosting: tuple[Server, str]) -> Iterator[Database]:
    with Database(hosting[0].database_url) as database:
        yield database


@pytest.fixture
def page(browser: Browser, hosting: tuple[Server, str]) -> Iterator[Watched]:
    """The page of the bot for an operator who has signed in."""
    server, origin = hosting
    with watched_page(browser, origin) as watched:
        sign_in(watched, server.token)
        watched.open("/account/bots/ada")
        yield watched


def choose(watched: Watched, path: Path, source: bytes) -> None:
    path.write_bytes(source)
    watched.page.get_by_label("File").set_input_files(path)


def test_an_upload_is_followed_to_its_report(
    page: Watched, database: Database, tmp_path: Path
) -> None:
    """Nobody loads the page: findings come as they are made, and what was unfolded stays so."""
    shown = page.page
    choose(page, tmp_path / "bot.py", b"print('hello')\n")
    shown.get_by_label("What people call this version").fill("first")
    shown.get_by_role("button", name="Upload").click()
    expect(shown).to_have_url(re.compile("/programs/1$"))
    status = shown.get_by_role("status")
    expect(status).to_contain_text("waits to be examined")
    shown.evaluate("window.isSame = true")
    examination = Examination(database.write)
    expect(status).to_contain_text("is being examined")
    examination.find(FAILED)
    report = shown.get_by_role("main").get_by_role("listitem")
    expect(report).to_contain_text(["no <hello>"])
    expect(report).to_contain_text(["How to mend it: connect it"])
    shown.locator("summary", has_text="Evidence").click()
    examination.admit(FAILED, PASSED)
    expect(status).to_contain_text("admitted")
    expect(report).to_have_count(2)
    expect(shown.get_by_text("ImportError: x")).to_be_visible()
    assert shown.evaluate("window.isSame")
    expect(status).to_contain_text("plays")


def test_a_refusal_keeps_what_was_chosen(page: Watched, tmp_path: Path) -> None:
    """Whether the browser sees it by itself or the server says it; mended, it is sent again."""
    shown = page.page
    alert, button = shown.get_by_role("alert"), shown.get_by_role("button", name="Upload")
    shown.get_by_label("What people call this version").fill("second")
    choose(page, tmp_path / "big.py", bytes(BIG))
    button.click()
    expect(alert).to_contain_text("a program may have 10 MB")
    choose(page, tmp_path / "bot.rb", b"puts 1\n")
    button.click()
    expect(alert).to_contain_text("no program of a known kind")
    assert all("400" in problem for problem in page.problems)
    page.problems.clear()
    expect(shown).to_have_url(re.compile("/account/bots/ada$"))
    assert shown.get_by_label("File").evaluate("each => each.files[0].name") == "bot.rb"
    expect(shown.get_by_label("What people call this version")).to_have_value("second")
    choose(page, tmp_path / "bot.py", b"print('again')\n")
    button.click()
    expect(shown).to_have_url(re.compile("/programs/[0-9]+$"))


def test_a_program_is_uploaded_without_scripts(
    browser: Browser, hosting: tuple[Server, str], tmp_path: Path
) -> None:
    """A refusal is beside the form; a program leads to its page."""
    server, origin = hosting
    with watched_page(browser, origin, has_scripts=False) as watched:
        sign_in(watched, server.token)
        watched.open("/account/bots/ada")
        shown = watched.page
        choose(watched, tmp_path / "bot.py", b"print('no scripts')\n")
        shown.get_by_role("button", name="Upload").click()
        expect(shown).to_have_url(re.compile("/programs/[0-9]+$"))
        expect(shown.get_by_role("status")).to_contain_text("waits to be examined")
