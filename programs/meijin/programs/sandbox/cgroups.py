"""The control groups that this machine has, and may be written to."""

from pathlib import Path

from meijin.programs.sandbox.cgroups_v1 import CgroupsV1, mounted_v1
from meijin.programs.sandbox.cgroups_v2 import CgroupsV2, own_group_v2
from meijin.programs.sandbox.seat_groups import Hierarchy


def find_hierarchy(name: str, proc: Path = Path("/proc/self")) -> Hierarchy:
    """The hierarchy for a host's group of that name: version 2 unless version 1 limits memory.

    A machine may mount both; a controller is only in one of them.
    """
    mounts = (proc / "mountinfo").read_text()
    first = mounted_v1(mounts)
    own = own_group_v2(mounts, (proc / "cgroup").read_text())
    if own is None or {"memory", "pids"} <= first.keys():
        return CgroupsV1(first, name)
    return CgroupsV2(own, name)
