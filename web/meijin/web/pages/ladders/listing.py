"""All ladders, by rule and class of time controls."""

from collections.abc import Sequence
from dataclasses import dataclass

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.drafts import Draft
from meijin.web.pages.ladders.names import LadderName
from meijin.web.pages.ladders.reading import PAGE
from meijin.web.routes import Page
from meijin.web.visit import Visit


@dataclass(frozen=True, slots=True)
class Entry:
    """A ladder with what its name says."""

    ladder: pb.Ladder
    name: LadderName


@dataclass(frozen=True, slots=True)
class ListView:
    """What the list of ladders shows."""

    entries: Sequence[Entry]
    rules: Sequence[str]
    time_classes: Sequence[str]
    rule: str
    """The only one that is shown; empty for all."""
    time_class: str
    is_empty: bool
    """There is no ladder at all."""
    is_whole: bool
    """All ladders were looked at."""


async def show(visit: Visit) -> Draft:
    """Show all ladders, or those of a rule or a class."""
    rule, time_class = visit.text("rule"), visit.text("time")
    found = await visit.services.ladders.ListLadders(pb.ListLaddersRequest(page_size=PAGE))

    def view() -> ListView:
        entries = [Entry(each, LadderName.parse(each.name)) for each in found.ladders]
        return ListView(
            entries=[
                each
                for each in entries
                if rule in {"", each.name.rule} and time_class in {"", each.name.time_class}
            ],
            rules=sorted({each.name.rule for each in entries} - {""}),
            time_classes=sorted({each.name.time_class for each in entries} - {""}),
            rule=rule,
            time_class=time_class,
            is_empty=not entries,
            is_whole=not found.next_page_token,
        )

    return visit.page("ladders/list.html", view, found)


ROUTES = (Page("/ladders", show),)
