"""The launcher: a process between the bridge and an engine, so that nothing of it is left behind.

    python -I -S launcher.py --control=FD [--memory=BYTES] [--cpu=SECONDS] [--core=N] -- CMD ARGS...

It starts the command with the limits that it is given, waits for its end, and then kills all
that the command has started: on Linux orphans come to it, a subreaper, whatever session they
have made; elsewhere it reaches the command's process group. The socket FD carries ``s`` and ``c``
to suspend and continue the command; its end, which the bridge's death brings too, ends everything.
At last the launcher writes there how the command ended: ``exit N``, ``signal N`` or ``error TEXT``.

It is a process of its own since limits, sessions and the parent-death signal are set between fork
and exec, which is not safe in a process with threads.
"""

import ctypes
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress

PR_SET_PDEATHSIG = 1  # linux/prctl.h
PR_SET_CHILD_SUBREAPER = 36
KILL_SECONDS = 5.0
"""After that, whatever still comes to life faster than it is killed is left to the system."""
LISTENED_TO = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
IS_LINUX = sys.platform == "linux"


def main(arguments: list[str]) -> None:
    """Run a command until it ends or the bridge does."""
    split = arguments.index("--")
    options = dict(argument[2:].split("=", 1) for argument in arguments[:split])
    control = int(options["control"])
    os.set_inheritable(control, False)  # noqa: FBT003
    if IS_LINUX:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wakeup = _wake_on_signals()
    child = _start(arguments[split + 1 :], options, control)
    _release_streams()
    ending = _watch(child, control, wakeup)
    _kill_all(child)
    with suppress(OSError):  # the bridge has ended
        os.write(control, f"{ending}\n".encode())


def _wake_on_signals() -> int:
    """A pipe that can be read when a signal has come; none of them ends the launcher."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for number in LISTENED_TO:
        signal.signal(number, lambda *_: None)
    return reader


def _start(command: list[str], options: dict[str, str], control: int) -> int:
    launcher = os.getpid()
    child = os.fork()
    if child:
        with suppress(OSError):  # it has done so itself, and begun
            os.setpgid(child, child)
        return child
    try:
        os.setpgid(0, 0)
        _restrict(options, launcher)
        os.execvp(command[0], command)  # noqa: S606 - the author's own command, without a shell
    except (OSError, ValueError) as error:
        os.write(control, f"error {error}\n".encode())
    os._exit(127)


def _restrict(options: dict[str, str], launcher: int) -> None:
    for number in (*LISTENED_TO, *IGNORED_BY_PYTHON):
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, limit in (("memory", resource.RLIMIT_AS), ("cpu", resource.RLIMIT_CPU)):
        if name in options:
            resource.setrlimit(limit, (int(options[name]), int(options[name])))
    if IS_LINUX:
        if "core" in options:
            os.sched_setaffinity(0, {int(options["core"])})
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != launcher:
            os._exit(127)


def _release_streams() -> None:
    """Leave the engine's streams to the engine, so that their end is the engine's."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)


def _watch(child: int, control: int, wakeup: int) -> str:
    """Do what the bridge says until the child or the bridge ends; return how it ended."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(wakeup, select.POLLIN)
    while True:
        for stream, _ in poll.poll():
            data = _read(stream)
            if stream == control:
                if not data:
                    return "ended by the bridge"
                _signal_group(child, signal.SIGCONT if data.endswith(b"c") else signal.SIGSTOP)
            elif any(number != signal.SIGCHLD for number in data):
                return "ended by a signal to its launcher"
        pid, status = os.waitpid(-1, os.WNOHANG)
        while pid:
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
                return f"signal {-code}" if code < 0 else f"exit {code}"
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break


def _read(stream: int) -> bytes:
    try:
        return os.read(stream, 4096)
    except OSError:
        return b""


def _signal_group(group: int, number: int) -> None:
    with suppress(OSError):  # nobody is left in it
        os.killpg(group, number)


def _kill_all(child: int) -> None:
    """Kill the group, and then whatever comes to this process, until nothing does."""
    _signal_group(child, signal.SIGKILL)
    deadline = time.monotonic() + KILL_SECONDS
    while time.monotonic() < deadline:
        for pid in _children():
            with suppress(OSError):  # it has ended
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children() -> list[int]:
    path = f"/proc/{os.getpid()}/task/{os.getpid()}/children"
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib takes long to import
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


if __name__ == "__main__":
    main(sys.argv[1:])
