"""One program: what its admission has found, what it has used and said, and what may be done."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from starlette.responses import Response

from meijin.v1 import hosting_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.forms import fields_of
from meijin.web.pages.programs.admission import first_status, is_open, mark_of
from meijin.web.pages.programs.listing import LIST
from meijin.web.refusals import bad_request
from meijin.web.request import Form, PageRequest, Private, see_other

CHANGES: Mapping[str, Mapping[str, Any]] = {
    "examine": {"state": pb.PROGRAM_STATE_UPLOADED},
    "reinstate": {"state": pb.PROGRAM_STATE_ADMITTED},
    "retire": {"state": pb.PROGRAM_STATE_RETIRED},
    "suspend": {"state": pb.PROGRAM_STATE_SUSPENDED},
    "use": {"current": True},
}
"""What each form sets."""


async def show(request: PageRequest) -> LazyPage:
    """Show a program, its findings and its log."""
    key = request.path["program_id"]
    hosting = request.services.hosting
    found, log = await asyncio.gather(
        first_status(request.services, key),
        hosting.ReadProgramLog(pb.ReadProgramLogRequest(program_id=key)),
    )
    return request.page(
        "program.html",
        program=found.program,
        before=found.before,
        cpu=timedelta(milliseconds=found.program.usage.cpu_ms),
        log=log,
        is_open=is_open(found.program),
        mark=mark_of(found),
    )


async def change(request: PageRequest) -> Response:
    """Change a program, as one of the forms says."""
    key, fields = request.path["program_id"], await fields_of(request)
    action = fields.get("action", "")
    if action not in CHANGES:
        raise bad_request(f"there is no action {action[:40]}")
    asked = pb.UpdateProgramRequest(
        program_id=key, reason=fields.get("reason", ""), **CHANGES[action]
    )
    await request.services.hosting.UpdateProgram(asked)
    return see_other(f"{LIST}/{key}")


ROUTES = (Private(f"{LIST}/{{program_id}}", show), Form(f"{LIST}/{{program_id}}", change))
