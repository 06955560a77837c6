"""Profiles of system calls, as engines read them."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.programs.containers.conftest import FakeEngine
from tests.programs.containers.test_engine_check import PODMAN

from meijin.programs.containers.container_sandbox import ContainerSandbox
from meijin.programs.containers.seccomp_profile import REFUSED, ProfileFile, without_namespaces
from meijin.programs.sandbox.abilities import CannotHostError

NAMESPACES = (1 << 17, 1 << 25, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30)
"""Flags of clone(2): CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID and -NET."""
THREAD = 0x3D0F00
"""Those of a thread, as the C library makes it."""
PROFILE: dict[str, Any] = {
    "defaultAction": "SCMP_ACT_ERRNO",
    "defaultErrnoRet": 1,
    "syscalls": [
        {"names": ["read", "clone", "clone3", "unshare"], "action": "SCMP_ACT_ALLOW"},
        {"names": ["mount", "setns"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["X"]}},
    ],
}


def allowed(profile: dict[str, Any]) -> dict[str, Any]:
    """Calls that are let through, with what is asked of their arguments."""
    return {
        name: rule.get("args")
        for rule in profile["syscalls"]
        if rule["action"] == "SCMP_ACT_ALLOW"
        for name in rule["names"]
    }


def test_profile_makes_no_namespaces() -> None:
    """All else stays as it was: clone goes on without the flags of namespaces."""
    told = json.loads(without_namespaces(json.dumps(PROFILE)))
    calls = allowed(told)
    assert calls.keys() == {"read", "clone"}
    assert not REFUSED & calls.keys()
    (mask,) = calls["clone"]
    assert all(mask["value"] & flag for flag in NAMESPACES)
    assert not mask["value"] & THREAD
    assert told["defaultAction"] == "SCMP_ACT_ERRNO"


def test_profile_that_allows_by_default_is_refused() -> None:
    with pytest.raises(ValueError, match="refuses nothing"):
        without_namespaces(json.dumps({**PROFILE, "defaultAction": "SCMP_ACT_ALLOW"}))


def test_file_of_a_profile_is_read_by_its_path() -> None:
    """It is there until it is closed, or the process has ended."""
    file = ProfileFile("{}")
    assert file.path.read_text() == "{}"
    file.close()
    assert not file.path.exists()


async def test_podman_makes_containers_with_it(engine: FakeEngine, tmp_path: Path) -> None:
    """One that an operator has chosen is left as it is; Docker's is built in."""
    profile = tmp_path / "seccomp.json"
    profile.write_text(json.dumps(PROFILE))
    security = {**PODMAN["host"]["security"], "seccompProfilePath": str(profile)}
    engine.set("info", {**PODMAN, "host": {**PODMAN["host"], "security": security}})
    async with ContainerSandbox("podman", find_group=engine.find_group) as sandbox:
        await (await sandbox.start(engine.launch(tmp_path, "leave", "0"))).wait()
        (words,) = engine.calls("create")
        (option,) = [word for word in words if word.startswith("seccomp=")]
        taken = await asyncio.to_thread(Path(option.removeprefix("seccomp=")).read_text)
    assert "unshare" not in taken


async def test_profile_that_is_not_there_hosts_nothing(engine: FakeEngine, tmp_path: Path) -> None:
    security = {**PODMAN["host"]["security"], "seccompProfilePath": str(tmp_path / "none")}
    engine.set("info", {**PODMAN, "host": {**PODMAN["host"], "security": security}})
    with pytest.raises(CannotHostError, match="profile of system calls"):
        async with ContainerSandbox("podman"):
            pass
