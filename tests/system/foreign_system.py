"""`meijin`, or a script, as on a system without POSIX: what Windows lacks is taken away first.

    python foreign_system.py -m meijin ARGS...
    python foreign_system.py SCRIPT ARGS...

What a third party's module has imported before, and the standard library for itself, stays.
"""

import asyncio
import os
import runpy
import select
import signal
import sys
from typing import NoReturn

MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
"""Modules that Windows lacks."""
OF_OS = (
    "fchmod", "fork", "forkpty", "geteuid", "getegid", "getgid", "getpgid", "getuid",
    "killpg", "mkfifo", "nice", "sched_getaffinity", "sched_setaffinity", "set_blocking", "setsid",
    "setpgid", "wait4", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK",
)  # fmt: skip
"""What its `os` lacks, but for what numpy asks of a Linux."""
OF_SIGNAL = ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGUSR1", "SIGUSR2", "setitimer")
"""What its `signal` lacks."""


def take_away() -> None:
    import concurrent.futures  # noqa: F401 - the standard library keeps its own
    import shutil  # noqa: F401 - likewise
    import subprocess  # noqa: F401 - likewise
    import tempfile  # noqa: F401 - likewise

    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]  # an import then fails
    for module, names in ((os, OF_OS), (signal, OF_SIGNAL), (select, ("poll", "epoll"))):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    setattr(asyncio.SelectorEventLoop, "add_signal_handler", _refuse)  # noqa: B010 - a method


def _refuse(*_: object) -> NoReturn:
    raise NotImplementedError


if __name__ == "__main__":
    take_away()
    del sys.argv[0]
    if sys.argv[0] == "-m":
        del sys.argv[0]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")
