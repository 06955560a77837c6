"""A deterministic event loop: simulated time, and processes that can be held or killed."""

from __future__ import annotations

import asyncio
import contextvars
import heapq
import itertools
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from random import Random
from typing import Any
from unittest import mock

from tests.power.volume import PowerCut

NS_PER_SECOND = 1_000_000_000

Context = contextvars.Context


class Process:
    """What is stopped and killed together: a server, or a bot.

    A callback belongs to the process in whose context it was scheduled. One that is held keeps
    its callbacks for later; of one that is dead none is run any more, so that it ends between
    two awaits, and nothing of it is cancelled, closed or cleaned up.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_dead = False
        self.is_held = False
        self.held: list[asyncio.Handle] = []
        self.steps = 0
        """How many callbacks of it were run."""
        self.crash_at = 0
        """Before this step it dies; 0 for never."""
        self.tasks: list[asyncio.Task[Any]] = []
        self.context: Context = contextvars.copy_context()
        self.context.run(_process.set, self)


_process: contextvars.ContextVar[Process | None] = contextvars.ContextVar("process", default=None)


class SimulatedLoop(asyncio.AbstractEventLoop):
    """Runs one callback after another; time passes only when none is ready.

    Callbacks that are ready keep their order, which asyncio promises. What is random is when
    messages, commits and faults come, and whether a process that was held finds its timers or
    its messages first.
    """

    def __init__(self, rng: Random) -> None:
        self.now_ns = 0
        self.network = contextvars.copy_context()
        """Of no process: what is scheduled in it happens, whoever dies."""
        self.failures: list[str] = []
        """What callbacks and tasks have raised."""
        self.on_crash: Callable[[Process], None] = lambda _: None
        """Is called when a process dies by its `crash_at`."""
        self.executor_delay_ns: Callable[[], int] = lambda: 0
        """How long work for another thread takes."""
        self._rng = rng
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[int, int, asyncio.TimerHandle]] = []
        self._sequence = itertools.count()

    # -- running ------------------------------------------------------------------------

    @contextmanager
    def running(self) -> Iterator[None]:
        asyncio._set_running_loop(self)
        try:
            yield
        finally:
            asyncio._set_running_loop(None)

    def step(self) -> bool:
        """Run one callback, or let time pass to the next timer; false when there is neither."""
        if not self._ready:
            if not self._timers:
                return False
            when_ns, _, timer = heapq.heappop(self._timers)
            if timer.cancelled():
                return True
            self.now_ns = max(self.now_ns, when_ns)
            self._ready.append(timer)
        handle = self._ready.popleft()
        if handle.cancelled():
            return True
        process: Process | None = handle._context.get(_process)  # type: ignore[attr-defined]
        if process is not None and not self._may_run(process, handle):
            return True
        handle._run()
        return True

    def _may_run(self, process: Process, handle: asyncio.Handle) -> bool:
        if process.is_dead:
            return False
        if process.is_held:
            process.held.append(handle)
            return False
        process.steps += 1
        if process.steps == process.crash_at:
            process.is_dead = True
            self.on_crash(process)
            return False
        return True

    def release(self, process: Process) -> None:
        """Let a held process go on: it finds its timers before its messages, or after them."""
        process.is_held = False
        held, process.held = process.held, []
        timers_first = self._rng.random() < 0.5
        held.sort(key=lambda handle: isinstance(handle, asyncio.TimerHandle) is not timers_first)
        self._ready.extend(held)

    @staticmethod
    def bury(process: Process) -> None:
        """Close what a dead process has left, as nothing of it may run any more."""
        process.is_dead = True
        with warnings.catch_warnings(), mock.patch.object(sys, "unraisablehook", _ignore):
            warnings.simplefilter("ignore", RuntimeWarning)  # some were never begun
            for task in process.tasks:
                if not task.done():
                    task._log_destroy_pending = False  # type: ignore[attr-defined]
                    _close(task.get_coro())
            process.tasks.clear()

    # -- what asyncio asks of a loop --------------------------------------------------------

    def time(self) -> float:
        return self.now_ns / NS_PER_SECOND

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at_ns(round(when * NS_PER_SECOND), callback, *args, context=context)

    def call_later(  # type: ignore[override]
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at_ns(
        self,
        when_ns: int,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when_ns / NS_PER_SECOND, callback, args, self, context)
        heapq.heappush(self._timers, (when_ns, next(self._sequence), timer))
        return timer

    def call_after_ns(
        self,
        delay_ns: int,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at_ns(self.now_ns + delay_ns, callback, *args, context=context)

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(
        self, coro: Any, *, name: str | None = None, context: Context | None = None
    ) -> asyncio.Task[Any]:
        """A task of the process in whose context it is made."""
        task = asyncio.Task(coro, loop=self, name=name, context=context)
        process = (context or contextvars.copy_context()).get(_process)
        if process is not None:
            process.tasks.append(task)
            if len(process.tasks) > 512:
                process.tasks = [task for task in process.tasks if not task.done()]
        return task

    def run_in_executor(  # type: ignore[override]
        self, _executor: Executor | None, work: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Run work of another thread at one instant, some time later."""
        future = self.create_future()

        def run() -> None:
            if future.done():
                return
            try:
                future.set_result(work(*args))
            except Exception as error:  # noqa: BLE001 - the future carries it to whoever waits
                future.set_exception(error)

        self.call_after_ns(self.executor_delay_ns(), run)
        return future

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Keep what went wrong, but for what a power cut has ended."""
        if isinstance(context.get("exception"), PowerCut):
            return
        self.failures.append(f"{context.get('message')}: {context.get('exception')!r}")

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """A cancelled timer is passed over when its time comes."""

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False


def _ignore(_: object) -> None:
    """A generator that awaits while it is unwound says so, and is gone."""


def _close(coroutine: Any) -> None:
    """Unwind a coroutine; one that awaits while it is unwound is unwound again from there."""
    for _ in range(10):
        with suppress(RuntimeError):
            coroutine.close()
            return
