"""A filter for sockets that listen: the system drops the requests of some peers to connect.

It is a program of the classic Berkeley packet filter, which needs no right: see the kernel's
documentation, Documentation/networking/filter.rst. Whoever's first segment (SYN) is dropped sends
it again after one second, after three, and so on. Other segments pass, so that what an accepted
connection inherits of it does no harm.
"""

import ctypes
import socket
import struct
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple

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
    if_true: int
    """How many to skip."""
    if_false: int
    operand: int


def _then(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> Instruction:
    return Instruction(code, if_true, if_false, operand)


def program(waiting: Waiting) -> Sequence[Instruction]:
    """What drops the first segments of whoever has to wait."""
    is_first = [
        _then(_LOAD_BYTE, _FLAGS),
        _then(_AND, _SYN_AND_ACK),
        _then(_JUMP_IF_EQUAL, _SYN, if_true=1),
        _then(_RETURN, _PASS),
    ]
    if waiting.everybody or len(waiting.addresses) > MOST_ADDRESSES:
        return [*is_first, _then(_RETURN, _DROP)]
    hosts = [rest for kind, _, rest in (each.partition(":") for each in waiting.addresses) if rest]
    v4 = [ip_address(host) for host in hosts if "/" not in host]
    v6 = [ip_network(host) for host in hosts if "/" in host]
    checks = [
        *(each for host in v4 if isinstance(host, IPv4Address) for each in _drop_v4(host)),
        *(each for net in v6 if isinstance(net, IPv6Network) for each in _drop_v6(net)),
    ]
    return [*is_first, *checks, _then(_RETURN, _PASS)]


def _drop_v4(host: IPv4Address) -> Iterable[Instruction]:
    return (*_unless_version(4, skipped=3), *_unless(_SOURCE_V4, int(host), skipped=1), _GONE)


def _drop_v6(network: IPv6Network) -> Iterable[Instruction]:
    high, low = divmod(int(network.network_address) >> 64, 1 << 32)
    return (
        *_unless_version(6, skipped=5),
        *_unless(_SOURCE_V6, high, skipped=3),
        *_unless(_SOURCE_V6 + 4, low, skipped=1),
        _GONE,
    )


_GONE = _then(_RETURN, _DROP)


def _unless_version(version: int, *, skipped: int) -> Iterable[Instruction]:
    return (
        _then(_LOAD_BYTE, _NETWORK_HEADER),
        _then(_RIGHT_SHIFT, 4),
        _then(_JUMP_IF_EQUAL, version, if_false=skipped),
    )


def _unless(offset: int, word: int, *, skipped: int) -> Iterable[Instruction]:
    return _then(_LOAD_WORD, offset), _then(_JUMP_IF_EQUAL, word, if_false=skipped)


def set_filter(listener: socket.socket, waiting: Waiting) -> None:
    """Have a socket that listens hear nothing of whoever has to wait.

    Raises:
        OSError: the system does not do that.
    """
    if waiting == Waiting():
        listener.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
        return
    packed = [struct.pack("=HBBI", *each) for each in program(waiting)]
    code = ctypes.create_string_buffer(b"".join(packed))
    whole = struct.pack("@HP", len(packed), ctypes.addressof(code))
    listener.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, whole)
