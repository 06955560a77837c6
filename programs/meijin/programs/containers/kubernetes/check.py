"""What Pods are limited in, found out by one that tries: the API accepts what a node ignores."""

import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass

from meijin.programs.containers.container_command import ContainerSettings
from meijin.programs.containers.kubernetes import probe
from meijin.programs.containers.kubernetes.api import CONFLICT, Cluster, KubernetesError
from meijin.programs.containers.kubernetes.manifests import PodPlan, network_policy, pod_manifest
from meijin.programs.containers.kubernetes.pods import HostPod, PodState
from meijin.programs.kinds import ProgramLimits
from meijin.programs.sandbox.abilities import Ability, Finding

PATIENCE_S = 120.0
"""For the probe's image to be fetched, and for what it tries."""
_POLL_INTERVAL_S = 0.5
_VIRTUAL = "kata"
_RIGHTS = (
    "run the host as a Pod whose service account may create, get, delete and deletecollection pods"
    " and jobs.batch, list pods, get pods/log, and create networkpolicies.networking.k8s.io in its"
    " namespace"
)
_CLAIM = "have --folder and TMPDIR of the host's Pod in a persistentVolumeClaim that it mounts"
_PIDS = "set podPidsLimit in the configuration of the node's kubelet, to 1024 or less"
_NETWORK = "install a network plugin that enforces NetworkPolicy from a Pod's first moment"
_MEMORY = "have the nodes use control groups that limit memory"
_NO_FREEZE = "programs may think on their opponents' time; give no more seats than cores"
_NO_METER = "hold tournaments whose time control charges what passes, not processor time"


@dataclass(frozen=True, slots=True)
class Probed:
    """How far the probe came."""

    connects: bool
    threads: int
    is_out_of_memory: bool


def find_host(cluster: Cluster) -> HostPod:
    """The Pod that this process runs in.

    Raises:
        KubernetesError: it can't be read.
    """
    try:
        return HostPod.parse(cluster.call("GET", cluster.path("pods", cluster.pod)))
    except (KeyError, IndexError, TypeError) as error:
        raise KubernetesError(f"the Pod {cluster.pod} lacks {error}") from None


def check_cluster(
    cluster: Cluster, settings: ContainerSettings, *, patience_s: float = PATIENCE_S
) -> Sequence[Finding]:
    """Have a Pod try what programs must not do, and say what it was kept from."""
    if _VIRTUAL in settings.runtime:
        why = f"a program can't reach its socket from {settings.runtime}'s virtual machine"
        return nothing(why, "take a runtime class of gVisor")
    try:
        host = find_host(cluster)
        if not host.mounts:
            return nothing("the host's Pod has no files that others can see", _CLAIM)
        ensure_policy(cluster)
        probed = _probe(cluster, host, settings, patience_s)
    except KubernetesError as error:
        return nothing(str(error), _RIGHTS)
    return _findings(probed, settings)


def nothing(how: str, advice: str = _RIGHTS) -> Sequence[Finding]:
    """Findings where no program can be started."""
    return [Finding(ability, is_limited=False, how=how, advice=advice) for ability in Ability]


def ensure_policy(cluster: Cluster) -> None:
    """Have the policy there that keeps programs from networks.

    Raises:
        KubernetesError: it can't be made.
    """
    try:
        path = cluster.path("networkpolicies", group="apis/networking.k8s.io/v1")
        cluster.call("POST", path, network_policy())
    except KubernetesError as error:
        if error.status != CONFLICT:
            raise


def _probe(
    cluster: Cluster, host: HostPod, settings: ContainerSettings, patience_s: float
) -> Probed:
    address, port = cluster.host_and_port
    limits = ProgramLimits()
    words = (address, str(port), str(2 * limits.memory_bytes))
    plan = PodPlan(
        name=f"meijin-probe-{secrets.token_hex(4)}",
        image=settings.image or host.image,
        limits=limits,
        command=("python3", "-m", probe.__name__, *words),
        runtime_class=settings.runtime,
    )
    cluster.call("POST", cluster.path("pods"), pod_manifest(plan, host))
    path = cluster.path("pods", plan.name)
    try:
        state = _wait(cluster, path, patience_s)
        if not state.has_started:
            raise KubernetesError(f"the probe does not start: {state.words or state.reason}")
        said = json.loads(b"".join(cluster.log(plan.name)).splitlines()[0])
        return Probed(said["connects"], said["threads"], state.is_out_of_memory)
    except (ValueError, LookupError, TypeError) as error:
        raise KubernetesError(f"the probe has not said how far it came: {error}") from None
    finally:
        cluster.call("DELETE", path)


def _wait(cluster: Cluster, path: str, patience_s: float) -> PodState:
    deadline = time.monotonic() + patience_s
    while not (state := PodState.parse(cluster.call("GET", path))).has_ended:
        if time.monotonic() > deadline:
            why = state.words or state.reason or f"it is {state.phase}"
            raise KubernetesError(f"the probe has not ended in {patience_s:.0f} s: {why}")
        time.sleep(_POLL_INTERVAL_S)
    return state


def _findings(probed: Probed, settings: ContainerSettings) -> Sequence[Finding]:
    threads, is_few = f"{probed.threads:,} threads", probed.threads < probe.MOST_THREADS
    kernel = settings.runtime or "the default profile of the node's runtime"
    memory = "was ended" if probed.is_out_of_memory else "was not ended"
    network = "reaches" if probed.connects else "does not reach"
    made = (
        (Ability.MEMORY, probed.is_out_of_memory, f"a probe that took too much {memory}", _MEMORY),
        (Ability.PROCESSES, is_few, f"a probe could start {threads}", _PIDS),
        (Ability.NETWORK, not probed.connects, f"a probe {network} the API server", _NETWORK),
        (Ability.CPU, True, "a quota of one core, of no chosen one", ""),
        (Ability.CPU_TIME, False, "a Pod's processor time is not told exactly", _NO_METER),
        (Ability.FREEZE, False, "Kubernetes freezes no Pod", _NO_FREEZE),
        (Ability.SCRATCH, True, "a tmpfs of limited size, charged to its memory", ""),
        (Ability.SYSCALLS, True, kernel, ""),
        (Ability.FILES, False, "a Pod sets no RLIMIT_NOFILE", "set it for the node's runtime"),
        (Ability.TREE, True, "its image and its own files, read-only", ""),
    )
    return [Finding(*each) for each in made]
