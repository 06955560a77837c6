"""The audit log, for operators."""

import json

from google.protobuf.struct_pb2 import Struct

from meijin.v1 import admin_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.request import PageRequest, Private
from meijin.wire.json import struct_object

SHOWN = 100
"""Acts of a page."""


async def show(request: PageRequest) -> LazyPage:
    """Show what owners and operators have changed."""
    asked = pb.ListAuditRequest(of=request.text("of", most=140), page_size=SHOWN)
    audit = request.services.admin.ListAudit
    return await request.list_page("audit.html", audit, asked, as_json=_as_json)


def _as_json(struct: Struct) -> str:
    return json.dumps(struct_object(struct), ensure_ascii=False)


ROUTES = (Private("/manage/audit", show),)
