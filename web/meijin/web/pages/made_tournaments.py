"""Tournaments as they are made and stopped, for operators and whoever else may."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from grpc.aio import AioRpcError
from starlette.responses import Response

from meijin.v1 import tournament_service_pb2 as pb
from meijin.web.refusals import refusal_of
from meijin.web.routes import Form, Private
from meijin.web.terms import USUAL, TermsView, clock_of, fields_of, variant_of, whole
from meijin.web.visit import Visit, see_other
from meijin.wire import format_names, format_to_proto
from meijin.wire.formats import CHALLENGE, USUAL_FORMAT

SHOWN = 50
"""Tournaments of a page."""

LEFT_OUT = frozenset({"sprt", CHALLENGE})
"""Formats that are not asked for here: a test's hypotheses are given to commands."""

_BETWEEN = re.compile(r"[\s,;]+")


@dataclass(frozen=True, slots=True)
class MadeTournamentsView:
    """The form, and the tournaments that there are."""

    tournaments: tuple[pb.Tournament, ...]
    older: str
    """The address of the next page; empty on the last."""
    formats: tuple[str, ...]
    terms: TermsView
    values: Mapping[str, str]
    message: str = ""
    """Why the last form was refused."""


async def show(visit: Visit) -> Response:
    """List tournaments below the form for a new one."""
    return await _page(visit, {"rated": "on"})


async def _page(visit: Visit, fields: Mapping[str, str], message: str = "") -> Response:
    request = pb.ListTournamentsRequest(page_size=SHOWN, page_token=visit.text("page"))
    listed = await visit.services.tournaments.ListTournaments(request)
    following = visit.address(page=listed.next_page_token) if listed.next_page_token else ""
    values = {"name": "", "bots": "", "format": USUAL_FORMAT, "rated": "", **fields}

    def view() -> MadeTournamentsView:
        formats = tuple(name for name in format_names() if name not in LEFT_OUT)
        terms = TermsView({**USUAL, **fields})
        return MadeTournamentsView(
            tuple(listed.tournaments), following, formats, terms, values, message
        )

    status = HTTPStatus.BAD_REQUEST if message else HTTPStatus.OK
    return await visit.answer("made_tournaments.html", view, status=status)


async def make(visit: Visit) -> Response:
    """Make a tournament, and show it."""
    fields = fields_of(await visit.form())
    try:
        request = pb.CreateTournamentRequest(settings=_settings(fields))
        made = await visit.services.tournaments.CreateTournament(request)
    except ValueError as error:
        return await _page(visit, fields, str(error))
    except AioRpcError as error:
        refusal = refusal_of(error)
        if refusal.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            raise
        return await _page(visit, fields, str(refusal))
    return see_other(f"/tournaments/{made.tournament.tournament_id}")


def _settings(fields: Mapping[str, str]) -> pb.TournamentSettings:
    """What the form asks for.

    Raises:
        ValueError: a field can't be what it should be.
    """
    form = fields.get("format", USUAL_FORMAT)
    if form in LEFT_OUT or form not in format_names():
        raise ValueError(f'no format "{form}" is made here')
    return pb.TournamentSettings(
        name=fields.get("name", ""),
        bots=[name for name in _BETWEEN.split(fields.get("bots", "")) if name],
        format=format_to_proto(form),
        rounds=whole(fields, "rounds"),
        variant=variant_of(fields),
        time_control=clock_of(fields),
        unrated=not fields.get("rated"),
    )


async def cancel(visit: Visit) -> Response:
    """Stop a tournament."""
    request = pb.UpdateTournamentRequest(
        tournament_id=visit.place("key"), state=pb.TOURNAMENT_STATE_CANCELLED
    )
    await visit.services.tournaments.UpdateTournament(request)
    return see_other("/manage/tournaments")


async def resume(visit: Visit) -> Response:
    """Take a cancelled tournament up again."""
    request = pb.UpdateTournamentRequest(
        tournament_id=visit.place("key"), state=pb.TOURNAMENT_STATE_RUNNING
    )
    await visit.services.tournaments.UpdateTournament(request)
    return see_other("/manage/tournaments")


ROUTES = (
    Private("/manage/tournaments", show),
    Form("/manage/tournaments", make),
    Form("/manage/tournaments/{key}/cancel", cancel),
    Form("/manage/tournaments/{key}/resume", resume),
)
