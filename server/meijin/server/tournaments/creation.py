"""Creation: what a tournament is asked to be is validated, planned by its format, and stored."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from typing import TypeAlias

from sqlalchemy import Connection

from meijin.game import TimeControl, Variant, check_opening, decode_moves
from meijin.server.errors import BusyError, InvalidRequestError, invalid_request
from meijin.server.settings import Settings
from meijin.server.storage import Storage, retry_while_unavailable
from meijin.server.tournaments.formats import FORMATS
from meijin.server.tournaments.owner_limits import check_owner
from meijin.server.tournaments.scheduler import MAX_AT_ONCE
from meijin.store import tournaments as store
from meijin.store.access.audit import Act, Actor, add_act
from meijin.store.access.people import is_person_name
from meijin.store.bots import get_bot
from meijin.store.schema import BotId, OwnerId, TournamentId, TournamentSettings, TournamentState
from meijin.store.tournaments import NewTournament, PlannedGames
from meijin.wire.contract import MAX_OPENINGS, MAX_SEED
from meijin.wire.text import check_text

MAX_TEXT = 100
"""Characters of a tournament's name and of a request id."""

MAX_FAULTS = 1_000_000
"""That a tournament may bear of one bot: as many as it may have games."""

MAX_BOTS = 1000
"""Bots that are entered in one tournament."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedTournament(TournamentSettings):
    bots: tuple[str, ...] = ()
    """Their names; none for everyone who is there, where the format allows it."""
    is_rated: bool
    time_controls: tuple[TimeControl, ...] = ()
    """Of each of `bots`; none where all have `time_control`."""


@dataclass(frozen=True, slots=True)
class _Planned:
    new: NewTournament
    actor: Actor
    settings: Settings

    def check(self, connection: Connection, now: datetime) -> None:
        """Refuse what is too much for the server, or for whose it is."""
        games = len(self.new.schedule)
        check_load(connection, games)
        if self.new.owner_id is not None:
            check_owner(connection, self.settings, self.new.owner_id, games, now)

    def note(self, connection: Connection, tournament_id: TournamentId, now: datetime) -> None:
        """Enter its making into the audit log."""
        new = self.new
        facts = {
            "name": new.name,
            "format": new.format,
            "bots": len(new.bots),
            "games": len(new.schedule),
            "rated": new.is_rated,
        }
        subject = f"tournament {tournament_id}"
        add_act(connection, Act(self.actor, "create", subject, now, after=facts))


Here: TypeAlias = Callable[[Variant, TimeControl], frozenset[BotId]]
"""Tells which bots are connected and can play a variant by a time control."""


class Creator:
    """Makes tournaments, and stores large ones so that no game waits for it.

    A large schedule is stored part by part, between the commits of what is being played. The
    tournament is in planning meanwhile: nobody sees it and no game of it starts. What a server
    that ended left in planning is dropped, likewise part by part.
    """

    def __init__(
        self,
        storage: Storage,
        settings: Settings,
        here: Here = lambda _variant, _control: frozenset(),
    ) -> None:
        """Make tournaments in a store.

        Args:
            settings: The limits of each owner, and by which classes games belong to ladders.
            here: Tells who is connected.
        """
        self._storage = storage
        self._settings = settings
        self._here = here
        self._storing = asyncio.Lock()
        """Held while something is in planning that is not to be dropped."""
        self._waiting = 0
        self._left_over = asyncio.Event()
        self._left_over.set()
        """Something may be in planning that nobody stores."""

    async def create(
        self,
        settings: RequestedTournament,
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
        if not settings.bots:  # looked up on the loop, where bots come and go
            here = self._here(settings.variant, settings.time_control)
        planned = await self._storage.read(
            self._plan, settings, request_id, actor, owner_id=owner_id, here=here
        )
        if len(planned.new.schedule) <= CHUNK:
            return await self._storage.write(_add, planned, datetime.now(UTC))
        if self._waiting >= MAX_WAITING:
            raise BusyError(f"{self._waiting} large tournaments are being made; try again later")
        self._waiting += 1
        try:
            async with self._storing:
                made = await self._find(request_id)
                return await self._store(planned) if made is None else made
        finally:
            self._waiting -= 1

    async def _find(self, request_id: str) -> TournamentId | None:
        if not request_id:
            return None
        found = await self._storage.read(store.find_request, request_id)
        return found[0] if found is not None and found[1] is not PLANNING else None

    def _plan(
        self,
        connection: Connection,
        settings: RequestedTournament,
        request_id: str,
        actor: Actor,
        *,
        owner_id: OwnerId | None,
        here: frozenset[BotId],
    ) -> _Planned:
        form = FORMATS[settings.format]
        bots = _entrants(connection, settings.bots, may_be_all=form.MAY_BE_OPEN)
        _check_openings(settings)
        asked = NewTournament(
            **settings.values(),
            bots=bots,
            is_rated=settings.is_rated,
            request_id=request_id or None,
            time_classes=self._settings.time_classes,
            time_controls=dict(zip(bots, settings.time_controls, strict=False)),
            owner_id=owner_id,
        )
        planned = _Planned(form.plan(connection, asked, here), actor, self._settings)
        if not request_id or store.find_request(connection, request_id) is None:
            planned.check(connection, datetime.now(UTC))
        return planned

    async def _store(self, planned: _Planned) -> TournamentId:
        """Store a large tournament part by part."""
        write = self._storage.write
        tournament_id = await write(_begin_planning, planned, datetime.now(UTC))
        try:
            await self._store_games(tournament_id, planned.new.schedule)
            begin = partial(write, _begin, tournament_id, planned, datetime.now(UTC))
            await retry_while_unavailable(begin)
        except BaseException:
            self._left_over.set()
            raise
        return tournament_id

    async def _store_games(self, tournament_id: TournamentId, schedule: PlannedGames) -> None:
        games = iter(schedule)
        first = 1
        while part := await asyncio.to_thread(list, islice(games, CHUNK)):
            begin = time.monotonic()
            write = partial(self._storage.write, store.add_games, tournament_id, first, part)
            await retry_while_unavailable(write)
            await asyncio.sleep(min(time.monotonic() - begin, LONGEST_PAUSE.total_seconds()))
            first += len(part)

    async def run(self) -> None:
        """Drop what is left in planning, whenever there is something."""
        while True:
            await self._left_over.wait()
            self._left_over.clear()
            while await retry_while_unavailable(self._drop_part):
                pass

    async def _drop_part(self) -> bool:
        async with self._storing:
            return await self._storage.write(store.drop_half_made, limit=CHUNK)


def _begin(
    connection: Connection, tournament_id: TournamentId, planned: _Planned, now: datetime
) -> None:
    """Let a large tournament be played whose games are all stored."""
    store.begin(connection, tournament_id)
    planned.note(connection, tournament_id, now)


def _add(connection: Connection, planned: _Planned, now: datetime) -> TournamentId:
    """Store a small tournament at once, unless its request has made one meanwhile."""
    known = _known(connection, planned.new)
    if known is not None:
        return known
    owner_id = planned.new.owner_id
    if owner_id is not None and store.is_in_planning(connection, owner_id):
        raise BusyError("a large tournament of yours is being made; try again later")
    planned.check(connection, now)
    tournament_id = store.add_tournament(connection, planned.new, now)
    planned.note(connection, tournament_id, now)
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


def _begin_planning(connection: Connection, planned: _Planned, now: datetime) -> TournamentId:
    """Store a large tournament without its games.

    Whatever is in planning by now is left over, since one is stored at a time. Its games
    count when all are stored, so until then its owner can't make a small one beside it.
    """
    planned.check(connection, now)
    store.forget_requests_in_planning(connection)
    new = replace(planned.new, schedule=())
    return store.add_tournament(connection, new, now, PLANNING)


def check_load(connection: Connection, games: int) -> None:
    """Refuse more than a server can hold at once.

    Raises:
        BusyError: with these there would be too many games, or there are too many tournaments.
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


def _check_room(settings: RequestedTournament, request_id: str) -> None:
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


def _check_terms(settings: RequestedTournament) -> None:
    """Refuse games that no ladder may have, and clocks of nobody or that can't be kept."""
    controls, bots = settings.time_controls, settings.bots
    objection = ""
    if controls and settings.is_rated:
        objection = "games with different clocks are of no ladder's class; make it unrated"
    elif controls and len(controls) != len(bots):
        objection = f"{len(controls)} for {len(bots)} bots; give one for each, in their order"
    elif controls:
        objection = FORMATS[settings.format].objection_to_sides(settings.options)
    if objection:
        raise InvalidRequestError(f"time_controls: {objection}")
    if settings.is_rated and settings.adjudication is not None:
        raise InvalidRequestError(
            "adjudication: ladders count games that are played to their end; make it unrated"
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
        if is_person_name(name):
            raise InvalidRequestError(f'bots: "{name}" is a person, who plays challenges alone')
        bot_id = get_bot(connection, name)
        if bot_id in bots:
            raise InvalidRequestError(f'bots: "{name}" is named twice')
        bots[bot_id] = None
    return tuple(bots)


def _check_openings(settings: RequestedTournament) -> None:
    with invalid_request("openings"):
        for opening in settings.openings:
            check_opening(decode_moves(opening), settings.variant)
