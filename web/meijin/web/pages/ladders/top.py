"""The best of the ladder with most games, as the front page has them."""

from collections.abc import Sequence
from dataclasses import dataclass

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.gateway import Services
from meijin.web.pages.ladders.intervals import Bar, Scale
from meijin.web.pages.ladders.names import LadderName

SHOWN = 10


@dataclass(frozen=True, slots=True)
class TopLine:
    """One of the best."""

    standing: pb.Standing
    bar: Bar


@dataclass(frozen=True, slots=True)
class TopView:
    """What ``ladders/_top.html`` shows, as `top`."""

    name: LadderName
    scale: Scale
    lines: Sequence[TopLine]


async def read_top(
    services: Services, ladders: Sequence[pb.Ladder]
) -> pb.GetStandingsResponse | None:
    """The best of the ladder that has most games; ``None`` before the first run of any."""
    rated = [each for each in ladders if each.HasField("run_create_time")]
    if not rated:
        return None
    busiest = max(rated, key=lambda each: each.games)
    request = pb.GetStandingsRequest(ladder=busiest.name, page_size=SHOWN)
    return await services.ladders.GetStandings(request)


def top_view(table: pb.GetStandingsResponse) -> TopView:
    """The best of a table as they are shown."""
    scale = Scale.of(table.standings)
    lines = [TopLine(row, scale.bar(row)) for row in table.standings]
    return TopView(LadderName.parse(table.ladder.name), scale, lines)
