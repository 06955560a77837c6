"""A whole server on the test's own event loop, where no failure may go by unexplained."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pytest
from structlog.testing import capture_logs

from meijin.server.settings import Settings
from meijin.testing.peer import CallEnding as Ending
from meijin.testing.peer import Peer, ending_of_call, ending_of_request, play_moves
from meijin.testing.poller import ignore_idle_wakeups
from meijin.testing.server import ServerInTest, open_server
from meijin.testing.settings import settings_in

__all__ = ["Ending", "House", "OpenHouse", "Peer", "Serve"]

House: TypeAlias = ServerInTest
OpenHouse: TypeAlias = "Callable[[Settings], AbstractAsyncContextManager[House]]"
Script: TypeAlias = "Callable[[House], Awaitable[None]]"


class Serve(Protocol):
    """Runs a script in a house of its own; the next one finds what it left in the store."""

    settings: Callable[..., Settings]
    """Makes the settings of such a house."""

    def __call__(self, script: Script, **settings: Any) -> None:
        """Run it to its end; the settings override those of the tests."""


class StartServer(Protocol):
    """Opens a server; the next one finds what it left in the store."""

    def __call__(self, **settings: Any) -> AbstractAsyncContextManager[ServerInTest]:
        """Serve as long as the block lasts; the settings override those of the tests."""


@pytest.fixture
def line() -> Callable[..., Awaitable[None]]:
    """Has black and white answer their turns with cells."""
    return play_moves


@pytest.fixture(name="ending_of_call")
def _ending_of_call() -> Callable[[Any], Awaitable[Ending]]:
    """Reads a streaming call to its end and tells how it ended."""
    return ending_of_call


@pytest.fixture
def ending() -> Callable[..., Awaitable[Ending]]:
    """Sends the bytes of a request to a method and tells how the call ended."""
    return ending_of_request


@pytest.fixture
def house_settings(tmp_path: Path) -> Callable[..., Settings]:
    """Makes the settings of a server: everybody may come in, nothing takes long."""
    return partial(settings_in, tmp_path)


@pytest.fixture(name="open_house")
def _open_house() -> OpenHouse:
    """Opens a house with settings."""
    return open_server


def _is_alarming(record: logging.LogRecord) -> bool:
    """Whether something failed; what gRPC's poller says about its own wake-ups is noise."""
    return record.levelno >= logging.ERROR and "PollerCompletionQueue" not in record.getMessage()


class _Serve:
    def __init__(self, settings: Callable[..., Settings], caplog: pytest.LogCaptureFixture) -> None:
        self.settings = settings
        self._caplog = caplog

    def __call__(self, script: Script, **settings: Any) -> None:
        with capture_logs() as logs:
            asyncio.run(self._run(script, self.settings(**settings)))
        assert [entry for entry in logs if entry["event"] == "incident"] == []
        assert [record for record in self._caplog.records if _is_alarming(record)] == []

    @staticmethod
    async def _run(script: Script, settings: Settings) -> None:
        async with open_server(settings) as house:
            await script(house)


@pytest.fixture
def serve(house_settings: Callable[..., Settings], caplog: pytest.LogCaptureFixture) -> Serve:
    """Runs a script in a house of its own, where no failure may go by unexplained."""
    return _Serve(house_settings, caplog)


@pytest.fixture
def _no_failure(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing has failed by the end of the test that the test does not expect."""
    with capture_logs() as logs:
        yield
    records = [*caplog.get_records("setup"), *caplog.get_records("call"), *caplog.records]
    assert [entry for entry in logs if entry["event"] == "incident"] == []
    assert [record for record in records if _is_alarming(record)] == []


@pytest.fixture
def start_server(house_settings: Callable[..., Settings], _no_failure: None) -> StartServer:
    """Opens servers with settings, one after the other on the same store."""

    @asynccontextmanager
    async def opened(**settings: Any) -> AsyncIterator[ServerInTest]:
        ignore_idle_wakeups()
        async with open_server(house_settings(**settings)) as server:
            yield server

    return opened


@pytest.fixture
async def server(
    start_server: StartServer, request: pytest.FixtureRequest
) -> AsyncIterator[ServerInTest]:
    """A server with the settings of the test's mark, ``@pytest.mark.settings(grace=...)``."""
    mark = request.node.get_closest_marker("settings")
    async with start_server(**(mark.kwargs if mark else {})) as server:
        yield server
