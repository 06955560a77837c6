"""The audit log, for operators."""

from functools import partial

from google.protobuf.json_format import MessageToJson

from meijin.v1 import admin_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.request import PageRequest, Private

SHOWN = 100
"""Acts of a page."""


async def show(request: PageRequest) -> LazyPage:
    """Show what owners and operators have changed."""
    asked = pb.ListAuditRequest(of=request.text("of", most=140), page_size=SHOWN)
    as_json = partial(MessageToJson, indent=None, ensure_ascii=False)
    audit = request.services.admin.ListAudit
    return await request.list_page("audit.html", audit, asked, as_json=as_json)


ROUTES = (Private("/manage/audit", show),)
