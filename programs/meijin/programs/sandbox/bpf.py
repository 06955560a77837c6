"""An assembler for classic BPF, of as much as filters of system calls need.

Source: linux/filter.h, linux/bpf_common.h, linux/seccomp.h and seccomp(2).
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass

_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_ANY_BIT = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K
_FORMAT = struct.Struct("<HBBI")  # struct sock_filter
MAX_INSTRUCTIONS = 4096
"""BPF_MAXINSNS."""

NUMBER = 0
"""Where struct seccomp_data has the call's number."""
ARCHITECTURE = 4
ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
_ERROR = 0x00050000


@dataclass(frozen=True, slots=True)
class Instruction:
    """One of a filter; jumps count the instructions that they leave out."""

    code: int
    value: int
    if_true: int = 0
    if_false: int = 0


def argument(index: int) -> int:
    """Where struct seccomp_data has the lower half of an argument, 0 to 5."""
    return 16 + 8 * index


def error(number: int) -> int:
    """The action that answers a call with an error."""
    return _ERROR | number


def load(offset: int) -> Instruction:
    return Instruction(_LOAD, offset)


def give(action: int) -> Instruction:
    """End the filter."""
    return Instruction(_RETURN, action)


def skip_unless_equal(value: int, count: int) -> Instruction:
    return Instruction(_EQUAL, value, 0, count)


def skip_if_equal(value: int, count: int) -> Instruction:
    return Instruction(_EQUAL, value, count, 0)


def skip_unless_at_least(value: int, count: int) -> Instruction:
    return Instruction(_AT_LEAST, value, 0, count)


def skip_unless_any_bit(mask: int, count: int) -> Instruction:
    return Instruction(_ANY_BIT, mask, 0, count)


def assemble(instructions: Iterable[Instruction]) -> bytes:
    """The bytes of a filter.

    Raises:
        ValueError: it is longer than the kernel takes.
    """
    program = list(instructions)
    if len(program) > MAX_INSTRUCTIONS:
        raise ValueError(f"{len(program)} instructions; the kernel takes {MAX_INSTRUCTIONS}")
    return b"".join(
        _FORMAT.pack(each.code, each.if_true, each.if_false, each.value) for each in program
    )
