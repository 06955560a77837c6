"""The product's server as the simulation runs it: everything but gRPC, threads and Redis."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any, NamedTuple, cast
from unittest import mock

import grpc
from tests.power.small_log import small_log
from tests.simulation.disk import (
    Disk,
    SimulatedDatabase,
    SimulatedLogThread,
    SimulatedWriter,
    open_log,
)
from tests.simulation.loop import NS_PER_SECOND, Process, SimulatedLoop
from tests.simulation.network import Stream, Threads

from meijin.server import app as app_module
from meijin.server import parts as parts_module
from meijin.server.api.calls import loopback
from meijin.server.api.calls.limits import Limits
from meijin.server.api.streams import play
from meijin.server.api.streams.play import Throttle
from meijin.server.app import App
from meijin.server.errors import StoreAwayError
from meijin.server.match.journal import log_commit
from meijin.server.match.stalls import StallWatch
from meijin.server.parts import Parts
from meijin.server.settings import Settings
from meijin.server.tournaments import pauses
from meijin.server.tournaments.pauses import Pauses
from meijin.server.tournaments.refresh_jobs import RefreshSender

PLAY = "/meijin.v1.PlayService/Play"

LOOPBACK_NS = 500_000
"""A probe's way there and back."""

SEGMENT_BYTES = 2000
"""Of the move log: so few that old segments are deleted in every world."""

PAUSE = timedelta(seconds=5)
"""Of a bot that forfeits game after game: so short that its games are played in every world."""


class _NoQueue:
    """A queue of jobs that nobody works on."""

    def __init__(self, url: str) -> None:
        """Connect nowhere."""

    def enqueue(self, ladder_id: object) -> None:
        """Lose a job."""

    def close(self) -> None:
        """Do nothing."""


async def _no_token(*_: object) -> None:
    """Let nobody have a token: registration is open."""


class _Call(NamedTuple):
    """What an interceptor is told of a call."""

    method: str
    invocation_metadata: tuple[tuple[str, str], ...] = ()


class _UnaryContext:
    """As much of gRPC's context as a call with one answer uses."""

    details = ""

    async def abort_with_status(self, status: Any) -> None:
        self.details = status.details
        raise grpc.aio.AbortError(status.details)

    def peer(self) -> str:
        return "ipv4:127.0.0.1:2"


class _RpcServer:
    """Takes the place of gRPC's server: has the product's handlers called by name."""

    def __init__(self, *, interceptors: list[Any], **_: object) -> None:
        self._interceptors = interceptors
        self._handlers: dict[str, Any] = {}

    def add_generic_rpc_handlers(self, handlers: object) -> None:
        """Do nothing: the handlers come by name as well."""

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Any]) -> None:
        self._handlers |= {f"/{service}/{name}": handler for name, handler in handlers.items()}

    async def handler(self, method: str) -> Any:
        async def find(_call: _Call) -> Any:
            return self._handlers[method]

        for interceptor in reversed(self._interceptors):
            find = partial(interceptor.intercept_service, find)
        return await find(_Call(method))

    def method(self, name: str) -> str:
        (method,) = (known for known in self._handlers if known.endswith(f"/{name}"))
        return method

    async def stop(self, grace: float | None) -> None:
        """Do nothing: a server ends only by dying."""


class _LoopbackConnection:
    """A connection to ourselves, which is carried by the threads that carry all."""

    def __init__(self, loop: SimulatedLoop, threads: Threads, received: Callable[[], None]) -> None:
        self._loop = loop
        self._threads = threads
        self._received = received
        self.ended = loop.create_future()

    def send_probe(self) -> None:
        """It comes back at once, or when the threads go on."""
        stand_ns = self._threads.stand_until_ns - self._loop.now_ns
        self._loop.call_later(max(stand_ns, LOOPBACK_NS) / NS_PER_SECOND, self._received)


@asynccontextmanager
async def _loopback(
    loop: SimulatedLoop, threads: Threads, received: Callable[[], None]
) -> AsyncIterator[_LoopbackConnection]:
    yield _LoopbackConnection(loop, threads, received)


@contextmanager
def simulated_surroundings(loop: SimulatedLoop, rng: Random, threads: Threads) -> Iterator[None]:
    """Give servers the simulated clock, a seeded source of chance, and no network."""
    replaced: list[tuple[object, str, object]] = [
        (app_module, "Limits", partial(Limits, clock=loop.time)),
        (play, "Throttle", partial(Throttle, loop.time)),
        (parts_module, "Pauses", partial(Pauses, clock=loop.time)),
        (pauses, "PAUSE", PAUSE),
        (parts_module, "StallWatch", partial(StallWatch, lambda: loop.now_ns)),
        (parts_module, "RefreshSender", partial(RefreshSender, open_queue=cast("Any", _NoQueue))),
        (app_module, "open_log", open_log),
        (app_module, "Writer", lambda database: SimulatedWriter(loop, database, rng)),
        (log_commit, "LogThread", partial(SimulatedLogThread, loop=loop, rng=rng)),
        (app_module, "ensure_operator_token", _no_token),
        (loopback, "_connection", partial(_loopback, loop, threads)),
        (grpc.aio, "server", _RpcServer),
    ]
    with ExitStack() as stack:
        stack.enter_context(small_log(SEGMENT_BYTES))
        for target, name, value in replaced:
            stack.enter_context(mock.patch.object(target, name, value))
        stack.enter_context(
            mock.patch("secrets.token_hex", lambda size=8: rng.randbytes(size).hex())
        )
        stack.enter_context(mock.patch("secrets.token_bytes", rng.randbytes))
        yield


class SimulatedServer:
    """One life of a server, from its recovery to its death."""

    def __init__(
        self,
        loop: SimulatedLoop,
        disk: Disk,
        settings: Settings,
        *,
        exited: Callable[[Process], None],
    ) -> None:
        self.process = Process("server")
        self.app: App | None = None
        """``None`` until everything that was left is taken up again."""
        self.lasting = 0
        """Tasks that go on as long as it lives."""
        self.failures: list[str] = []
        """What has ended that should not."""
        self._loop = loop
        self._database = disk.database
        self._settings = settings
        self._exited = exited
        self._start(self._guard(self._live()))

    @property
    def parts(self) -> Parts | None:
        return None if self.app is None else self.app.parts

    @property
    def is_up(self) -> bool:
        return self.app is not None and not self.process.is_dead

    @property
    def _rpc(self) -> _RpcServer:
        assert self.app is not None
        assert isinstance(self.app._server, _RpcServer)
        return self.app._server

    def open(self, stream: Stream) -> None:
        stream.server = self.process
        stream.task = self._start(self._serve(stream))

    def call(self, name: str, request: Any, done: Callable[[str], None]) -> None:
        """Call a method, and tell what it was refused for, unless the server dies."""
        self._start(self._guard(self._call(name, request, done), is_for_ever=False))

    async def _live(self) -> None:
        """Start, and go on until it dies; end where the store does not answer at the start."""
        database: SimulatedDatabase = self._database
        database.claim_anew()
        try:
            async with App.open(self._settings, database, "") as app:
                works = app.tasks()
                self.lasting = 1 + len(works)
                for work in works:
                    self._start(self._guard(work))
                self.app = app
                await self._loop.create_future()
        except StoreAwayError:
            self.process.is_dead = True
            self._exited(self.process)

    async def _guard(self, work: Awaitable[None], *, is_for_ever: bool = True) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 - whatever it is, the server has failed
            self.failures.append(repr(error))
        else:
            if is_for_ever and not self.process.is_dead:
                self.failures.append(f"{work} has ended")

    async def _serve(self, stream: Stream) -> None:
        try:
            handler = await self._rpc.handler(PLAY)
            await handler.stream_stream(None, stream)
        except (grpc.aio.BaseError, asyncio.CancelledError):
            pass
        except Exception as error:  # noqa: BLE001 - whatever it is, it is an incident
            self.failures.append(repr(error))
        stream.finish("over")

    async def _call(self, name: str, request: Any, done: Callable[[str], None]) -> None:
        context = _UnaryContext()
        handler = await self._rpc.handler(self._rpc.method(name))
        try:
            await handler.unary_unary(request, context)
        except grpc.aio.AbortError:
            done(context.details)
        else:
            done("")

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return self._loop.create_task(work, context=self.process.context.copy())
