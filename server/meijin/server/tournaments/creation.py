"""Creation: what a tournament is asked to be is validated, planned by its format, and stored."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from typing import TypeAlias

from sqlalchemy import Connection

from meijin.game import (
    TIME_CLASSES,
    Adjudication,
    TimeClasses,
    TimeControl,
    Variant,
    check_opening,
    decode_moves,
    openings_for,
)
from meijin.server.errors import BusyError, InvalidRequestError, invalid_request
from meijin.server.storage import Storage, retry_while_unavailable
from meijin.server.tournaments.formats import FORMATS
from meijin.server.tournaments.formats.base import PlannedGames, Request
from meijin.server.tournaments.owner_limits import OwnerLimits
from meijin.server.tournaments.scheduler import MAX_AT_ONCE
from meijin.store import tournaments as store
from meijin.store.access.audit import Act, Actor, add_act
from meijin.store.bots import get_bot
from meijin.store.people import is_person_name
from meijin.store.schema import BotId, FormatName, OwnerId, TournamentId, TournamentState
from meijin.store.tournaments import NewTournament, PlannedGame, ladder_name
from meijin.wire import Options
from meijin.wire.contract import MAX_OPENINGS
from meijin.wire.text import check_text

MAX_TEXT = 100
"""Characters of a tournament's name and of a request id."""

MAX_SEED = 2**63 - 1

MAX_FAULTS = 1_000_000
"""That a tournament may bear of one bot: as many as it may have games."""

_UNRATED_ALONE = {
    "time_controls": "games with different clocks are of no ladder's class; make it unrated",
    "adjudication": "ladders count games that are played to their end; make it unrated",
}
"""Why rated tournaments have none of these."""

MAX_BOTS = 1000
"""Bots that are entered in one tournament."""

"""Openings that are given to one."""

MAX_RUNNING = 1000
"""Tournaments that are played at once."""

MAX_LOAD = 2_000_000
"""Games that are to be played in all of them: each takes 41 bytes of memory."""

MAX_WAITING = 4
"""Large tournaments that are stored, or wait for it, at once."""

CHUNK = 500
"""Games that are stored in one commit, for which those of moves may have to wait.

As long as it takes, and this at most, the writer is left to others before the next.
"""

LONGEST_PAUSE = timedelta(seconds=0.1)

PLANNING = TournamentState.PLANNING

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
    time_controls: tuple[TimeControl, ...] = ()
    """Of each of `bots`; none where all have `time_control`."""
    adjudication: Adjudication | None = None
    """``None`` where games are played to their end."""
    max_faults: int = 0
    """It is cancelled when a bot has forfeited so many games; 0 for never."""


@dataclass(frozen=True, slots=True)
class _Planned:
    """A tournament as it is to be stored."""

    new: NewTournament
    """Without its games."""
    games: PlannedGames
    """Of its schedule; they are read one by one, since there may be a million."""


Here: TypeAlias = Callable[[Variant, TimeControl], frozenset[BotId]]
"""Tells which bots are connected and can play a variant by a time control."""


def _nobody(variant: Variant, time_control: TimeControl) -> frozenset[BotId]:  # noqa: ARG001
    return frozenset()


class Creator:
    """Makes tournaments, and stores large ones so that no game waits for it.

    A large schedule is stored part by part, between the commits of what is being played. The
    tournament is in planning meanwhile: nobody sees it and no game of it starts. What a server
    that ended left in planning is dropped, likewise part by part.
    """

    def __init__(
        self,
        storage: Storage,
        limits: OwnerLimits,
        time_classes: TimeClasses = TIME_CLASSES,
        here: Here = _nobody,
    ) -> None:
        """Make tournaments in a store.

        Args:
            limits: Of each owner.
            time_classes: By which rated games belong to ladders.
            here: Tells who is connected.
        """
        self._storage = storage
        self._limits = limits
        self._time_classes = time_classes
        self._here = here
        self._storing = asyncio.Lock()
        """Held while something is in planning that is not to be dropped."""
        self._waiting = 0
        self._left_over = asyncio.Event()
        self._left_over.set()
        """Something may be in planning that nobody stores."""

    async def create(
        self,
        settings: TournamentSettings,
        request_id: str,
        actor: Actor,
        owner_id: OwnerId | None = None,
    ) -> TournamentId:
        """Store the tournament that a request asks for, or find the one that it has made already.

        Args:
            request_id: Makes a repeated request harmless; may be empty.
            actor: Who asks, for the audit log.
            owner_id: Whose it is to be; ``None`` for an operator's.

        Raises:
            InvalidRequestError: a setting has a value that it can't have.
            NotFoundError: no bot has one of the names.
            QuotaError: it is too much for an owner.
            BusyError: there is too much to be played, or to be stored, already.
        """
        _check_room(settings, request_id)
        _check_terms(settings)
        made = await self._find(request_id)
        if made is not None:
            return made
        here: frozenset[BotId] = frozenset()
        if not settings.bots:
            here = self._here(settings.variant, settings.time_control)
        plan = partial(
            _plan,
            settings=settings,
            request_id=request_id,
            here=here,
            time_classes=self._time_classes,
            owner_id=owner_id,
            limits=self._limits,
        )
        planned = await self._storage.read(plan)
        if len(planned.games) <= CHUNK:
            add = partial(_add, planned=planned, actor=actor, limits=self._limits)
            return await self._storage.write(add, now=datetime.now(UTC))
        if self._waiting >= MAX_WAITING:
            raise BusyError(f"{self._waiting} large tournaments are being made; try again later")
        self._waiting += 1
        try:
            async with self._storing:
                made = await self._find(request_id)
                return await self._store(planned, actor) if made is None else made
        finally:
            self._waiting -= 1

    async def _find(self, request_id: str) -> TournamentId | None:
        if not request_id:
            return None
        found = await self._storage.read(store.find_request, request_id=request_id)
        return found[0] if found is not None and found[1] is not PLANNING else None

    async def _store(self, planned: _Planned, actor: Actor) -> TournamentId:
        """Store a large tournament part by part."""
        add = partial(_begin_planning, planned=planned, limits=self._limits)
        tournament_id = await self._storage.write(add, now=datetime.now(UTC))
        try:
            await self._store_games(tournament_id, planned.games)
            begin = partial(
                _begin,
                tournament_id=tournament_id,
                planned=planned,
                actor=actor,
                now=datetime.now(UTC),
            )
            await retry_while_unavailable(partial(self._storage.write, begin))
        except BaseException:
            self._left_over.set()
            raise
        return tournament_id

    async def _store_games(self, tournament_id: TournamentId, schedule: PlannedGames) -> None:
        games = iter(schedule)
        first = 1
        while part := await asyncio.to_thread(_next_part, games):
            add = partial(store.add_games, tournament_id=tournament_id, first=first, games=part)
            begin = time.monotonic()
            await retry_while_unavailable(partial(self._storage.write, add))
            await asyncio.sleep(min(time.monotonic() - begin, LONGEST_PAUSE.total_seconds()))
            first += len(part)

    async def run(self) -> None:
        """Drop what is left in planning, whenever there is something, for ever."""
        while True:
            await self._left_over.wait()
            self._left_over.clear()
            while await retry_while_unavailable(self._drop_part):
                pass

    async def _drop_part(self) -> bool:
        async with self._storing:
            return await self._storage.write(store.drop_half_made, limit=CHUNK)


def _next_part(games: Iterator[PlannedGame]) -> list[PlannedGame]:
    return list(islice(games, CHUNK))


def _begin(
    connection: Connection,
    *,
    tournament_id: TournamentId,
    planned: _Planned,
    actor: Actor,
    now: datetime,
) -> None:
    """Let a large tournament be played whose games are all stored."""
    store.begin(connection, tournament_id)
    add_act(connection, _creation(tournament_id, planned, actor, now))


def _creation(tournament_id: TournamentId, planned: _Planned, actor: Actor, now: datetime) -> Act:
    """The making of a tournament, for the audit log."""
    new = planned.new
    facts = {
        "name": new.name,
        "format": new.format,
        "bots": len(new.bots),
        "games": len(planned.games),
        "rated": new.is_rated,
    }
    return Act(actor, "create", f"tournament {tournament_id}", now, after=facts)


def _add(
    connection: Connection, *, planned: _Planned, actor: Actor, limits: OwnerLimits, now: datetime
) -> TournamentId:
    """Store a small tournament at once, unless its request has made one meanwhile."""
    known = _known(connection, planned.new)
    if known is not None:
        return known
    owner_id = planned.new.owner_id
    if owner_id is not None and store.is_in_planning(connection, owner_id):
        raise BusyError("a large tournament of yours is being made; try again later")
    _check_limits(connection, planned, limits, now)
    new = replace(planned.new, schedule=tuple(planned.games))
    tournament_id = store.add_tournament(connection, new, now)
    add_act(connection, _creation(tournament_id, planned, actor, now))
    return tournament_id


def _known(connection: Connection, new: NewTournament) -> TournamentId | None:
    if new.request_id is None:
        return None
    found = store.find_request(connection, new.request_id)
    if found is None:
        return None
    if found[1] is PLANNING:
        raise BusyError("the tournament of this request is being made; repeat it in a moment")
    return found[0]


def _begin_planning(
    connection: Connection, *, planned: _Planned, limits: OwnerLimits, now: datetime
) -> TournamentId:
    """Store a large tournament without its games.

    Whatever is in planning by now is left over, since one is stored at a time. Its games
    count when all are stored, so until then its owner can't make a small one beside it.
    """
    _check_limits(connection, planned, limits, now)
    store.forget_requests_in_planning(connection)
    return store.add_tournament(connection, planned.new, now, PLANNING)


def _check_limits(
    connection: Connection, planned: _Planned, limits: OwnerLimits, now: datetime
) -> None:
    """Refuse what is too much for the server, or for whose it is."""
    games = len(planned.games)
    check_load(connection, games)
    limits.check(connection, planned.new.owner_id, games, now)


def check_load(connection: Connection, games: int) -> None:
    """Refuse more than a server can hold at once.

    Raises:
        BusyError: so many games more are too many, or there are too many tournaments.
    """
    load = store.load_of(connection)
    if load.tournaments >= MAX_RUNNING:
        raise BusyError(
            f"{load.tournaments} tournaments are running, the most that may; cancel some"
        )
    if load.games + games > MAX_LOAD:
        raise BusyError(
            f"{load.games} games are to be played and these are {games}; at most {MAX_LOAD}"
        )


def _check_room(settings: TournamentSettings, request_id: str) -> None:
    """Refuse what the store has no room for."""
    for field, text in (("name", settings.name), ("request_id", request_id)):
        if len(text) > MAX_TEXT:
            raise InvalidRequestError(f"{field} is longer than {MAX_TEXT} characters")
        with invalid_request(field):
            check_text(text)
    bounds = (
        ("seed", settings.seed, MAX_SEED),
        ("max_games", settings.max_games, MAX_AT_ONCE),
        ("max_faults", settings.max_faults, MAX_FAULTS),
        ("number of bots", len(settings.bots), MAX_BOTS),
        ("number of openings", len(settings.openings), MAX_OPENINGS),
    )
    for field, value, most in bounds:
        if value > most:
            raise InvalidRequestError(f"{field} {value} is above {most}")
    for control in (settings.time_control, *settings.time_controls):
        if control.increment > MAX_INCREMENT:
            message = f"increment {control.increment} is above {MAX_INCREMENT}"
            raise InvalidRequestError(f"time_control: {message}")


def _check_terms(settings: TournamentSettings) -> None:
    """Refuse games that no ladder may have, and clocks of nobody or that can't be kept."""
    controls = settings.time_controls
    if settings.is_rated and (controls or settings.adjudication is not None):
        field = "time_controls" if controls else "adjudication"
        raise InvalidRequestError(f"{field}: {_UNRATED_ALONE[field]}")
    if controls and len(controls) != len(settings.bots):
        message = (
            f"{len(controls)} for {len(settings.bots)} bots; give one for each, in their order"
        )
        raise InvalidRequestError(f"time_controls: {message}")
    objection = FORMATS[settings.format].objection_to_sides(settings.options) if controls else ""
    if objection:
        raise InvalidRequestError(f"time_controls: {objection}")


def _plan(
    connection: Connection,
    *,
    settings: TournamentSettings,
    request_id: str,
    here: frozenset[BotId],
    time_classes: TimeClasses,
    owner_id: OwnerId | None,
    limits: OwnerLimits,
) -> _Planned:
    form = FORMATS[settings.format]
    bots = _entrants(connection, settings.bots, may_be_all=form.MAY_BE_OPEN)
    wanted = Request(
        bots=bots,
        rounds=settings.rounds,
        seed=settings.seed,
        openings=_openings(settings),
        ladder=ladder_name(settings.variant, time_classes.of(settings.time_control)),
        is_rated=settings.is_rated,
        options=settings.options,
        here=here,
    )
    plan = form.plan(connection, wanted)
    new = NewTournament(
        name=settings.name,
        format=settings.format,
        rounds=plan.rounds,
        seed=settings.seed,
        variant=settings.variant,
        time_control=settings.time_control,
        max_games=settings.max_games,
        is_rated=settings.is_rated,
        bots=plan.bots,
        schedule=(),
        request_id=request_id or None,
        openings=settings.openings,
        options=None if plan.options is None else dict(plan.options),
        time_classes=time_classes,
        time_controls=dict(zip(bots, settings.time_controls, strict=False)),
        adjudication=settings.adjudication,
        max_faults=settings.max_faults,
        owner_id=owner_id,
    )
    planned = _Planned(new, plan.games)
    if not request_id or store.find_request(connection, request_id) is None:
        _check_limits(connection, planned, limits, datetime.now(UTC))
    return planned


def _entrants(
    connection: Connection, names: Sequence[str], *, may_be_all: bool
) -> tuple[BotId, ...]:
    if not names and may_be_all:
        return ()
    if len(names) < 2:  # noqa: PLR2004 - a game needs two
        raise InvalidRequestError("bots: a tournament needs at least two bots")
    bots: dict[BotId, None] = {}
    for name in names:
        if is_person_name(name):
            raise InvalidRequestError(f'bots: "{name}" is a person, who plays challenges alone')
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
