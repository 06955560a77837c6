"""Classes: who is in one, what was handed in, why bots fail, and how they stand."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from starlette.responses import Response

from meijin.v1 import class_service_pb2 as pb
from meijin.v1 import fault_service_pb2 as fault_pb
from meijin.v1 import ladder_service_pb2 as ladder_pb
from meijin.v1 import token_service_pb2 as token_pb
from meijin.web.cache import LazyPage
from meijin.web.pages.ladders.reading import whole_table
from meijin.web.pages.programs.listing import newest_programs
from meijin.web.request import PageRequest, Private, see_other
from meijin.wire.text import minute_text


async def index(request: PageRequest) -> LazyPage | Response:
    """List the classes; a student is led to its own."""
    found = await request.services.classes.ListClasses(pb.ListClassesRequest(page_size=1000))
    bot = await _own_bot(request)
    if bot and found.classes:
        return see_other(f"/classes/{found.classes[0].name}")
    return request.page(
        "classes.html", bot=bot, classes=found.classes, deadline_of=_deadline, phase_of=_phase
    )


async def show(request: PageRequest) -> LazyPage:
    """Show a class to its teacher, or to a student as far as it is the student's own."""
    name, services = request.path["name"], request.services
    found = await services.classes.GetClass(pb.GetClassRequest(name=name))
    asked = ladder_pb.ListLaddersRequest(page_size=1000)
    ladders = (await services.ladders.ListLadders(asked)).ladders
    busiest = max(ladders, key=lambda each: each.games, default=ladder_pb.Ladder()).name
    ladder = request.text("ladder") or busiest
    bot, groups = await _own_bot(request), fault_pb.ListFaultGroupsResponse()
    is_projected = request.flag("projector")
    if not is_projected:
        of = fault_pb.ListFaultGroupsRequest(bot=bot, class_name="" if bot else name)
        groups = await services.faults.ListFaultGroups(of)
    programs = await newest_programs(request, bot) if bot and not is_projected else None
    return request.page(
        "class_projector.html" if is_projected else "class.html",
        found=found,
        phase=_phase(found.school_class),
        deadline=_deadline(found.school_class),
        handed_in=sum(bool(student.version_id) for student in found.students),
        ladders=[each.name for each in ladders],
        ladder=ladder,
        standings=await _standings(request, ladder, found.students),
        bot=bot,
        groups=groups.groups,
        programs=programs,
        faults=Counter(each for group in groups.groups for each in group.bots),
    )


async def _own_bot(request: PageRequest) -> str:
    """The bot of a student who has signed in; empty for whoever else."""
    if not request.is_signed_in:
        return ""
    own = await request.services.tokens.GetOwnToken(token_pb.GetOwnTokenRequest())
    return own.token.bot


async def _standings(
    request: PageRequest, ladder: str, students: Sequence[pb.Student]
) -> list[tuple[int, ladder_pb.Standing]]:
    """The lines of the class on a ladder; ranked among themselves, but one alone in the ladder."""
    if not ladder:
        return []
    asked = ladder_pb.GetStandingsRequest(ladder=ladder)
    handles = {student.handle for student in students}
    table = await whole_table(request.services, asked)
    lines = [line for line in table.standings if line.bot in handles]
    if len(handles) == 1:
        return [(line.rank, line) for line in lines]
    return list(enumerate(lines, start=1))


def _deadline(of: pb.Class) -> str:
    """The deadline in the zone in which it was set; empty without one."""
    if not of.HasField("deadline"):
        return ""
    offset = of.deadline_offset_minutes if of.HasField("deadline_offset_minutes") else None
    return minute_text(of.deadline.ToDatetime(UTC), offset)


def _phase(of: pb.Class) -> str:
    """Whether versions are taken: ``open``, ``until`` the deadline, or ``frozen`` since."""
    if not of.HasField("deadline"):
        return "open"
    return "frozen" if of.deadline.ToDatetime(UTC) <= datetime.now(UTC) else "until"


ROUTES = (Private("/classes", index), Private("/classes/{name}", show))
