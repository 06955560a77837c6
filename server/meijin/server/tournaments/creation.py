"""Creation: what a tournament is asked to be is validated, planned by its format, and stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from meijin.game import TimeControl, Variant, check_opening, decode_moves, openings_for
from meijin.server.errors import InvalidRequestError, invalid_request
from meijin.server.tournaments.formats import FORMATS
from meijin.server.tournaments.formats.base import Request
from meijin.server.tournaments.scheduler import MAX_AT_ONCE
from meijin.store import tournaments as store
from meijin.store.bots import get_bot
from meijin.store.schema import BotId, FormatName, TournamentId
from meijin.store.tournaments import NewTournament, ladder_name
from meijin.wire import Options

MAX_TEXT = 100
"""Characters of a tournament's name and of a request id."""

MAX_SEED = 2**63 - 1

MAX_INCREMENT = timedelta(hours=4)
"""A clock is told in milliseconds of 32 bits, 49 days: 7 to begin with and 241 increments."""


@dataclass(frozen=True, slots=True)
class TournamentSettings:
    """What a tournament is asked to be."""

    name: str
    format: FormatName
    options: Options | None
    """The format's own settings; ``None`` when they were left out."""
    bots: tuple[str, ...]
    """Their names; none for everyone who is there, where the format allows it."""
    rounds: int
    """0 when it was left out."""
    variant: Variant
    time_control: TimeControl
    seed: int
    openings: tuple[bytes, ...]
    """Two bytes a cell, little-endian; none for the server's own."""
    max_games: int
    """The most games at once; 0 leaves it to the bots."""
    is_rated: bool


def create(
    connection: Connection, settings: TournamentSettings, request_id: str, now: datetime
) -> TournamentId:
    """Store the tournament that a request asks for, or find the one that it has made already.

    Args:
        request_id: Makes a repeated request harmless; may be empty.

    Raises:
        InvalidRequestError: a setting has a value that it can't have.
        UnknownBotError: no bot has one of the names.
    """
    _check_room(settings, request_id)
    if request_id:
        known = store.find_request(connection, request_id)
        if known is not None:
            return known
    new = _plan(connection, settings, request_id)
    return store.add_tournament(connection, new, now)


def _check_room(settings: TournamentSettings, request_id: str) -> None:
    """Refuse what the store has no room for."""
    for field, text in (("name", settings.name), ("request_id", request_id)):
        if len(text) > MAX_TEXT:
            raise InvalidRequestError(f"{field} is longer than {MAX_TEXT} characters")
    bounds = (("seed", settings.seed, MAX_SEED), ("max_games", settings.max_games, MAX_AT_ONCE))
    for field, value, most in bounds:
        if value > most:
            raise InvalidRequestError(f"{field} {value} is above {most}")
    increment = settings.time_control.increment
    if increment > MAX_INCREMENT:
        raise InvalidRequestError(f"time_control: increment {increment} is above {MAX_INCREMENT}")


def _plan(connection: Connection, settings: TournamentSettings, request_id: str) -> NewTournament:
    form = FORMATS[settings.format]
    wanted = Request(
        bots=_entrants(connection, settings.bots, may_be_all=form.MAY_BE_OPEN),
        rounds=settings.rounds,
        seed=settings.seed,
        openings=_openings(settings),
        ladder=ladder_name(settings.variant),
        is_rated=settings.is_rated,
        options=settings.options,
    )
    plan = form.plan(connection, wanted)
    return NewTournament(
        name=settings.name,
        format=settings.format,
        rounds=plan.rounds,
        seed=settings.seed,
        variant=settings.variant,
        time_control=settings.time_control,
        max_games=settings.max_games,
        is_rated=settings.is_rated,
        bots=plan.bots,
        schedule=plan.games,
        request_id=request_id or None,
        openings=settings.openings,
        options=None if plan.options is None else dict(plan.options),
    )


def _entrants(
    connection: Connection, names: Sequence[str], *, may_be_all: bool
) -> tuple[BotId, ...]:
    if not names and may_be_all:
        return ()
    if len(names) < 2:  # noqa: PLR2004 - a game needs two
        raise InvalidRequestError("bots: a tournament needs at least two bots")
    bots: dict[BotId, None] = {}
    for name in names:
        bot_id = get_bot(connection, name)
        if bot_id in bots:
            raise InvalidRequestError(f'bots: "{name}" is named twice')
        bots[bot_id] = None
    return tuple(bots)


def _openings(settings: TournamentSettings) -> Sequence[Sequence[int]]:
    if not settings.openings:
        return openings_for(settings.variant)
    with invalid_request("openings"):
        openings = [tuple(decode_moves(opening)) for opening in settings.openings]
        for opening in openings:
            check_opening(opening, settings.variant)
    return openings
