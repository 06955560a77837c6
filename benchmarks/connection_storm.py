"""A storm of connections: as many as fit, as fast as they open.

    python benchmarks/connection_storm.py KIND ADDRESS COUNT SECONDS [SOURCE]

It prints a JSON object: how many connections were opened, how many the server hung up on, and how
long it took to open them. Sources are addresses of the loopback network, one behind the other.
"""

import errno
import json
import socket
import ssl
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from select import EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, epoll

OPENING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""The preface of HTTP/2, and an empty frame of settings."""

AT_ONCE = 512
"""Connections that are being opened at the same time."""

DRIP_INTERVAL = 0.5
"""Seconds between two bytes."""

RESET = struct.pack("ii", 1, 0)
"""No lingering: to close is to reset."""


@dataclass(slots=True)
class Storm:
    """Connections to one server."""

    where: tuple[str, int]
    count: int
    sources: int
    opened: int = 0
    closed: int = 0
    sockets: dict[int, socket.socket] = field(default_factory=dict)
    """Those that are open, by their descriptors."""
    _opening: set[int] = field(default_factory=set)
    _poll: epoll = field(default_factory=epoll)
    _made: int = 0

    def open_some(self) -> None:
        """Begin to open more, as long as there are to be any."""
        while self._made < self.count and len(self._opening) < AT_ONCE:
            one = socket.socket()
            one.settimeout(0)
            source = (
                f"127.0.{self._made % self.sources // 250}.{self._made % self.sources % 250 + 1}"
            )
            one.bind((source, 0))
            error = one.connect_ex(self.where)
            if error not in {0, errno.EINPROGRESS}:
                raise OSError(error, f"can't connect to {self.where}")
            self._made += 1
            self.sockets[one.fileno()] = one
            self._opening.add(one.fileno())
            self._poll.register(one.fileno(), EPOLLOUT)

    def look(self, opened: Callable[[socket.socket], bool]) -> None:
        """See what has come of them; `opened` says whether a new one is to stay."""
        for number, events in self._poll.poll(0.01, 4096):
            one = self.sockets[number]
            if number not in self._opening:
                if not _is_open(one):
                    self.drop(number)
                    self.closed += 1
            elif events & (EPOLLERR | EPOLLHUP):
                self.drop(number)
                self.closed += 1
            elif events & EPOLLOUT:
                self._opening.remove(number)
                self.opened += 1
                with suppress(OSError):
                    if not opened(one):
                        self.drop(number)
                        continue
                self._poll.modify(number, EPOLLIN)

    def drop(self, number: int) -> None:
        """Close one."""
        self._opening.discard(number)
        self._poll.unregister(number)
        self.sockets.pop(number).close()

    @property
    def is_open(self) -> bool:
        """Whether all were opened."""
        return self._made == self.count and not self._opening


def _is_open(one: socket.socket) -> bool:
    try:
        return bool(one.recv(65_536))
    except BlockingIOError:
        return True
    except OSError:
        return False


def _say_nothing(_: socket.socket) -> bool:
    return True


def _greet(one: socket.socket) -> bool:
    one.send(OPENING)
    return True


def _greet_slowly(one: socket.socket) -> bool:
    one.send(OPENING[:1])
    return True


def _greet_and_reset(one: socket.socket) -> bool:
    one.send(OPENING)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    return False


def _client_hello() -> bytes:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.set_alpn_protocols(["h2"])
    with suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
    return outgoing.read()


_CLIENT_HELLO = _client_hello()


def _begin_tls(one: socket.socket) -> bool:
    one.send(_CLIENT_HELLO)
    return True


KINDS = {
    "idle": _greet,
    "half-open": _say_nothing,
    "slow": _greet_slowly,
    "reset": _greet_and_reset,
    "tls": _begin_tls,
}
"""By what is done with a connection: nothing behind the greeting, nothing at all, a byte now and
then, a reset behind the greeting, and a TLS handshake that stops half-way."""


def storm(kind: str, address: str, count: int, seconds: float, sources: int) -> dict[str, float]:
    """Open connections, and hold them until the time is over."""
    host, _, port = address.rpartition(":")
    connections = Storm((host, int(port)), count, sources)
    begin = time.monotonic()
    end, dripped, all_open = begin + seconds, begin, seconds
    while time.monotonic() < end:
        connections.open_some()
        connections.look(KINDS[kind])
        if connections.is_open:
            all_open = min(all_open, time.monotonic() - begin)
        if kind == "slow" and time.monotonic() - dripped > DRIP_INTERVAL:
            dripped = time.monotonic()
            _drip(connections)
    for number in list(connections.sockets):
        connections.drop(number)
    return {"opened": connections.opened, "closed": connections.closed, "seconds": all_open}


def _drip(connections: Storm) -> None:
    for one in connections.sockets.values():
        with suppress(OSError):
            one.send(b"P")


def main() -> None:
    """Storm as the command line says."""
    kind, address, count, seconds, *sources = sys.argv[1:]
    found = storm(kind, address, int(count), float(seconds), int(sources[0]) if sources else 1)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
