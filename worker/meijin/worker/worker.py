"""The worker: has its slots play what the server leases, and hands the records in."""

from __future__ import annotations

import os
import queue
import selectors
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import grpc

from meijin.v1.play_service_pb2 import Hello
from meijin.v1.worker_service_pb2 import (
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


class WorkerError(Exception):
    """The worker can't go on."""


@dataclass(slots=True)
class _Pair:
    """Games that are handed in together."""

    left: set[str]
    """Those that are not over yet."""
    played: list[PlayedGame] = field(default_factory=list)


class Worker:
    """One stream and its slots; lives in one thread, beside one that reads the stream."""

    def __init__(self, slots: Sequence[Slot], hellos: Sequence[Hello]) -> None:
        """Have slots that are started, for sides that say hello so."""
        self._slots = slots
        self._hellos = hellos
        self._room = 2 * len(slots) + 2
        self._games: deque[LeasedGame] = deque()
        self._pairs: dict[str, _Pair] = {}
        self._finished: deque[_Pair] = deque()
        self._unacknowledged = 0
        self._requests: queue.SimpleQueue[WorkRequest | None] = queue.SimpleQueue()
        self._responses: queue.SimpleQueue[WorkResponse | Exception] = queue.SimpleQueue()
        self._hand_in_time = 0.0
        self._reader, self._writer = os.pipe()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._reader, selectors.EVENT_READ)
        for slot in slots:
            self._selector.register(slot.connection, selectors.EVENT_READ, slot)
        self._mean_seconds = 0.0
        self._began: dict[int, float] = {}
        self._on_welcome: Callable[[], object] = lambda: None

    def run(self, channel: grpc.Channel, on_welcome: Callable[[], object]) -> None:
        """Play until the stream ends.

        Args:
            on_welcome: Is called when the server has let the worker in, and knows its sides.

        Raises:
            grpc.RpcError: how it has ended, where the server didn't end it in order.
            WorkerError: a side can't play any more.
        """
        self._on_welcome = on_welcome
        self._requests.put(WorkRequest(hello=WorkerHello(sides=self._hellos, room=self._room)))
        call = WorkerServiceStub(channel).Work(iter(self._requests.get, None))
        threading.Thread(target=self._read, args=(call,), daemon=True).start()
        try:
            while self._step():
                pass
        finally:
            self._requests.put(None)
            call.cancel()
            self._selector.close()
            for slot in self._slots:
                slot.end()

    def _read(self, call: Iterator[WorkResponse]) -> None:
        """Pass on what the server says, in a thread of its own."""
        try:
            for response in call:
                self._responses.put(response)
                os.write(self._writer, b"\0")
            self._responses.put(EOFError())
        except grpc.RpcError as error:
            self._responses.put(error)
        os.write(self._writer, b"\0")

    def _step(self) -> bool:
        """Wait for something and see to it; False at the stream's end."""
        may_hand_in = self._finished and not self._unacknowledged
        seconds = max(0.0, self._hand_in_time - time.monotonic()) if may_hand_in else None
        for key, _ in self._selector.select(seconds):
            if key.data is not None:
                self._hear(key.data)
                continue
            os.read(self._reader, 4096)
            if not self._take_responses():
                return False
        for slot in self._slots:
            if slot.game is None and self._games:
                self._began[slot.number] = time.monotonic()
                slot.play(self._games.popleft())
        self._hand_in()
        return True

    def _take_responses(self) -> bool:
        while not self._responses.empty():
            response = self._responses.get()
            if isinstance(response, EOFError):
                return False
            if isinstance(response, Exception):
                raise response
            self._take(response)
        return True

    def _take(self, response: WorkResponse) -> None:
        self._unacknowledged -= response.HasField("acknowledged")
        if response.HasField("welcome"):
            self._on_welcome()
        lease = response.lease
        if lease.withdrawn:
            gone = set(lease.withdrawn)
            self._games = deque(game for game in self._games if game.pairing_id not in gone)
        for leased in lease.pairs:
            pair = _Pair({game.pairing_id for game in leased.games})
            for game in leased.games:
                self._pairs[game.pairing_id] = pair
                self._games.append(game)

    def _hear(self, slot: Slot) -> None:
        """A slot has played its game, or has ended."""
        game = slot.game
        try:
            said = slot.connection.recv_bytes()
        except (EOFError, OSError):
            said = FAILED + b"a slot has ended"
        if said.startswith(FAILED):
            raise WorkerError(said[len(FAILED) :].decode())
        assert game is not None
        slot.game = None
        seconds = time.monotonic() - self._began[slot.number]
        self._mean_seconds += (seconds - self._mean_seconds) / (8 if self._mean_seconds else 1)
        record = PlayedGame.FromString(said[1:])
        pair = self._pairs.pop(game.pairing_id)
        pair.played.append(record)
        pair.left.discard(game.pairing_id)
        if not pair.left:
            self._finished.append(pair)

    def _hand_in(self) -> None:
        """Hand in what is over, unless the server is still storing what came before, or just has."""
        now = time.monotonic()
        if not self._finished or self._unacknowledged or now < self._hand_in_time:
            return
        message = PlayedPairs(room=self._new_room())
        size = 0
        while self._finished:
            pair = PlayedPair(games=self._finished[0].played)
            size += pair.ByteSize() + PAIR_FRAME
            if message.pairs and size > BATCH_BYTES:
                break
            self._finished.popleft()
            message.pairs.append(pair)
        self._unacknowledged += 1
        self._hand_in_time = now + HAND_IN_INTERVAL.total_seconds() * (not self._finished)
        self._requests.put(WorkRequest(played=message))

    def _new_room(self) -> int:
        """The room to be told of, by how long games take; 0 where it is as it was told."""
        count = len(self._slots)
        ahead = int(count * SUPPLY.total_seconds() / max(self._mean_seconds, 0.001)) + 2
        room = 2 * count + min(ahead, MOST_AHEAD)
        if self._room / CHANGE < room < self._room * CHANGE:
            return 0
        self._room = room
        return room
