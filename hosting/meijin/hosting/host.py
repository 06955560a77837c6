"""The host: seats programs for a server, wherever it runs; it connects, and nothing connects to it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING

import grpc

from meijin.bots.sdk.client import Backoff, channel_options
from meijin.hosting.cores import Cores
from meijin.hosting.door.lines import Plan
from meijin.hosting.doors import DoorPool
from meijin.hosting.runtime import runtime_folders, with_python
from meijin.hosting.seating import NOTHING_USED, Ending, Seating
from meijin.hosting.shelf import Shelf, ShelfError, removed_folder, socket_folder
from meijin.programs.kinds import ProgramKind as Kind
from meijin.programs.kinds import ProgramLimits
from meijin.programs.prepared import Wheelhouse
from meijin.programs.sandbox.abilities import Ability
from meijin.programs.sandbox.running import Launch, Sandbox, Usage
from meijin.v1 import host_service_pb2 as pb
from meijin.v1.host_service_pb2_grpc import HostServiceStub
from meijin.v1.hosting_service_pb2 import ProgramKind
from meijin.wire.channel import Security, open_async_channel
from meijin.wire.contract import PROTOCOL_VERSION, parse_address
from meijin.wire.enums import value_of
from meijin.wire.mapping import from_message

if TYPE_CHECKING:
    from meijin.v1.host_service_pb2_grpc import HostServiceAsyncStub

log = logging.getLogger("meijin.host")

REFUSALS = frozenset(
    {
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.UNIMPLEMENTED,
    }
)
"""Ends of a stream after which none would be any better."""

NS_PER_MS = 1_000_000

REPORT_INTERVAL = timedelta(seconds=10)
"""Between two reports of what seats use."""


class HostRefusedError(Exception):
    """The server does not take this host; the message says why."""


@dataclass(frozen=True, slots=True)
class HostSettings:
    """What a host is and may use."""

    server: str
    token: str
    name: str
    folder: Path | None
    """For programs, unpacked; a temporary one when ``None``."""
    seats: int
    cores: Sequence[int]
    hardware: str = ""
    nodes_per_second: int = 0
    wheelhouse: Path | None = None
    owners: Sequence[str] = ()


@dataclass(slots=True, eq=False)
class Seat:
    """A seat that this host has."""

    id: str
    seating: Seating | None = None
    """``None`` while the program is fetched."""
    state: pb.SeatState.ValueType = pb.SEAT_STATE_STARTING
    task: asyncio.Task[None] | None = None
    is_leaving: bool = False
    told: Usage = NOTHING_USED
    """What the server knows that it has used."""

    def tell(self, report: pb.SeatReport, usage: Usage, lines: Sequence[str] = ()) -> None:
        """Say what it has used since that was told last, and in the end what it has said."""
        report.cpu_ms = usage.cpu_ns // NS_PER_MS - self.told.cpu_ns // NS_PER_MS
        report.memory_bytes = usage.memory_bytes
        report.output_bytes = usage.output_bytes - self.told.output_bytes
        report.lines.extend(lines)
        self.told = usage


class HostDaemon:
    """Keeps a stream to the server, and the seats that it asks for."""

    def __init__(self, settings: HostSettings, sandbox: Sandbox) -> None:
        self._settings = settings
        self._sandbox = sandbox
        self._cores = Cores(settings.cores)
        self._doors = DoorPool(os.environ)
        self._seats: dict[str, Seat] = {}
        self._places = asyncio.Semaphore(settings.seats)
        self._reports: asyncio.Queue[pb.SeatReport] = asyncio.Queue()
        self._limits = ProgramLimits()
        self._shelf: Shelf | None = None
        self._temporary = Path()

    async def run(self, stop: asyncio.Event) -> None:
        """Host until `stop` is set.

        Raises:
            HostRefusedError: the server does not take this host.
        """
        async with removed_folder() as self._temporary:
            await self._run_seats(stop)

    async def _run_seats(self, stop: asyncio.Event) -> None:
        address, backoff = parse_address(self._settings.server), Backoff(SystemRandom())
        security = Security.from_environment()
        security.check_token(address, self._settings.token)
        self._doors.prepare()
        stopped = asyncio.create_task(stop.wait())
        looking = asyncio.create_task(self._look_at_usage())
        try:
            async with open_async_channel(address, security, channel_options(address)) as channel:
                stub = HostServiceStub(channel)
                folder = self._settings.folder or self._temporary / "programs"
                await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
                self._shelf = Shelf(
                    folder,
                    stub,
                    self._metadata,
                    wheelhouse=Wheelhouse(self._settings.wheelhouse),
                )
                await asyncio.to_thread(self._shelf.tidy)
                while not stopped.done():
                    serving = asyncio.create_task(self._serve(stub, backoff))
                    await asyncio.wait([serving, stopped], return_when=asyncio.FIRST_COMPLETED)
                    if not serving.done():
                        serving.cancel()
                    with suppress(asyncio.CancelledError):
                        await serving
                    if not stopped.done():
                        await asyncio.sleep(backoff.next().total_seconds())
        finally:
            stopped.cancel()
            looking.cancel()
            await self._close()

    async def _close(self) -> None:
        tasks = [seat.task for seat in self._seats.values() if seat.task is not None]
        for seat in self._seats.values():
            self._leave(seat)
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._doors.close()

    @property
    def _metadata(self) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {self._settings.token}"),)

    # -- the stream -----------------------------------------------------------------------

    async def _serve(self, stub: HostServiceAsyncStub, backoff: Backoff) -> None:
        """Do what the server asks for, over one stream, until that is lost."""
        call = stub.Run(metadata=self._metadata)
        writer = None
        try:
            await call.write(pb.RunRequest(hello=self._hello()))
            while isinstance(message := await call.read(), pb.RunResponse):
                fact = message.WhichOneof("fact")
                if fact == "welcome":
                    log.info("hosting for %s", self._settings.server)
                    backoff.reset()
                    self._limits = from_message(message.welcome.limits, ProgramLimits)
                    writer = asyncio.create_task(self._report(call))
                elif fact == "seat":
                    self._take(message.seat)
                elif fact == "unseat" and message.unseat.seat_id in self._seats:
                    self._leave(self._seats[message.unseat.seat_id])
        except grpc.aio.AioRpcError as error:
            if error.code() in REFUSALS:
                raise HostRefusedError(error.details() or error.code().name) from None
            log.warning("no server: %s", error.details() or error.code().name)
        except (asyncio.InvalidStateError, grpc.aio.UsageError):
            log.warning("the stream to the server has ended")
        finally:
            call.cancel()
            if writer is not None:
                writer.cancel()
                await asyncio.gather(writer, return_exceptions=True)

    @property
    def _kinds(self) -> Sequence[Kind]:
        """Images are for those whose sandbox is made of them."""
        return [kind for kind in Kind if kind is not Kind.IMAGE or self._sandbox.runs_images]

    @cached_property
    def _measures(self) -> bool:
        """Whether the processor time of programs can be told here."""
        findings = self._sandbox.check()
        return any(each.is_limited for each in findings if each.ability is Ability.CPU_TIME)

    def _hello(self) -> pb.HostHello:
        settings = self._settings
        return pb.HostHello(
            protocol_version=PROTOCOL_VERSION,
            name=settings.name,
            sandbox=self._sandbox.name,
            cpu_unmeasured=not self._measures,
            seats=settings.seats,
            cores=len(settings.cores),
            kinds=[value_of(ProgramKind, kind) for kind in self._kinds],
            hardware=settings.hardware,
            nodes_per_second=settings.nodes_per_second,
            owners=settings.owners,
            seat_ids=list(self._seats),
        )

    async def _look_at_usage(self) -> None:
        """Say what seats use while they play."""
        while True:
            await asyncio.sleep(REPORT_INTERVAL.total_seconds())
            for seat in self._seats.values():
                if seat.seating is not None and seat.state == pb.SEAT_STATE_SEATED:
                    report = pb.SeatReport(seat_id=seat.id, state=pb.SEAT_STATE_SEATED)
                    seat.tell(report, seat.seating.usage)
                    self._reports.put_nowait(report)

    async def _report(self, call: grpc.aio.StreamStreamCall[pb.RunRequest, pb.RunResponse]) -> None:
        """Say what becomes of seats, as it happens."""
        while True:
            report = await self._reports.get()
            await call.write(pb.RunRequest(reports=pb.SeatReports(reports=[report])))

    # -- seats ----------------------------------------------------------------------------

    def _take(self, told: pb.Seat) -> None:
        if told.seat_id not in self._seats:
            seat = self._seats[told.seat_id] = Seat(told.seat_id)
            seat.task = asyncio.create_task(self._play(seat, told))

    def _open(self, seat: Seat) -> None:
        seat.state = pb.SEAT_STATE_SEATED
        self._reports.put_nowait(pb.SeatReport(seat_id=seat.id, state=seat.state))

    def _leave(self, seat: Seat) -> None:
        seat.is_leaving = True
        if seat.seating is not None:
            seat.seating.stop()

    async def _play(self, seat: Seat, told: pb.Seat) -> None:
        """Have a program play until it ends."""
        assert self._shelf is not None
        report = pb.SeatReport(seat_id=seat.id, state=pb.SEAT_STATE_ENDED)
        try:
            async with self._places:
                if not seat.is_leaving:
                    ending = await self._run(seat, told)
                    log.info("%s: ended%s", told.bot, f": {ending.cause}" if ending.cause else "")
                    report.cause, report.host_fault = ending.cause, ending.is_hosts
                    seat.tell(report, ending.usage, ending.lines)
        except ShelfError as error:
            report.cause, report.host_fault = str(error), True
        except Exception as error:  # one program's trouble must not end the others
            log.exception("can't seat %s", told.bot)
            report.cause, report.host_fault = f"its host failed: {error}", True
        del self._seats[seat.id]
        self._reports.put_nowait(report)

    async def _run(self, seat: Seat, told: pb.Seat) -> Ending:
        assert self._shelf is not None
        prepared = await self._shelf.get(told)
        with socket_folder(self._temporary) as (sockets, user):
            settings = self._settings
            plan = Plan(
                server=settings.server,
                ticket=told.ticket,
                socket=str(sockets / "bot.sock"),
                bot=told.bot,
                digest=told.digest,
                label=told.label,
                hardware=settings.hardware,
                nodes_per_second=settings.nodes_per_second,
                memory_bytes=self._limits.memory_bytes,
                start_ms=self._limits.start_ms,
                user=user,
            )
            launch = Launch(
                name=seat.id,
                command=with_python(prepared.command),
                tree=prepared.tree,
                environment=dict(prepared.environment),
                socket_folder=sockets,
                runtime=runtime_folders(),
                image=prepared.image,
                limits=self._limits,
            )
            seat.seating = seating = Seating(
                launch,
                plan,
                sandbox=self._sandbox,
                cores=self._cores,
                doors=self._doors,
                owner=told.owner_id,
                opened=lambda: self._open(seat),
            )
            if seat.is_leaving:
                seating.stop()
            return await seating.run()
