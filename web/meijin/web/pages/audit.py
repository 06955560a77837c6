"""The audit log, for operators."""

from dataclasses import dataclass

from google.protobuf.json_format import MessageToJson
from google.protobuf.struct_pb2 import Struct
from starlette.responses import Response

from meijin.v1 import admin_service_pb2 as pb
from meijin.web.routes import Private
from meijin.web.visit import Visit

SHOWN = 100
"""Acts of a page."""


@dataclass(frozen=True, slots=True)
class ActLine:
    """What was changed, and by whom."""

    act: pb.Act
    before: str
    """As JSON; empty when it is new."""
    after: str


@dataclass(frozen=True, slots=True)
class AuditView:
    """A page of the log."""

    of: str
    """Whose acts, and to whom; empty for all."""
    lines: tuple[ActLine, ...]
    older: str
    """The address of the next page; empty on the last."""


async def show(visit: Visit) -> Response:
    """Show what owners and operators have changed."""
    of = visit.text("of", most=140)
    request = pb.ListAuditRequest(of=of, page_size=SHOWN, page_token=visit.text("page"))
    listed = await visit.services.admin.ListAudit(request)
    following = visit.address(page=listed.next_page_token) if listed.next_page_token else ""

    def view() -> AuditView:
        return AuditView(of, tuple(map(_line, listed.acts)), following)

    return await visit.answer("audit.html", view)


def _line(act: pb.Act) -> ActLine:
    before = _facts(act.before) if act.HasField("before") else ""
    return ActLine(act, before, _facts(act.after) if act.HasField("after") else "")


def _facts(struct: Struct) -> str:
    """What something was, on one line."""
    return MessageToJson(struct, indent=None, ensure_ascii=False)


ROUTES = (Private("/manage/audit", show),)
