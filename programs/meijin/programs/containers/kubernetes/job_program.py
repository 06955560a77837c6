"""A program that is a Job, whose Pod the cluster makes, and ends where it lasts too long."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

from meijin.programs.containers.kubernetes.api import BATCH, Cluster
from meijin.programs.containers.kubernetes.pods import JobState, PodState
from meijin.programs.containers.kubernetes.program import PodProgram
from meijin.programs.kinds import ProgramLimits
from meijin.programs.sandbox.running import Cause, End

_JOB_LABEL = "batch.kubernetes.io/job-name"


class JobProgram(PodProgram):
    """A program that was started as a Job, until that is gone with its Pod."""

    def __init__(
        self,
        cluster: Cluster,
        job: str,
        *,
        lifetime: timedelta,
        limits: ProgramLimits,
        on_end: Callable[[PodProgram], None],
    ) -> None:
        """Follow a Job that was made."""
        super().__init__(cluster, "", limits=limits, on_end=on_end)
        self._path = cluster.path("jobs", job, BATCH)
        self._selector = f"{_JOB_LABEL}={job}"
        self._lifetime = lifetime
        self._is_late = False

    async def _find(self) -> PodState | None:
        pods = self._cluster.path("pods")
        told = await self._call("GET", pods, labelSelector=self._selector)
        for pod in told["items"]:
            self._pod = pod["metadata"]["name"]
            return PodState.parse(pod)
        is_awaited = not self._started.is_set() and not (await self._find_job()).has_ended
        return PodState("Pending", words="its Job has no Pod") if is_awaited else None

    async def _find_job(self) -> JobState:
        return JobState.parse(await self._call("GET", self._path))

    async def _remove(self, seconds: int = 1) -> object:
        """Have its Pod end after a grace, and remove the Job after it.

        The Job alone has no grace to give, and by default would leave its Pod.
        """
        selector, pods = self._selector, self._cluster.path("pods")
        await self._call("DELETE", pods, labelSelector=selector, gracePeriodSeconds=seconds)
        return await self._call("DELETE", self._path, propagationPolicy="Foreground")

    async def _wait_for_end(self) -> PodState | None:
        """Wait for its Pod, and then for what the Job says of it, unless the Pod never starts."""
        state = await super()._wait_for_end()
        if state is None or state.code is not None:
            while self._cause is None and (job := await self._ask(self._find_job)) is not None:
                self._is_late = job.is_late
                if job.has_ended:
                    break
                await asyncio.sleep(self._poll_s)
        return state

    def _judge(self, state: PodState | None) -> End:
        if not self._is_late:
            return super()._judge(state)
        if not self._started.is_set():
            words = f"it was not started within {self._lifetime.total_seconds():.0f} s"
            return End(Cause.LAUNCH, 0, words)
        code = 0 if state is None or state.code is None else state.code
        return End.by_lifetime(code, self._lifetime)
