"""How the server is doing, for everybody."""

from dataclasses import dataclass
from datetime import timedelta

from meijin.v1 import status_service_pb2 as pb
from meijin.web.drafts import Draft
from meijin.web.routes import Page
from meijin.web.visit import Visit


@dataclass(frozen=True, slots=True)
class LadderLine:
    """How far a ladder's published run is."""

    ladder: pb.LadderActivity
    age: timedelta | None
    """Of the run; ``None`` before the first."""


@dataclass(frozen=True, slots=True)
class StatusView:
    """What goes on."""

    activity: pb.GetActivityResponse
    uptime: timedelta
    ladders: tuple[LadderLine, ...]


async def status(visit: Visit) -> Draft:
    """Show what goes on."""
    activity = await visit.services.status.GetActivity(pb.GetActivityRequest())

    def view() -> StatusView:
        return StatusView(
            activity,
            _age(activity.start_time.ToNanoseconds(), activity),
            tuple(_ladder(ladder, activity) for ladder in activity.ladders),
        )

    return visit.page("status.html", view, activity)


def _ladder(ladder: pb.LadderActivity, activity: pb.GetActivityResponse) -> LadderLine:
    has_run = ladder.HasField("run_time")
    return LadderLine(ladder, _age(ladder.run_time.ToNanoseconds(), activity) if has_run else None)


def _age(since_ns: int, activity: pb.GetActivityResponse) -> timedelta:
    """How long ago something was when all was looked up, in whole seconds."""
    seconds = (activity.time.ToNanoseconds() - since_ns) // 1_000_000_000
    return timedelta(seconds=max(0, seconds))


ROUTES = (Page("/status", status),)
