"""A server in the test's own process: on the test's event loop, or in a thread with its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

from meijin.bots.sdk.runner import ignore_idle_wakeups
from meijin.server.app import App, open_database
from meijin.server.process.operator_token import OperatorTokenFile
from meijin.server.settings import Settings
from meijin.server.tracing.spans import NO_TRACER, Tracer
from meijin.store import Database
from meijin.wire.channel import Security

if TYPE_CHECKING:
    from meijin.server.parts import Parts

_Result = TypeVar("_Result")

NO_REDIS = "unix:///nonexistent/valkey.sock"
"""Jobs that refresh ladders are lost; nothing else needs Redis."""


@dataclass
class OpenServer:
    """A running server."""

    app: App
    database: Database
    settings: Settings
    address: str
    security: Security
    """How the test's own connections are made safe."""
    _stack: AsyncExitStack
    """What the test has opened, closed after the server has stopped."""

    @property
    def parts(self) -> Parts:
        return self.app.parts

    @property
    def operator_token(self) -> str:
        """The token that the server made when it first started."""
        return OperatorTokenFile(self.settings.data).path.read_text().strip()


@asynccontextmanager
async def open_server(
    settings: Settings, security: Security | None = None, tracer: Tracer = NO_TRACER
) -> AsyncIterator[OpenServer]:
    """Serve as `meijin.server.app.serve` does, without supervisor; the end is abrupt."""
    security = security or Security()
    async with AsyncExitStack() as stack:
        database = stack.enter_context(open_database(settings))
        stack.enter_context(database.claim())
        await asyncio.to_thread(database.migrate)
        await asyncio.to_thread(database.fence.claim)
        app = await stack.enter_async_context(App.open(settings, database, NO_REDIS, tracer))
        address = await app.listen()
        async with asyncio.TaskGroup() as tasks, AsyncExitStack() as clients:
            running = [tasks.create_task(task) for task in app.tasks()]
            try:
                yield OpenServer(app, database, settings, address, security, clients)
            finally:
                await app.stop()
                for task in running:
                    task.cancel()


class ServerThread:
    """Serves as long as the ``with`` block lasts."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._ready: Future[OpenServer] = Future()
        self._stopped: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="server", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.server = self._ready.result()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server; raises what it has failed with."""
        with suppress(RuntimeError):  # the loop is closed where the server has failed
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._stopped.result()

    def call(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Run a coroutine on the server's event loop and wait for its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - whoever waits for it raises it
            failed = self._stopped if self._ready.done() else self._ready
            failed.set_exception(error)
        else:
            self._stopped.set_result(None)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        ignore_idle_wakeups()
        async with open_server(self._settings) as server:
            self._ready.set_result(server)
            await self._stop.wait()
