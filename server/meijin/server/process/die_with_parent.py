"""The parent-death signal: a command that ends when its parent does.

    python -m meijin.server.process.die_with_parent CMD ARGS...

On Linux the kernel sends the command SIGTERM when its parent dies, however it dies;
elsewhere the command just starts. The parent, to the kernel, is the *thread* that
started the process: start it from the main thread, or from one that lives as long.

This needs a process of its own: `subprocess`'s ``preexec_fn`` is not safe once other
threads run, and gRPC's do.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def die_with_parent(command: Sequence[str]) -> list[str]:
    """The arguments that start `command` as a child that dies with this process.

    It runs this file by its path, isolated and without site packages, in 10 ms.
    """
    return [sys.executable, "-I", "-S", __file__, f"--parent={os.getpid()}", *command]


def main(arguments: Sequence[str]) -> None:
    """Become the command in `arguments`; never returns.

    A first argument ``--parent=PID`` tells whose child it was started as, for the
    parent may be dead before the kernel is asked.
    """
    parent, command = _parse(arguments)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            sys.exit(f"not starting {command[0]}: its parent {parent} has died")
    try:
        os.execvp(command[0], command)  # noqa: S606 - the caller's own command, without a shell
    except OSError as error:
        sys.exit(f"can't start {command[0]}: {error.strerror}")


def _parse(arguments: Sequence[str]) -> tuple[int, list[str]]:
    parent, command = os.getppid(), list(arguments)
    if command and command[0].startswith("--parent="):
        parent = int(command.pop(0).removeprefix("--parent="))
    if not command:
        sys.exit(
            "usage: python -m meijin.server.process.die_with_parent [--parent=PID] CMD ARGS..."
        )
    return parent, command


if __name__ == "__main__":
    main(sys.argv[1:])
