"""A host's stream: what it is to seat, and what has become of that."""

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import grpc
import structlog
from sqlalchemy import Connection

from meijin.programs.depot import Depot
from meijin.programs.errors import DamagedProgramError, UnknownProgramError
from meijin.programs.kinds import ProgramKind, ProgramLimits
from meijin.server.access.caller import current_caller
from meijin.server.access.open_calls import OpenCalls
from meijin.server.api.answers.pages import id_of
from meijin.server.api.calls.interceptor import Context, check_decoded, write_in_time
from meijin.server.api.calls.limits import Limits
from meijin.server.api.calls.stream_ends import run_until_first
from meijin.server.errors import (
    HostingOffError,
    InvalidRequestError,
    NotFoundError,
    ProtocolError,
    StoppingError,
)
from meijin.server.match.lobby import Lobby
from meijin.server.storage import Storage
from meijin.server.tournaments.scheduler import Scheduler
from meijin.server.tournaments.seats import Host, Seat
from meijin.store.access.owners import find_owner
from meijin.store.access.tokens import add_token, new_secret, revoke_token
from meijin.store.programs.programs import get_program, set_state
from meijin.store.programs.usage import add_usage, append_log
from meijin.store.schema import OwnerId, ProgramId, ProgramState, ProgramUsage, TokenId, TokenKind
from meijin.store.schema.bots import REASON
from meijin.v1 import host_service_pb2 as pb
from meijin.v1 import hosting_service_pb2
from meijin.v1.host_service_pb2_grpc import HostServiceServicer
from meijin.wire.contract import PROTOCOL_VERSION
from meijin.wire.enums import value_of
from meijin.wire.mapping import to_message
from meijin.wire.text import plain_text

log = structlog.get_logger()

LAWLESS = frozenset({"process"})
"""Sandboxes that limit nothing."""
NO_OWNER = "-"
"""Stands among the owners of a host for bots that belong to nobody."""

MAX_SEATS = 10_000
MAX_REPORTS = 1000
"""Of a message."""
MAX_NAME = 40
"""Characters of what a machine is called."""

MAX_CAUSE, MAX_LINES = 200, 2000
"""Characters of why a program has ended, and lines that it has said."""

MAX_FAILED_STARTS = 3
"""A program that does not start so often, one time after the other, is suspended."""

TICKET_TIME = timedelta(days=2)
"""The most that a program is seated by one ticket."""


class HostServicer(HostServiceServicer):
    """Tells hosts what to seat."""

    def __init__(
        self,
        scheduler: Scheduler,
        lobby: Lobby,
        storage: Storage,
        *,
        limits: Limits,
        calls: OpenCalls,
        depot: Depot | None,
    ) -> None:
        self._seats = scheduler.seats
        self._lobby = lobby
        self._storage = storage
        self._limits = limits
        self._calls = calls
        self._depot = depot
        self._tickets: dict[str, TokenId] = {}
        self._failed_starts: Counter[ProgramId] = Counter()

    async def Run(  # type: ignore[override]  # grpc.aio takes a coroutine too
        self, request_iterator: object, context: Context
    ) -> None:
        self._opened()
        if self._lobby.is_draining:
            raise StoppingError("the server is stopping; come back")
        identity = current_caller.get().identity
        assert identity is not None
        with ExitStack() as held:
            ends = [held.enter_context(self._calls.hold(identity.token_id))]
            host, kept = await self._admit(context)
            unwanted = self._seats.join(host, kept)
            work = [self._read(host, context), self._write(host, unwanted, context)]
            try:
                await run_until_first(work, ends)
            finally:
                self._seats.leave(host)

    async def FetchProgram(
        self, request: pb.FetchProgramRequest, context: Context
    ) -> AsyncIterator[pb.FetchProgramResponse]:
        depot, program_id = self._opened(), id_of(request, "program_id", ProgramId)
        program = await self._storage.read(get_program, program_id)
        chunks = depot.read(program.digest)
        try:
            while chunk := await asyncio.to_thread(next, chunks, b""):
                yield pb.FetchProgramResponse(chunk=chunk)
        except (UnknownProgramError, DamagedProgramError) as error:
            log.warning("the bytes of a program are lost", program=program_id, error=str(error))
            raise NotFoundError(str(error)) from None

    def _opened(self) -> Depot:
        """The depot.

        Raises:
            HostingOffError: this server hosts nothing.
        """
        if self._depot is None:
            raise HostingOffError
        return self._depot

    async def _admit(self, context: Context) -> tuple[Host, Sequence[str]]:
        request = await context.read()
        check_decoded(request)
        if request is grpc.aio.EOF or request.WhichOneof("message") != "hello":
            raise ProtocolError("the first message must be a hello")
        hello = request.hello
        if hello.protocol_version != PROTOCOL_VERSION:
            raise ProtocolError(f"this server speaks protocol version {PROTOCOL_VERSION}")
        if not 0 < hello.seats <= MAX_SEATS:
            raise InvalidRequestError(f"seats must be 1 to {MAX_SEATS}")
        if len(hello.name) > MAX_NAME:
            raise InvalidRequestError(f"name is longer than {MAX_NAME} characters")
        known = {value_of(hosting_service_pb2.ProgramKind, kind): kind for kind in ProgramKind}
        kinds = {known[value] for value in hello.kinds if value in known}
        if hello.sandbox in LAWLESS and not hello.owners:
            raise InvalidRequestError(
                f"a host whose sandbox is {hello.sandbox} limits nothing: it must name the owners "
                "whose programs it runs"
            )
        owners = [await self._owner_id(name) for name in hello.owners]
        host = Host(
            secrets.token_hex(8),
            hello.name,
            hello.seats,
            kinds,
            owners,
            measures=not hello.cpu_unmeasured,
        )
        limits = to_message(ProgramLimits(), pb.ProgramLimits)
        await context.write(pb.RunResponse(welcome=pb.HostWelcome(limits=limits)))
        return host, hello.seat_ids

    async def _owner_id(self, name: str) -> OwnerId | None:
        if name == NO_OWNER:
            return None
        owner_id = await self._storage.read(find_owner, name)
        if owner_id is None:
            raise NotFoundError(f'no owner "{name}"; list the owners to see their names')
        return owner_id

    async def _read(self, host: Host, context: Context) -> None:
        """Take what it reports."""
        while (request := await context.read()) is not grpc.aio.EOF:
            check_decoded(request)
            if request.WhichOneof("message") != "reports":
                raise ProtocolError("after the hello only reports are expected")
            reports = request.reports.reports
            if len(reports) > MAX_REPORTS:
                raise InvalidRequestError(f"{len(reports)} reports; at most {MAX_REPORTS}")
            for report in reports:
                seat = host.seats.get(report.seat_id)
                if seat is not None:
                    await self._take(seat, report)

    async def _take(self, seat: Seat, report: pb.SeatReport) -> None:
        """Keep what a program has used, and what has become of it."""
        program, has_ended = seat.program, report.state == pb.SEAT_STATE_ENDED
        is_fault = has_ended and bool(report.cause) and not report.host_fault
        usage = ProgramUsage(
            starts=int(has_ended),
            cpu_ms=report.cpu_ms,
            memory_bytes=report.memory_bytes,
            output_bytes=report.output_bytes,
            limit=plain_text(report.cause[:MAX_CAUSE]) if is_fault else "",
        )
        failed = self._failed_starts
        if has_ended:
            self._seats.ended(seat)
            before = failed[program.program_id]
            failed[program.program_id] = 0 if seat.is_open else before + is_fault
            if report.cause:
                host = seat.host.name
                log.info("program ended", bot=program.bot, host=host, cause=report.cause)
        if has_ended or report.cpu_ms:
            is_refused = failed[program.program_id] >= MAX_FAILED_STARTS
            lines = report.lines[:MAX_LINES]
            await self._storage.write(
                note_run, program.program_id, usage, lines, is_refused=is_refused
            )
        if has_ended:
            await self._revoke(seat.id)

    async def _revoke(self, seat_id: str) -> None:
        token_id = self._tickets.pop(seat_id, None)
        if token_id is not None:
            await self._storage.write(revoke_token, token_id, datetime.now(UTC))

    async def _write(self, host: Host, unwanted: Collection[str], context: Context) -> None:
        """Tell it what to seat and what to stop, whenever there is something."""
        limit = self._limits.write_timeout
        for seat_id in unwanted:
            message = pb.RunResponse(unseat=pb.Unseat(seat_id=seat_id))
            await write_in_time(message, context, limit)
        while True:
            await host.wake.wait()
            host.wake.clear()
            for seat in host.take_unsent():
                if seat.is_leaving:
                    message = pb.RunResponse(unseat=pb.Unseat(seat_id=seat.id))
                else:
                    message = pb.RunResponse(seat=await self._seat_to_proto(seat))
                await write_in_time(message, context, limit)

    async def _seat_to_proto(self, seat: Seat) -> pb.Seat:
        """A seat with a fresh ticket of its own."""
        program, secret, now = seat.program, new_secret(TokenKind.SEAT.value), datetime.now(UTC)
        self._tickets[seat.id] = await self._storage.write(
            add_token,
            secret,
            TokenKind.SEAT,
            now,
            bot_id=program.bot_id,
            label=f"seat {seat.id}",
            creator=seat.host.name,
            expire_time=now + TICKET_TIME,
        )
        return pb.Seat(
            seat_id=seat.id,
            bot=program.bot,
            program_id=str(program.program_id),
            digest=program.digest,
            kind=value_of(hosting_service_pb2.ProgramKind, program.kind),
            size=program.size,
            label=program.label,
            file_name=program.file_name,
            ticket=secret,
            owner_id="" if program.owner_id is None else str(program.owner_id),
        )


def note_run(
    connection: Connection,
    program_id: ProgramId,
    usage: ProgramUsage,
    lines: Sequence[str],
    *,
    is_refused: bool,
) -> None:
    """Keep what a run has used and said; suspend a program that does not start any more."""
    now = datetime.now(UTC)
    add_usage(connection, program_id, usage, now)
    append_log(connection, program_id, lines)
    if is_refused:
        reason = f"it has not started {MAX_FAILED_STARTS} times: {usage.limit}"[:REASON]
        program = get_program(connection, program_id)
        if program.state is ProgramState.ADMITTED:
            set_state(connection, program, ProgramState.SUSPENDED, now, reason)
