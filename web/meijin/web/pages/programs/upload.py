"""Uploads of programs: what a form sends, on its way to the server."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from http import HTTPStatus
from typing import Any, BinaryIO

import grpc
from grpc.aio import AioRpcError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException

from meijin.v1 import hosting_service_pb2 as pb
from meijin.web.forms import MAX_FIELD, Fields
from meijin.web.gateway import Services
from meijin.web.pages.programs.listing import LIST, show_form
from meijin.web.refusals import Refusal, bad_request, refusal_of
from meijin.web.request import MAX_FORM_BYTES, Answer, Form, PageRequest, see_other
from meijin.web.wording import text
from meijin.wire.contract import MAX_CHUNK_BYTES
from meijin.wire.text import memory_text

TIME_LIMIT = timedelta(minutes=10)
"""How long a browser may take to send a program."""

MAX_UPLOADS = 16
"""Of all visitors at once: each takes as much of the disk as a program."""

MAX_OF_VISITOR = 2
"""At once, by one token."""

BUSY_TIME = timedelta(seconds=5)
"""When one who is refused may try again."""

HASHED_BYTES = 1024 * 1024
"""Of a file that are read at once."""


@asynccontextmanager
async def _received(request: PageRequest, most: int) -> AsyncIterator[FormData]:
    """What the form has sent; its file is deleted when the context ends.

    Args:
        most: Bytes that a program may have.

    Raises:
        Refusal: it is too large, takes too long, or too many are under way.
    """
    token = request.visitor.token
    length = request.http.headers.get("content-length", "")
    if length.isdecimal() and int(length[:15]) > most + MAX_FORM_BYTES:
        raise bad_request(text("programs.too_large", most=memory_text(most)))
    uploads = request.site.uploads
    if uploads[token] >= MAX_OF_VISITOR or uploads.total() >= MAX_UPLOADS:
        busy = HTTPStatus.TOO_MANY_REQUESTS
        raise Refusal(busy, text("programs.too_many"), retry_after=BUSY_TIME)
    uploads[token] += 1
    try:
        form = await request.form(most=most + MAX_FORM_BYTES, files=1, limit=TIME_LIMIT)
        try:
            yield form
        finally:
            await form.close()
    finally:
        uploads[token] -= 1
        if not uploads[token]:
            del uploads[token]


async def take(request: PageRequest) -> Answer:
    """Take a program in, and show what becomes of it; the form is shown again if it is refused."""
    fields: Fields = {}
    try:
        most = await _most_bytes(request)
        async with _received(request, most) as form:
            fields = {name: _field(form, name) for name in ("bot", "label")}
            program = await _upload(request.services, form, fields)
    except AioRpcError as error:
        refusal = refusal_of(error)
        if refusal.status is HTTPStatus.UNAUTHORIZED:
            raise
    except Refusal as error:
        refusal = error
    except HTTPException as error:
        refusal = bad_request(error.detail)
    else:
        return see_other(f"{LIST}/{program.program_id}")
    return await show_form(request, fields, refusal)


async def _most_bytes(request: PageRequest) -> int:
    """The most bytes that the visitor's programs may have.

    Raises:
        AioRpcError: it may upload none.
    """
    asked = pb.ListProgramsRequest(page_size=1)
    return (await request.services.hosting.ListPrograms(asked)).max_program_bytes


def _field(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value.strip()[:MAX_FIELD] if isinstance(value, str) else ""


async def _upload(services: Services, form: FormData, fields: Fields) -> pb.Program:
    """Send the file of a form to the server.

    Raises:
        Refusal: there is no file.
        AioRpcError: the server does not take it.
    """
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        raise bad_request(text("programs.no_file"))
    digest = await asyncio.to_thread(_digest, file.file)
    size, name = file.size or 0, file.filename.replace("\\", "/").rpartition("/")[2]
    header = pb.ProgramHeader(
        digest=digest, size=size, file_name=name, bot=fields["bot"], label=fields["label"]
    )
    call = services.hosting.UploadProgram()
    try:
        await call.write(pb.UploadProgramRequest(header=header))
        begun = await _answer(call)
        if begun.HasField("program"):
            return begun.program
        await file.seek(begun.received)
        _, program = await asyncio.gather(_send(call, file), _whole(call))
        return program
    finally:
        call.cancel()


def _digest(file: BinaryIO) -> str:
    """SHA-256 of a file; in a thread."""
    found = hashlib.sha256()
    while part := file.read(HASHED_BYTES):
        found.update(part)
    return found.hexdigest()


async def _send(call: Any, file: UploadFile) -> None:  # noqa: ANN401 - gRPC's call, or a local one
    """Send what is left of a file; if the call ends, who reads its answers is told why."""
    while chunk := await file.read(MAX_CHUNK_BYTES):
        try:
            await call.write(pb.UploadProgramRequest(chunk=chunk))
        except (AioRpcError, asyncio.InvalidStateError):
            return


async def _whole(call: Any) -> pb.Program:  # noqa: ANN401 - as above
    """The program, once all of it is there."""
    while not (answer := await _answer(call)).HasField("program"):
        pass
    return answer.program


async def _answer(call: Any) -> pb.UploadProgramResponse:  # noqa: ANN401 - as above
    answer = await call.read()
    if answer is grpc.aio.EOF:
        raise Refusal(HTTPStatus.BAD_GATEWAY, text("programs.cut"))
    assert isinstance(answer, pb.UploadProgramResponse)
    return answer


ROUTES = (Form(LIST, take),)
