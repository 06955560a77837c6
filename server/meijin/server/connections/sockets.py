"""The sockets of this process: those that listen on a port, and the connections that came by it.

They are gRPC's, which hands out neither; the system knows them by their descriptors.
"""

import os
import select
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from meijin.server.api.calls.limits import Peer, peer_of

_DESCRIPTORS = Path("/proc/self/fd")
_COUNTERS = Path("/proc/self/net/snmp")


def opened_connections() -> int:
    """How many connections were opened to this machine, or this container, so far.

    It takes 30 us to ask, however many there are: the system counts them as `PassiveOpens`. Those to
    other programs are among them.

    Raises:
        OSError: the system does not tell.
    """
    names, values = (line for line in _COUNTERS.read_text().splitlines() if line[:4] == "Tcp:")
    return int(values.split()[names.split().index("PassiveOpens")])


def listeners_on(port: int) -> Sequence[socket.socket]:
    """The sockets that listen on a port, which is open as long as these are; gRPC has two of one."""
    found: dict[int, socket.socket] = {}
    for number in _descriptors():
        with suppress(OSError), _borrowed(number) as one:
            inode, is_listener = os.fstat(number).st_ino, _is_listener(one)
            if is_listener and _port_of(one) == port and inode not in found:
                found[inode] = _second(number)
    return list(found.values())


def any_to_accept(listeners: Iterable[socket.socket]) -> bool:
    """Whether connections are open that gRPC has not accepted, so that they have no descriptor."""
    found = select.poll()
    for listener in listeners:
        found.register(listener, select.POLLIN)
    return bool(found.poll(0))


def connections_by(port: int) -> Mapping[Peer, int]:
    """The connections that came by a port, with their descriptors; a thread may ask: 8 us for each."""
    found = {}
    for number in _descriptors():
        with suppress(OSError), _borrowed(number) as one:
            if _port_of(one) == port:
                found[_peer_of(one)] = number
    return found


def hang_up(peer: Peer, descriptor: int) -> None:
    """End a connection, unless its descriptor is another one's by now."""
    with suppress(OSError), _second(descriptor) as one:
        if _peer_of(one) == peer:
            one.shutdown(socket.SHUT_RDWR)


def _descriptors() -> Sequence[int]:
    return [int(path.name) for path in _DESCRIPTORS.iterdir()]


@contextmanager
def _borrowed(descriptor: int) -> Iterator[socket.socket]:
    """What a descriptor is; it is not closed.

    It is taken to be of the family with the longer addresses: asking for its own takes a third more.

    Raises:
        OSError: it is no socket's.
    """
    one = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 0, fileno=descriptor)
    try:
        yield one
    finally:
        one.detach()


def _second(descriptor: int) -> socket.socket:
    """The same socket by a second descriptor. `socket.dup` would have gRPC's calls wait in it."""
    return socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 0, fileno=os.dup(descriptor))


def _is_listener(one: socket.socket) -> bool:
    return bool(one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))


def _port_of(one: socket.socket) -> int | None:
    """The local port; ``None`` for a Unix socket."""
    name = one.getsockname()
    return name[1] if isinstance(name, tuple) else None


def _peer_of(one: socket.socket) -> Peer:
    host, port, *is_v6 = one.getpeername()
    return peer_of(f"ipv6:[{host}]:{port}" if is_v6 else f"ipv4:{host}:{port}")
