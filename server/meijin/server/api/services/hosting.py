"""Hosting: programs uploaded, listed and changed, and their admissions followed."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, aclosing
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

import grpc
from sqlalchemy import Connection

from meijin.programs.depot import Depot
from meijin.server.access import programs as access
from meijin.server.access.bots import bot_of
from meijin.server.access.caller import Caller, current_caller
from meijin.server.access.permissions import check_call
from meijin.server.access.programs import ProgramUpdate, UploadRequest
from meijin.server.api.answers.messages import program_to_proto
from meijin.server.api.answers.pages import id_of, list_page, newest_first
from meijin.server.api.calls.interceptor import Context, check_decoded
from meijin.server.api.calls.limits import Limits, address_of
from meijin.server.errors import (
    DisabledError,
    HostingOffError,
    InvalidRequestError,
    LateSubmissionError,
    MeijinError,
    ProtocolError,
    StalledError,
    StoreAwayError,
    invalid_request,
)
from meijin.server.hosting.admissions import AdmissionWatch
from meijin.server.hosting.uploads import Upload, open_upload
from meijin.server.job_sender import JobSender
from meijin.server.match.lobby import Lobby
from meijin.server.settings import Settings
from meijin.server.storage import Storage
from meijin.server.tournaments.seats import Seats
from meijin.store.access import classes
from meijin.store.programs import programs as store
from meijin.store.programs import usage
from meijin.store.programs.programs import ProgramRow
from meijin.store.schema import BotId, ProgramId, ProgramLog, ProgramState
from meijin.v1 import hosting_service_pb2 as pb
from meijin.v1 import method_pb2
from meijin.v1.hosting_service_pb2_grpc import HostingServiceServicer
from meijin.wire.contract import MAX_CHUNK_BYTES
from meijin.wire.mapping import from_message, member_of

T = TypeVar("T")

STALL_LIMIT = timedelta(seconds=30)
"""How long an upload may send nothing."""

UPLOAD_LIMIT = timedelta(minutes=30)
"""How long an upload may take; then it goes on by another call."""

REPORT_BYTES = 1024 * 1024
"""Between two answers that say how much is there."""

SMALL_CHUNK_BYTES = 4096
SMALL_CHUNKS = 100
"""Chunks of a call may on average be this small, and a few smaller still: each is a thread's turn."""


class HostingServicer(HostingServiceServicer):
    """The programs of bots.

    Args:
        depot: Where their bytes are; ``None`` on a server that hosts none.
        admissions: Follows what becomes of them, and hears what changes here.
        examine: Tells the worker which ones are to be examined.
        seats: Where those that play are stopped, with their streams in the lobby.
    """

    def __init__(
        self,
        storage: Storage,
        depot: Depot | None,
        admissions: AdmissionWatch,
        examine: JobSender[ProgramId],
        *,
        seats: Seats,
        lobby: Lobby,
        settings: Settings,
        limits: Limits,
    ) -> None:
        self._storage = storage
        self._depot = depot
        self._admissions = admissions
        self._examine = examine
        self._seats = seats
        self._lobby = lobby
        self._settings = settings
        self._limits = limits
        self._ending = asyncio.Lock()
        """Held while bytes and row of a program become one: two bots may upload the same bytes."""

    async def UploadProgram(
        self, request_iterator: object, context: Context
    ) -> AsyncIterator[pb.UploadProgramResponse]:
        depot, caller = self._opened(), current_caller.get()
        end = asyncio.get_running_loop().time() + UPLOAD_LIMIT.total_seconds()
        wanted = (await _header(context)).checked(self._settings)
        bot_id, found = await self._begin(caller, wanted)
        if found is not None and await asyncio.to_thread(depot.has, wanted.digest):
            yield _whole(found, already_there=True)
            return
        with ExitStack() as held:
            held.enter_context(self._limits.uploads_of_bot.hold(bot_id))
            held.enter_context(self._limits.uploads.hold(address_of(context.peer())))
            held.enter_context(self._limits.uploads_of_all.hold("all"))
            async with open_upload(depot, wanted, str(bot_id)) as upload:
                yield pb.UploadProgramResponse(received=upload.received)
                async for received in _receive(upload, wanted, context, end):
                    yield pb.UploadProgramResponse(received=received)
                ending = asyncio.ensure_future(self._end(caller, wanted, upload))
                row, already_there = await _to_its_end(ending)
        yield _whole(row, already_there=already_there)

    async def _begin(
        self, caller: Caller, wanted: UploadRequest
    ) -> tuple[BotId, ProgramRow | None]:
        """The bot that a program is for, and the program if the bot has it already."""
        begin = partial(access.begin_upload, settings=self._settings, request=wanted)
        try:
            bot, found = await self._storage.read(begin, caller)
        except LateSubmissionError:
            await self._storage.write(_count_late_attempt, caller, wanted.bot, caller.time)
            raise
        return bot.id, found

    async def _end(
        self, caller: Caller, wanted: UploadRequest, upload: Upload
    ) -> tuple[ProgramRow, bool]:
        """Keep a program whose bytes are all there, and have it examined."""
        async with self._ending:
            try:
                kind = await upload.finish()
                row, already_there = await self._storage.write(
                    access.end_upload, caller, self._settings, wanted, kind
                )
            except StoreAwayError:  # it may be committed
                raise
            except MeijinError:
                if wanted.digest not in await self._storage.read(store.digests_in_use):
                    await upload.delete()
                raise
        if not already_there:
            self._examine.send(row.id)
            self._admissions.tell(row.bot_id)
        return row, already_there

    async def GetProgram(
        self, request: pb.GetProgramRequest, context: Context
    ) -> pb.GetProgramResponse:
        return pb.GetProgramResponse(program=program_to_proto(await self._program(request)))

    async def ListPrograms(
        self, request: pb.ListProgramsRequest, context: Context
    ) -> pb.ListProgramsResponse:
        self._opened()
        with invalid_request("state"):
            field = request.DESCRIPTOR.fields_by_name["state"]
            state = member_of(field, request.state, ProgramState) if request.state else None
        query = partial(_list, caller=current_caller.get(), bot=request.bot, state=state)
        to_proto = partial(program_to_proto, with_findings=False)
        page = await list_page(
            self._storage, request, pb.ListProgramsResponse, newest_first(query), to_proto
        )
        quota = await self._storage.read(_quota, current_caller.get(), self._settings, request.bot)
        most = self._settings.max_program_bytes
        page.MergeFrom(pb.ListProgramsResponse(quota=quota, max_program_bytes=most))
        return page

    async def UpdateProgram(
        self, request: pb.UpdateProgramRequest, context: Context
    ) -> pb.UpdateProgramResponse:
        """Change a program; one that is suspended stops at once.

        What else it means for games that are to come is up to those who listen.
        """
        self._opened()
        caller = current_caller.get()
        with invalid_request():
            change = from_message(request, ProgramUpdate)
        if change.is_operators:
            check_call(self._settings, method_pb2.PERMISSION_OPERATOR, caller.identity)
        program_id = id_of(request, "program_id", ProgramId)
        row = await self._storage.write(access.update, caller, program_id, change.checked())
        if row.state is ProgramState.UPLOADED:
            self._examine.send(row.id)
        self._admissions.tell(row.bot_id)
        if row.state is ProgramState.SUSPENDED:
            self._stop(row)
        return pb.UpdateProgramResponse(program=program_to_proto(row))

    def _stop(self, row: ProgramRow) -> None:
        """Have a program that plays stop; what becomes of its game is as of a disabled bot's."""
        if self._seats.dismiss(row.bot_id, row.id):
            words = f'program {row.id} of "{row.bot}" is suspended: {row.reason}'
            self._lobby.expel_program(row.bot_id, DisabledError(words))

    async def WatchAdmission(
        self, request: pb.WatchAdmissionRequest, context: Context
    ) -> AsyncIterator[pb.WatchAdmissionResponse]:
        row = await self._program(request)
        async with aclosing(self._admissions.follow(row.id)) as statuses:
            async for status in statuses:
                program = program_to_proto(status.program)
                yield pb.WatchAdmissionResponse(program=program, before=status.before)

    async def ReadProgramLog(
        self, request: pb.ReadProgramLogRequest, context: Context
    ) -> pb.ReadProgramLogResponse:
        self._opened()
        program_id = id_of(request, "program_id", ProgramId)
        found = await self._storage.read(_log, current_caller.get(), program_id)
        return pb.ReadProgramLogResponse(lines=found.text.splitlines(), cut=found.is_cut)

    async def _program(
        self, request: pb.GetProgramRequest | pb.WatchAdmissionRequest
    ) -> ProgramRow:
        """The program that is asked for, if it is the caller's."""
        self._opened()
        program_id = id_of(request, "program_id", ProgramId)
        return await self._storage.read(access.program_of, current_caller.get(), program_id)

    def _opened(self) -> Depot:
        """Where programs are kept, on a server that hosts any."""
        if self._depot is None:
            raise HostingOffError
        return self._depot


async def _header(context: Context) -> UploadRequest:
    request = await _read(context, STALL_LIMIT.total_seconds())
    if request is None or request.WhichOneof("message") != "header":
        raise ProtocolError("the first message must be a header")
    with invalid_request():
        return from_message(request.header, UploadRequest)


async def _receive(
    upload: Upload, wanted: UploadRequest, context: Context, end: float
) -> AsyncIterator[int]:
    """Take chunks until all bytes are there; tell now and then how many are.

    Raises:
        InvalidRequestError: what comes is no chunk, or is too large, too small or too much.
        StalledError: nothing comes for too long, or the upload takes too long.
    """
    chunks = SMALL_CHUNKS + wanted.size // SMALL_CHUNK_BYTES
    reported, clock = upload.received, asyncio.get_running_loop().time
    while not upload.is_whole:
        limit = min(STALL_LIMIT.total_seconds(), end - clock())
        request = await _read(context, limit)
        if request is None:
            words = f"the upload ended after {upload.received} of {wanted.size} bytes"
            raise InvalidRequestError(f"{words}; send the rest")
        if request.WhichOneof("message") != "chunk":
            raise ProtocolError("after the header only chunks are expected")
        if len(request.chunk) > MAX_CHUNK_BYTES:
            words = f"chunk: {len(request.chunk)} bytes; at most {MAX_CHUNK_BYTES} are taken"
            raise InvalidRequestError(words)
        chunks -= 1
        if not chunks:
            raise InvalidRequestError(f"chunk: too many small ones; send {MAX_CHUNK_BYTES} bytes")
        await upload.write(request.chunk)
        if upload.received - reported >= REPORT_BYTES and not upload.is_whole:
            reported = upload.received
            yield reported


async def _read(context: Context, seconds: float) -> pb.UploadProgramRequest | None:
    """The next message; ``None`` after the last."""
    try:
        async with asyncio.timeout(seconds):
            request = await context.read()
    except TimeoutError:
        raise StalledError("nothing came for too long; the upload may go on from here") from None
    if request is grpc.aio.EOF:
        return None
    check_decoded(request)
    return request  # type: ignore[no-any-return]  # of the method


async def _to_its_end(work: "asyncio.Future[T]") -> T:
    """Wait for what is done to its end, though the caller may leave: half of it helps nobody."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise


def _whole(row: ProgramRow, *, already_there: bool) -> pb.UploadProgramResponse:
    program = program_to_proto(row)
    return pb.UploadProgramResponse(received=row.size, program=program, already_there=already_there)


def _count_late_attempt(connection: Connection, caller: Caller, bot: str, now: datetime) -> None:
    bot_id = caller.bot_id or bot_of(connection, caller, bot).id
    classes.count_late_attempt(connection, bot_id, now)


def _list(
    connection: Connection,
    *,
    caller: Caller,
    bot: str,
    state: ProgramState | None,
    limit: int,
    before: int | None,
) -> Sequence[ProgramRow]:
    """Programs that the caller manages."""
    bot_id = access.managed_bot(connection, caller, bot).id if bot else caller.bot_id
    return store.list_programs(
        connection,
        limit=limit,
        before=before,
        bot_id=bot_id,
        owner_id=caller.owner_id,
        state=state,
    )


def _quota(
    connection: Connection, caller: Caller, settings: Settings, bot: str
) -> pb.ProgramQuota | None:
    """What the caller's programs take and may take; ``None`` for an operator who names no bot."""
    bot_id, owner_id = caller.bot_id, caller.owner_id
    if bot or bot_id is not None:
        named = access.managed_bot(connection, caller, bot)
        bot_id, owner_id = named.id, named.owner_id
    if bot_id is None and owner_id is None:
        return None
    held = store.holdings(connection, bot_id=bot_id, owner_id=owner_id)
    most = access.quota_of(connection, settings, owner_id)
    quota = pb.ProgramQuota(
        programs=held.programs,
        most_programs=most.programs,
        bytes=held.size,
        most_bytes=most.size,
    )
    used = usage.cpu_today(connection, caller.time, bot_id=bot_id, owner_id=owner_id)
    quota.cpu.FromTimedelta(used)
    quota.most_cpu.FromTimedelta(most.cpu)
    return quota


def _log(connection: Connection, caller: Caller, program_id: ProgramId) -> ProgramLog:
    return usage.read_log(connection, access.program_of(connection, caller, program_id).id)
