"""A server on an event loop and in a thread of its own."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Self, TypeVar

from meijin.bots.sdk.poller import ignore_idle_wakeups
from meijin.server.settings import Settings
from meijin.testing.server import ServerInTest, open_server

_Result = TypeVar("_Result")


class ServerThread:
    """Serves as long as the ``with`` block lasts."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._ready: Future[ServerInTest] = Future()
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
