"""The loopback connection of a server, over its real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta

import pytest
from tests.server_in_test import until

from meijin.game.arbiter.moment import NEVER_NS
from meijin.server.api.calls import loopback
from meijin.server.api.calls.loopback import Loopback, LoopbackConnection
from meijin.server.match.stalls import StallWatch

MANY = 200
"""More probes than gRPC answers where their number is bounded."""


class CountingWatch(StallWatch):
    """Counts what it hears."""

    def __init__(self) -> None:
        super().__init__()
        self.received = 0

    def receive_probe(self) -> None:
        super().receive_probe()
        self.received += 1
        if self.received < MANY:
            self.probe()


@contextmanager
def running(watch: StallWatch) -> Iterator[None]:
    task = asyncio.create_task(Loopback(watch).run())
    try:
        yield
    finally:
        task.cancel()


async def test_probes_come_back() -> None:
    """By a socket to this very process, however many there are; one is on its way at a time."""
    watch = CountingWatch()
    with running(watch):
        await until(lambda: watch.send is not None)
        watch.probe()
        watch.probe()
        await until(lambda: watch.received == MANY)
        assert watch.carried_ns != NEVER_NS
    await until(lambda: watch.send is None)
    assert watch.carried_ns == NEVER_NS


async def test_a_connection_that_ends_is_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was on its way is given up meanwhile, also where there is no connection at all."""
    connections: list[LoopbackConnection | None] = []
    connection = loopback._connection

    @asynccontextmanager
    async def opened(received: Callable[[], None]) -> AsyncIterator[LoopbackConnection]:
        if len(connections) == 1:
            connections.append(None)
            raise OSError("no more descriptors")
        async with connection(received) as made:
            connections.append(made)
            yield made

    monkeypatch.setattr(loopback, "_connection", opened)
    monkeypatch.setattr(loopback, "RETRY_INTERVAL", timedelta(milliseconds=1))
    watch = CountingWatch()
    with running(watch):
        await until(lambda: watch.send is not None)
        assert connections[0] is not None
        connections[0].close()
        await until(lambda: len(connections) == 3)
        await until(lambda: watch.send is not None)
        watch.probe()
        await until(lambda: watch.received > 0)
