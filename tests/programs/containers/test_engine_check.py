"""What engines say that they can limit, and what a host makes of it."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.programs.containers.conftest import DOCKER, IMAGE, FakeEngine

from meijin.programs.containers import engine_check
from meijin.programs.containers.container_command import ContainerSettings, create_words
from meijin.programs.containers.container_group import ContainerGroup
from meijin.programs.containers.container_sandbox import ContainerSandbox
from meijin.programs.sandbox.abilities import Ability, CannotHostError, require
from meijin.programs.sandbox.running import Launch, Usage

PODMAN: dict[str, Any] = {
    "host": {
        "cgroupControllers": ["cpuset", "cpu", "io", "memory", "pids"],
        "cgroupVersion": "v2",
        "security": {
            "rootless": True,
            "seccompEnabled": True,
            "seccompProfilePath": "/usr/share/containers/seccomp.json",
        },
        "serviceIsRemote": False,
    },
    "version": {"Version": "5.4.2"},
}
GVISOR = ContainerSettings(runtime="runsc")
KATA = ContainerSettings(runtime="io.containerd.kata.v2")
LAUNCH = Launch("seat", ["python3"], Path("/tree"), Path("/socket"), core=1)


def _told(parameter: object) -> str:
    """The same in each process, though sets have another order in each."""
    return ",".join(sorted(map(str, parameter))) if isinstance(parameter, set) else str(parameter)


def lacking(program: str, settings: ContainerSettings | None = None) -> set[Ability]:
    found = ContainerSandbox(program, settings).check()
    assert [finding.ability for finding in found] == list(Ability)
    assert all(finding.advice for finding in found if not finding.is_limited)
    return {finding.ability for finding in found if not finding.is_limited}


@pytest.mark.parametrize(
    ("changed", "lacks"),
    [
        ({}, set()),
        ({"MemoryLimit": False}, {Ability.MEMORY}),
        ({"PidsLimit": False}, {Ability.PROCESSES}),
        ({"CPUSet": False}, {Ability.CPU}),
        ({"CgroupDriver": "none"}, {Ability.FREEZE}),
        ({"SecurityOptions": ["name=seccomp,profile=unconfined"]}, {Ability.SYSCALLS}),
        ({"OperatingSystem": "Docker Desktop"}, set(Ability)),
    ],
    ids=_told,
)
def test_docker_says_what_it_can_limit(
    engine: FakeEngine, changed: dict[str, Any], lacks: set[Ability]
) -> None:
    engine.set("info", {**DOCKER, **changed})
    assert lacking("docker") == lacks


@pytest.mark.parametrize(
    ("changed", "lacks"),
    [
        ({}, set()),
        ({"cgroupControllers": ["memory", "pids"]}, {Ability.CPU}),
        ({"cgroupControllers": []}, {Ability.MEMORY, Ability.PROCESSES, Ability.CPU}),
        (
            {"cgroupVersion": "v1"},
            {Ability.MEMORY, Ability.PROCESSES, Ability.CPU, Ability.FREEZE},
        ),
        ({"serviceIsRemote": True}, set(Ability)),
    ],
    ids=_told,
)
def test_podman_says_what_it_can_limit(
    engine: FakeEngine, changed: dict[str, Any], lacks: set[Ability]
) -> None:
    """Without root it limits what is delegated to it alone, and nothing by version 1."""
    engine.set("info", {**PODMAN, "host": {**PODMAN["host"], **changed}})
    assert lacking("podman") == lacks


@pytest.mark.parametrize(("has_swap", "is_bounded"), [(False, True), (True, False)])
def test_swap_has_to_be_limited_where_there_is_some(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, *, has_swap: bool, is_bounded: bool
) -> None:
    engine.set("info", {**DOCKER, "SwapLimit": False})
    monkeypatch.setattr(engine_check, "_has_swap", lambda: has_swap)
    assert (Ability.MEMORY not in lacking("docker")) is is_bounded


def test_engine_elsewhere_hosts_nothing(engine: FakeEngine) -> None:
    """No socket of this machine is to be reached from there."""
    engine.set("endpoint", "ssh://ada@arena.example\n")
    assert lacking("docker") == set(Ability)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (ContainerSettings(image="other"), "there is no image other"),
        (ContainerSettings(runtime="youki"), "no runtime youki"),
        (KATA, "virtual machine"),
    ],
    ids=["image", "runtime", "kata"],
)
def test_host_refuses_what_would_start_no_program(
    engine: FakeEngine, settings: ContainerSettings, words: str
) -> None:
    with pytest.raises(CannotHostError, match=words):
        require(ContainerSandbox("docker", settings).check())
    del engine


def test_gvisor_has_to_let_programs_reach_their_sockets(engine: FakeEngine) -> None:
    (finding,) = (
        each
        for each in ContainerSandbox("docker", GVISOR).check()
        if each.ability is Ability.SYSCALLS
    )
    assert finding.is_limited
    assert "--host-uds=open" in finding.how
    del engine


def test_no_engine_on_the_path_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotHostError, match="there is no podman on the PATH"):
        require(ContainerSandbox("podman").check())


def test_container_is_kept_from_all_but_its_socket() -> None:
    words = create_words(LAUNCH, ContainerSettings(), name="seat", label="meijin.host=1-2-3")
    given = " ".join(words)
    for limit in (
        "--network none",
        "--memory 268435456 --memory-swap 268435456",
        "--pids-limit 49",
        "--cpus 1 --cpuset-cpus 1",
        "--cap-drop ALL --read-only --security-opt no-new-privileges",
        "--user 60000:60000",
        "--ipc none --log-driver none",
        "--ulimit nofile=256:256 --ulimit fsize=33554432:33554432 --ulimit core=0:0",
        "type=bind,source=/socket,target=/run/arena,ro",
        "type=bind,source=/tree,target=/bot,ro",
        "size=33554432",
    ):
        assert limit in given
    assert words[-3:] == ("--entrypoint", "python3", "meijin")


@pytest.mark.parametrize("image", ["", IMAGE], ids=["program", "image"])
@pytest.mark.parametrize("program", ["docker", "podman"])
def test_real_command_line_takes_every_word(program: str, image: str, tmp_path: Path) -> None:
    """It complains that no engine runs, and of no word before that."""
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program} on the PATH")
    settings = ContainerSettings(seccomp=tmp_path / "profile.json")
    (tmp_path / "profile.json").write_text("{}")
    launch = Launch("seat", ["python3"], Path("/tree"), Path("/socket"), core=1, image=image)
    words = create_words(launch, settings, name="seat", label="meijin.host=1-2-3")
    nowhere = f"unix://{tmp_path}/none.sock"
    done = subprocess.run(
        [program, *words],
        env={**os.environ, "DOCKER_HOST": nowhere, "CONTAINER_HOST": nowhere},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "onnect" in done.stderr, done.stderr


def made_groups(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).mkdir(parents=True)


def test_group_of_version_2_is_found(tmp_path: Path) -> None:
    """Also where an engine puts the processes a folder deeper."""
    made_groups(tmp_path, "proc/7", "cgroup/machine.slice/libpod-abc.scope/container")
    scope = tmp_path / "cgroup/machine.slice/libpod-abc.scope"
    (scope / "cpu.stat").write_text("usage_usec 7\n")
    (tmp_path / "proc/7/cgroup").write_text("0::/machine.slice/libpod-abc.scope/container\n")
    group = ContainerGroup.find("abc", 7, cgroups=tmp_path / "cgroup", proc=tmp_path / "proc")
    assert group == ContainerGroup({"": scope})
    assert group.usage(Usage(0, 0, 0, 0), output_bytes=5) == Usage(7000, 0, 0, 5)


def test_groups_of_version_1_are_found(tmp_path: Path) -> None:
    parts = ("cpu,cpuacct", "memory", "pids")
    made_groups(tmp_path, "proc/7", *(f"cgroup/{part}/docker/abc" for part in parts))
    lines = [f"{number}:{part}:/docker/abc\n" for number, part in enumerate(parts, start=2)]
    (tmp_path / "proc/7/cgroup").write_text("".join([*lines, "1:name=systemd:/docker/abc\n"]))
    for name, value in (
        ("cpu,cpuacct/docker/abc/cpuacct.usage", 9),
        ("memory/docker/abc/memory.max_usage_in_bytes", 8),
        ("pids/docker/abc/pids.current", 4),
    ):
        (tmp_path / "cgroup" / name).write_text(f"{value}\n")
    group = ContainerGroup.find("abc", 7, cgroups=tmp_path / "cgroup", proc=tmp_path / "proc")
    assert group is not None
    assert group.usage(Usage(0, 0, 0, 0), output_bytes=0) == Usage(9, 8, 3, 0)


def test_process_of_another_is_taken_for_none_of_the_container(tmp_path: Path) -> None:
    """As where the host counts processes apart from the engine."""
    made_groups(tmp_path, "proc/7", "cgroup/system.slice/docker-other.scope")
    (tmp_path / "cgroup/system.slice/docker-other.scope/cpu.stat").touch()
    (tmp_path / "proc/7/cgroup").write_text("0::/system.slice/docker-other.scope\n")
    find = ContainerGroup.find
    assert find("abc", 7, cgroups=tmp_path / "cgroup", proc=tmp_path / "proc") is None
    assert find("abc", 8, cgroups=tmp_path / "cgroup", proc=tmp_path / "proc") is None
