"""The admission of a program, followed by the page that shows it."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any

import grpc
from grpc.aio import AioRpcError
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from meijin.v1 import hosting_service_pb2 as pb
from meijin.web.gateway import Services
from meijin.web.pages.programs.listing import LIST
from meijin.web.request import PageRequest
from meijin.web.state import SiteState
from meijin.web.streaming import EVENT_STREAM, PartedAnswer, transport_of

KEEP_ALIVE = timedelta(seconds=15)
"""After so long without a change the browser is told that the stream is alive."""

WRITE_TIMEOUT = timedelta(seconds=20)
"""How long a browser may take to read an event before its stream is ended."""

OPEN = frozenset({pb.PROGRAM_STATE_UPLOADED, pb.PROGRAM_STATE_CHECKING})
"""States in which an admission goes on."""


def is_open(program: pb.Program) -> bool:
    """Whether its admission goes on."""
    return program.state in OPEN


def mark_of(status: pb.WatchAdmissionResponse) -> str:
    """Differs where the page does."""
    return hashlib.sha256(status.SerializeToString(deterministic=True)).hexdigest()[:16]


async def first_status(services: Services, program_id: str) -> pb.WatchAdmissionResponse:
    """Where an admission stands now.

    Raises:
        AioRpcError: the visitor has no such program.
    """
    call = _watch(services, program_id)
    try:
        status = await anext(aiter(call))
    finally:
        call.cancel()
    assert isinstance(status, pb.WatchAdmissionResponse)
    return status


def _watch(services: Services, program_id: str) -> Any:  # noqa: ANN401 - gRPC's call, or a local one
    return services.hosting.WatchAdmission(pb.WatchAdmissionRequest(program_id=program_id))


class AdmissionEvents:
    """The stream of a page whose program is examined, or waits for it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = Request(scope, receive)
        site: SiteState = http.app.state.site
        request = PageRequest(http, site)
        marks = _marks(_watch(request.services, request.path["program_id"]))
        answer = PartedAnswer(marks, EVENT_STREAM, site.closing)
        with site.admissions.hold(request.visitor.host):
            await answer.send(receive, send, transport_of(scope), WRITE_TIMEOUT)


async def _marks(call: Any) -> AsyncGenerator[bytes]:  # noqa: ANN401 - as above
    """A mark at each change.

    Raises:
        AioRpcError: the call was refused before its first message.
    """
    has_begun = False
    reading = asyncio.ensure_future(call.read())
    try:
        while True:
            done, _ = await asyncio.wait((reading,), timeout=KEEP_ALIVE.total_seconds())
            if not done:
                yield b": here\n\n"
                continue
            if (status := reading.result()) is grpc.aio.EOF:
                return
            has_begun = True
            yield f"data: {mark_of(status)}\n\n".encode()
            reading = asyncio.ensure_future(call.read())
    except AioRpcError:
        if not has_begun:
            raise
    finally:
        reading.cancel()
        call.cancel()


ROUTES = (Route(f"{LIST}/{{program_id}}/events", AdmissionEvents(), methods=["GET"]),)
