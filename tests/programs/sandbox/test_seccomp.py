"""The filter of system calls, run by an interpreter of its instructions."""

import errno
import struct

import pytest

from meijin.programs.sandbox import bpf
from meijin.programs.sandbox.seccomp import AUDIT_ARCH_X86_64, RULES, SystemCallFilter

FILTER = SystemCallFilter()
I386 = 0x40000003
EPERM = bpf.error(errno.EPERM)


def run(program: bytes, number: int, *arguments: int, architecture: int = AUDIT_ARCH_X86_64) -> int:
    """What a filter does to a call, as the kernel's interpreter would."""
    values = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<iIQ6Q", number, architecture, 0, *values)
    instructions = list(struct.iter_unpack("<HBBI", program))
    accumulator = position = 0
    while True:
        code, if_true, if_false, value = instructions[position]
        position += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("<I", data, value)
            case 0x06:
                return int(value)
            case _:
                holds = {
                    0x15: accumulator == value,
                    0x35: accumulator >= value,
                    0x45: accumulator & value != 0,
                }[code]
                position += if_true if holds else if_false


@pytest.fixture(scope="module")
def program() -> bytes:
    return FILTER.assemble()


def test_every_call_of_a_rule_is_refused(program: bytes) -> None:
    """Those that don't depend on arguments, with the rule's own error."""
    for rule in RULES:
        if not (rule.refused or rule.allowed or rule.bits):
            for number in rule.calls:
                assert run(program, number) == bpf.error(rule.error), (rule.name, number)


def test_all_other_calls_are_let_through(program: bytes) -> None:
    """A program that reads, writes, waits, forks and starts threads meets no refusal."""
    named = {number for rule in RULES for number in rule.calls}
    free = [number for number in range(335) if number not in named]
    assert {run(program, number) for number in free} == {bpf.ALLOW}


def test_no_call_is_in_two_rules() -> None:
    """To take a rule out takes all of its guard away."""
    numbers = [number for rule in RULES for number in rule.calls]
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize("number", [0x40000000, 0x40000000 + 520, 0x7FFFFFFF])
def test_call_of_the_x32_table_kills(program: bytes, number: int) -> None:
    assert run(program, number) == bpf.KILL_PROCESS


def test_call_of_another_architecture_kills(program: bytes) -> None:
    """Number 0 is `read` of the one table and `restart_syscall` of the other."""
    assert run(program, 0, architecture=I386) == bpf.KILL_PROCESS


def test_call_that_is_not_known_yet_is_not_there(program: bytes) -> None:
    assert run(program, 463) == bpf.error(errno.ENOSYS)
    assert run(program, 462) == bpf.ALLOW


@pytest.mark.parametrize(
    ("number", "arguments", "action"),
    [
        (41, (1, 1), bpf.ALLOW),  # socket(AF_UNIX)
        (41, (2, 1), bpf.error(errno.EAFNOSUPPORT)),
        (53, (16,), bpf.error(errno.EAFNOSUPPORT)),
        (41, (1 << 32 | 2,), bpf.error(errno.EAFNOSUPPORT)),  # the kernel takes the lower half
        (56, (0x01200011,), bpf.ALLOW),  # fork
        (56, (0x003D0F00,), bpf.ALLOW),  # a thread
        (56, (0x10000011,), EPERM),  # with CLONE_NEWUSER
        (16, (0, 0x5401), bpf.ALLOW),  # TCGETS
        (16, (0, 0x5412), EPERM),  # TIOCSTI
        (16, (0, 1 << 32 | 0x5412), EPERM),
        (135, (0xFFFFFFFF,), bpf.ALLOW),
        (135, (0x00400000,), EPERM),
    ],
)
def test_arguments_decide(
    program: bytes, number: int, arguments: tuple[int, ...], action: int
) -> None:
    assert run(program, number, *arguments) == action


def test_filter_without_a_rule_lets_its_calls_through() -> None:
    assert run(FILTER.without("ptrace").assemble(), 101) == bpf.ALLOW


def test_unknown_rule_is_named() -> None:
    with pytest.raises(ValueError, match="no rule 'ptraec'; there are"):
        FILTER.without("ptraec")


def test_filter_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="4097 instructions; the kernel takes 4096"):
        bpf.assemble([bpf.give(bpf.ALLOW)] * 4097)
