"""A disk that does not take the log of moves: nobody hears of a move that is not in it."""

from __future__ import annotations

import errno
import os
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health_pb2 import HealthCheckResponse
from tests.peer import play_moves
from tests.server_in_test import FIVE, play_to_five

from meijin.store import Durability
from meijin.store.move_log import log as log_module
from meijin.store.move_log.log import MoveLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.server.conftest import StartServer


@pytest.mark.parametrize(
    ("durability", "step"),
    [
        (Durability.PROCESS, "append"),
        (Durability.POWER, "append"),
        (Durability.POWER, "sync"),
    ],
)
async def test_a_move_waits_for_the_log(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch, durability: Durability, step: str
) -> None:
    """The store is away for as long as the disk is full; then the game goes on, on its clock."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async with start_server(durability=durability) as server:
        players = await server.pair(control="1+0")
        await play_moves(players, FIVE[:2])
        (game,) = server.running
        turn = await players[0].turn()
        told: list[int] = []
        server.listen(moved=lambda game: told.append(game.arbiter.board.ply))
        with monkeypatch.context() as patched:
            patched.setattr(MoveLog, step, fail)
            await players[0].play(turn, FIVE[2])
            await server.until(lambda: game.arbiter.board.ply == 3)
            await server.until(lambda: server.parts.store_watch.is_away)
            assert told == []
        await play_to_five(players, first=3)
        assert told[:1] == [3]


@pytest.mark.parametrize("call", ["pwrite", "fdatasync", "posix_fallocate"])
async def test_a_disk_that_hangs_holds_nobody_else(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Health tells of it, pings are answered, and the move is told when the disk has it."""
    gate, hangs = Event(), Event()
    done: Callable[..., int] = getattr(os, call)

    def hang(*arguments: Any) -> int:
        hangs.set()
        gate.wait()
        return done(*arguments)

    async with start_server(durability=Durability.POWER) as server:
        players = await server.pair()
        await play_moves(players, FIVE[:2])
        turn = await players[0].turn()
        (game,) = server.running
        try:
            with monkeypatch.context() as patched:
                patched.setattr(os, call, hang)
                if call == "posix_fallocate":
                    patched.setattr(log_module, "SEGMENT_BYTES", 1)
                await players[0].play(turn, FIVE[2])
                await server.until(hangs.is_set)
                await server.until(lambda: server.parts.store_watch.is_away)
                stub: Any = health_pb2_grpc.HealthStub(await server.channel())
                found = await stub.Check(health_pb2.HealthCheckRequest())
                assert found.status == HealthCheckResponse.NOT_SERVING
                assert game.is_uncommitted
        finally:
            gate.set()
        await play_to_five(players, first=3)
