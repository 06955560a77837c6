"""What speaks against a run: pairs, circles and trends that one strength each does not explain."""

from dataclasses import dataclass
from datetime import timedelta

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.drafts import Draft
from meijin.web.pages.ladders.downloads import json_draft, message_json
from meijin.web.pages.ladders.names import LadderName
from meijin.web.routes import Page
from meijin.web.visit import Visit

MAX_AGE = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class DiagnosisView:
    """What the page of a diagnosis shows."""

    name: LadderName
    found: pb.GetDiagnosisResponse
    is_known: bool
    """The run's release has looked."""


async def _found(visit: Visit) -> pb.GetDiagnosisResponse:
    request = pb.GetDiagnosisRequest(ladder=visit.place("name"), run_id=visit.text("run", most=20))
    return await visit.services.ladders.GetDiagnosis(request)


async def show(visit: Visit) -> Draft:
    """Show what speaks against a run."""
    found = await _found(visit)

    def view() -> DiagnosisView:
        name = LadderName.parse(found.ladder)
        return DiagnosisView(name, found, is_known=found.HasField("chi_square"))

    return visit.page("ladders/diagnosis.html", view, found)


async def show_json(visit: Visit) -> Draft:
    """The contract's answer as JSON."""
    found = await _found(visit)
    return json_draft(lambda: message_json(found), found)


ROUTES = (
    Page("/ladders/{name}/diagnosis.json", show_json, MAX_AGE),
    Page("/ladders/{name}/diagnosis", show, MAX_AGE),
)
