"""A container engine that is none, on the PATH of a test."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.programs.sandbox import attacks

from meijin.programs.containers.container_group import ContainerGroup
from meijin.programs.kinds import ProgramLimits
from meijin.programs.sandbox.running import Launch

DOCKER: dict[str, Any] = {
    "ServerVersion": "28.2.2",
    "MemoryLimit": True,
    "SwapLimit": True,
    "PidsLimit": True,
    "CpuCfsQuota": True,
    "CPUSet": True,
    "CgroupDriver": "systemd",
    "CgroupVersion": "2",
    "OperatingSystem": "Debian GNU/Linux 12 (bookworm)",
    "SecurityOptions": ["name=apparmor", "name=seccomp,profile=builtin", "name=cgroupns"],
    "Runtimes": {"runc": {"path": "runc"}, "runsc": {"path": "/usr/local/bin/runsc"}},
}
"""What Docker tells of itself on a machine where all can be limited."""
IMAGE = "registry.example/ada@sha256:" + "0" * 64


@dataclass(frozen=True, slots=True)
class FakeEngine:
    """The folder of an engine that runs containers as processes."""

    folder: Path

    def calls(self, command: str = "") -> list[list[str]]:
        """The words that it was called with, of one command or of all."""
        file = self.folder / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        called: list[list[str]] = [json.loads(line) for line in lines]
        return [words for words in called if command in ("", words[0])]

    def containers(self) -> list[str]:
        """Those that are there."""
        return [path.name for path in (self.folder / "containers").glob("*")]

    def set(self, name: str, value: object) -> None:
        """Have it tell something else."""
        (self.folder / name).write_text(value if isinstance(value, str) else json.dumps(value))

    def find_group(self, container: str, pid: int) -> ContainerGroup | None:
        """A control group that is a folder; none of a container that has gone."""
        if container not in self.containers():
            return None
        assert pid > 1
        return ContainerGroup({"": self.group})

    @property
    def group(self) -> Path:
        return self.folder / "group"

    def launch(self, tree: Path, *words: str, limits: ProgramLimits | None = None) -> Launch:
        """One of a program of the attacks, which is none here."""
        command = [sys.executable, "-I", "-S", attacks.__file__, *words]
        return Launch("seat", command, tree, tree, limits=limits or ProgramLimits())


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """Named `docker` and `podman`, where a Python is too."""
    folder = tmp_path / "engine"
    (folder / "group").mkdir(parents=True)
    source = Path(__file__).with_name("fake_engine.py").read_text()
    for name in ("docker", "podman"):
        (folder / name).write_text(f"#!{sys.executable} -IS\n{source}")
        (folder / name).chmod(0o755)
    (folder / "python3").symlink_to(sys.executable)
    fake = FakeEngine(folder)
    fake.set("info", DOCKER)
    fake.set("endpoint", "unix:///var/run/docker.sock\n")
    fake.set("images", {"meijin": None})
    (folder / "group/cpu.stat").write_text("usage_usec 1500\n")
    (folder / "group/memory.peak").write_text("4096\n")
    (folder / "group/pids.peak").write_text("3\n")
    monkeypatch.setenv("PATH", str(folder))
    return fake
