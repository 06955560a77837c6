"""A whole server on the test's own event loop, where no failure may go by unexplained."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import pytest

from meijin.server.tracing.spans import NO_TRACER, Span, Tracer

# What fixtures need is imported in them: a test without a server starts in half a second less.
if TYPE_CHECKING:
    from tests.server_in_test import ServerInTest

    from meijin.server.storage import Storage
    from meijin.store import Database
    from meijin.wire.channel import Security


class StartServer(Protocol):
    """Opens a server; the next one finds what it left in the store."""

    def __call__(
        self, security: Security | None = None, tracer: Tracer = NO_TRACER, **settings: Any
    ) -> AbstractAsyncContextManager[ServerInTest]:
        """Serve as long as the block lasts; the settings override those of the tests."""


def _is_alarming(record: logging.LogRecord) -> bool:
    """Whether something failed; what gRPC's poller says about its own wake-ups is noise."""
    from meijin.server.logs import is_no_cut_off_call

    is_noise = "PollerCompletionQueue" in record.getMessage() or not is_no_cut_off_call(record)
    return record.levelno >= logging.ERROR and not is_noise


@pytest.fixture
def _no_failure(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing has failed by the end of the test that the test does not expect."""
    from structlog.testing import capture_logs

    with capture_logs() as logs:
        yield
    records = [*caplog.get_records("setup"), *caplog.get_records("call"), *caplog.records]
    assert [entry for entry in logs if entry["event"] == "incident"] == []
    assert [record for record in records if _is_alarming(record)] == []


def _starter(folder: Path) -> StartServer:
    from tests.server_in_test import open_server

    from meijin.bots.sdk.runner import ignore_idle_wakeups
    from meijin.testing.settings import settings_in

    @asynccontextmanager
    async def opened(
        security: Security | None = None, tracer: Tracer = NO_TRACER, **settings: Any
    ) -> AsyncIterator[ServerInTest]:
        ignore_idle_wakeups()
        async with open_server(settings_in(folder, **settings), security, tracer) as server:
            yield server

    return opened


@pytest.fixture
def start_server(tmp_path: Path, _no_failure: None) -> StartServer:
    """Opens servers where everybody may come in, one after the other on the same store."""
    return _starter(tmp_path)


@pytest.fixture(scope="module")
def start_shared_server(tmp_path_factory: pytest.TempPathFactory) -> StartServer:
    """Opens servers of a module, each on a store of its own; its tests ask for `_no_failure` too."""

    def opened(*given: Any, **settings: Any) -> AbstractAsyncContextManager[ServerInTest]:
        return _starter(tmp_path_factory.mktemp("shared"))(*given, **settings)

    return opened


@pytest.fixture(scope="module")
async def _shared_server(
    start_shared_server: StartServer, request: pytest.FixtureRequest
) -> AsyncIterator[ServerInTest]:
    async with start_shared_server(**getattr(request.module, "SHARED", {})) as server:
        yield server


@pytest.fixture
def shared(_shared_server: ServerInTest, _no_failure: None) -> ServerInTest:
    """A server of all tests of a module that ask for it, with the settings in its ``SHARED``."""
    return _shared_server


@pytest.fixture
async def server(
    start_server: StartServer, request: pytest.FixtureRequest
) -> AsyncIterator[ServerInTest]:
    """A server with the settings of the test's mark, ``@pytest.mark.settings(grace=...)``."""
    mark = request.node.get_closest_marker("settings")
    async with start_server(**(mark.kwargs if mark else {})) as server:
        yield server


@pytest.fixture
def storage(database: Database) -> Iterator[Storage]:
    from meijin.server.storage import Storage
    from meijin.store import Writer

    writer = Writer(database)
    storage = Storage(database, writer)
    yield storage
    writer.close()
    storage.close()


class RecordingTracer(Tracer):
    """Keeps the spans, in the order in which they ended."""

    is_on: ClassVar[bool] = True

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def record(self, span: Span) -> None:
        self.spans.append(span)

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]


@pytest.fixture
def tracer() -> RecordingTracer:
    return RecordingTracer()
