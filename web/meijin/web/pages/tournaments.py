"""The list of tournaments, the newest first."""

from dataclasses import dataclass

from meijin.v1 import tournament_service_pb2 as pb
from meijin.web.drafts import Draft
from meijin.web.labels import time_control_label, variant_label
from meijin.web.routes import Page
from meijin.web.visit import Visit
from meijin.web.wording import text

SHOWN = 50
"""Tournaments of a page."""

STATES = {
    pb.TOURNAMENT_STATE_RUNNING: "running",
    pb.TOURNAMENT_STATE_FINISHED: "finished",
    pb.TOURNAMENT_STATE_CANCELLED: "cancelled",
}


@dataclass(frozen=True, slots=True)
class TournamentLine:
    """One tournament of the list."""

    tournament: pb.Tournament
    format: str
    variant: str
    time_control: str
    state: str


@dataclass(frozen=True, slots=True)
class TournamentsView:
    """One page of the list."""

    tournaments: tuple[TournamentLine, ...]
    is_first: bool
    next_page: str
    """The token of the next page; empty on the last."""


async def tournaments(visit: Visit) -> Draft:
    """List tournaments."""
    request = pb.ListTournamentsRequest(page_size=SHOWN, page_token=visit.text("page"))
    response = await visit.services.tournaments.ListTournaments(request)

    def view() -> TournamentsView:
        lines = tuple(map(tournament_line, response.tournaments))
        return TournamentsView(lines, not request.page_token, response.next_page_token)

    return visit.page("tournaments.html", view, response)


def tournament_line(tournament: pb.Tournament) -> TournamentLine:
    """A tournament with its settings in words."""
    settings = tournament.settings
    state = STATES.get(tournament.state)
    return TournamentLine(
        tournament,
        format_label(settings.format),
        variant_label(settings.variant),
        time_control_label(settings.time_control),
        text(f"tournaments.state.{state}") if state else text("labels.unknown"),
    )


def format_label(form: pb.TournamentFormat.ValueType) -> str:
    """Who meets whom."""
    if form not in pb.TournamentFormat.values():
        return text("labels.unknown")
    name = pb.TournamentFormat.Name(form).removeprefix("TOURNAMENT_FORMAT_").lower()
    return text(f"tournaments.format.{name}")


ROUTES = (Page("/tournaments", tournaments),)
