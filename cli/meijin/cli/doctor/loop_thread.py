"""An event loop in a thread of its own, for what runs beside the checks."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Self, TypeVar

_Result = TypeVar("_Result")


class LoopThread:
    """Runs coroutines as long as the ``with`` block lasts."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="doctor", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.call(_cancel_others())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    def call(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Run a coroutine and wait for its result."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()


async def _cancel_others() -> None:
    """Cancel what still runs, and wait for it."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
