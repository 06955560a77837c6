"""Control groups of version 1: a folder of a group in the hierarchy of each controller.

Source: Documentation/admin-guide/cgroup-v1 of the Linux kernel.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from meijin.programs.kinds import ProgramLimits
from meijin.programs.sandbox.abilities import Ability, Finding
from meijin.programs.sandbox.group_removal import kill, members, remove
from meijin.programs.sandbox.seat_groups import (
    PERIOD_US,
    GroupUsage,
    Part,
    read_field,
    read_number,
    write,
)

CONTROLLERS = ("memory", "pids", "cpu", "cpuacct", "cpuset", "freezer")
SHARES_OF_PROCESS = 1024
"""What a process outside of all groups weighs; the host's group has it for each core, or all
programs together would get as much as one such process."""
_ABILITIES = {
    Ability.MEMORY: ("memory", "memory.limit_in_bytes, with swap where it is counted"),
    Ability.PROCESSES: ("pids", "pids.max, threads included"),
    Ability.CPU: ("cpu", "cpu.cfs_quota_us, one core"),
    Ability.CPU_TIME: ("cpuacct", "cpuacct.usage"),
    Ability.FREEZE: ("freezer", "freezer.state"),
}


def mounted_v1(mounts: str) -> dict[str, Path]:
    """The hierarchies of version 1 that may be written to, of the text of ``/proc/self/mountinfo``."""
    found: dict[str, Path] = {}
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        folder = Path(before.split()[4])
        if kind == "cgroup" and os.access(folder, os.W_OK):
            found |= {name: folder for name in options.split(",") if name in CONTROLLERS}
    return found


class CgroupsV1:
    """The group of a host in each hierarchy."""

    def __init__(self, mounts: Mapping[str, Path], name: str) -> None:
        """Take the hierarchies by their controllers, and the name of the host's group."""
        self._mounts = dict(mounts)
        self._folders = {controller: folder / name for controller, folder in mounts.items()}

    def findings(self) -> Sequence[Finding]:
        """What the hierarchies limit."""
        return [self._finding(ability, *told) for ability, told in _ABILITIES.items()]

    def _finding(self, ability: Ability, controller: str, how: str) -> Finding:
        if controller in self._mounts:
            return Finding(ability, is_limited=True, how=f"cgroup v1: {how}")
        return Finding(
            ability,
            is_limited=False,
            how=f"the cgroup v1 hierarchy of {controller} is not mounted, or can't be written to",
            advice=f"as root: mkdir -p /sys/fs/cgroup/{controller} && "
            f"mount -t cgroup -o {controller} cgroup /sys/fs/cgroup/{controller}",
        )

    def open(self) -> None:
        """Make the host's groups; that of cpusets allows what the machine does."""
        for folder in set(self._folders.values()):
            folder.mkdir()
        if (cpusets := self._folders.get("cpuset")) is not None:
            for name in ("cpuset.cpus", "cpuset.mems"):
                write(cpusets / name, (cpusets.parent / name).read_text())
            write(cpusets / "cgroup.clone_children", 1)
        if (cpu := self._folders.get("cpu")) is not None:
            write(cpu / "cpu.shares", SHARES_OF_PROCESS * (os.cpu_count() or 1))

    def folders(self) -> Sequence[Path]:
        """Those of the host's group, one of each hierarchy."""
        return sorted(set(self._folders.values()))

    def seat(self, name: str, limits: ProgramLimits) -> "SeatV1":
        """Make the groups of a seat."""
        group = SeatV1({each: folder / name for each, folder in self._folders.items()})
        for folder in group.folders:
            folder.mkdir()
        try:
            group.make(limits)
        except OSError:
            group.remove()
            raise
        return group


class SeatV1:
    """The groups of a seat in each hierarchy."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        """Take the seat's folders by their controllers."""
        self._folders = dict(folders)
        self._program = {each: folder / Part.PROGRAM.value for each, folder in folders.items()}

    @property
    def folders(self) -> Sequence[Path]:
        """The seat's, one of each hierarchy."""
        return sorted(set(self._folders.values()))

    def make(self, limits: ProgramLimits) -> None:
        """Make the parts, and set the limits."""
        for folder in self.folders:
            for part in Part:
                (folder / part.value).mkdir()
        self._set("memory", "memory.limit_in_bytes", limits.memory_bytes)
        if (self._program["memory"] / "memory.memsw.limit_in_bytes").exists():
            self._set("memory", "memory.memsw.limit_in_bytes", limits.memory_bytes)
        self._set("pids", "pids.max", limits.processes)
        if (cpu := self._folders.get("cpu")) is not None:
            write(cpu / "cpu.cfs_period_us", PERIOD_US)
            write(cpu / "cpu.cfs_quota_us", PERIOD_US)

    def _set(self, controller: str, name: str, value: object) -> None:
        write(self._program[controller] / name, value)

    def entries(self, part: Part) -> Sequence[Path]:
        """The files that take a process into a part, one of each hierarchy."""
        return [folder / part.value / "cgroup.procs" for folder in self.folders]

    def pin(self, core: int | None) -> None:
        """Set the cores of both parts."""
        if (seat := self._folders.get("cpuset")) is not None:
            cores = (seat / "cpuset.cpus").read_text() if core is None else core
            for part in Part:
                write(seat / part.value / "cpuset.cpus", cores)

    def freeze(self) -> None:
        """Begin to freeze the program; without the controller nothing happens."""
        if "freezer" in self._folders:
            self._set("freezer", "freezer.state", "FROZEN")

    def is_frozen(self) -> bool:
        """Whether the program stands still."""
        if "freezer" not in self._folders:
            return True
        return (self._program["freezer"] / "freezer.state").read_text().strip() == "FROZEN"

    def thaw(self) -> None:
        """Let the program go on."""
        if "freezer" in self._folders:
            self._set("freezer", "freezer.state", "THAWED")

    def usage(self) -> GroupUsage:
        """What the program has used."""
        memory, pids = self._program["memory"], self._program["pids"]
        cpu = self._program.get("cpuacct")
        return GroupUsage(
            cpu_ns=0 if cpu is None else read_number(cpu / "cpuacct.usage"),
            memory_bytes=read_number(memory / "memory.max_usage_in_bytes"),
            processes=read_number(pids / "pids.peak") or read_number(pids / "pids.current"),
            oom_kills=read_field(memory / "memory.oom_control", "oom_kill"),
        )

    def members(self) -> list[int]:
        """The processes of the program."""
        return members(self._program["pids"])

    def kill(self, part: Part | None = None) -> None:
        """Kill a part, or both."""
        folder = self._folders.get("freezer", self._folders["pids"])
        kill(folder if part is None else folder / part.value)

    def remove(self) -> bool:
        """Remove the folders of every hierarchy."""
        with suppress(OSError):
            self.thaw()
        return all(remove(folder) for folder in self.folders)
