"""The worker between a server's stream and its slots, both of them scripted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from multiprocessing.connection import Connection, Pipe
from typing import Any, TypeAlias

import grpc
import pytest

from meijin.v1 import worker_service_pb2 as pb
from meijin.v1.worker_service_pb2_grpc import (
    WorkerServiceServicer,
    add_WorkerServiceServicer_to_server,
)
from meijin.worker import worker as module
from meijin.worker.slots import FAILED, PLAYED, Slot
from meijin.worker.worker import Worker, WorkerError

NO_PROCESS = 2**22 + 1  # above the kernel's limit
Script: TypeAlias = Callable[[Any], Awaitable[None]]
"""What the server does with the stream, once it has let the worker in."""


class ScriptedServer(WorkerServiceServicer):
    def __init__(self, script: Script) -> None:
        self._script = script

    async def Work(  # type: ignore[override]  # noqa: N802 - grpc.aio takes a coroutine too
        self,
        request_iterator: object,  # noqa: ARG002 - read from the context
        context: Any,
    ) -> None:
        assert (await context.read()).WhichOneof("message") == "hello"
        await context.write(pb.WorkResponse(welcome=pb.WorkerWelcome()))
        await self._script(context)


@asynccontextmanager
async def served(script: Script) -> AsyncIterator[tuple[Connection, asyncio.Task[None]]]:
    """A worker of one slot, as its stream, and the slot's end of the connection."""
    server = grpc.aio.server()
    add_WorkerServiceServicer_to_server(ScriptedServer(script), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    ours, theirs = Pipe()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            welcomed = asyncio.Event()
            worker = Worker([Slot(0, NO_PROCESS, ours)], [])
            running = asyncio.create_task(worker.run(channel, welcomed.set))
            await welcomed.wait()
            yield theirs, running
            await asyncio.wait([running])
    finally:
        theirs.close()
        await server.stop(None)


def lease(*pairs: tuple[str, ...]) -> pb.WorkResponse:
    leased = [
        pb.LeasedPair(games=[pb.LeasedGame(pairing_id=key) for key in pair]) for pair in pairs
    ]
    return pb.WorkResponse(lease=pb.Lease(pairs=leased))


async def play(slot: Connection) -> str:
    """Have the slot play its next game; the game's id."""
    key = pb.LeasedGame.FromString(await asyncio.to_thread(slot.recv_bytes)).pairing_id
    slot.send_bytes(PLAYED + pb.PlayedGame(pairing_id=key).SerializeToString())
    return key


async def test_games_are_handed_in_once_the_server_has_stored_those_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In pairs, and all that were played meanwhile in one message."""
    monkeypatch.setattr(module, "HAND_IN_INTERVAL", timedelta(0))
    is_handed_in, is_played = asyncio.Event(), asyncio.Event()
    handed_in: list[list[list[str]]] = []

    async def script(stream: Any) -> None:
        await stream.write(lease(("1", "2"), ("3", "4"), ("5", "6")))
        for _ in range(2):
            played = (await stream.read()).played
            handed_in.append([[game.pairing_id for game in pair.games] for pair in played.pairs])
            is_handed_in.set()
            await is_played.wait()
            await stream.write(pb.WorkResponse(acknowledged=pb.Acknowledged()))

    async with served(script) as (slot, running):
        assert [await play(slot), await play(slot)] == ["1", "2"]
        await is_handed_in.wait()
        assert [await play(slot) for _ in range(4)] == ["3", "4", "5", "6"]
        is_played.set()
        await running
    assert handed_in == [[["1", "2"]], [["3", "4"], ["5", "6"]]]


@pytest.mark.parametrize(
    ("said", "why"), [(FAILED + b"no such file", "no such file"), (b"", "end")]
)
async def test_a_slot_that_fails_ends_the_worker(said: bytes, why: str) -> None:
    async def script(stream: Any) -> None:
        await stream.read()

    async with served(script) as (slot, running):
        if said:
            slot.send_bytes(said)
        else:
            slot.close()
        with pytest.raises(WorkerError, match=why):
            await running


async def test_a_server_that_breaks_off_says_why() -> None:
    async def script(stream: Any) -> None:
        await stream.abort(grpc.StatusCode.INVALID_ARGUMENT, "no such game")

    async with served(script) as (_, running):
        with pytest.raises(grpc.aio.AioRpcError, match="no such game"):
            await running
