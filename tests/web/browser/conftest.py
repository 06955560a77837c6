"""One stage for all tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.web.browser.chromium import MISSING, Watched, executable, watched_page
from tests.web.browser.stage import Stage, set_stage

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A server with everything on it that pages show."""
    if executable() is None:
        pytest.skip(MISSING)
    with set_stage(tmp_path_factory.mktemp("stage")) as stage:
        yield stage


@pytest.fixture
def watched(browser: Browser, stage: Stage) -> Iterator[Watched]:
    """A page of a new profile; the test fails if anything goes wrong on it."""
    with watched_page(browser, stage.origin) as watched:
        yield watched


def sign_in(watched: Watched, token: str) -> None:
    headers = {"origin": watched.origin}
    answer = watched.page.request.post(
        f"{watched.origin}/sign-in", form={"token": token, "next": "/api"}, headers=headers
    )
    assert answer.ok, answer.text()
