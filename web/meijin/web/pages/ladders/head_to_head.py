"""Two bots against each other: what was scored, and what is to be expected."""

from collections.abc import Sequence
from dataclasses import dataclass

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.drafts import Draft
from meijin.web.pages.ladders.columns import results, share_text
from meijin.web.pages.ladders.downloads import json_draft, message_json
from meijin.web.pages.ladders.names import LadderName
from meijin.web.refusals import bad_request
from meijin.web.routes import Page
from meijin.web.visit import Visit
from meijin.wire.standings import added, games_of


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A score of the first bot under some heading."""

    title: str
    """A key of a text, or a text of others."""
    games: int
    results: str
    share: str
    expected: float | None = None


@dataclass(frozen=True, slots=True)
class OpeningLine:
    """What was scored on an opening."""

    opening: str
    """Empty for the empty board."""
    games: int
    as_black: str
    as_white: str
    share: str


@dataclass(frozen=True, slots=True)
class HeadToHeadView:
    """What the page of two bots shows."""

    name: LadderName
    bot: str
    opponent: str
    met: pb.GetHeadToHeadResponse
    expectation: pb.Expectation | None
    by_color: Sequence[ScoreLine]
    openings: Sequence[OpeningLine]
    others: Sequence[ScoreLine]
    """On other ladders."""


async def _met(visit: Visit) -> pb.GetHeadToHeadResponse:
    bot, opponent = visit.text("bot"), visit.text("opponent")
    if not (bot and opponent):
        raise bad_request("name two bots: ?bot=...&opponent=...")
    request = pb.GetHeadToHeadRequest(ladder=visit.place("name"), bot=bot, opponent=opponent)
    return await visit.services.ladders.GetHeadToHead(request)


async def show(visit: Visit) -> Draft:
    """Show what two bots scored against each other."""
    met = await _met(visit)
    name = LadderName.parse(visit.place("name"))
    return visit.page("ladders/head_to_head.html", lambda: head_to_head_view(met, name), met)


def head_to_head_view(met: pb.GetHeadToHeadResponse, name: LadderName) -> HeadToHeadView:
    """Two bots as they are shown."""
    expected = met.expectation if met.HasField("expectation") else None
    clean, every = met.without_faults, met.all_versions
    return HeadToHeadView(
        name=name,
        bot=met.version.bot,
        opponent=met.opponent_version.bot,
        met=met,
        expectation=expected,
        by_color=[
            _line("black", met.as_black, expected and expected.score_as_black),
            _line("white", met.as_white, expected and expected.score_as_white),
            _line("both", added(met.as_black, met.as_white)),
            _line("clean", added(clean.as_black, clean.as_white)),
            _line("versions", added(every.as_black, every.as_white)),
        ],
        openings=[_opening(row) for row in met.openings],
        others=[
            _line(row.ladder, added(row.scores.as_black, row.scores.as_white))
            for row in met.elsewhere
        ],
    )


def _line(title: str, score: pb.Score, expected: float | None = None) -> ScoreLine:
    return ScoreLine(title, games_of(score), results(score), share_text(score), expected)


def _opening(row: pb.OpeningScores) -> OpeningLine:
    black, white = row.scores.as_black, row.scores.as_white
    both = added(black, white)
    return OpeningLine(
        row.opening, games_of(both), results(black), results(white), share_text(both)
    )


async def show_json(visit: Visit) -> Draft:
    """The contract's answer as JSON."""
    met = await _met(visit)
    return json_draft(lambda: message_json(met), met)


ROUTES = (
    Page("/ladders/{name}/head-to-head.json", show_json),
    Page("/ladders/{name}/head-to-head", show),
)
