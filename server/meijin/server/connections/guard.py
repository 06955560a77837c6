"""The guard of new connections: has the addresses wait that open too many, and ends idle ones."""

import asyncio
import math
import socket
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from time import monotonic

import structlog

from meijin.server.api.calls.limits import Peer
from meijin.server.connections.limits import ConnectionLimits, Waiting
from meijin.server.connections.sockets import (
    any_to_accept,
    connections_by,
    hang_up,
    listeners_on,
    opened_connections,
)
from meijin.server.connections.syn_filter import set_filter

log = structlog.get_logger()

LOOK_INTERVAL = timedelta(milliseconds=10)
"""Between two looks while connections come: from the same machine 200 may, meanwhile."""

WAITING_INTERVAL = timedelta(milliseconds=100)
"""Between two looks while somebody has to wait."""

QUIET_INTERVAL = timedelta(seconds=1)
"""Between two looks while nothing seems to come."""

FEW = 16
"""This many new connections, of whatever program, are not worth a look at ours."""

IDLE_TIME = timedelta(seconds=1)
"""How long a connection of whoever has to wait may be open without a call."""

TELLING_INTERVAL = timedelta(minutes=1)
"""Between two lines in the log; a storm has new ones wait many times a second."""

MOST_TOLD = 20
"""Addresses in one."""


class ConnectionGuard:
    """Guards a port that gRPC listens on; it is open until `close`.

    Args:
        calling: The peers that have a call.

    Raises:
        OSError: the system does not tell of its connections.
    """

    def __init__(self, port: int, limits: ConnectionLimits, calling: Collection[Peer]) -> None:
        self._port = port
        self._limits = limits
        self._calling = calling
        self._opened = opened_connections()
        self._listeners: Sequence[socket.socket] = listeners_on(port)
        if not self._listeners:
            raise OSError(f"no socket of this process is known to listen on port {port}")
        self._waiting = Waiting()
        self._unattributed = 0
        """Connections that came since those that are open were looked at."""
        self._told: dict[str, float] = {}
        self._since: Mapping[Peer, float] = {}
        """When each connection was seen first."""

    async def run(self) -> None:
        while self._listeners:
            try:
                await self._come()
                await self.look()
            except OSError as error:  # such as for want of descriptors
                self._tell("new connections can't be limited", error=str(error))
                await asyncio.sleep(QUIET_INTERVAL.total_seconds())
            await asyncio.sleep(LOOK_INTERVAL.total_seconds())
        await asyncio.get_running_loop().create_future()

    async def _come(self) -> None:
        """Wait until a connection waits to be accepted, or for a while."""
        loop, seen = asyncio.get_running_loop(), asyncio.Event()
        interval = QUIET_INTERVAL if self._waiting == Waiting() else WAITING_INTERVAL
        for listener in self._listeners:
            loop.add_reader(listener, seen.set)
        try:
            async with asyncio.timeout(interval.total_seconds()):
                await seen.wait()
        except TimeoutError:
            pass
        finally:
            for listener in self._listeners:
                loop.remove_reader(listener)

    async def look(self) -> None:
        """Count what was opened, have wait who is to, and hang up on what they leave idle."""
        opened = opened_connections()
        self._limits.count_on_machine(opened - self._opened, monotonic())
        self._unattributed += opened - self._opened
        self._opened = opened
        self._have_wait(self._limits.waiting(monotonic()))
        if self._unattributed < FEW and self._waiting == Waiting():
            return
        if not any_to_accept(self._listeners):  # else a later look finds those
            self._unattributed = 0
        found = await asyncio.to_thread(connections_by, self._port)
        now = monotonic()
        self._limits.count(found.keys(), now)
        self._have_wait(self._limits.waiting(now))
        self._since = {peer: self._since.get(peer, now) for peer in found}
        for peer, descriptor in found.items():
            if self._is_idle(peer, now):
                hang_up(peer, descriptor)

    def _is_idle(self, peer: Peer, now: float) -> bool:
        is_old = now - self._since[peer] > IDLE_TIME.total_seconds()
        return is_old and self._waiting.hangs_up(peer) and peer not in self._calling

    def _have_wait(self, waiting: Waiting) -> None:
        if waiting == self._waiting:
            return
        for listener in self._listeners:
            set_filter(listener, waiting)
        self._waiting = waiting
        if waiting != Waiting():
            self._tell(
                "so many connections are opened that new ones have to wait",
                everybody=waiting.everybody,
                addresses=sorted(waiting.addresses)[:MOST_TOLD],
            )

    def _tell(self, event: str, **more: object) -> None:
        """Tell the log, unless it was told the same of late."""
        now = monotonic()
        if now - self._told.get(event, -math.inf) > TELLING_INTERVAL.total_seconds():
            self._told[event] = now
            log.warning(event, **more)

    def close(self) -> None:
        for listener in self._listeners:
            asyncio.get_running_loop().remove_reader(listener)
            listener.close()
        self._listeners = ()
