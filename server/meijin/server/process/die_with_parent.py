"""The parent-death signal: a command that ends when its parent does.

On Linux the kernel sends the command SIGTERM when its parent dies, however it dies;
elsewhere the command just starts. The parent, to the kernel, is the *thread* that
started the process: start it from the main thread, or from one that lives as long.

This needs a process of its own: `subprocess`'s ``preexec_fn`` is not safe once other
threads run, and gRPC's do.
"""

import os
import signal
import sys
from collections.abc import Sequence

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def die_with_parent(command: Sequence[str]) -> list[str]:
    """The arguments that start `command` as a child that dies with this process.

    It runs this file by its path, isolated and without site packages, in 10 ms.
    """
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]


def main(arguments: list[str]) -> None:
    """Become a command; never returns.

    Args:
        arguments: The parent's process id, since it may be dead before the kernel is asked, and
            the command.
    """
    parent, command = int(arguments[0]), arguments[1:]
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - takes 5 ms, and whoever asks for the arguments needs none

        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            sys.exit(f"not starting {command[0]}: its parent {parent} has died")
    try:
        os.execvp(command[0], command)  # noqa: S606 - the caller's own command, without a shell
    except OSError as error:
        sys.exit(f"can't start {command[0]}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
