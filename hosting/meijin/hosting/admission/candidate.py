"""A program in its sandbox, as the doctor examines it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self, TypeVar

from meijin.hosting.cores import Cores
from meijin.hosting.door.lines import Plan
from meijin.hosting.doors import DoorPool
from meijin.hosting.runtime import runtime_folders, with_python
from meijin.hosting.seating import STOP_GRACE, Ending, Seating
from meijin.hosting.shelf import removed_folder, socket_folder
from meijin.local.doctor.candidate import Ended
from meijin.local.doctor.hosted import LIMIT
from meijin.programs.kinds import ProgramLimits
from meijin.programs.prepared import Prepared
from meijin.programs.sandbox.running import Launch, Sandbox

T = TypeVar("T")

LAST_LINES = 20
STOP_TIMEOUT_S = 30.0


class SandboxLoop:
    """An event loop in a thread of its own, with a sandbox that is open as long as it runs."""

    def __init__(self, sandbox: Sandbox, doors: DoorPool) -> None:
        self.sandbox = sandbox
        self.doors = doors
        self.folder = Path()
        """A temporary one while the loop runs, which is gone also when this process was killed."""
        self._removed = removed_folder()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="sandbox", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.folder = self.call(self._removed.__aenter__())
        self.call(self.sandbox.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self.call(self.sandbox.__aexit__(None, None, None))
        self.call(self._removed.__aexit__(None, None, None))
        self.call(self.doors.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        return self.start(work).result()

    def soon(self, callback: Any) -> None:  # noqa: ANN401 - any function without arguments
        self._loop.call_soon_threadsafe(callback)


class SandboxCandidate:
    """Starts a program as a host would, with a core for itself."""

    is_own = True

    def __init__(
        self,
        loop: SandboxLoop,
        prepared: Prepared,
        *,
        name: str,
        core: int,
        limits: ProgramLimits,
        digest: str,
    ) -> None:
        self._loop = loop
        self._prepared = prepared
        self._name = name
        self._core = core
        self._limits = limits
        self._digest = digest
        self._starts = 0
        self._stack = ExitStack()
        self._seating: Seating | None = None
        self._ending: Future[Ending] | None = None
        self._lines: Sequence[str] = ()

    @property
    def is_running(self) -> bool:
        return self._ending is not None and not self._ending.done()

    @property
    def ending(self) -> str:
        """How it has ended by itself, in words; empty while it runs, and where it was stopped."""
        if self._ending is None or not self._ending.done():
            return ""
        ended = self._ending.result()
        return f"it has ended: {ended.cause}" if ended.cause else "it has ended by itself"

    @property
    def last_lines(self) -> Sequence[str]:
        if self._ending is not None and self._ending.done():
            return self._ending.result().lines[-LAST_LINES:]
        return self._lines if self._seating is None else self._seating.lines[-LAST_LINES:]

    @property
    def lines(self) -> Sequence[str]:
        """All that is kept of what it has said since it was started last."""
        return self._lines

    def start(self, server: str, token: str, log: Path) -> None:  # noqa: ARG002 - lines are kept
        """Start it: for the first time, or again after `stop`."""
        self._starts += 1
        sockets, user = self._stack.enter_context(socket_folder(self._loop.folder))
        plan = Plan(
            server=server,
            ticket=token,
            socket=str(sockets / "bot.sock"),
            bot=self._name,
            digest=self._digest,
            memory_bytes=self._limits.memory_bytes,
            start_ms=self._limits.start_ms,
            user=user,
            is_measured=False,
        )
        launch = Launch(
            name=f"admission-{self._starts}",
            command=with_python(self._prepared.command),
            tree=self._prepared.tree,
            socket_folder=sockets,
            runtime=runtime_folders(),
            environment=dict(self._prepared.environment),
            image=self._prepared.image,
            limits=self._limits,
            lifetime=LIMIT,
        )
        self._seating = Seating(
            launch,
            plan,
            sandbox=self._loop.sandbox,
            cores=Cores([self._core]),
            doors=self._loop.doors,
        )
        self._ending = self._loop.start(self._seating.run())

    def stop(self) -> Ended:
        """Tell it to end, and wait for that; does nothing the second time."""
        ending, self._ending, seating, self._seating = self._ending, None, self._seating, None
        if ending is None or seating is None:
            return Ended()
        begun = time.monotonic()
        self._loop.soon(seating.stop)
        ended = ending.result(STOP_TIMEOUT_S)
        self._lines = ended.lines
        self._stack.close()
        seconds = time.monotonic() - begun
        return Ended(seconds, was_killed=seconds > STOP_GRACE.total_seconds())
