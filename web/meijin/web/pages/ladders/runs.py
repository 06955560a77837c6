"""The runs of a ladder that are kept, each of which has its table."""

from collections.abc import Sequence
from dataclasses import dataclass

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.drafts import Draft
from meijin.web.pages.ladders.names import LadderName
from meijin.web.routes import Page
from meijin.web.visit import Visit

SHOWN = 50
"""Runs of a page."""


@dataclass(frozen=True, slots=True)
class RunsView:
    """What the page of a ladder's runs shows."""

    name: LadderName
    runs: Sequence[pb.RatingRun]
    next_token: str
    """Leads to older ones; empty on the last page."""


async def show(visit: Visit) -> Draft:
    """Show the runs that are kept, newest first."""
    request = pb.ListRatingRunsRequest(
        ladder=visit.place("name"), page_size=SHOWN, page_token=visit.text("from", most=40)
    )
    found = await visit.services.ladders.ListRatingRuns(request)

    def view() -> RunsView:
        name = LadderName.parse(visit.place("name"))
        return RunsView(name, found.runs, found.next_page_token)

    return visit.page("ladders/runs.html", view, found)


ROUTES = (Page("/ladders/{name}/runs", show),)
