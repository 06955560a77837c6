"""What a hostile program tries, run inside the sandbox: ``python3 attacks.py NAME ARGUMENTS...``.

An attack that comes to its end has got through; one that is refused raises.
"""

import _thread
import ctypes
import errno
import mmap
import os
import resource
import signal
import socket
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

THROUGH = "it got through"
MEBIBYTE = 1 << 20
TMP = Path("/tmp")
LIBC = ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: int) -> int:
    """Make a system call by its number."""
    values = [ctypes.c_long(each) for each in arguments]
    result: int = LIBC.syscall(ctypes.c_long(number), *values)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def reach(number: str, *arguments: str) -> None:
    """Make a call whose arguments are such that the kernel refuses it, but not for want of a right."""
    try:
        call(int(number), *map(int, arguments))
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOSYS):
            raise


def read(path: str) -> None:
    assert Path(path).read_bytes()


def listed(path: str) -> None:
    assert list(Path(path).iterdir())


def write(path: str) -> None:
    Path(path).write_text("mine")


def remove(path: str) -> None:
    Path(path).unlink()


def sees_process(pid: str) -> None:
    Path(f"/proc/{pid}/cmdline").stat()


def finds_in_environment_of_launcher(word: str) -> None:
    assert word in Path("/proc/1/environ").read_text()


def has_descriptor(number: str) -> None:
    os.fstat(int(number))


def count_descriptors() -> None:
    """One that is open besides the standard ones is more than the folder that is read."""
    assert len(list(Path("/proc/self/fd").iterdir())) > 4


def open_socket(family: str, kind: str) -> None:
    socket.socket(int(family), int(kind)).close()


def connect(port: str) -> None:
    socket.create_connection(("127.0.0.1", int(port))).close()


def connect_abstract(name: str) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(f"\0{name}")


def new_user_namespace_by_unshare() -> None:
    call(272, 0x10000000)


def new_user_namespace_by_clone() -> None:
    if call(56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0) == 0:
        os._exit(0)


def int80() -> None:
    """Ask for the process's id by the table of 32-bit calls, where it is number 20."""
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20; int 0x80; ret
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    assert ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid()


def x32() -> None:
    """Make a call of the x32 table, which this kernel may not have."""
    with suppress(OSError):
        call(0x40000000 + 39)


def fork(count: str) -> None:
    for _ in range(int(count)):
        if os.fork() == 0:
            signal.pause()


def fill_memory(mebibytes: str) -> None:
    block = bytearray(int(mebibytes) * MEBIBYTE)
    assert block.count(b"\1") == 0


def fill_memory_by_children(count: str, mebibytes: str) -> None:
    """Have children each take less than the limit, at once; one that is killed is told of."""

    def lost(*_: object) -> None:
        raise MemoryError("a child was killed")

    signal.signal(signal.SIGCHLD, lost)
    ready, told = os.pipe()
    for _ in range(int(count)):
        if os.fork() == 0:
            block = b"x" * (int(mebibytes) * MEBIBYTE)
            os.write(told, block[:1])
            signal.pause()
    for _ in range(int(count)):
        os.read(ready, 1)


def fill_memory_files(count: str, mebibytes: str) -> None:
    block = bytes(MEBIBYTE)
    for number in range(int(count)):
        descriptor = os.memfd_create(str(number))
        for _ in range(int(mebibytes)):
            os.write(descriptor, block)


def fill_shared_memory(mebibytes: str) -> None:
    """Take a System V segment, and write to all of it."""
    size = int(mebibytes) * MEBIBYTE
    LIBC.shmat.restype = ctypes.c_void_p
    segment = call(29, 0, size, 0o1600)
    ctypes.memset(LIBC.shmat(segment, None, 0), 1, size)


def fill_scratch(files: str, mebibytes: str) -> None:
    block = bytes(MEBIBYTE)
    for number in range(int(files)):
        with (TMP / str(number)).open("wb", buffering=0) as stream:
            for _ in range(int(mebibytes)):
                stream.write(block)


def make_files(count: str) -> None:
    for number in range(int(count)):
        os.close(os.open(TMP / str(number), os.O_CREAT | os.O_WRONLY))


def make_links(count: str) -> None:
    (TMP / "file").touch()
    for number in range(int(count)):
        os.link(TMP / "file", TMP / f"link{number:0>200}")


def start_threads(count: str) -> None:
    """Start threads that rest; one that can't be started raises."""
    for _ in range(int(count)):
        try:
            _thread.start_new_thread(signal.sigwait, ({signal.SIGUSR1},))
        except RuntimeError as error:
            raise OSError(errno.EAGAIN, str(error)) from error


def make_device() -> None:
    """Make the device of the kernel's memory."""
    os.mknod(Path(tempfile.gettempdir(), "memory"), 0o600 | stat.S_IFCHR, os.makedev(1, 1))


def become_root() -> None:
    os.setuid(0)


def give_file_away() -> None:
    os.chown(tempfile.mkstemp()[1], 1, 1)


def run_before_all_others() -> None:
    os.setpriority(os.PRIO_PROCESS, 0, -20)


def run_in_real_time() -> None:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def raise_limit() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most + 1, most + 1))


def gain_rights() -> None:
    """A setuid program would run as its owner: PR_GET_NO_NEW_PRIVS is off."""
    assert call(157, 39, 0, 0, 0, 0) == 0


def read_other_root() -> None:
    assert Path("/proc/1/root/etc/passwd").read_bytes()


def set_kernel() -> None:
    """Write to a setting what it holds already."""
    file = Path("/proc/sys/kernel/printk_ratelimit")
    file.write_text(file.read_text())


def kill_all() -> None:
    os.kill(-1, signal.SIGKILL)


def open_files(count: str) -> None:
    kept = [os.open("/bot/attacks.py", os.O_RDONLY) for _ in range(int(count))]
    assert len(kept) == int(count)


def leave_core(core: str) -> None:
    os.sched_setaffinity(0, {int(core)})


def allow_core_dumps() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))


def make_message_queue() -> None:
    name = ctypes.create_string_buffer(b"mine")
    call(240, ctypes.addressof(name), os.O_CREAT | os.O_RDWR, 0o600, 0)


def flood(mebibytes: str) -> None:
    line = b"x" * 1023 + b"\n"
    for _ in range(int(mebibytes) * 1024):
        os.write(1, line)


def stop_itself() -> None:
    print("up", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)


def ignore_sigterm() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("up", flush=True)
    while True:
        signal.pause()


def daemonise() -> None:
    """Leave a grandchild in a session of its own, and end."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                signal.pause()
        os._exit(0)


def daemonise_and_stay() -> None:
    daemonise()
    print("up", flush=True)
    signal.pause()


def close_output() -> None:
    print("up", flush=True)
    os.close(1)
    os.close(2)
    signal.pause()


def spin(processes: str) -> None:
    for _ in range(int(processes) - 1):
        if os.fork() == 0:
            break
    print("up", flush=True)
    while True:
        pass


def count() -> None:
    """Write a growing number to the file that a test looks at."""
    print("up", flush=True)
    number = 0
    while True:
        number += 1
        Path("/run/arena/count").write_text(str(number))
        time.sleep(0.001)


def end_by(number: str) -> None:
    os.kill(os.getpid(), int(number))


def rest() -> None:
    print("up", flush=True)
    signal.pause()


def leave(status: str) -> None:
    sys.exit(int(status))


def describe() -> None:
    print(sorted(os.environ.items()), Path.cwd(), os.getuid(), Path.home())


def main() -> None:
    attack: Callable[..., None] = globals()[sys.argv[1]]
    try:
        attack(*sys.argv[2:])
    except (OSError, ValueError, AssertionError, MemoryError) as error:
        print(f"refused: {error!r}")
    else:
        print(THROUGH)


if __name__ == "__main__":
    main()
