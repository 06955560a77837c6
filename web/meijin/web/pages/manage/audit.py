"""The audit log, for operators."""

import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from meijin.v1 import admin_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.labels import MAX_TEXT
from meijin.web.request import PageRequest, Private
from meijin.wire.json import struct_object

SHOWN = 100
"""Acts of a page."""

MAX_LINE = 6
"""Changes of a line; all of them are folded below it."""

_PEER = re.compile(r"ipv[46]:\[?(?P<host>.*?)\]?(:\d+)?")


async def show(request: PageRequest) -> LazyPage:
    """Show what owners and operators have changed."""
    asked = pb.ListAuditRequest(of=request.text("of", most=140), page_size=SHOWN)
    audit = request.services.admin.ListAudit
    return await request.list_page(
        "audit.html", audit, asked, changes=changes, host_of=host_of, max_line=MAX_LINE
    )


def changes(act: pb.Act) -> list[tuple[str, str, str]]:
    """The fields that an act has changed, each with its value before and after; empty for none."""
    before, after = [dict(_flat(struct_object(each))) for each in (act.before, act.after)]
    return [
        (name, before.get(name, ""), after.get(name, ""))
        for name in sorted(before | after)
        if before.get(name, "") != after.get(name, "")
    ]


def _flat(fields: Mapping[str, object], path: str = "") -> Iterator[tuple[str, str]]:
    """The fields that say something; those of an object by its name and theirs."""
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{name}.")
        elif value not in ("", None, []):
            told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield path + name, told[:MAX_TEXT]


def host_of(peer: str) -> str:
    """The host of an address as gRPC writes it; of any other all of it."""
    found = _PEER.fullmatch(unquote(peer))
    return found["host"] if found else peer


ROUTES = (Private("/manage/audit", show),)
