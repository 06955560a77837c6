"""What a container engine says of itself: Docker and Podman have different words for it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from meijin.programs.containers.engine import Engine


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What an engine can do on its machine."""

    version: str
    is_local: bool
    """It runs where the host does: folders and sockets can be shared with its containers."""
    has_memory: bool
    has_swap: bool
    """Swap is limited with the memory."""
    has_processes: bool
    has_cpu: bool
    """A quota, and a choice of cores."""
    has_freezer: bool
    has_seccomp: bool
    seccomp_profile: Path | None
    """The file of its own profile; ``None`` where that is built in."""
    runtimes: Sequence[str]
    """Empty where it doesn't tell."""


def read_info(engine: Engine) -> EngineInfo:
    """Ask an engine.

    Raises:
        EngineError: it does not answer.
        ValueError: it answers what neither Docker nor Podman does.
    """
    document: dict[str, Any] = json.loads(engine.ask("info", "--format", "{{json .}}"))
    if "host" in document:
        return _podman(document)
    if "ServerVersion" not in document:
        said = "; ".join(document.get("ServerErrors") or ["it names no version"])
        raise ValueError(f"`{engine.program} info` tells of no engine: {said}")
    return _docker(document, engine.ask("context", "inspect", "--format", _ENDPOINT))


_ENDPOINT = "{{.Endpoints.docker.Host}}"
_DESKTOP = "Docker Desktop"
"""Its containers run in a virtual machine."""


def _docker(document: dict[str, Any], endpoint: str) -> EngineInfo:
    options = " ".join(document.get("SecurityOptions") or [])
    is_desktop = document.get("OperatingSystem") == _DESKTOP
    return EngineInfo(
        version=document["ServerVersion"],
        is_local=endpoint.startswith("unix://") and not is_desktop,
        has_memory=document.get("MemoryLimit", False),
        has_swap=document.get("SwapLimit", False),
        has_processes=document.get("PidsLimit", False),
        has_cpu=document.get("CPUCfsQuota", document.get("CpuCfsQuota", False))
        and document.get("CPUSet", False),
        has_freezer=document.get("CgroupDriver", "none") != "none",
        has_seccomp="name=seccomp" in options and "profile=unconfined" not in options,
        seccomp_profile=None,
        runtimes=sorted(document.get("Runtimes") or {}),
    )


def _podman(document: dict[str, Any]) -> EngineInfo:
    host = document["host"]
    security = host.get("security", {})
    profile = security.get("seccompProfilePath", "")
    is_root = not security.get("rootless", False)
    is_v2 = host.get("cgroupVersion") == "v2"
    controllers = host.get("cgroupControllers") or []
    can_limit = is_root or is_v2  # without root, version 1 limits nothing
    return EngineInfo(
        version=document.get("version", {}).get("Version", "of no number"),
        is_local=not host.get("serviceIsRemote", False),
        has_memory=can_limit and "memory" in controllers,
        has_swap=can_limit and "memory" in controllers,
        has_processes=can_limit and "pids" in controllers,
        has_cpu=can_limit and {"cpu", "cpuset"} <= set(controllers),
        has_freezer=can_limit,
        has_seccomp=security.get("seccompEnabled", False),
        seccomp_profile=Path(profile) if profile else None,
        runtimes=(),
    )
