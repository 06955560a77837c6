"""The fault ledger: what went wrong, whose fault it was, and the evidence."""

from dataclasses import dataclass

from meijin.v1 import fault_service_pb2 as pb
from meijin.web.drafts import Draft
from meijin.web.fault_lines import KINDS, FaultLine, fault_lines, kind_label
from meijin.web.refusals import bad_request
from meijin.web.routes import Page
from meijin.web.visit import Visit

SHOWN = 50
"""Faults of a page."""

MAX_NAME = 40
"""Characters of a bot's name."""

VALUES = {word: value for value, word in KINDS.items()}


@dataclass(frozen=True, slots=True)
class FaultsView:
    """One page of the ledger."""

    faults: tuple[FaultLine, ...]
    pauses: tuple[pb.Pause, ...]
    """That last, of the bot that was asked for."""
    bot: str
    kind: str
    """As an address has it; empty for all."""
    kinds: tuple[tuple[str, str], ...]
    """What may be asked for: as an address has it, and for people."""
    is_first: bool
    next_page: str
    """The token of the next page; empty on the last."""


async def faults(visit: Visit) -> Draft:
    """List faults, the newest first."""
    kind = visit.text("kind")
    if kind and kind not in VALUES:
        raise bad_request(f'kind "{kind}" is none of {", ".join(VALUES)}')
    request = pb.ListFaultsRequest(
        bot=visit.text("bot", most=MAX_NAME),
        game_id=visit.text("game", most=20),
        kind=VALUES.get(kind, pb.FAULT_KIND_UNSPECIFIED),
        page_size=SHOWN,
        page_token=visit.text("page"),
    )
    response = await visit.services.faults.ListFaults(request)

    def view() -> FaultsView:
        return FaultsView(
            faults=fault_lines(response.faults),
            pauses=tuple(response.pauses),
            bot=request.bot,
            kind=kind,
            kinds=tuple((word, kind_label(value)) for word, value in VALUES.items()),
            is_first=not request.page_token,
            next_page=response.next_page_token,
        )

    return visit.page("faults.html", view, response)


ROUTES = (Page("/faults", faults),)
