"""The fault ledger: what went wrong, whose fault it was, and the evidence."""

from meijin.v1 import fault_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.labels import by_word
from meijin.web.refusals import bad_request
from meijin.web.request import Page, PageRequest

SHOWN = 50
"""Faults of a page."""

MAX_NAME = 40
"""Characters of a bot's name."""

KINDS = by_word(pb.FaultKind)
"""What went wrong, by the words of addresses."""


async def show(request: PageRequest) -> LazyPage:
    """List faults by their causes, or each by itself, the newest first."""
    kind = request.text("kind")
    if kind and kind not in KINDS:
        raise bad_request(f'kind "{kind}" is none of {", ".join(KINDS)}')
    bot, game_id = request.text("bot", most=MAX_NAME), request.text("game", most=20)
    mirror = KINDS.get(kind, pb.FAULT_KIND_UNSPECIFIED)
    services, kinds = request.services.faults, tuple(KINDS)
    if game_id or request.flag("each"):
        asked = pb.ListFaultsRequest(game_id=game_id, bot=bot, kind=mirror, page_size=SHOWN)
        return await request.list_page("faults.html", services.ListFaults, asked, kinds=kinds)
    groups = pb.ListFaultGroupsRequest(bot=bot, kind=mirror, page_size=SHOWN)
    return await request.list_page("faults.html", services.ListFaultGroups, groups, kinds=kinds)


ROUTES = (Page("/faults", show),)
