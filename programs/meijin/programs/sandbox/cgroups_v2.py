"""Control groups of version 2: one folder a group, below that of the host's own process.

A group that hands controllers down holds no processes itself, so those of the host's group move
to a leaf first. Source: Documentation/admin-guide/cgroup-v2.rst of the Linux kernel.
"""

import os
from collections.abc import Sequence
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

CONTROLLERS = ("memory", "pids", "cpu", "cpuset")
LEAF = "host"
_ADVICE = (
    "run the host in a cgroup of its own: `systemd-run --scope -p Delegate=yes meijin host run ...`"
    " (with --user where it is not root), or in a container with a writable /sys/fs/cgroup"
)
_ABILITIES = {
    Ability.MEMORY: ("memory", "memory.max, and no swap"),
    Ability.PROCESSES: ("pids", "pids.max, threads included"),
    Ability.CPU: ("cpu", "cpu.max, one core"),
}


def own_group_v2(mounts: str, groups: str) -> Path | None:
    """The folder of this process's group, of ``/proc/self/mountinfo`` and ``/proc/self/cgroup``.

    ``None`` without a mounted hierarchy of version 2.
    """
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        if after.startswith("cgroup2 "):
            root, folder = before.split()[3:5]
            return Path(folder) / _below(root, groups)
    return None


def _below(root: str, groups: str) -> str:
    """This process's group as seen from the hierarchy's mount, which may show a part of it alone."""
    path = next((line[3:] for line in groups.splitlines() if line.startswith("0::")), "/")
    return path.removeprefix(root.rstrip("/")).strip("/")


class CgroupsV2:
    """The group of a host, in the one that was delegated to it."""

    def __init__(self, own: Path, name: str) -> None:
        """Take the group of this process, and the name of the one to be made in it.

        A process that was moved to the leaf, such as a second host, makes its group beside it.
        """
        self._own = own.parent if own.name == LEAF else own
        self._folder = self._own / name

    def findings(self) -> Sequence[Finding]:
        """What the group can hand down."""
        limits = [self._finding(ability, *told) for ability, told in _ABILITIES.items()]
        return [
            *limits,
            Finding(Ability.CPU_TIME, self._is_writable, "cgroup v2: cpu.stat", _ADVICE),
            Finding(Ability.FREEZE, self._is_writable, "cgroup v2: cgroup.freeze", _ADVICE),
        ]

    @property
    def _is_writable(self) -> bool:
        return os.access(self._own, os.W_OK) and os.access(self._own / "cgroup.procs", os.W_OK)

    def _finding(self, ability: Ability, controller: str, how: str) -> Finding:
        if not self._is_writable:
            why = f"the cgroup {self._own} is not delegated to this user"
            return Finding(ability, is_limited=False, how=why, advice=_ADVICE)
        if controller not in self._controllers():
            why = f"the cgroup {self._own} has no controller {controller}"
            return Finding(ability, is_limited=False, how=why, advice=_ADVICE)
        return Finding(ability, is_limited=True, how=f"cgroup v2: {how}")

    def _controllers(self) -> list[str]:
        """Those of ours that the group may hand down."""
        try:
            there = (self._own / "cgroup.controllers").read_text().split()
        except OSError:
            return []
        return [controller for controller in CONTROLLERS if controller in there]

    def open(self) -> None:
        """Move what is in this process's group to a leaf, and make the host's group beside it.

        The root of the hierarchy, which alone has no ``cgroup.type``, may keep its processes.
        """
        if (self._own / "cgroup.type").exists():
            self._empty()
        self._hand_down(self._own)
        self._folder.mkdir()
        self._hand_down(self._folder)

    def _empty(self) -> None:
        leaf = self._own / LEAF
        leaf.mkdir(exist_ok=True)
        for pid in (self._own / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                write(leaf / "cgroup.procs", pid)

    def _hand_down(self, folder: Path) -> None:
        for controller in self._controllers():
            write(folder / "cgroup.subtree_control", f"+{controller}")

    def folders(self) -> Sequence[Path]:
        """The one of the host's group."""
        return [self._folder]

    def seat(self, name: str, limits: ProgramLimits) -> "SeatV2":
        """Make the groups of a seat."""
        controllers = self._controllers()
        group = SeatV2(self._folder / name, controllers)
        (self._folder / name).mkdir()
        try:
            self._hand_down(self._folder / name)
            group.make(limits)
        except OSError:
            group.remove()
            raise
        return group


class SeatV2:
    """The groups of a seat."""

    def __init__(self, folder: Path, controllers: Sequence[str]) -> None:
        """Take the seat's folder, and what can be limited in it."""
        self._folder = folder
        self._controllers = controllers
        self._program = folder / Part.PROGRAM.value

    def make(self, limits: ProgramLimits) -> None:
        """Make the parts, and set the limits."""
        for part in Part:
            (self._folder / part.value).mkdir()
        if "memory" in self._controllers:
            write(self._program / "memory.max", limits.memory_bytes)
            with suppress(OSError):  # a kernel without swap
                write(self._program / "memory.swap.max", 0)
        if "pids" in self._controllers:
            write(self._program / "pids.max", limits.processes)
        if "cpu" in self._controllers:
            write(self._folder / "cpu.max", f"{PERIOD_US} {PERIOD_US}")

    def entries(self, part: Part) -> Sequence[Path]:
        """The file that takes a process into a part."""
        return [self._folder / part.value / "cgroup.procs"]

    def pin(self, core: int | None) -> None:
        """Set the cores of both parts: an empty list is those of the group above."""
        if "cpuset" in self._controllers:
            write(self._folder / "cpuset.cpus", "\n" if core is None else core)

    def freeze(self) -> None:
        """Begin to freeze the program."""
        write(self._program / "cgroup.freeze", 1)

    def is_frozen(self) -> bool:
        """Whether the program stands still."""
        return read_field(self._program / "cgroup.events", "frozen") == 1

    def thaw(self) -> None:
        """Let the program go on."""
        write(self._program / "cgroup.freeze", 0)

    def usage(self) -> GroupUsage:
        """What the program has used."""
        part = self._program
        return GroupUsage(
            cpu_ns=read_field(part / "cpu.stat", "usage_usec") * 1000,
            memory_bytes=read_number(part / "memory.peak") or read_number(part / "memory.current"),
            processes=read_number(part / "pids.peak") or read_number(part / "pids.current"),
            oom_kills=read_field(part / "memory.events", "oom_kill"),
        )

    def members(self) -> list[int]:
        """The processes of the program."""
        return members(self._program)

    def kill(self, part: Part | None = None) -> None:
        """Kill a part, or both."""
        kill(self._folder if part is None else self._folder / part.value)

    def remove(self) -> bool:
        """Remove the folders."""
        return remove(self._folder)
