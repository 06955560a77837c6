"""The play stream without gRPC: messages in their order, late or lost, until it is cut."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import grpc
from google.rpc import error_details_pb2, status_pb2
from tests.simulation.loop import Process, SimulatedLoop

from meijin.v1 import play_service_pb2 as pb

if TYPE_CHECKING:
    from tests.simulation.bot import SimulatedBot
    from tests.simulation.world import World

MS = 1_000_000

DETAILS = "grpc-status-details-bin"

WINDOW = 8
"""Messages on their way to a bot, above which the server's write waits."""


@dataclass(frozen=True, slots=True)
class Link:
    """How long messages take one way."""

    latency_ns: int
    jitter_ns: int


@dataclass(slots=True)
class Threads:
    """The server's threads that read and write for all streams."""

    stand_until_ns: int = 0


def reason_of(status: Any) -> str:
    details = status_pb2.Status.FromString(dict(status.trailing_metadata)[DETAILS]).details
    info = error_details_pb2.ErrorInfo()
    assert details[0].Unpack(info)
    return str(info.reason)


class Stream:
    """One call of `Play`."""

    def __init__(
        self,
        loop: SimulatedLoop,
        rng: Random,
        link: Link,
        client: SimulatedBot,
        watcher: World,
        *,
        threads: Threads,
    ) -> None:
        self.loop = loop
        self._threads = threads
        self.client = client
        self.server: Process | None = None
        """The server that it has reached."""
        self.task: asyncio.Task[None] | None = None
        """The server's handler."""
        self.is_cut = False
        """Nothing passes any more."""
        self.is_over_for_server = False
        self._is_end_told = False
        self.is_over_for_client = False
        self.reason = ""
        """Why the server has ended it."""
        self.unread = 0
        """Messages that the bot has not read."""
        self.games: dict[int, int] = {}
        """The ids of the games that the bot was told of, by their numbers."""
        self.facts: set[tuple[object, ...]] = set()
        """What was told on it, which is told once."""
        self._rng = rng
        self._link = link
        self._watcher = watcher
        self._inbox: deque[Any] = deque()
        self._reader: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None
        self._to_server_ns = 0
        self._to_client_ns = 0

    def latency(self) -> int:
        return self._link.latency_ns + self._rng.randrange(self._link.jitter_ns + 1)

    # -- the bot's end ------------------------------------------------------------------

    def send(self, message: Any) -> None:
        """Send a message to the server, or what its deserialiser makes of bytes."""
        self._to_server_ns = max(self._to_server_ns, self.loop.now_ns + self.latency())
        self._later(self._to_server_ns, self._arrive, message)

    def _arrive(self, message: object) -> None:
        if self.loop.now_ns < self._threads.stand_until_ns:
            self._later(self._threads.stand_until_ns, self._arrive, message)
        elif not (self.is_cut or self.is_over_for_server):
            if isinstance(message, pb.PlayRequest):
                self._watcher.arrived(self, message)
            self._put(message)

    def _put(self, message: object) -> None:
        self._inbox.append(message)
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def half_close(self) -> None:
        """The bot's process has ended: after its messages the stream ends politely."""
        self.is_over_for_client = True
        self._to_server_ns = max(self._to_server_ns, self.loop.now_ns + self.latency())
        self._later(self._to_server_ns, self._end_for_server)

    # -- between them -------------------------------------------------------------------

    def cut(self, *, server_after_ns: int, client_after_ns: int) -> None:
        """Cut it: what is under way is lost, and each end notices some time later."""
        self.is_cut = True
        now_ns = self.loop.now_ns
        end = self._rng.choice((self._end_for_server, self._cancel_for_server))
        self._later(now_ns + server_after_ns, end)
        self._later(now_ns + client_after_ns, self._end_for_client, "cut")

    def _later(self, when_ns: int, happen: Callable[..., None], *args: object) -> None:
        """Have the network do something, whatever becomes of the two ends."""
        self.loop.call_at_ns(when_ns, happen, *args, context=self.loop.network)

    def _cancel_for_server(self) -> None:
        """Have the handler cancelled, as gRPC does when it hears of a broken connection."""
        if not self.is_over_for_server and self.task is not None:
            self.task.cancel()
        self._end_for_server()

    def _end_for_server(self) -> None:
        """Have the server's reader see the end, which looks like a polite one."""
        if self.is_over_for_server:
            return
        self._leave_server()
        self._put(grpc.aio.EOF)
        if self._room is not None and not self._room.done():
            self._room.set_exception(grpc.aio.UsageError("RPC already finished."))

    def _leave_server(self) -> None:
        self.is_over_for_server = True
        if not self._inbox:  # else the server, which throttles nonsense, has still to read it
            self._tell_end()

    def _tell_end(self) -> None:
        if not self._is_end_told:
            self._is_end_told = True
            self._watcher.left(self)

    def _end_for_client(self, reason: str) -> None:
        if not self.is_over_for_client:
            self.is_over_for_client = True
            context = self.client.process.context
            self.loop.call_soon(self.client.stream_ended, self, reason, context=context)

    # -- the server's end: what of gRPC's context the servicer knows -----------------------

    async def read(self) -> Any:
        while not self._inbox:
            self._reader = self.loop.create_future()
            await self._reader
        message = self._inbox[0]
        if message is grpc.aio.EOF:
            self._tell_end()
        else:
            self._inbox.popleft()
        return message

    async def write(self, message: pb.PlayResponse) -> None:
        """Hand a message to the transport, and wait while too many are on their way."""
        if self.is_over_for_server:
            raise grpc.aio.UsageError("RPC already finished.")
        sent_ns = max(self.loop.now_ns, self._threads.stand_until_ns)
        self._to_client_ns = max(self._to_client_ns, sent_ns + self.latency())
        self._watcher.written(self, message, self._to_client_ns)
        self.unread += 1
        context = self.client.process.context
        self.loop.call_at_ns(self._to_client_ns, self._be_read, message, context=context)
        while self.unread > WINDOW:
            self._room = self.loop.create_future()
            await self._room

    def _be_read(self, message: pb.PlayResponse) -> None:
        if self.is_cut or self.is_over_for_client:
            return
        self.unread -= 1
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        self.client.receive(self, message)

    async def send_initial_metadata(self, _metadata: object) -> None:
        """Answer that the call is served."""

    async def abort_with_status(self, status: Any) -> None:
        self.reason = reason_of(status)
        self.finish(status.details)
        raise grpc.aio.AbortError("Locally aborted.")

    def finish(self, reason: str) -> None:
        """The handler has ended: the bot hears so after what was written before."""
        self.is_over_for_server = True
        self._tell_end()
        self._to_client_ns = max(self._to_client_ns, self.loop.now_ns + self.latency())
        if not self.is_cut:
            self._later(self._to_client_ns, self._end_for_client, reason)

    def peer(self) -> str:
        return self.client.peer
