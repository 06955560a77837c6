"""What a container uses, as the control groups say that its engine has made for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from meijin.programs.containers.container_command import INIT_PROCESSES
from meijin.programs.sandbox.running import Usage
from meijin.programs.sandbox.seat_groups import read_field, read_number

CGROUPS = Path("/sys/fs/cgroup")
PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class ContainerGroup:
    """The control groups of a container: of version 2 one, of version 1 one for each controller."""

    folders: Mapping[str, Path]
    """By controller; that of version 2 has the empty name."""

    @classmethod
    def find(
        cls, container: str, pid: int, *, cgroups: Path = CGROUPS, proc: Path = PROC
    ) -> Self | None:
        """Those that a process of a container is in; ``None`` where they can't be seen from here.

        The path of each has the container's id: a process of that number which is another one's, as
        where engine and host count processes apart, is none of the container.
        """
        try:
            lines = (proc / str(pid) / "cgroup").read_text().splitlines()
        except OSError:
            return None
        folders: dict[str, Path] = {}
        for line in lines:
            _, controllers, path = line.split(":", 2)
            if (own := _own_part(path, container)) is None:
                continue
            folder = cgroups / controllers / own
            if folder.is_dir():
                folders |= dict.fromkeys(controllers.split(","), folder)
        return cls(folders) if _is_enough(folders) else None

    def usage(self, before: Usage, *, output_bytes: int) -> Usage:
        """What its container has used; no less than `before`, also when the groups have gone."""
        cpu_ns, memory_bytes, processes = self._read_2() if "" in self.folders else self._read_1()
        return Usage(
            cpu_ns=max(before.cpu_ns, cpu_ns),
            memory_bytes=max(before.memory_bytes, memory_bytes),
            processes=max(before.processes, processes - INIT_PROCESSES),
            output_bytes=output_bytes,
        )

    def _read_2(self) -> tuple[int, int, int]:
        folder = self.folders[""]
        return (
            read_field(folder / "cpu.stat", "usage_usec") * 1000,
            read_number(folder / "memory.peak") or read_number(folder / "memory.current"),
            read_number(folder / "pids.peak") or read_number(folder / "pids.current"),
        )

    def _read_1(self) -> tuple[int, int, int]:
        pids = self.folders["pids"]
        return (
            read_number(self.folders["cpuacct"] / "cpuacct.usage"),
            read_number(self.folders["memory"] / "memory.max_usage_in_bytes"),
            read_number(pids / "pids.peak") or read_number(pids / "pids.current"),
        )


def _own_part(path: str, container: str) -> Path | None:
    """A path up to the folder that is named by the container; Podman has others in that."""
    parts = Path(path.lstrip("/")).parts
    for number, part in enumerate(parts, start=1):
        if container in part:
            return Path(*parts[:number])
    return None


def _is_enough(folders: Mapping[str, Path]) -> bool:
    """Whether all that is to be measured is there; of a mixed hierarchy version 1 has it."""
    if "" in folders and not (folders[""] / "cpu.stat").exists():
        return False
    return "" in folders or {"cpuacct", "memory", "pids"} <= folders.keys()
