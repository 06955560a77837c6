"""Control groups: what is found of them, and of version 2 what is written and read.

Machines have one version; the files of the other are those of a folder.
"""

import os
import subprocess
from pathlib import Path

import pytest
from tests.processes import eventually
from tests.programs.sandbox.laboratory import is_alive

from meijin.programs.kinds import ProgramLimits
from meijin.programs.sandbox.abilities import Ability, CannotHostError, Finding, require
from meijin.programs.sandbox.cgroups import find_hierarchy
from meijin.programs.sandbox.cgroups_v1 import CONTROLLERS, CgroupsV1, mounted_v1
from meijin.programs.sandbox.cgroups_v2 import CgroupsV2, own_group_v2
from meijin.programs.sandbox.seat_groups import GroupUsage, Part, write

LIMITS = ProgramLimits(memory_bytes=1000, processes=7)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A delegated group of version 2, with the files that the kernel would have there."""
    own = tmp_path / "unit"
    own.mkdir()
    (own / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    (own / "cgroup.procs").write_text("")
    (own / "cgroup.type").write_text("domain\n")
    return own


def lacking(findings: list[Finding] | tuple[Finding, ...]) -> set[Ability]:
    return {finding.ability for finding in findings if not finding.is_limited}


def written(group: Path) -> dict[str, str]:
    """What was written to the files of a group."""
    return {
        str(file.relative_to(group)): file.read_text()
        for file in group.rglob("*")
        if file.is_file() and file.name != "cgroup.subtree_control"
    }


def test_seat_of_version_2_has_its_limits(own: Path) -> None:
    """The core is both parts' together, memory and processes are the program's alone."""
    hierarchy = CgroupsV2(own, "arena")
    hierarchy.open()
    seat = hierarchy.seat("seat", LIMITS)
    assert written(own / "arena/seat") == {
        "cpu.max": "100000 100000",
        "program/memory.max": "1000",
        "program/memory.swap.max": "0",
        "program/pids.max": "7",
    }
    assert seat.entries(Part.DOOR) == [own / "arena/seat/door/cgroup.procs"]
    assert (own / "arena/seat/cgroup.subtree_control").read_text() == "+cpuset"  # the last of four


def test_host_leaves_the_group_that_it_hands_down(own: Path) -> None:
    """The kernel wants no process in it; a second host finds it as the first has left it."""
    (own / "cgroup.procs").write_text("12\n")
    CgroupsV2(own, "arena").open()
    assert (own / "host/cgroup.procs").read_text() == "12"
    second = CgroupsV2(own / "host", "other")
    second.open()
    assert second.folders() == [own / "other"]


def test_root_of_the_hierarchy_keeps_its_processes(own: Path) -> None:
    """No process of the system is moved by a host that is in no group."""
    (own / "cgroup.type").unlink()
    CgroupsV2(own, "arena").open()
    assert not (own / "host").exists()


def test_usage_of_version_2_is_read(own: Path) -> None:
    hierarchy = CgroupsV2(own, "arena")
    hierarchy.open()
    seat = hierarchy.seat("seat", LIMITS)
    program = own / "arena/seat/program"
    assert seat.usage() == GroupUsage(0, 0, 0, 0)
    for name, text in {
        "cpu.stat": "usage_usec 5\nuser_usec 4\n",
        "memory.current": "900",
        "pids.current": "3",
        "memory.events": "low 0\noom 1\noom_kill 2\n",
    }.items():
        (program / name).write_text(text)
    assert seat.usage() == GroupUsage(5000, 900, 3, 2)
    (program / "memory.peak").write_text("990")
    assert seat.usage().memory_bytes == 990


def test_seat_of_version_2_is_frozen_and_pinned(own: Path) -> None:
    hierarchy = CgroupsV2(own, "arena")
    hierarchy.open()
    seat = hierarchy.seat("seat", LIMITS)
    group = own / "arena/seat"
    seat.freeze()
    assert (group / "program/cgroup.freeze").read_text() == "1"
    assert not seat.is_frozen()
    (group / "program/cgroup.events").write_text("populated 1\nfrozen 1\n")
    assert seat.is_frozen()
    seat.pin(3)
    assert (group / "cpuset.cpus").read_text() == "3"
    seat.pin(None)
    assert (group / "cpuset.cpus").read_text().strip() == ""


def test_group_without_a_controller_is_no_host(own: Path) -> None:
    """The refusal names the group, the controller and how to run a host."""
    (own / "cgroup.controllers").write_text("cpu pids\n")
    findings = CgroupsV2(own, "arena").findings()
    assert lacking([*findings]) == {Ability.MEMORY}
    with pytest.raises(CannotHostError, match=f"{own} has no controller memory.*Delegate=yes"):
        require(findings)


def test_group_of_another_user_is_no_host(tmp_path: Path) -> None:
    findings = CgroupsV2(tmp_path / "unit", "arena").findings()
    assert lacking([*findings]) == {
        *(Ability.MEMORY, Ability.PROCESSES, Ability.CPU, Ability.CPU_TIME, Ability.FREEZE)
    }


V1 = "31 23 0:28 / {folder}/{names} rw,relatime - cgroup cgroup rw,{names}"
V2 = "41 31 0:38 {root} {folder} rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate"


def test_hierarchies_of_version_1_are_found_by_controller(tmp_path: Path) -> None:
    """Two controllers may share one; one that can't be written to is none."""
    for names in ("memory", "cpu,cpuacct"):
        (tmp_path / names).mkdir()
    lines = [V1.format(folder=tmp_path, names=name) for name in ("memory", "cpu,cpuacct", "pids")]
    lines.append("27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard")
    both = tmp_path / "cpu,cpuacct"
    assert mounted_v1("\n".join(lines)) == {
        "memory": tmp_path / "memory", "cpu": both, "cpuacct": both
    }  # fmt: skip


def test_missing_hierarchy_of_version_1_is_named(tmp_path: Path) -> None:
    """With the command that mounts it."""
    findings = CgroupsV1({"memory": tmp_path}, "arena").findings()
    processes = next(each for each in findings if each.ability is Ability.PROCESSES)
    assert not processes.is_limited
    assert "mount -t cgroup -o pids" in processes.advice


@pytest.mark.parametrize(
    ("root", "path", "wanted"),
    [("/", "/user.slice/a", "user.slice/a"), ("/docker/1", "/docker/1/a", "a"), ("/", "/", "")],
)
def test_own_group_of_version_2_is_found(root: str, path: str, wanted: str) -> None:
    """Also where a container shows a part of the hierarchy alone."""
    mounts = V2.format(root=root, folder="/sys/fs/cgroup")
    assert own_group_v2(mounts, f"1:name=systemd:/x\n0::{path}\n") == Path("/sys/fs/cgroup", wanted)


def test_machine_without_version_2_has_none() -> None:
    assert own_group_v2(V1.format(folder="/x", names="memory"), "4:memory:/\n") is None


def test_group_of_version_1_weighs_as_much_as_the_cores(tmp_path: Path) -> None:
    """The kernel's own weight of a group is that of one process, however many programs are in it."""
    CgroupsV1({"cpu": tmp_path}, "arena").open()
    assert int((tmp_path / "arena/cpu.shares").read_text()) == 1024 * (os.cpu_count() or 1)


@pytest.mark.parametrize(("names", "version"), [("memory pids", CgroupsV1), ("cpu", CgroupsV2)])
def test_version_1_is_taken_where_it_limits_memory(
    tmp_path: Path, names: str, version: type
) -> None:
    """Both may be mounted, and a controller is in one of them."""
    for name in names.split():
        (tmp_path / name).mkdir()
    lines = [V1.format(folder=tmp_path, names=name) for name in names.split()]
    lines.append(V2.format(root="/", folder=tmp_path / "unified"))
    (tmp_path / "mountinfo").write_text("\n".join(lines))
    (tmp_path / "cgroup").write_text("0::/\n")
    assert type(find_hierarchy("arena", tmp_path)) is version


def test_version_2_of_the_kernel_freezes_and_kills() -> None:
    """Of the real one, wherever it is mounted, whichever controllers it has."""
    mounts = Path("/proc/self/mountinfo").read_text()
    top = own_group_v2(mounts, "0::/")
    if top is None or not os.access(top, os.W_OK):
        pytest.skip("cgroup v2 is not mounted, or can't be written to")
    group = top / f"meijin-test-{os.getpid()}"
    group.mkdir()
    hierarchy = CgroupsV2(group, "arena")
    hierarchy.open()
    seat = hierarchy.seat("seat", ProgramLimits())
    with subprocess.Popen(["/bin/sleep", "1000"]) as program:
        for entry in seat.entries(Part.PROGRAM):
            write(entry, program.pid)
        assert seat.members() == [program.pid]
        seat.freeze()
        eventually(seat.is_frozen)
        seat.kill()
        assert program.wait() == -9
    assert not is_alive(program.pid)
    eventually(seat.remove)
    for folder in (*hierarchy.folders(), group / "host", group):
        folder.rmdir()


def test_version_1_knows_the_controllers_that_it_uses() -> None:
    """Every ability of a hierarchy names a controller that is looked for."""
    assert lacking([*CgroupsV1({}, "arena").findings()]) == {
        *(Ability.MEMORY, Ability.PROCESSES, Ability.CPU, Ability.CPU_TIME, Ability.FREEZE)
    }
    assert "cpuset" in CONTROLLERS
