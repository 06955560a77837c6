"""A whole server with its pages, on the test's own event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from tests.web.browsing import Browsing

from meijin.bots.sdk.poller import ignore_idle_wakeups
from meijin.cli.site import LocalGateway
from meijin.testing.server import ServerInTest, open_server
from meijin.testing.settings import settings_in
from meijin.web.shell import Shell, SiteSettings
from meijin.web.site import application


@dataclass(frozen=True, slots=True)
class SiteInTest:
    """A server and its pages."""

    server: ServerInTest
    shell: Shell

    @property
    def app(self) -> Starlette:
        """The application."""
        return application(self.shell)

    def renewed(self) -> SiteInTest:
        """The same pages by a process that knows nothing of what was."""
        self.shell.closing.set()
        return SiteInTest(self.server, Shell(self.shell.gateway, self.shell.settings))

    def browse(self) -> Browsing:
        """One who looks at the pages."""
        return Browsing(self.app)


OpenSite = Callable[..., AbstractAsyncContextManager[SiteInTest]]


@pytest.fixture
def open_site(tmp_path: Path) -> OpenSite:
    """Opens a server with pages; the settings override those of the tests."""

    @asynccontextmanager
    async def opened(**settings: Any) -> AsyncIterator[SiteInTest]:
        ignore_idle_wakeups()
        async with open_server(settings_in(tmp_path, **settings)) as server:
            shell = Shell(LocalGateway(server.app.local_calls), SiteSettings())
            try:
                yield SiteInTest(server, shell)
            finally:
                shell.closing.set()
                shell.cache.close()

    return opened
