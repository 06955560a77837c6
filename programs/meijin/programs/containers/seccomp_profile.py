"""A container engine's profile of system calls, less what no bot needs.

That of Podman lets containers make namespaces, as of users, which are a way to much of the kernel;
Docker's does not. The names are those of the filter that programs in bubblewrap run under.
"""

import errno
import json
import os
from pathlib import Path
from typing import Any

REFUSED = frozenset(
    {
        *("unshare", "setns", "chroot", "pivot_root", "ptrace", "kcmp", "pidfd_getfd"),
        *("process_vm_readv", "process_vm_writev", "process_madvise", "bpf", "perf_event_open"),
        *("mount", "umount", "umount2", "open_tree", "move_mount", "mount_setattr"),
        *("fsopen", "fsconfig", "fsmount", "fspick", "userfaultfd", "memfd_secret"),
        *("add_key", "request_key", "keyctl", "io_uring_setup", "io_uring_enter"),
        *("io_uring_register", "open_by_handle_at", "name_to_handle_at", "fanotify_init"),
        *("sethostname", "setdomainname", "swapon", "swapoff", "quotactl", "quotactl_fd"),
    }
)
_NAMESPACES = 0x7E020000
"""Flags of clone(2): CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID and -NET."""
_ALLOW, _ERROR = "SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"
_OWN: tuple[dict[str, Any], ...] = (
    {
        "names": ["clone"],
        "action": _ALLOW,
        "args": [{"index": 0, "value": _NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}],
    },
    # Its flags are in memory; libraries that are told there is no such call take clone(2).
    {"names": ["clone3"], "action": _ERROR, "errnoRet": errno.ENOSYS},
)


def without_namespaces(profile: str) -> str:
    """A profile in which what no bot needs is left to its default, a refusal.

    Raises:
        ValueError: it is none, or one that allows what it does not name.
    """
    document: dict[str, Any] = json.loads(profile)
    default = document.get("defaultAction")
    if default != _ERROR:
        raise ValueError(f"a profile whose defaultAction is {default!r} refuses nothing by default")
    replaced = REFUSED | {name for rule in _OWN for name in rule["names"]}
    rules = [
        {**rule, "names": [name for name in rule["names"] if name not in replaced]}
        for rule in document["syscalls"]
    ]
    document["syscalls"] = [*(rule for rule in rules if rule["names"]), *_OWN]
    return json.dumps(document)


class ProfileFile:
    """A profile in memory, which goes with the process; engines read it by its path."""

    def __init__(self, profile: str) -> None:
        self._descriptor = os.memfd_create("seccomp")
        with os.fdopen(os.dup(self._descriptor), "w") as file:
            file.write(profile)

    @property
    def path(self) -> Path:
        return Path(f"/proc/{os.getpid()}/fd/{self._descriptor}")

    def close(self) -> None:
        os.close(self._descriptor)
