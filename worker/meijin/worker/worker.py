"""The worker: has its slots play what the server leases, and hands the records in."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeAlias

import grpc

from meijin.v1.play_service_pb2 import Hello
from meijin.v1.worker_service_pb2 import (
    Lease,
    LeasedGame,
    PlayedGame,
    PlayedPair,
    PlayedPairs,
    WorkerHello,
    WorkRequest,
    WorkResponse,
)
from meijin.v1.worker_service_pb2_grpc import WorkerServiceStub
from meijin.worker.slots import FAILED, Slot

HAND_IN_INTERVAL = timedelta(milliseconds=100)
"""Between two messages with records at least, so that a server stores many short games at once."""
SUPPLY = 3 * HAND_IN_INTERVAL
"""Games are held ahead for so long, so that no slot waits for the server."""
MOST_AHEAD = 256
PAIR_FRAME = 4
"""Bytes that a message has of a pair beside it, at most."""
BATCH_BYTES = 1 << 16
"""A message has no more, unless one pair alone has: a server takes `MAX_RECORDS_BYTES`."""
CHANGE = 1.5
"""The room that the server is told of is told anew when it differs by this factor."""


Stream: TypeAlias = "grpc.aio.StreamStreamCall[WorkRequest, WorkResponse]"


class WorkerError(Exception):
    """The worker can't go on."""


@dataclass(slots=True)
class _Pair:
    """Games that are handed in together."""

    left: set[str]
    """Those that are not over yet."""
    played: list[PlayedGame] = field(default_factory=list)


class Worker:
    """One stream and its slots, in the thread of an event loop.

    That of grpc.aio: a stream of the other kind wakes its threads fifteen times a second.
    """

    def __init__(self, slots: Sequence[Slot], hellos: Sequence[Hello]) -> None:
        """Have slots that are started, for sides that say hello so."""
        self._slots = slots
        self._hellos = hellos
        self._room = 2 * len(slots) + 2
        self._games: deque[LeasedGame] = deque()
        self._pairs: dict[str, _Pair] = {}
        self._finished: deque[_Pair] = deque()
        self._has_finished = asyncio.Event()
        self._is_acknowledged = asyncio.Event()
        self._mean_seconds = 0.0
        self._began: dict[int, float] = {}

    async def run(self, channel: grpc.aio.Channel, on_welcome: Callable[[], object]) -> None:
        """Play until the stream ends.

        Args:
            on_welcome: Is called when the server has let the worker in, and knows its sides.

        Raises:
            grpc.aio.AioRpcError: how it has ended, where the server didn't end it in order.
            WorkerError: a side can't play any more.
        """
        loop, call = asyncio.get_running_loop(), WorkerServiceStub(channel).Work()
        failure: asyncio.Future[None] = loop.create_future()
        for slot in self._slots:
            loop.add_reader(slot.connection, self._hear, slot, failure)
        reading = asyncio.create_task(self._read(call, on_welcome))
        writing = asyncio.create_task(self._write(call))
        try:
            waited_for = (failure, reading, writing)
            await asyncio.wait(waited_for, return_when=asyncio.FIRST_COMPLETED)
            if call.done() and not failure.done():
                await reading  # which tells how the stream has ended
            await next(each for each in waited_for if each.done())
        finally:
            for task in (reading, writing):
                task.cancel()
            await asyncio.gather(reading, writing, return_exceptions=True)
            for slot in self._slots:
                loop.remove_reader(slot.connection)
                slot.end()

    async def _read(self, call: Stream, on_welcome: Callable[[], object]) -> None:
        """Take what the server says, until it ends the stream."""
        async for response in call:
            if response.HasField("welcome"):
                on_welcome()
            elif response.HasField("acknowledged"):
                self._is_acknowledged.set()
            self._take(response.lease)
            for slot in self._slots:
                self._deal(slot)

    async def _write(self, call: Stream) -> None:
        """Say hello, and hand in what is over once the server has stored what came before."""
        hello = WorkerHello(sides=self._hellos, room=self._room)
        await call.write(WorkRequest(hello=hello))
        while True:
            await self._has_finished.wait()
            self._is_acknowledged.clear()
            await call.write(WorkRequest(played=self._taken()))
            if not self._finished:
                self._has_finished.clear()
                await asyncio.sleep(HAND_IN_INTERVAL.total_seconds())
            await self._is_acknowledged.wait()

    def _take(self, lease: Lease) -> None:
        if lease.withdrawn:
            gone = set(lease.withdrawn)
            self._games = deque(game for game in self._games if game.pairing_id not in gone)
        for leased in lease.pairs:
            pair = _Pair({game.pairing_id for game in leased.games})
            for game in leased.games:
                self._pairs[game.pairing_id] = pair
                self._games.append(game)

    def _deal(self, slot: Slot) -> None:
        """Have a slot play that waits for a game, if there is one."""
        if slot.game is None and self._games:
            self._began[slot.number] = time.monotonic()
            slot.play(self._games.popleft())

    def _hear(self, slot: Slot, failure: asyncio.Future[None]) -> None:
        """A slot has played its game, or has ended."""
        try:
            said = slot.connection.recv_bytes()
        except (EOFError, OSError):
            said = FAILED + b"a slot has ended"
        if said.startswith(FAILED):
            asyncio.get_running_loop().remove_reader(slot.connection)
            if not failure.done():
                failure.set_exception(WorkerError(said[len(FAILED) :].decode()))
            return
        game, slot.game = slot.game, None
        assert game is not None
        seconds = time.monotonic() - self._began[slot.number]
        self._deal(slot)
        self._mean_seconds += (seconds - self._mean_seconds) / (8 if self._mean_seconds else 1)
        pair = self._pairs.pop(game.pairing_id)
        pair.played.append(PlayedGame.FromString(said[1:]))
        pair.left.discard(game.pairing_id)
        if not pair.left:
            self._finished.append(pair)
            self._has_finished.set()

    def _taken(self) -> PlayedPairs:
        """As much of what is over as a message takes."""
        message = PlayedPairs(room=self._new_room())
        size = 0
        while self._finished:
            pair = PlayedPair(games=self._finished[0].played)
            size += pair.ByteSize() + PAIR_FRAME
            if message.pairs and size > BATCH_BYTES:
                break
            self._finished.popleft()
            message.pairs.append(pair)
        return message

    def _new_room(self) -> int:
        """The room to be told of, by how long games take; 0 where it is as it was told."""
        count = len(self._slots)
        ahead = int(count * SUPPLY.total_seconds() / max(self._mean_seconds, 0.001)) + 2
        room = 2 * count + min(ahead, MOST_AHEAD)
        if self._room / CHANGE < room < self._room * CHANGE:
            return 0
        self._room = room
        return room
