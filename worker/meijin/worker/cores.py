"""Cores: those of this machine that games are dealt to."""

import os
from pathlib import Path

TOPOLOGY = Path("/sys/devices/system/cpu")


def cores(topology: Path = TOPOLOGY) -> list[int]:
    """The numbers of the physical cores that this process may use: of two threads of one the first.

    Args:
        topology: The folder where Linux tells of them.
    """
    if not hasattr(os, "sched_getaffinity"):
        return list(range(os.cpu_count() or 1))
    found: dict[str, int] = {}
    for number in sorted(os.sched_getaffinity(0)):
        path = topology / f"cpu{number}/topology/thread_siblings_list"
        try:
            siblings = path.read_text()
        except OSError:
            siblings = str(number)
        found.setdefault(siblings, number)
    return list(found.values())
