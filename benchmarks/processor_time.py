"""Processor time of processes and their threads, as the kernel counts it."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

PROCESSES = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class ServerTime:
    """Processor time of a server's process by what its threads do, in seconds."""

    loop: float = 0.0
    """The main thread, in which the event loop runs."""
    writer: float = 0.0
    """The thread that commits to the database."""
    grpc: float = 0.0
    """gRPC's own threads, and the one that polls for it."""
    other: float = 0.0
    children: float = 0.0
    """The processes that it has started, such as the ladder's worker."""

    @property
    def total(self) -> float:
        """All threads together, without the other processes."""
        return self.loop + self.writer + self.grpc + self.other

    def __sub__(self, before: "ServerTime") -> "ServerTime":
        return ServerTime(
            self.loop - before.loop,
            self.writer - before.writer,
            self.grpc - before.grpc,
            self.other - before.other,
            self.children - before.children,
        )


def server_time(pid: int) -> ServerTime:
    """The time of a server that `named_threads.py` runs; without it the writer is among others."""
    spent = dict.fromkeys(("loop", "writer", "grpc", "other"), 0.0)
    for task in _tasks(pid):
        try:
            name = (task / "comm").read_text().strip()
            seconds = int((task / "schedstat").read_text().split()[0]) / 1e9
        except OSError:
            continue  # it has just ended
        spent["loop" if task.name == str(pid) else _part(name)] += seconds
    return ServerTime(**spent, children=sum(map(tree_seconds, _children(pid))))


def _part(name: str) -> str:
    """What a thread is a part of; the kernel keeps the first 15 bytes of its name."""
    if name.startswith("writer"):
        return "writer"
    own = ("event_engine", "grpc_", "lifeguard", "Thread-1 (_poll", "Thread-2 (_poll")
    return "grpc" if name.startswith(own) else "other"


def process_seconds(pid: int) -> float:
    """Processor time of all threads of a process, by its clock as clock_getcpuclockid numbers it."""
    return time.clock_gettime((~pid << 3) | 2)


def tree_seconds(pid: int) -> float:
    """Processor time of a process and all that it has started; 0 if it is gone.

    What has ended is counted in hundredths of a second.
    """
    return seconds_with_ended(pid) + sum(map(tree_seconds, _children(pid)))


def seconds_with_ended(pid: int) -> float:
    """The same without what runs still of that."""
    try:
        own, fields = process_seconds(pid), (PROCESSES / str(pid) / "stat").read_text()
    except OSError:
        return 0.0
    return own + sum(map(int, fields.rpartition(")")[2].split()[13:15])) / TICKS


def processes(
    pid: int, part_of: Callable[[Sequence[str], str], str], parent: str = ""
) -> Iterator[tuple[int, str]]:
    """A process and all that it has started, each with what it is a part of.

    Args:
        part_of: Tells that of a process by its command line and its parent's part.
    """
    try:
        words = (PROCESSES / str(pid) / "cmdline").read_text().split("\0")
    except OSError:
        return
    part = part_of(words, parent)
    yield pid, part
    for child in _children(pid):
        yield from processes(child, part_of, part)


def _children(pid: int) -> Iterator[int]:
    for task in _tasks(pid):
        try:
            yield from map(int, (task / "children").read_text().split())
        except OSError:
            continue


def _tasks(pid: int) -> list[Path]:
    try:
        return list((PROCESSES / str(pid) / "task").iterdir())
    except OSError:
        return []
