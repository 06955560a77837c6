"""The guard of new connections: a server, and sockets that are opened too fast."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack
from time import monotonic
from typing import TYPE_CHECKING

import pytest
from tests.server.conftest import StartServer

from meijin.server.api.calls.limits import Peer
from meijin.server.connections import guard as guard_module
from meijin.server.connections import limits as limits_module
from meijin.server.connections.guard import IDLE_TIME, ConnectionGuard
from meijin.server.connections.limits import ConnectionLimits, Waiting
from meijin.server.connections.sockets import connections_by, hang_up, listeners_on

if TYPE_CHECKING:
    from tests.server_in_test import ServerInTest

STORM = 20
RATE = 3
CROWD = "127.0.0.9"
"""The address that opens too many."""


def port_of(server: ServerInTest) -> int:
    return int(server.address.rpartition(":")[2])


def peers_of_crowd(port: int) -> set[Peer]:
    return {peer for peer in connections_by(port) if peer.address == f"ipv4:{CROWD}"}


class Crowd:
    """Opens connections from an address of its own."""

    def __init__(self, port: int, stack: ExitStack) -> None:
        self._port = port
        self._stack = stack

    def connect(self) -> asyncio.Task[None]:
        loop, one = asyncio.get_running_loop(), self._stack.enter_context(socket.socket())
        one.settimeout(0)
        one.bind((CROWD, 0))
        task = loop.create_task(loop.sock_connect(one, ("127.0.0.1", self._port)))
        self._stack.callback(task.cancel)
        return task


async def test_who_opens_too_many_waits_and_is_hung_up_on(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others come in meanwhile, and a game goes on; later it is let in too."""
    for name in ("ADDRESSES", "PROGRAMS"):  # other tests open connections too, and the time stands
        monkeypatch.setattr(limits_module, name, 1000)
    async with start_server(connections_per_second=RATE) as server:
        guard, port, now = server.app._guard, port_of(server), monotonic()
        assert guard is not None
        monkeypatch.setattr(guard_module, "monotonic", lambda: now)
        with ExitStack() as stack:
            crowd = Crowd(port, stack)
            async with server.innocents():
                for _ in range(STORM):
                    crowd.connect()
                await server.until(lambda: guard._waiting.addresses == {f"ipv4:{CROWD}"})
                late = crowd.connect()
                await server.bot("late")
                assert not late.done()
                now += IDLE_TIME.total_seconds() + 0.1
                await server.until(lambda: not peers_of_crowd(port))
            now += STORM
            await late
            await server.until(lambda: guard._waiting == Waiting())


async def test_connections_are_counted_that_are_accepted_late() -> None:
    """A look at them before that finds none, and another one does."""
    limits = ConnectionLimits(per_second=RATE, most=1000, most_in_all=1000, now=monotonic())
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=STORM))
        guard = ConnectionGuard(listener.getsockname()[1], limits, calling=())
        stack.callback(guard.close)
        crowd = Crowd(listener.getsockname()[1], stack)
        for _ in range(STORM):
            await crowd.connect()
        await guard.look()
        assert not guard._waiting.addresses
        for _ in range(STORM):
            stack.enter_context(listener.accept()[0])
        await guard.look()
        assert guard._waiting.addresses == {f"ipv4:{CROWD}"}


async def test_the_guard_lets_go_of_the_port(server: ServerInTest) -> None:
    """A stopped server listens no more, though the guard has descriptors of its sockets."""
    port = port_of(server)
    (listener,) = listeners_on(port)
    listener.close()
    await server.app.stop()
    with socket.socket() as late:
        late.settimeout(1)
        with pytest.raises(ConnectionRefusedError):
            await asyncio.to_thread(late.connect, ("127.0.0.1", port))


async def test_a_system_that_tells_nothing_has_no_limits(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server serves all the same."""

    def fail() -> int:
        raise FileNotFoundError("/proc/self/net/snmp")

    monkeypatch.setattr(guard_module, "opened_connections", fail)
    async with start_server() as server:
        assert server.app._guard is None
        await server.bot("ada")


async def test_a_filter_that_fails_ends_nothing(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is tried again, and the server serves."""
    failures = 0

    def fail(*_: object) -> None:
        nonlocal failures
        failures += 1
        raise PermissionError("no filters here")

    monkeypatch.setattr(guard_module, "set_filter", fail)
    monkeypatch.setattr(guard_module, "QUIET_INTERVAL", guard_module.LOOK_INTERVAL)
    async with start_server(connections_per_second=RATE) as server:
        with ExitStack() as stack:
            crowd = Crowd(port_of(server), stack)
            for _ in range(STORM):
                await crowd.connect()
            await server.until(lambda: failures >= 2)
            await server.bot("ada")


async def test_a_descriptor_that_is_anothers_by_now_is_left_alone(server: ServerInTest) -> None:
    """Between the look and the end of a connection it may have been dealt out again."""
    ada = await server.bot("ada")
    ((peer, descriptor),) = connections_by(port_of(server)).items()
    hang_up(peer._replace(port="1"), descriptor)
    await server.bot("bob")
    hang_up(peer, descriptor)
    await server.until(lambda: peer not in connections_by(port_of(server)))
    del ada
