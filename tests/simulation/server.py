"""The product's server as the simulation runs it: everything but gRPC, threads and Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from random import Random
from typing import Any
from unittest import mock

import grpc
from tests.simulation.disk import Disk, SimulatedWriter
from tests.simulation.loop import Process, SimulatedLoop
from tests.simulation.network import Stream

from meijin.server import parts as parts_module
from meijin.server.api.games import GameServicer
from meijin.server.api.interceptor import Context as GrpcContext
from meijin.server.api.interceptor import abort
from meijin.server.api.play import PlayServicer
from meijin.server.api.tournaments import TournamentServicer
from meijin.server.errors import MeijinError, StoreAwayError
from meijin.server.match.stalls import StallWatch
from meijin.server.parts import Parts
from meijin.server.settings import Settings
from meijin.server.storage import Storage
from meijin.server.tournaments import refresh_jobs
from meijin.server.tournaments.recovery import load, restore


class _NoQueue:
    """A queue of jobs that nobody works on."""

    def __init__(self, url: str) -> None:
        """Connect nowhere."""

    def enqueue(self, ladder_id: object) -> None:
        """Lose a job."""

    def close(self) -> None:
        """Do nothing."""


@contextmanager
def simulated_surroundings(loop: SimulatedLoop, rng: Random) -> Iterator[None]:
    """Give servers the simulated clock, a seeded source of chance, and no Redis."""
    watch = partial(StallWatch, lambda: loop.now_ns)
    with ExitStack() as stack:
        for target, name, value in (
            (parts_module, "StallWatch", watch),
            (refresh_jobs, "RefreshQueue", _NoQueue),
        ):
            stack.enter_context(mock.patch.object(target, name, value))
        stack.enter_context(
            mock.patch("secrets.token_hex", lambda size=8: rng.randbytes(size).hex())
        )
        yield


class SimulatedServer:
    """One life of a server, from its recovery to its death."""

    def __init__(
        self,
        loop: SimulatedLoop,
        disk: Disk,
        rng: Random,
        settings: Settings,
        *,
        committed: Callable[[], None],
        exited: Callable[[Process], None],
    ) -> None:
        self.process = Process("server")
        self.parts: Parts | None = None
        """``None`` until everything that was left is taken up again."""
        self.failures: list[str] = []
        """What has ended its tasks."""
        self._loop = loop
        self._disk = disk
        self._settings = settings
        self._exited = exited
        self.writer = SimulatedWriter(loop, disk, rng, committed)
        self._start(self._recover_or_exit())

    @property
    def is_up(self) -> bool:
        """Whether bots may connect."""
        return self.parts is not None and not self.process.is_dead

    def open(self, stream: Stream) -> None:
        """Serve a bot's stream."""
        assert self.parts is not None
        stream.server = self.process
        stream.task = self._start(self._serve(stream))

    def call(self, name: str, request: Any, done: Callable[[Exception | None], None]) -> None:
        """Call a method of the services, and tell how it ended, unless the server dies."""
        assert self.parts is not None
        parts = self.parts
        tournaments = TournamentServicer(parts.control, parts.scheduler, parts.storage, parts.feed)
        games = GameServicer(parts.control, parts.games, parts.storage, parts.feed)
        method = getattr(tournaments, name, None) or getattr(games, name)
        self._start(self._call(method, request, done))

    async def _recover_or_exit(self) -> None:
        """Start, or end where the store does not answer, as the product does."""
        try:
            await self._recover()
        except StoreAwayError:
            self.process.is_dead = True
            self._exited(self.process)

    async def _recover(self) -> None:
        storage = Storage(self._disk.database, self.writer)
        recovered = await storage.read(partial(load, storage=storage))
        parts = Parts.assemble(self._settings, self.writer, storage, "", recovered.last)
        restore(recovered, parts.lobby, parts.games, parts.scheduler)
        self._play = PlayServicer(parts.lobby, parts.actions, parts.watch, parts.storage)
        for work in parts.tasks():
            self._start(self._guard(work))
        self.parts = parts

    async def _guard(self, work: Awaitable[None]) -> None:
        """Note the end of what is to run for ever."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - whatever it is, the server has failed
            self.failures.append(repr(error))
        else:
            self.failures.append(f"{work} has ended")

    async def _serve(self, stream: Stream) -> None:
        """Do what the interceptor does around the servicer."""
        context: GrpcContext = stream  # type: ignore[assignment]  # as much of it as is used
        try:
            await self._play.Play(None, context)
        except (grpc.aio.BaseError, asyncio.CancelledError):
            pass
        except MeijinError as error:
            try:
                await abort(context, error)
            except grpc.aio.BaseError:
                return
        except Exception as error:  # noqa: BLE001 - whatever it is, it is an incident
            self.failures.append(f"incident: {error!r}")
        stream.finish("over")

    async def _call(
        self, method: Callable[..., Any], request: Any, done: Callable[[Exception | None], None]
    ) -> None:
        try:
            await method(request, None)
        except MeijinError as error:
            done(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is an incident
            self.failures.append(f"incident: {error!r}")
        else:
            done(None)

    def _start(self, work: Any) -> asyncio.Task[Any]:
        return self._loop.create_task(work, context=self.process.context.copy())

    def bury(self) -> None:
        """Put away what is left after its death."""
        self._loop.bury(self.process)
        self.writer.abandon()
