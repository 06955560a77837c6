"""A program that is a Pod."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar

from meijin.programs.containers.kubernetes.api import NOT_FOUND, Cluster, KubernetesError
from meijin.programs.containers.kubernetes.pods import PodState
from meijin.programs.kinds import MEBIBYTE, ProgramLimits
from meijin.programs.sandbox.output import Output, Written
from meijin.programs.sandbox.running import Cause, End, Usage

T = TypeVar("T")

POLL_INTERVAL = timedelta(milliseconds=250)
"""Between two looks at a Pod that starts or ends."""
START_TIMEOUT = timedelta(minutes=5)
"""For its image to be fetched, and for room on the node."""
_SIGNALLED = 128
_GRACE = timedelta(seconds=1)


class PodProgram(Written):
    """A program that was started as a Pod, until that is gone.

    It is never frozen: it has its own core, and only its opponent's time to think in.
    """

    def __init__(
        self,
        cluster: Cluster,
        pod: str,
        *,
        limits: ProgramLimits,
        on_end: Callable[["PodProgram"], None],
        poll_interval: timedelta = POLL_INTERVAL,
    ) -> None:
        """Follow a Pod that was made."""
        self._cluster = cluster
        self._pod = pod
        self._limits = limits
        self._on_end = on_end
        self._poll_s = poll_interval.total_seconds()
        self._cause: Cause | None = None
        reader, self._writer = os.pipe()
        self._output = Output(reader, limit=limits.output_bytes, on_flood=self._on_flood)
        self._started = asyncio.Event()
        self._kills: set[asyncio.Task[None]] = set()
        self._end = asyncio.create_task(self._follow(), name="program as a Pod")

    def usage(self) -> Usage:
        """What it has written; of the rest no Pod is told exactly."""
        return Usage(0, 0, 0, self._output.total)

    def pin(self, core: int | None) -> None:
        """Do nothing: the node chooses."""

    def add_door(self, pid: int) -> None:
        """Do nothing: the door is in the host's Pod."""

    async def freeze(self) -> None:
        """Do nothing: Kubernetes can't."""

    async def thaw(self) -> None:
        """Do nothing, for it was not frozen."""

    async def begin(self) -> None:
        """Wait until it runs, or has ended."""
        started = asyncio.create_task(self._started.wait())
        await asyncio.wait([started, self._end], return_when=asyncio.FIRST_COMPLETED)
        started.cancel()

    async def wait(self) -> End:
        """Wait until its Pod is gone."""
        return await asyncio.shield(self._end)

    async def stop(self, grace: timedelta = _GRACE) -> End:
        """Ask it to end; the node kills it after `grace`, of whole seconds and one at least.

        With none at all Kubernetes would forget a Pod whose processes may still run.
        """
        self._cause = self._cause or Cause.ASKED
        await self._delete(grace)
        return await self.wait()

    def _on_flood(self) -> None:
        self._cause = self._cause or Cause.OUTPUT
        task = asyncio.create_task(self._delete(_GRACE))
        self._kills.add(task)
        task.add_done_callback(self._kills.discard)

    async def _delete(self, grace: timedelta) -> None:
        """Have the Pod end, however often it takes."""
        seconds = max(1, round(grace.total_seconds()))
        if not self._end.done():
            await self._ask(lambda: self._remove(seconds))

    async def _call(self, method: str, path: str, **query: object) -> dict[str, Any]:
        return await asyncio.to_thread(self._cluster.call, method, path, query=query)

    async def _ask(self, question: Callable[[], Awaitable[T]]) -> T | None:
        """Ask until the API server answers; ``None`` where it has no such thing."""
        while True:
            try:
                return await question()
            except KubernetesError as error:
                if error.status == NOT_FOUND:
                    return None
                await asyncio.sleep(self._poll_s)

    async def _find(self) -> PodState | None:
        """How it stands with the Pod; ``None`` where it is gone.

        Raises:
            KubernetesError: the API server has no such thing, or does not answer.
        """
        return PodState.parse(await self._call("GET", self._cluster.path("pods", self._pod)))

    async def _remove(self, seconds: int = 1) -> object:
        """Have the Pod end after a grace, and remove it.

        Raises:
            KubernetesError: as above.
        """
        path = self._cluster.path("pods", self._pod)
        return await self._call("DELETE", path, gracePeriodSeconds=seconds)

    async def _follow(self) -> End:
        state = await self._wait_for_end()
        os.close(self._writer)
        self._output.close()
        await self._vanish()
        self._on_end(self)
        return self._judge(state)

    async def _wait_for_end(self) -> PodState | None:
        state = await self._wait_for_start()
        if state is None or state.has_ended:
            return state
        self._started.set()
        await asyncio.to_thread(self._pass_on)
        while (state := await self._ask(self._find)) is not None:
            if state.has_ended:
                break
            await asyncio.sleep(self._poll_s)
        return state

    async def _wait_for_start(self) -> PodState | None:
        deadline = asyncio.get_running_loop().time() + START_TIMEOUT.total_seconds()
        while (state := await self._ask(self._find)) is not None:
            is_late = asyncio.get_running_loop().time() > deadline
            if state.phase == "Running" or state.has_ended:
                return state
            if is_late:
                return PodState("Failed", "Pending", state.words or "its Pod finds no room")
            await asyncio.sleep(self._poll_s)
        return None

    def _pass_on(self) -> None:
        """Write what the Pod writes to the pipe, until the one or the other ends."""
        try:
            for chunk in self._cluster.log(self._pod):
                os.write(self._writer, chunk)
        except (KubernetesError, BrokenPipeError):  # its end is seen all the same
            return

    async def _vanish(self) -> None:
        """Remove the Pod, and wait until it is gone."""
        while await self._ask(self._remove) is not None:  # noqa: ASYNC110 - no event comes
            await asyncio.sleep(self._poll_s)

    def _judge(self, state: PodState | None) -> End:
        code = 0 if state is None or state.code is None else state.code
        if self._cause is Cause.ASKED:
            return End(Cause.ASKED, code, "the host has stopped it")
        if self._cause is Cause.OUTPUT:
            return End.by_output(code, self._limits.output_bytes)
        if state is None:
            return End(Cause.LAUNCH, code, "its Pod was deleted")
        if state.is_out_of_memory:
            said = f"it wanted more than {self._limits.memory_bytes // MEBIBYTE} MiB of memory"
            return End(Cause.MEMORY, code, said)
        if not state.has_started:
            cause = Cause.COMMAND if state.is_command_wrong else Cause.LAUNCH
            words = state.words.splitlines()[-1:] or [state.reason or "its Pod does not start"]
            return End(cause, code, words[0])
        number = code - _SIGNALLED
        return End.by_signal(number) if number in set(signal.Signals) else End.by_itself(code)
