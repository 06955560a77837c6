"""What is created in Kubernetes: a program's Pod or Job, and what keeps it from networks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from meijin.programs.containers.container_command import USER
from meijin.programs.containers.kubernetes.pods import HostPod
from meijin.programs.kinds import ProgramLimits
from meijin.programs.sandbox.running import SCRATCH, SOCKET_FOLDER, TREE

PROGRAM_LABELS = {"app.kubernetes.io/name": "meijin-program"}
HOST_LABEL = "meijin.host"
"""Of Pods: the one that has made them, by its uid."""
POLICY = "meijin-program"
CONTAINER = "program"
_FILES, _SCRATCH = "files", "scratch"
_KEPT_S = 300
"""How long a Job stays that has ended, for its host to read how."""


@dataclass(frozen=True, slots=True)
class PodPlan:
    """A Pod that is to be made."""

    name: str
    image: str
    limits: ProgramLimits
    command: Sequence[str] = ()
    """The image's own where it is empty."""
    environment: Mapping[str, str] = field(default_factory=dict)
    claim: str = ""
    """Of the host's files; none of them are seen where it is empty."""
    tree: str = ""
    """The program's own files in it; none where it is empty."""
    socket_folder: str = ""
    runtime_class: str = ""


def pod_manifest(plan: PodPlan, host: HostPod) -> dict[str, Any]:
    """A Pod beside its host, which goes when the host's does."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": host.name, "uid": host.uid}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": plan.name,
            "labels": {**PROGRAM_LABELS, HOST_LABEL: host.uid},
            "ownerReferences": [owner],
        },
        "spec": _spec(plan, host),
    }


def job_manifest(plan: PodPlan, host: HostPod, lifetime: timedelta) -> dict[str, Any]:
    """A Job that makes the same Pod once, and ends it after a time."""
    pod = pod_manifest(plan, host)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": pod["metadata"],
        "spec": {
            "completions": 1,
            "backoffLimit": 0,
            "activeDeadlineSeconds": max(1, round(lifetime.total_seconds())),
            "ttlSecondsAfterFinished": _KEPT_S,
            "template": {
                "metadata": {"labels": pod["metadata"]["labels"]},
                "spec": pod["spec"],
            },
        },
    }


def _spec(plan: PodPlan, host: HostPod) -> dict[str, Any]:
    field_of_node = {"key": "metadata.name", "operator": "In", "values": [host.node]}
    node = {"nodeSelectorTerms": [{"matchFields": [field_of_node]}]}
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "dnsPolicy": "None",
        "dnsConfig": {"nameservers": ["127.0.0.1"]},
        "terminationGracePeriodSeconds": 1,
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": node}},
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(plan)],
        "volumes": _volumes(plan),
    }
    if plan.runtime_class:
        spec["runtimeClassName"] = plan.runtime_class
    return spec


def _container(plan: PodPlan) -> dict[str, Any]:
    share = {"cpu": "1", "memory": str(plan.limits.memory_bytes)}
    container: dict[str, Any] = {
        "name": CONTAINER,
        "image": plan.image,
        "imagePullPolicy": "IfNotPresent",
        "env": [{"name": name, "value": value} for name, value in plan.environment.items()],
        "resources": {"requests": share, "limits": share},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "privileged": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": _mounts(plan),
    }
    if plan.command:
        container["command"] = list(plan.command)
    if plan.tree:
        container["workingDir"] = str(TREE)
    return container


def _mounts(plan: PodPlan) -> list[dict[str, Any]]:
    parts = {TREE: plan.tree, SOCKET_FOLDER: plan.socket_folder}
    return [
        {"name": _SCRATCH, "mountPath": str(SCRATCH)},
        *(
            {"name": _FILES, "mountPath": str(folder), "subPath": part, "readOnly": True}
            for folder, part in parts.items()
            if part
        ),
    ]


def _volumes(plan: PodPlan) -> list[dict[str, Any]]:
    scratch = {"medium": "Memory", "sizeLimit": str(plan.limits.scratch_bytes)}
    volumes: list[dict[str, Any]] = [{"name": _SCRATCH, "emptyDir": scratch}]
    if plan.claim:
        volumes.append({"name": _FILES, "persistentVolumeClaim": {"claimName": plan.claim}})
    return volumes


def network_policy() -> dict[str, Any]:
    """No traffic to a program's Pod, and none from it."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": POLICY, "labels": PROGRAM_LABELS},
        "spec": {
            "podSelector": {"matchLabels": PROGRAM_LABELS},
            "policyTypes": ["Ingress", "Egress"],
        },
    }
