"""A whole server on the test's own event loop, where no failure may go by unexplained."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import pytest

from meijin.server.tracing.spans import NO_TRACER, Span, Tracer

# What fixtures need is imported in them: a test without a server starts in half a second less.
if TYPE_CHECKING:
    from meijin.testing.peer import CallEnding
    from meijin.testing.server import ServerInTest
    from meijin.wire.channel import Security


class StartServer(Protocol):
    """Opens a server; the next one finds what it left in the store."""

    def __call__(
        self, security: Security | None = None, tracer: Tracer = NO_TRACER, **settings: Any
    ) -> AbstractAsyncContextManager[ServerInTest]:
        """Serve as long as the block lasts; the settings override those of the tests."""


@pytest.fixture
def line() -> Callable[..., Awaitable[None]]:
    """Has black and white answer their turns with cells."""
    from meijin.testing.peer import play_moves

    return play_moves


@pytest.fixture(name="ending_of_call")
def _ending_of_call() -> Callable[[Any], Awaitable[CallEnding]]:
    """Reads a streaming call to its end and tells how it ended."""
    from meijin.testing.peer import ending_of_call

    return ending_of_call


@pytest.fixture
def ending() -> Callable[..., Awaitable[CallEnding]]:
    """Sends the bytes of a request to a method and tells how the call ended."""
    from meijin.testing.peer import ending_of_request

    return ending_of_request


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


@pytest.fixture
def start_server(tmp_path: Path, _no_failure: None) -> StartServer:
    """Opens servers where everybody may come in, one after the other on the same store."""
    from meijin.bots.sdk.poller import ignore_idle_wakeups
    from meijin.testing.server import open_server
    from meijin.testing.settings import settings_in

    @asynccontextmanager
    async def opened(
        security: Security | None = None, tracer: Tracer = NO_TRACER, **settings: Any
    ) -> AsyncIterator[ServerInTest]:
        ignore_idle_wakeups()
        async with open_server(settings_in(tmp_path, **settings), security, tracer) as server:
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


class RecordingTracer(Tracer):
    """Keeps the spans, in the order in which they ended."""

    is_on: ClassVar[bool] = True

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def record(self, span: Span) -> None:
        """Keep it."""
        self.spans.append(span)

    def named(self, name: str) -> list[Span]:
        """The spans of a name."""
        return [span for span in self.spans if span.name == name]


@pytest.fixture
def tracer() -> RecordingTracer:
    """A tracer that sends nothing."""
    return RecordingTracer()
