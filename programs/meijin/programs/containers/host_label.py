"""The label of a host's containers, by which they are found when it has gone."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

LABEL = "meijin.host"
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class HostLabel:
    """Which process has made a container, of all that this machine ever runs."""

    namespace: int
    """In which its number holds."""
    pid: int
    start: int
    """When it was started, in ticks since the machine was: numbers come again."""

    @classmethod
    def own(cls) -> Self:
        """That of this process."""
        pid = os.getpid()
        return cls(_namespace(), pid, _start(pid))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `str` writes.

        Raises:
            ValueError: it is none.
        """
        namespace, pid, start = map(int, text.split("-"))
        return cls(namespace, pid, start)

    def __str__(self) -> str:
        return f"{self.namespace}-{self.pid}-{self.start}"

    def is_dead(self) -> bool:
        """Whether the process has gone for certain: one of another namespace is not seen."""
        return self.namespace == _namespace() and _start(self.pid) != self.start


def _namespace() -> int:
    return (_PROC / "self/ns/pid").stat().st_ino


def _start(pid: int) -> int:
    """When a process was started; 0 where it is not there, or dead and not yet buried."""
    try:
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] in "ZX" else int(fields[19])
