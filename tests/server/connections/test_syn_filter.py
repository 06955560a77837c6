"""The filter of first segments, as the system runs it: real sockets of this machine."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from meijin.server.api.calls.limits import Address
from meijin.server.connections.limits import Waiting
from meijin.server.connections.syn_filter import MOST_ADDRESSES, program, set_filter

SOON = 0.3
"""Seconds; a segment that was dropped is sent again after one."""


@pytest.fixture(params=[socket.AF_INET, socket.AF_INET6])
def listener(request: pytest.FixtureRequest) -> Iterator[socket.socket]:
    """A socket that listens, of both protocols where it is of the newer one."""
    with socket.socket(request.param) as one:
        if request.param == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        one.bind(("", 0))
        one.listen()
        yield one


def connected(listener: socket.socket, *sources: str) -> list[str]:
    found = []
    for source in sources:
        family = socket.AF_INET6 if ":" in source else socket.AF_INET
        with socket.socket(family) as one:
            one.settimeout(SOON)
            one.bind((source, 0))
            try:
                one.connect((source, listener.getsockname()[1]))
            except TimeoutError:
                continue
            found.append(source)
    return found


def waiting(*addresses: str) -> Waiting:
    return Waiting(frozenset(map(Address, addresses)))


def test_who_has_to_wait_is_not_connected(listener: socket.socket) -> None:
    """Others are, and what was accepted before; later it is too."""
    set_filter(listener, waiting("ipv4:127.0.0.2", "ipv4:127.0.0.4", "ipv6:2001:db8::/64", "unix"))
    assert connected(listener, "127.0.0.2", "127.0.0.3", "127.0.0.4") == ["127.0.0.3"]
    with socket.create_connection(("127.0.0.1", listener.getsockname()[1])) as client:
        listener.accept()[0].close()  # that of 127.0.0.3
        accepted, _ = listener.accept()
        with accepted:
            client.sendall(b"x" * 1000)
            client.shutdown(socket.SHUT_WR)
            assert len(accepted.recv(2000, socket.MSG_WAITALL)) == 1000
    set_filter(listener, Waiting())
    assert connected(listener, "127.0.0.2")


def test_networks_wait_too(listener: socket.socket) -> None:
    """An IPv6 address is known by its network."""
    if listener.family != socket.AF_INET6:
        pytest.skip("a socket of IPv4")
    set_filter(listener, waiting("ipv6:::/64"))
    assert connected(listener, "::1", "127.0.0.1") == ["127.0.0.1"]


def test_everybody_waits(listener: socket.socket) -> None:
    """Also where more addresses have to than a program can name."""
    crowd = (f"ipv4:10.0.{host // 250}.{host % 250}" for host in range(MOST_ADDRESSES + 1))
    for each in (Waiting(everybody=True), waiting(*crowd)):
        set_filter(listener, each)
        assert not connected(listener, "127.0.0.1")


def test_the_largest_program_is_taken(listener: socket.socket) -> None:
    """The system has a bound for its instructions, and for its memory."""
    crowd = waiting(*(f"ipv6:2001:db8:0:{number:x}::/64" for number in range(MOST_ADDRESSES)))
    assert len(program(crowd)) <= 4096
    set_filter(listener, crowd)
    assert connected(listener, "127.0.0.1")
