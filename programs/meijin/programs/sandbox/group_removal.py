"""The end of a control group: its processes killed, and its folders removed.

Of version 2 the kernel kills all at once (``cgroup.kill``, Linux 5.14). Of version 1 they are frozen
first, so that none forks meanwhile, and die when they thaw.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def members(group: Path) -> list[int]:
    """The processes of a group and of those in it; none of one that is gone."""
    found: list[int] = []
    for folder in _folders(group):
        with suppress(OSError):  # it was removed meanwhile
            found += map(int, (folder / "cgroup.procs").read_text().split())
    return found


def kill(group: Path) -> None:
    """Have every process of a group die, and of those in it; frozen ones too."""
    with suppress(OSError):
        _write(group / "cgroup.kill", "1")
    states = [folder / "freezer.state" for folder in _folders(group)]
    states = [state for state in states if state.exists()]
    _set(states, "FROZEN")
    for pid in members(group):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    _set(states, "THAWED")


def remove(group: Path) -> bool:
    """Remove the folders of a group; whether none is left, as where a process still dies."""
    for folder in _folders(group):
        with suppress(OSError):
            folder.rmdir()
    return not group.exists()


def _folders(group: Path) -> Iterator[Path]:
    """Those of a group, the innermost first."""
    for folder, _, _ in os.walk(group, topdown=False):
        yield Path(folder)


def _set(states: list[Path], state: str) -> None:
    for each in states:
        with suppress(OSError):
            _write(each, state)


def _write(file: Path, text: str) -> None:
    descriptor = os.open(file, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
