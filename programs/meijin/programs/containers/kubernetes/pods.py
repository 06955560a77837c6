"""What the API server says of Pods, and of the Jobs that make some."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

NEVER_STARTS = frozenset(
    {
        *("CreateContainerConfigError", "CreateContainerError", "ErrImageNeverPull"),
        *("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "RunContainerError"),
    }
)
"""Reasons of a container to wait that time does not mend."""
_JOB_ENDS = frozenset({"Complete", "Failed", "FailureTarget"})
_COMMAND_ERRORS = ("executable file not found", "no such file", "permission denied")


@dataclass(frozen=True, slots=True)
class ClaimMount:
    """A claim of storage, or a part of it, that the host's Pod sees as a folder."""

    folder: Path
    claim: str
    part: str = ""

    def part_of(self, path: Path) -> str | None:
        """A path of the host's as one of the claim's; ``None`` where it is elsewhere."""
        if not path.is_relative_to(self.folder):
            return None
        return str(Path(self.part, path.relative_to(self.folder)))


@dataclass(frozen=True, slots=True)
class HostPod:
    """The Pod that the host is."""

    name: str
    uid: str
    node: str
    image: str
    mounts: Sequence[ClaimMount]
    """Of its first container."""

    @classmethod
    def parse(cls, pod: dict[str, Any]) -> Self:
        """Read one from the API server."""
        spec, metadata = pod["spec"], pod["metadata"]
        claims = {
            volume["name"]: volume["persistentVolumeClaim"]["claimName"]
            for volume in spec.get("volumes", [])
            if "persistentVolumeClaim" in volume
        }
        container = spec["containers"][0]
        mounts = [
            ClaimMount(Path(mount["mountPath"]), claims[mount["name"]], mount.get("subPath", ""))
            for mount in container.get("volumeMounts", [])
            if mount["name"] in claims
        ]
        return cls(metadata["name"], metadata["uid"], spec["nodeName"], container["image"], mounts)

    def find(self, path: Path) -> tuple[str, str]:
        """The claim that a path of the host's lies in, and where.

        Raises:
            LookupError: it lies in none; the message says what to do.
        """
        for mount in self.mounts:
            if (part := mount.part_of(path)) is not None:
                return mount.claim, part
        raise LookupError(
            f"{path} is in no claim that the host's Pod mounts; have --folder and TMPDIR in one"
        )


@dataclass(frozen=True, slots=True)
class PodState:
    """How it stands with a program's Pod."""

    phase: str
    reason: str = ""
    """Why its container waits or has ended, or why the Pod is refused, in Kubernetes' words."""
    words: str = ""
    code: int | None = None
    """The exit status of its container; ``None`` where it has not ended."""

    @classmethod
    def parse(cls, pod: dict[str, Any]) -> Self:
        """Read one from the API server."""
        status = pod.get("status", {})
        phase = status.get("phase", "Pending")
        containers = status.get("containerStatuses") or [{}]
        state = containers[0].get("state", {})
        if (ended := state.get("terminated")) is not None:
            words = ended.get("message", "")
            return cls(phase, ended.get("reason", ""), words, ended.get("exitCode", 0))
        about = state.get("waiting") or status
        return cls(phase, about.get("reason", ""), about.get("message", ""))

    @property
    def has_ended(self) -> bool:
        """Whether its container has ended, or will never start."""
        is_over = self.phase in ("Failed", "Succeeded")
        return self.code is not None or is_over or self.reason in NEVER_STARTS

    @property
    def is_out_of_memory(self) -> bool:
        return self.reason == "OOMKilled"

    @property
    def has_started(self) -> bool:
        """Whether its command has run."""
        return self.code is not None and self.reason not in ("StartError", "ContainerCannotRun")

    @property
    def is_command_wrong(self) -> bool:
        """Whether it has not, for there is no such file or it is not executable."""
        return any(error in self.words.lower() for error in _COMMAND_ERRORS)


@dataclass(frozen=True, slots=True)
class JobState:
    """How it stands with a program's Job."""

    has_ended: bool
    is_late: bool
    """It was ended by its deadline."""

    @classmethod
    def parse(cls, job: dict[str, Any]) -> Self:
        """Read one from the API server, which tells of a failure before all Pods are gone."""
        conditions = job.get("status", {}).get("conditions") or []
        reasons = [
            condition.get("reason", "")
            for condition in conditions
            if condition["type"] in _JOB_ENDS and condition["status"] == "True"
        ]
        return cls(has_ended=bool(reasons), is_late="DeadlineExceeded" in reasons)
