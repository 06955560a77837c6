"""A filter for sockets that listen: the system drops the requests of some peers to connect.

It is a program of the classic Berkeley packet filter, which needs no right: see the kernel's
documentation, Documentation/networking/filter.rst. Whoever's first segment (SYN) is dropped sends
it again after one second, after three, and so on. Other segments pass, so that what an accepted
connection inherits of it does no harm.
"""

import ctypes
import socket
import struct
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Network
from typing import NamedTuple

from meijin.server.api.calls.limits import Address
from meijin.server.connections.limits import Waiting

SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
"""Of Linux, on most of its architectures."""

MOST_ADDRESSES = 500
"""A program has 4,096 instructions at most; where more have to wait, everybody does."""

_NETWORK_HEADER = 0xFFF0_0000
"""What an offset is from that is not one of the TCP header."""

_LOAD_WORD, _LOAD_BYTE = 0x20, 0x30
_AND, _RIGHT_SHIFT = 0x54, 0x74
_JUMP_IF_EQUAL, _RETURN = 0x15, 0x06

_DROP, _PASS = 0, 0xFFFF_FFFF
_FLAGS, _SYN_AND_ACK, _SYN = 13, 0x12, 0x02
_SOURCE_V4, _SOURCE_V6 = _NETWORK_HEADER + 12, _NETWORK_HEADER + 8


class Instruction(NamedTuple):
    """One of such a program."""

    code: int
    operand: int
    if_true: int = 0
    """How many to skip."""
    if_false: int = 0


def program(waiting: Waiting) -> Sequence[Instruction]:
    """What drops the first segments of whoever has to wait."""
    is_first = [
        Instruction(_LOAD_BYTE, _FLAGS),
        Instruction(_AND, _SYN_AND_ACK),
        Instruction(_JUMP_IF_EQUAL, _SYN, if_true=1),
        Instruction(_RETURN, _PASS),
    ]
    if waiting.everybody or len(waiting.addresses) > MOST_ADDRESSES:
        return [*is_first, Instruction(_RETURN, _DROP)]
    checks = [each for address in waiting.addresses for each in _drop(address)]
    return [*is_first, *checks, Instruction(_RETURN, _PASS)]


def _drop(address: Address) -> Sequence[Instruction]:
    """Drop what comes from an address, or from a network of IPv6; a Unix socket has none."""
    kind, _, host = address.partition(":")
    if kind == "ipv4":
        version, words = 4, {_SOURCE_V4: int(IPv4Address(host))}
    elif kind == "ipv6":
        high, low = divmod(int(IPv6Network(host).network_address) >> 64, 1 << 32)
        version, words = 6, {_SOURCE_V6: high, _SOURCE_V6 + 4: low}
    else:
        return ()
    skipped = 2 * len(words) + 1
    checks = [
        Instruction(_LOAD_BYTE, _NETWORK_HEADER),
        Instruction(_RIGHT_SHIFT, 4),
        Instruction(_JUMP_IF_EQUAL, version, if_false=skipped),
    ]
    for offset, word in words.items():
        skipped -= 2
        checks.append(Instruction(_LOAD_WORD, offset))
        checks.append(Instruction(_JUMP_IF_EQUAL, word, if_false=skipped))
    return [*checks, Instruction(_RETURN, _DROP)]


def set_filter(listener: socket.socket, waiting: Waiting) -> None:
    """Have a socket that listens hear nothing of whoever has to wait.

    Raises:
        OSError: the system does not do that.
    """
    if waiting == Waiting():
        listener.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
        return
    packed = [
        struct.pack("=HBBI", each.code, each.if_true, each.if_false, each.operand)
        for each in program(waiting)
    ]
    code = ctypes.create_string_buffer(b"".join(packed))
    whole = struct.pack("@HP", len(packed), ctypes.addressof(code))
    listener.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, whole)
