"""Tournaments as they are made and stopped, for operators and whoever else may."""

import re
from http import HTTPStatus

from starlette.responses import Response

from meijin.v1 import tournament_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.forms import (
    CHOICES,
    USUAL,
    Fields,
    button,
    clock_of,
    form_page,
    number_of,
    offered_bots,
    variant_of,
)
from meijin.web.refusals import Refusal
from meijin.web.request import Answer, Form, PageRequest, Private, see_other
from meijin.wire.formats import CHALLENGE, USUAL_FORMAT, format_names, format_to_proto

LIST = "/manage/tournaments"

SHOWN = 50
"""Tournaments of a page."""

FORMATS = tuple(name for name in format_names() if name not in {"sprt", CHALLENGE})
"""Those that are asked for here: a test's hypotheses are given to commands."""

_BETWEEN = re.compile(r"[\s,;]+")


async def show(request: PageRequest) -> LazyPage:
    """List tournaments below the form for a new one."""
    return await _page(request, {"rated": "on"})


async def _page(request: PageRequest, fields: Fields, refusal: Refusal | None = None) -> LazyPage:
    bots = await offered_bots(request.services)
    chosen = _names(fields)
    offered = {bot.name for bot in bots}
    return await request.list_page(
        "made_tournaments.html",
        request.services.tournaments.ListTournaments,
        pb.ListTournamentsRequest(page_size=SHOWN),
        formats=FORMATS,
        bots=bots,
        chosen=chosen,
        others=[name for name in chosen if name not in offered],
        offered=CHOICES,
        values={**USUAL, "name": "", "format": USUAL_FORMAT, "rated": "", **fields},
        refusal=refusal,
        status=HTTPStatus.BAD_REQUEST if refusal else HTTPStatus.OK,
    )


async def make(request: PageRequest) -> Answer:
    async def act(fields: Fields) -> Response:
        asked = pb.CreateTournamentRequest(settings=_settings(fields))
        made = await request.services.tournaments.CreateTournament(asked)
        return see_other(f"/tournaments/{made.tournament.tournament_id}")

    return await form_page(request, act, _page, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


def _names(fields: Fields) -> list[str]:
    """The bots that are ticked or named, each once."""
    return list(dict.fromkeys(filter(None, _BETWEEN.split(fields.get("bots", "")))))


def _settings(fields: Fields) -> pb.TournamentSettings:
    """What the form asks for.

    Raises:
        ValueError: a field can't be what it should be.
    """
    form = fields.get("format", USUAL_FORMAT)
    if form not in FORMATS:
        raise ValueError(f'no format "{form}" is made here')
    return pb.TournamentSettings(
        name=fields.get("name", ""),
        bots=_names(fields),
        format=format_to_proto(form),
        rounds=number_of(fields, "rounds"),
        variant=variant_of(fields),
        time_control=clock_of(fields),
        unrated=not fields.get("rated"),
    )


def _set(verb: str, state: pb.TournamentState.ValueType) -> Form:
    return button(f"{LIST}/{{tournament_id}}/{verb}", pb.UpdateTournamentRequest, LIST, state=state)


ROUTES = (
    Private(LIST, show),
    Form(LIST, make),
    _set("cancel", pb.TOURNAMENT_STATE_CANCELLED),
    _set("resume", pb.TOURNAMENT_STATE_RUNNING),
)
