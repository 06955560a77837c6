"""A whole server with its pages, on the test's own event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING

import pytest
from starlette.applications import Starlette
from tests.server_in_test import ServerInTest, open_server
from tests.web.browser.chromium import MISSING, executable, launch
from tests.web.browsing import Browsing

from meijin.bots.sdk.runner import ignore_idle_wakeups
from meijin.cli.server.site import LocalGateway
from meijin.testing.settings import settings_in
from meijin.web.host import Certificate, Host, open_listener
from meijin.web.site import application
from meijin.web.state import SiteSettings, SiteState

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@dataclass(frozen=True, slots=True)
class SiteInTest:
    """A server and its pages."""

    server: ServerInTest
    state: SiteState

    @property
    def app(self) -> Starlette:
        return application(self.state)

    def renewed(self) -> SiteInTest:
        """The same pages by a process that knows nothing of what was."""
        self.state.closing.set()
        return SiteInTest(self.server, SiteState(self.state.gateway, self.state.settings))

    def browse(self) -> Browsing:
        return Browsing(self.app)

    async def signed_in(self, token: str) -> Browsing:
        """One who has signed in with a token."""
        browsing = self.browse()
        assert (await browsing.post("/sign-in", token=token, next="/")).status == 303
        return browsing


@asynccontextmanager
async def hosted(
    site: SiteInTest, certificate: Certificate | None = None
) -> AsyncIterator[tuple[Host, socket]]:
    """The pages on a port, and the socket that listens there."""
    listener = open_listener("127.0.0.1", 0)
    host = Host(site.state, listener, certificate)
    running = asyncio.create_task(host.run())
    try:
        yield host, listener
    finally:
        await host.stop()
        await running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's Chromium, for tests that are no coroutines.

    Its client has an event loop that runs between its calls, on which those would stumble; so it
    lasts no longer than a module.
    """
    if executable() is None:
        pytest.skip(MISSING)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, launch(playwright) as browser:
        yield browser


@pytest.fixture
async def site(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[SiteInTest]:
    """A server with pages, and the settings of the test's mark, ``@pytest.mark.settings(...)``."""
    ignore_idle_wakeups()
    mark = request.node.get_closest_marker("settings")
    settings = settings_in(tmp_path, **(mark.kwargs if mark else {}))
    async with open_server(settings) as server:
        state = SiteState(LocalGateway(server.app.local_calls), SiteSettings())
        try:
            yield SiteInTest(server, state)
        finally:
            state.closing.set()
            state.cache.close()


@pytest.fixture
def browsing(site: SiteInTest) -> Browsing:
    return site.browse()


@pytest.fixture
def server(site: SiteInTest) -> ServerInTest:
    return site.server
