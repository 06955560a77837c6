"""What hostile programs try, each beside a mutant of the sandbox that lacks the guard against it."""

import asyncio
import os
import socket
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.programs.sandbox.attacks import THROUGH
from tests.programs.sandbox.laboratory import Edit, Guards, Laboratory, is_alive, unchanged

from meijin.programs.kinds import MEBIBYTE, ProgramLimits
from meijin.programs.sandbox.running import Cause
from meijin.programs.sandbox.seccomp import SystemCallFilter

ALL = SystemCallFilter()
SMALL = ProgramLimits(memory_bytes=64 * MEBIBYTE)
TINY = ProgramLimits(memory_bytes=32 * MEBIBYTE)
LARGE = ProgramLimits(memory_bytes=768 * MEBIBYTE)
NAMESPACES = ("user", "ipc", "pid", "net", "uts", "cgroup")


def without(*words: str) -> Edit:
    """Drop words that stand in a row in the command line."""

    def edit(line: list[str]) -> list[str]:
        for start in range(len(line)):
            if tuple(line[start : start + len(words)]) == words:
                return line[:start] + line[start + len(words) :]
        raise AssertionError(f"{words} is no part of {line}")

    return edit


def instead(old: tuple[str, ...], new: tuple[str, ...]) -> Edit:
    """Put other words where some stand in a row."""

    def edit(line: list[str]) -> list[str]:
        for start in range(len(line)):
            if tuple(line[start : start + len(old)]) == old:
                return [*line[:start], *new, *line[start + len(old) :]]
        raise AssertionError(f"{old} is no part of {line}")

    return edit


def sharing(name: str) -> Edit:
    """Unshare all namespaces but one."""
    kept = tuple(f"--unshare-{each}" for each in NAMESPACES if each != name)
    return instead(("--unshare-all",), kept)


def bound(path: str) -> Edit:
    """Show a folder of the machine inside."""
    return instead(("--proc", "/proc"), ("--ro-bind", path, path, "--proc", "/proc"))


def writable(folder: str) -> Edit:
    """Bind a folder so that it can be written to."""

    def edit(line: list[str]) -> list[str]:
        at = line.index(folder, line.index("--remount-ro")) - 2
        assert line[at] == "--ro-bind"
        return [*line[:at], "--bind", *line[at + 1 :]]

    return edit


def both(first: Edit, second: Edit) -> Edit:
    return lambda line: second(first(line))


@dataclass(frozen=True, slots=True)
class Attack:
    """What is tried, behind which guards, and the guards without the one that stops it."""

    words: tuple[str, ...]
    mutant: Guards
    guards: Guards = Guards()  # noqa: RUF009 - a value
    cause: Cause | None = None
    """Why it ends, where it is not just refused."""

    @property
    def id(self) -> str:
        return "-".join(word.replace("/", ".") for word in self.words)


NESTED = without("--disable-userns")
OPEN = ALL.without("sockets")
ATTACKS = [
    Attack(("read", "/etc/passwd"), Guards(bound("/etc"))),
    Attack(("listed", "/sys/class"), Guards(bound("/sys"))),
    Attack(("write", "/mine"), Guards(without("--remount-ro", "/"))),
    Attack(("write", "/dev/shm/mine"), Guards(without("--remount-ro", "/dev"))),
    Attack(("write", "/bot/mine"), Guards(writable("/bot"))),
    Attack(("write", "/bot/own"), Guards(writable("/bot"))),
    Attack(("write", "/run/arena/mine"), Guards(writable("/run/arena"))),
    Attack(("remove", "/run/arena/bot.sock"), Guards(writable("/run/arena"))),
    Attack(
        ("finds_in_environment_of_launcher", "hunter2"),
        Guards(lambda line: ["/usr/bin/env", "TOKEN=hunter2", *line]),
    ),
    Attack(("new_user_namespace_by_unshare",), Guards(NESTED, ALL.without("unshare")),
           guards=Guards(NESTED)),
    Attack(("new_user_namespace_by_unshare",), Guards(NESTED, ALL.without("unshare")),
           guards=Guards(calls=ALL.without("unshare"))),
    Attack(("new_user_namespace_by_clone",), Guards(NESTED, ALL.without("clone")),
           guards=Guards(NESTED)),
    Attack(("int80",), Guards(calls=replace(ALL, is_64_bit_alone=False)), cause=Cause.SYSCALL),
    Attack(("x32",), Guards(calls=replace(ALL, is_64_bit_alone=False)), cause=Cause.SYSCALL),
    Attack(("fork", "100"), Guards(limits=ProgramLimits(processes=200))),
    Attack(("fill_memory", "200"), Guards(limits=LARGE), Guards(limits=SMALL), Cause.MEMORY),
    Attack(("fill_memory_by_children", "10", "20"), Guards(limits=LARGE), Guards(limits=SMALL)),
    Attack(("fill_memory_files", "8", "16"), Guards(limits=LARGE), Guards(limits=SMALL),
           Cause.MEMORY),
    Attack(("fill_shared_memory", "128"), Guards(limits=LARGE), Guards(limits=SMALL),
           Cause.MEMORY),
    Attack(("make_files", "100000"), Guards(limits=LARGE), Guards(limits=SMALL), Cause.MEMORY),
    Attack(("make_links", "150000"), Guards(limits=LARGE), Guards(limits=TINY), Cause.MEMORY),
    Attack(("start_threads", "100"), Guards(limits=ProgramLimits(processes=200))),
    Attack(("fill_scratch", "1", "40"), Guards(both(
        without(f"--fsize={32 * MEBIBYTE}"), without("--size", str(32 * MEBIBYTE))))),
    Attack(("fill_scratch", "4", "16"), Guards(without("--size", str(32 * MEBIBYTE)))),
    Attack(("fill_memory_files", "1", "40"), Guards(without(f"--fsize={32 * MEBIBYTE}"))),
    Attack(("open_files", "400"), Guards(limits=ProgramLimits(files=1000))),
    Attack(("make_message_queue",), Guards(without("--msgqueue=0"))),
    Attack(("flood", "2"), Guards(limits=ProgramLimits(output_bytes=4 * MEBIBYTE)),
           cause=Cause.OUTPUT),
]  # fmt: skip


@pytest.fixture(autouse=True)
def socket_of_the_door(laboratory: Laboratory) -> Iterator[None]:
    """Something that a program could remove."""
    file = laboratory.arena / "bot.sock"
    file.touch()
    yield
    for each in laboratory.arena.iterdir():
        each.unlink()
    (laboratory.tree / "mine").unlink(missing_ok=True)


async def assert_stopped(laboratory: Laboratory, attack: Attack) -> None:
    """The attack is refused, and gets through where its guard is taken away."""
    outcome = await laboratory.attack(*attack.words, guards=attack.guards)
    assert not outcome.is_through, outcome
    assert outcome.end.cause is attack.cause or attack.cause is None, outcome
    outcome = await laboratory.attack(*attack.words, guards=attack.mutant)
    assert outcome.is_through, outcome


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
async def test_attack_is_stopped_by_its_guard(laboratory: Laboratory, attack: Attack) -> None:
    """What is tried is refused or ends the program, and nothing is left of it."""
    await assert_stopped(laboratory, attack)


BAD = str(0)
"""No address: the kernel that looks at it first answers EFAULT, without asking for rights."""
CALLS = [
    ("ptrace", "101", "0", "0", "0", "0"),  # PTRACE_TRACEME
    ("process_vm", "310", "1", BAD, "0", BAD, "0", "0"),
    ("pidfd_getfd", "438", "0", "0", "0"),
    ("mount", "165", BAD, BAD, BAD, "0", BAD),
    ("mount", "166", BAD, "0"),
    ("chroot", "161", BAD),
    ("perf", "298", BAD, "0", "0", "-1", "0"),
    ("userfaultfd", "323", "1"),  # UFFD_USER_MODE_ONLY
    ("keys", "250", "0", "-3", "1"),  # KEYCTL_GET_KEYRING_ID, of the session
    ("io_uring", "425", "1", BAD),
    ("terminal", "16", "0", str(0x5412), BAD),
    ("terminal", "16", "0", str(0x541C), BAD),
    ("personality", "135", str(0x0040000)),  # ADDR_NO_RANDOMIZE
    ("clocks", "227", "0", BAD),
    ("ports", "154", "0", BAD, "0"),
    ("handles", "303", "-100", BAD, BAD, BAD, "0"),
    ("clone3", "435", BAD, "0"),
    ("pages", "237", BAD, "0", "0", BAD, "0", "0"),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call[0]}-{call[1]}")
async def test_call_never_reaches_the_kernel(laboratory: Laboratory, call: tuple[str, ...]) -> None:
    """A call that no bot needs is refused, and only by the filter's own rule."""
    rule, *words = call
    mutant = Guards(calls=ALL.without(rule))
    await assert_stopped(laboratory, Attack(("reach", *words), mutant))


FAMILIES = {
    "inet": (socket.AF_INET, socket.SOCK_STREAM),
    "inet-udp": (socket.AF_INET, socket.SOCK_DGRAM),
    "inet6": (socket.AF_INET6, socket.SOCK_STREAM),
    "netlink": (socket.AF_NETLINK, socket.SOCK_RAW),
    "vsock": (socket.AF_VSOCK, socket.SOCK_STREAM),
    "alg": (socket.AF_ALG, socket.SOCK_SEQPACKET),
}


@pytest.mark.parametrize("family", FAMILIES)
async def test_sockets_are_of_the_unix_family_alone(laboratory: Laboratory, family: str) -> None:
    """A program has no socket of the network's families, nor of the kernel's own."""
    number, kind = FAMILIES[family]
    try:
        socket.socket(number, kind).close()
    except OSError:
        pytest.skip(f"this kernel has no sockets of the family {family}")
    attack = Attack(("open_socket", str(int(number)), str(int(kind))), Guards(calls=OPEN))
    await assert_stopped(laboratory, attack)


async def test_network_is_not_the_machines(laboratory: Laboratory) -> None:
    """Even a program that can open sockets reaches nobody who listens on the loopback interface."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        attack = Attack(
            ("connect", str(server.getsockname()[1])),
            Guards(sharing("net"), OPEN),
            Guards(unchanged, OPEN),
        )
        await assert_stopped(laboratory, attack)


async def test_abstract_sockets_are_not_the_machines(laboratory: Laboratory) -> None:
    """A Unix socket without a file belongs to a network namespace, and the program's is its own."""
    name = f"meijin-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{name}")
        server.listen()
        await assert_stopped(laboratory, Attack(("connect_abstract", name), Guards(sharing("net"))))


async def test_other_processes_are_not_seen(laboratory: Laboratory) -> None:
    """``/proc`` shows the program's own processes."""
    attack = Attack(("sees_process", str(os.getpid())), Guards(sharing("pid")))
    await assert_stopped(laboratory, attack)


async def test_files_of_the_machine_are_not_seen(laboratory: Laboratory) -> None:
    """Neither by their path nor through a link in the program's own tree."""
    (laboratory.tree / "link").symlink_to("/etc/passwd")
    await assert_stopped(laboratory, Attack(("read", "/bot/link"), Guards(bound("/etc"))))


RIGHTS = [
    *("make_device", "become_root", "give_file_away", "run_before_all_others"),
    *("run_in_real_time", "raise_limit", "gain_rights", "read_other_root", "set_kernel"),
]


@pytest.mark.parametrize("attack", RIGHTS)
async def test_right_of_root_is_gone(laboratory: Laboratory, attack: str, tmp_path: Path) -> None:
    """What several guards stop at once is refused, and root gets through outside."""
    assert not (await laboratory.attack(attack)).is_through
    if os.geteuid() != 0:
        pytest.skip("to show that it gets through outside needs root")
    words = [sys.executable, "-I", "-S", str(laboratory.tree / "attacks.py"), attack]
    environment = {"TMPDIR": str(tmp_path)}  # where it leaves what it makes
    done = await asyncio.to_thread(
        subprocess.run, words, capture_output=True, text=True, check=True, env=environment
    )
    if THROUGH not in done.stdout.splitlines():
        pytest.skip(f"this machine refuses it to root too: {done.stdout.strip()}")


async def test_program_kills_nobody_else(laboratory: Laboratory) -> None:
    """A signal to all processes ends the program that has sent it alone."""
    other = await laboratory.begin("rest")
    killer = await laboratory.begin("kill_all")
    await killer.wait()
    assert is_alive(other.pid)
    assert (await other.stop()).cause is Cause.ASKED


async def test_core_of_another_is_out_of_reach(laboratory: Laboratory) -> None:
    """A program that was given a core can't have the others."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) == 1:
        pytest.skip("this machine has one core")
    attack = Attack(("leave_core", str(cores[1])), Guards(), Guards(core=cores[0]))
    await assert_stopped(laboratory, attack)


async def test_core_dumps_are_off(laboratory: Laboratory) -> None:
    """A program that crashes writes no file of its memory, nor has it written by another."""
    attack = Attack(("allow_core_dumps",), Guards(instead(("--core=0",), ("--core=unlimited",))))
    await assert_stopped(laboratory, attack)


async def test_descriptors_of_the_host_are_closed(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A program has none of the files that its host has open, inheritable ones included."""
    start = asyncio.create_subprocess_exec
    with leaked(tmp_path) as descriptor:
        attack = ("has_descriptor", str(descriptor))
        assert not (await laboratory.attack(*attack)).is_through

        async def leaking(*words: str, pass_fds: Sequence[int], **options: Any) -> Process:
            return await start(*words, pass_fds=(*pass_fds, descriptor), **options)

        monkeypatch.setattr(asyncio, "create_subprocess_exec", leaking)
        assert (await laboratory.attack(*attack)).is_through


async def test_sandbox_leaves_no_descriptor_of_its_own(laboratory: Laboratory) -> None:
    """The program has neither the filter's file nor the pipe for its status, nor one to a group."""
    opened = Guards(lambda line: ["/bin/sh", "-c", 'exec "$@" 9< /', "sh", *line])
    await assert_stopped(laboratory, Attack(("count_descriptors",), opened))


@contextmanager
def leaked(folder: Path) -> Iterator[int]:
    """A file that is open under a high number, for every child that is not kept from it."""
    descriptor = os.open(folder, os.O_RDONLY)
    high = os.dup2(descriptor, 200)
    try:
        yield high
    finally:
        os.close(high)
        os.close(descriptor)
