"""The sandbox of Kubernetes, for a host that is a Pod itself."""

import asyncio
import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Self

from meijin.programs.containers.container_command import ContainerSettings, command_inside
from meijin.programs.containers.kubernetes.api import BATCH, Cluster, KubernetesError
from meijin.programs.containers.kubernetes.check import check_cluster, find_host, nothing
from meijin.programs.containers.kubernetes.job_program import JobProgram
from meijin.programs.containers.kubernetes.manifests import (
    HOST_LABEL,
    PodPlan,
    job_manifest,
    pod_manifest,
)
from meijin.programs.containers.kubernetes.pods import HostPod
from meijin.programs.containers.kubernetes.program import PodProgram
from meijin.programs.containers.not_started import NotStarted
from meijin.programs.sandbox.abilities import CannotHostError, Finding, require
from meijin.programs.sandbox.running import (
    SCRATCH,
    SOCKET,
    SOCKET_FOLDER,
    Cause,
    Launch,
    Running,
)


class KubernetesSandbox:
    """Starts programs as Pods on the node of the host's, and images as they are.

    What has a lifetime is a Job, which the cluster ends also where its host can't.
    """

    name = "kubernetes"
    runs_images = True

    def __init__(
        self, settings: ContainerSettings | None = None, cluster: Cluster | None = None
    ) -> None:
        """Take what Pods have in common, and the API server, which each Pod is told of else."""
        self._settings = settings or ContainerSettings()
        self._cluster = cluster
        self._host: HostPod | None = None
        self._found: Sequence[Finding] | None = None
        self._running: set[PodProgram] = set()

    def check(self) -> Sequence[Finding]:
        """What it can limit here; tried once, by a Pod."""
        if self._found is None:
            try:
                self._found = check_cluster(self._open(), self._settings)
            except KubernetesError as error:
                self._found = nothing(str(error))
        return self._found

    def _open(self) -> Cluster:
        self._cluster = self._cluster or Cluster.from_environment(os.environ)
        return self._cluster

    async def __aenter__(self) -> Self:
        """Remove the Jobs and Pods that this one has left when it was killed.

        Raises:
            CannotHostError: memory, processes or network can't be limited.
        """
        require(await asyncio.to_thread(self.check))
        try:
            self._host = await asyncio.to_thread(find_host, self._open())
            await self._remove_all(self._host)
        except KubernetesError as error:
            raise CannotHostError(f"this Pod can't host programs: {error}") from None
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(program.stop() for program in list(self._running)))
        if self._host is not None:
            with suppress(KubernetesError):  # they go with the host's Pod
                await self._remove_all(self._host)

    async def _remove_all(self, host: HostPod) -> None:
        cluster, query = self._open(), {"labelSelector": f"{HOST_LABEL}={host.uid}"}
        jobs = {**query, "propagationPolicy": "Background"}
        await asyncio.to_thread(
            cluster.call, "DELETE", cluster.path("jobs", group=BATCH), query=jobs
        )
        await asyncio.to_thread(cluster.call, "DELETE", cluster.path("pods"), query=query)

    async def start(self, launch: Launch) -> Running:
        """Start a program; where it can't run it ends with a cause that says so."""
        assert self._host is not None
        cluster = self._open()
        try:
            plan = self._plan(launch, self._host)
            if launch.lifetime is None:
                path, manifest = cluster.path("pods"), pod_manifest(plan, self._host)
            else:
                path = cluster.path("jobs", group=BATCH)
                manifest = job_manifest(plan, self._host, launch.lifetime)
            await asyncio.to_thread(cluster.call, "POST", path, manifest)
        except (KubernetesError, LookupError) as error:
            return NotStarted(Cause.LAUNCH, str(error))
        program = self._follow(plan.name, launch)
        self._running.add(program)
        await program.begin()
        return program

    def _follow(self, name: str, launch: Launch) -> PodProgram:
        cluster, limits, on_end = self._open(), launch.limits, self._running.discard
        if launch.lifetime is None:
            return PodProgram(cluster, name, limits=limits, on_end=on_end)
        return JobProgram(cluster, name, lifetime=launch.lifetime, limits=limits, on_end=on_end)

    def _plan(self, launch: Launch, host: HostPod) -> PodPlan:
        """What is to be made of a launch.

        Raises:
            LookupError: its files are not where another Pod can see them.
        """
        claim, sockets = host.find(launch.socket_folder)
        name = f"meijin-{launch.name.lower().strip('-')[:40]}-{secrets.token_hex(4)}"
        plan = PodPlan(
            name=name,
            image=launch.image or self._settings.image or host.image,
            limits=launch.limits,
            environment=_environment(launch.environment),
            claim=claim,
            socket_folder=sockets,
            runtime_class=self._settings.runtime,
        )
        if launch.image:
            return plan
        own, tree = host.find(launch.tree)
        if own != claim:
            raise LookupError(f"{launch.tree} and {launch.socket_folder} lie in different claims")
        return replace(plan, tree=tree, command=command_inside(launch.command))


def _environment(own: Mapping[str, str]) -> Mapping[str, str]:
    return {
        **own,
        "HOME": str(SCRATCH),
        "XDG_CACHE_HOME": str(SCRATCH),
        "MEIJIN_SERVER": f"unix:{SOCKET_FOLDER / SOCKET}",
    }
