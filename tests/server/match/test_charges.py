"""What bots are told of their charges, on a server."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from tests.system.chaos.proxy import Proxy

from meijin.bots import Bot, Charge, Client, Position
from meijin.game import GOMOKU
from meijin.v1 import game_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.server.conftest import StartServer

    from meijin.testing.server import ServerInTest

DELAY = 0.5
"""Seconds each way: more than lag takes off a move of three."""


class Noter(Bot):
    """Takes the first cell, and notes what it is told of the road."""

    def __init__(self) -> None:
        self.told: list[tuple[Charge | None, int]] = []
        self.has_third_turn = threading.Event()

    def choose(self, position: Position) -> int:
        """Note it."""
        self.told.append((position.last_charge, position.lost_us))
        if len(self.told) == 3:
            self.has_third_turn.set()
        return position.legal_cells()[0]


class LastCell(Bot):
    """Takes the last cell."""

    def choose(self, position: Position) -> int:
        """Return it."""
        return position.legal_cells()[-1]


@contextmanager
def far_away(server: ServerInTest) -> Iterator[str]:
    """The address of a server behind a slow way."""
    proxy = Proxy(int(server.address.rpartition(":")[2]))
    try:
        link = proxy.link()
        link.delay = DELAY
        yield f"127.0.0.1:{link.port}"
    finally:
        proxy.close()


async def test_a_far_bot_is_told_what_it_loses(
    server: ServerInTest, caplog: pytest.LogCaptureFixture
) -> None:
    """At every turn after its first answer; one line warns of it."""
    caplog.set_level(logging.WARNING, logger="meijin.bots")
    noter = Noter()
    with far_away(server) as address:
        clients = [
            Client(bot, server=where, name=name)
            for bot, where, name in ((noter, address, "far"), (LastCell(), server.address, "near"))
        ]
        async with asyncio.TaskGroup() as tasks:
            for client in clients:
                tasks.create_task(client.serve())
            await server.until(lambda: len(server.parts.lobby.players) == 2)
            await server.tournament("far", "near", control="3/move", variant=GOMOKU)
            await server.until(noter.has_third_turn.is_set)
            for client in clients:
                client.stop()
    (first, lost), *later = noter.told[:3]
    assert (first, lost) == (None, 0)
    for charge, lost in later:
        assert charge is not None
        assert charge.raw_us >= 2 * DELAY * 1_000_000
        assert charge.lag_us + charge.charged_us <= charge.raw_us
        assert charge.charged_us >= lost > 0
    warnings = [line for line in caplog.messages if "lost on the road" in line]
    assert len(warnings) == 1


async def test_a_restart_forgets_no_charge(start_server: StartServer) -> None:
    """It is known again from the journal."""
    async with start_server() as server:
        black, white = await server.pair()
        turn = await black.turn()
        assert not turn.HasField("charge")
        await black.play(turn, 0, thinking_us=1)
        await white.play(await white.turn(), 1)
        told = (await black.turn()).charge
        assert told.raw_us >= told.lag_us + told.charged_us
    async with start_server() as server:
        peers = [await server.bot(name) for name in ("ada", "bob")]
        starts = [await peer.started() for peer in peers]
        mover = peers[0] if starts[0].color == game_pb2.COLOR_BLACK else peers[1]
        again = (await mover.turn()).charge
        assert (again.raw_us, again.charged_us) == (told.raw_us, told.charged_us)
