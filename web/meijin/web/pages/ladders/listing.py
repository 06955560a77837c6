"""All ladders, the runs of one that are kept, and what speaks against one of these."""

from datetime import timedelta

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.pages.ladders.names import LadderName
from meijin.web.pages.ladders.reading import PAGE, as_json
from meijin.web.request import Page, PageRequest

RUNS = 50
"""Of a page."""

MAX_AGE = timedelta(seconds=10)
"""Of a diagnosis."""


async def show(request: PageRequest) -> LazyPage:
    """Show all ladders, or those of a rule or a class."""
    rule, time_class = request.text("rule"), request.text("time")
    found = await request.services.ladders.ListLadders(pb.ListLaddersRequest(page_size=PAGE))
    names = {each.name: LadderName.parse(each.name) for each in found.ladders}
    return request.page(
        "ladders/list.html",
        found=found,
        names=names,
        shown=[
            each
            for each in found.ladders
            if rule in {"", names[each.name].rule}
            and time_class in {"", names[each.name].time_class}
        ],
        rule=rule,
        time_class=time_class,
    )


async def show_runs(request: PageRequest) -> LazyPage:
    asked = pb.ListRatingRunsRequest(ladder=request.path["name"], page_size=RUNS)
    runs, name = request.services.ladders.ListRatingRuns, LadderName.parse(asked.ladder)
    return await request.list_page("ladders/runs.html", runs, asked, name=name)


async def _diagnosis(request: PageRequest) -> pb.GetDiagnosisResponse:
    asked = pb.GetDiagnosisRequest(ladder=request.path["name"], run_id=request.text("run", most=20))
    return await request.services.ladders.GetDiagnosis(asked)


async def show_diagnosis(request: PageRequest) -> LazyPage:
    """Show the pairs, circles and trends of a run that one strength each does not explain."""
    found = await _diagnosis(request)
    return request.page("ladders/diagnosis.html", found=found, name=LadderName.parse(found.ladder))


ROUTES = (
    Page("/ladders", show),
    Page("/ladders/{name}/runs", show_runs),
    Page("/ladders/{name}/diagnosis.json", as_json(_diagnosis), MAX_AGE),
    Page("/ladders/{name}/diagnosis", show_diagnosis, MAX_AGE),
)
