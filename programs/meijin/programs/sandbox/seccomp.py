"""The filter of system calls that a program runs under.

Calls of the 64-bit table alone are let through: those of i386 (``int 0x80``) and of x32 have other
numbers and would pass by the rules, so they kill. What no bot needs is answered with an error, so
that a library which only tries goes on without it.

Source: asm/unistd_64.h, linux/sched.h, asm-generic/ioctls.h, and the pages of man7.org, section 2.
"""

import errno
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from meijin.programs.sandbox import bpf

AUDIT_ARCH_X86_64 = 0xC000003E
_X32_BIT = 0x40000000
_FIRST_UNKNOWN = 463
"""Later calls are those that nobody has looked at."""
_AF_UNIX = 1
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_CLONE_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID and -NET."""
_ASK = 0xFFFFFFFF
"""To personality(2): tell which it is."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Calls that are answered with an error, all of them or those with some arguments."""

    name: str
    calls: Sequence[int]
    error: int = errno.EPERM
    argument: int = 0
    """Which of a call's arguments `refused`, `allowed` or `bits` look at."""
    refused: Sequence[int] = ()
    allowed: Sequence[int] = ()
    bits: int = 0

    def instructions(self) -> Iterator[bpf.Instruction]:
        """What answers the calls; with the number loaded before it and after it."""
        check = list(self._check())
        for call in self.calls:
            yield bpf.skip_unless_equal(call, len(check))
            yield from check

    def _check(self) -> Iterator[bpf.Instruction]:
        deny = bpf.give(bpf.error(self.error))
        if not (self.refused or self.allowed or self.bits):
            yield deny
            return
        yield bpf.load(bpf.argument(self.argument))
        for value in self.refused:
            yield bpf.skip_unless_equal(value, 1)
            yield deny
        for value in self.allowed:
            yield bpf.skip_unless_equal(value, 1)
            yield bpf.give(bpf.ALLOW)
        if self.bits:
            yield bpf.skip_unless_any_bit(self.bits, 1)
            yield deny
        yield deny if self.allowed else bpf.give(bpf.ALLOW)


RULES = (
    Rule("sockets", (41, 53), errno.EAFNOSUPPORT, allowed=(_AF_UNIX,)),  # socket, socketpair
    Rule("clone", (56,), bits=_CLONE_NAMESPACES),
    Rule("clone3", (435,), errno.ENOSYS),  # its flags are in memory; libraries then use clone
    Rule("unshare", (272, 308)),  # unshare, setns
    Rule("ptrace", (101,)),
    Rule("process_vm", (310, 311, 440, 312)),  # _readv, _writev, process_madvise, kcmp
    Rule("pidfd_getfd", (438,)),
    Rule("mount", (165, 166, 155, 428, 429, 430, 431, 432, 433, 442)),  # also pivot_root, fs*
    Rule("chroot", (161,)),
    Rule("bpf", (321,)),
    Rule("perf", (298,)),
    Rule("userfaultfd", (323,)),
    Rule("keys", (248, 249, 250)),  # add_key, request_key, keyctl
    Rule("io_uring", (425, 426, 427)),
    Rule("terminal", (16,), argument=1, refused=(_TIOCSTI, _TIOCLINUX)),
    Rule("personality", (135,), allowed=(0, _ASK)),
    Rule("clocks", (159, 164, 227, 305)),  # adjtimex, settimeofday, clock_settime, clock_adjtime
    Rule(
        "kernel", (246, 320, 175, 313, 176, 169, 103, 163)
    ),  # kexec, modules, reboot, syslog, acct
    Rule("ports", (172, 173, 154)),  # iopl, ioperm, modify_ldt
    Rule("handles", (303, 304, 300, 301)),  # *_by_handle_at, fanotify
    Rule("swap", (167, 168, 179, 443)),  # swapon, swapoff, quotactl, quotactl_fd
    Rule("names", (170, 171, 153)),  # sethostname, setdomainname, vhangup
    Rule("pages", (237, 238, 256, 279, 447)),  # mbind, *_mempolicy, *_pages, memfd_secret
    Rule("old", (134, 136, 139, 156, 174, 177, 178, 180, 212), errno.ENOSYS),  # uselib to cookies
)


@dataclass(frozen=True, slots=True)
class SystemCallFilter:
    """Rules in their order, behind a check of the table that a call is of."""

    rules: Sequence[Rule] = RULES
    is_64_bit_alone: bool = True

    def without(self, name: str) -> Self:
        """The filter without a rule.

        Raises:
            ValueError: it has none of that name.
        """
        kept = [rule for rule in self.rules if rule.name != name]
        if len(kept) == len(self.rules):
            raise ValueError(f"no rule {name!r}; there are {[rule.name for rule in self.rules]}")
        return replace(self, rules=kept)

    def assemble(self) -> bytes:
        """The program that the kernel loads."""
        return bpf.assemble(self._instructions())

    def _instructions(self) -> Iterator[bpf.Instruction]:
        yield bpf.load(bpf.ARCHITECTURE)
        yield bpf.skip_if_equal(AUDIT_ARCH_X86_64, 1)
        yield bpf.give(bpf.KILL_PROCESS if self.is_64_bit_alone else bpf.ALLOW)
        yield bpf.load(bpf.NUMBER)
        if self.is_64_bit_alone:
            yield bpf.skip_unless_at_least(_X32_BIT, 1)
            yield bpf.give(bpf.KILL_PROCESS)
        yield bpf.skip_unless_at_least(_FIRST_UNKNOWN, 1)
        yield bpf.give(bpf.error(errno.ENOSYS))
        for rule in self.rules:
            yield from rule.instructions()
        yield bpf.give(bpf.ALLOW)


def is_filterable() -> bool:
    """Whether the filter's numbers are those of this machine."""
    return platform.machine() == "x86_64"
