"""Challenges: made by owners, operators and people, and taken back."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Connection

from meijin.game import (
    TimeControl,
    Variant,
    check_opening,
    decode_moves,
    encode_moves,
    openings_for,
)
from meijin.server.access.bots import bot_of
from meijin.server.access.caller import Caller
from meijin.server.access.challenge_budget import check_budget
from meijin.server.errors import (
    BusyError,
    InvalidRequestError,
    NotAllowedError,
    NotFoundError,
    WrongStateError,
    invalid_request,
)
from meijin.server.match.lobby import Lobby
from meijin.server.settings import Settings
from meijin.server.storage import Storage
from meijin.server.tournaments.control import TournamentControl
from meijin.server.tournaments.creation import check_load
from meijin.server.tournaments.formats.challenge import CHALLENGE, schedule
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store import bots, tournaments
from meijin.store.access.classes import class_of_key
from meijin.store.access.people import is_person_name
from meijin.store.rows import add_row
from meijin.store.schema import (
    Bot,
    BotId,
    Challenge,
    ChallengeColors,
    ChallengePolicy,
    TournamentId,
    TournamentState,
)
from meijin.store.tournaments import NewTournament
from meijin.store.tournaments import challenges as store
from meijin.store.tournaments.challenges import ChallengeRow, Maker
from meijin.wire.text import check_text

MAX_GAMES = 20
"""Of one challenge; as many openings may be given."""

MAX_REQUEST_ID = 60

LONGEST = TimeControl(timedelta(hours=4), timedelta(minutes=10), timedelta(hours=1))
"""Nobody's places are taken for days by one game."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeRequest:
    opponent: str
    challenger: str
    """Empty for the person who asks, and for the owner's one bot that is connected."""
    request_id: str
    games: int = 1
    variant: Variant
    time_control: TimeControl
    """The challenger's, and the opponent's where that is not told."""
    opponent_time_control: TimeControl | None
    colors: ChallengeColors = ChallengeColors.ALTERNATE
    openings: tuple[bytes, ...]
    """Two bytes a cell, little-endian; none for the empty board."""
    server_openings: bool
    """The server's own openings are dealt."""
    in_place_of: TournamentId | None = None
    """A challenge of the caller's that is taken back for it."""
    class_key: str = ""
    """The end of the class's link by which a person came."""

    @property
    def controls(self) -> tuple[TimeControl, TimeControl]:
        """The challenger's time control and the opponent's."""
        return self.time_control, self.opponent_time_control or self.time_control

    def check(self) -> None:
        """Accept it but for its openings.

        Raises:
            InvalidRequestError: something of it can't be.
        """
        if not 1 <= self.games <= MAX_GAMES:
            raise InvalidRequestError(f"games {self.games} is not between 1 and {MAX_GAMES}")
        if len(self.openings) > MAX_GAMES:
            raise InvalidRequestError(
                f"openings: {len(self.openings)} of them; at most {MAX_GAMES}"
            )
        if self.openings and self.server_openings:
            raise InvalidRequestError("openings: give some, or have the server's own, not both")
        if len(self.request_id) > MAX_REQUEST_ID:
            raise InvalidRequestError(f"request_id is longer than {MAX_REQUEST_ID} characters")
        with invalid_request("request_id"):
            check_text(self.request_id)
        for control in self.controls:
            for part in ("initial", "increment", "per_move"):
                value, most = getattr(control, part), getattr(LONGEST, part)
                if value is not None and value > most:
                    raise InvalidRequestError(f"time_control: {value} is above {most}")


@dataclass(frozen=True, slots=True)
class _Pair:
    challenger: Bot
    opponent: Bot


def maker_of(caller: Caller) -> Maker:
    return Maker(caller.owner_id, caller.person_id)


class ChallengeControl:
    def __init__(
        self,
        storage: Storage,
        lobby: Lobby,
        scheduler: Scheduler,
        control: TournamentControl,
        *,
        settings: Settings,
    ) -> None:
        self._storage = storage
        self._lobby = lobby
        self._scheduler = scheduler
        self._control = control
        self._settings = settings
        self._origins: dict[TournamentId, str] = {}
        """The address or class of the challenges by people that were running when the last was
        made."""

    async def create(self, caller: Caller, request: ChallengeRequest, address: str) -> ChallengeRow:
        """Make a challenge, or find the one that the request has made already.

        Args:
            address: Where the call comes from.

        Raises:
            InvalidRequestError: something of it can't be.
            NotFoundError: there is no such bot, or it is not the caller's.
            NotAllowedError: the opponent does not accept it.
            WrongStateError: one of the two is not there, or can't play it.
            QuotaError: the caller's budget is used up.
            BusyError: the server plays as many as it may.
        """
        request.check()
        # In a thread: twenty positions of hundreds of stones take longer than a move may wait.
        openings = await asyncio.to_thread(_openings, request)
        made = await self._storage.read(_find, caller, request)
        if made is None:
            here = frozenset(session.player.bot_id for session in self._lobby.sessions)
            pair = await self._storage.read(_find_pair, caller, request, here)
            self._check_players(pair, request)
            origin = ""
            if caller.person_id is not None:
                origin = await self._check_origin(address, request)
            made = await self._storage.write(
                _add, caller, pair, request, openings, settings=self._settings
            )
            if origin:
                self._origins[made] = origin
        await self._play(made, request.in_place_of)
        return await self._storage.read(store.get_challenge, made)

    async def _play(self, made: TournamentId, replaced: TournamentId | None) -> None:
        """Play a challenge, for the same opponent in the place of the one that it replaces."""
        if replaced is None:
            await self._control.play(made)
            return
        rows = [await self._storage.read(store.get_challenge, each) for each in (made, replaced)]
        if rows[1].state is TournamentState.RUNNING:  # the request was sent before with another
            await self._control.play(made)
            return
        is_same = rows[0].opponent_id == rows[1].opponent_id
        await self._control.play(made, place_of=replaced if is_same else None)
        async with self._control.changing:
            await self._control.follow(replaced, self._scheduler.take_back)

    def _check_players(self, pair: _Pair, request: ChallengeRequest) -> None:
        for bot, control in zip((pair.challenger, pair.opponent), request.controls, strict=True):
            objection = self._scheduler.objection(bot.id, request.variant, control)
            if objection is not None:
                raise WrongStateError(f'"{bot.name}" {objection}')

    async def _check_origin(self, address: str, request: ChallengeRequest) -> str:
        """Where a person comes from, whose places leave some to people from elsewhere.

        That is a class with as many places as it was given, or an address with half of all; a
        restart forgets who came whence.

        Raises:
            BusyError: as many play from there as may.
        """
        found = None
        if request.class_key:
            found = await self._storage.read(class_of_key, request.class_key)
        if found is None:
            origin, words, most = address, "your address", (self._settings.people_games + 1) // 2
        else:
            origin, words, most = f"class {found.name}", found.name, found.people
        runs = self._scheduler.runs
        self._origins = {key: at for key, at in self._origins.items() if key in runs}
        count = sum(
            at == origin and key != request.in_place_of for key, at in self._origins.items()
        )
        if count >= most:
            message = f"{count} people are playing from {words}, the most; try again later"
            raise BusyError(message)
        return origin

    async def take_back(self, caller: Caller, challenge_id: TournamentId) -> ChallengeRow:
        """Take a challenge back, of the caller's own or for an operator anybody's.

        Raises:
            NotAllowedError: it is somebody else's.
            WrongStateError: it is over.
        """
        async with self._control.changing:
            await self._storage.write(_take_back, caller, challenge_id)
            await self._control.follow(challenge_id, self._scheduler.take_back)
        return await self._storage.read(store.get_challenge, challenge_id)

    async def abandon(self, challenge_id: TournamentId) -> None:
        async with self._control.changing:
            run = self._scheduler.runs.get(challenge_id)
            if run is not None and not run.running:
                await self._storage.write(_cancel, challenge_id)
                await self._control.follow(challenge_id, self._scheduler.take_back)


def _openings(request: ChallengeRequest) -> tuple[bytes, ...]:
    if request.server_openings:
        return tuple(encode_moves(opening) for opening in openings_for(request.variant))
    with invalid_request("openings"):
        for opening in request.openings:
            check_opening(decode_moves(opening), request.variant)
    return request.openings or (b"",)


def _request_id(caller: Caller, request: ChallengeRequest) -> str | None:
    """Among those of tournaments, which hold no control character: nobody finds another's."""
    maker = maker_of(caller)
    who = f"person {maker.person_id}" if maker.person_id else f"owner {maker.owner_id or 0}"
    return f"\tchallenge of {who}: {request.request_id}" if request.request_id else None


def _find(connection: Connection, caller: Caller, request: ChallengeRequest) -> TournamentId | None:
    request_id = _request_id(caller, request)
    found = None if request_id is None else tournaments.find_request(connection, request_id)
    return found and found[0]


def _find_pair(
    connection: Connection, caller: Caller, request: ChallengeRequest, here: frozenset[BotId]
) -> _Pair:
    opponent = bots.bot_record(connection, bots.get_bot(connection, request.opponent))
    challenger = _challenger(connection, caller, request, here)
    if challenger.id == opponent.id:
        raise InvalidRequestError(f'opponent: "{opponent.name}" does not play itself')
    _check_policy(caller, challenger, opponent)
    return _Pair(challenger, opponent)


def _challenger(
    connection: Connection, caller: Caller, request: ChallengeRequest, here: frozenset[BotId]
) -> Bot:
    """The caller's own bot, or the person who asks."""
    if caller.person_id is not None:
        person = bots.bot_record(connection, caller.person_id)
        if request.challenger not in {"", person.name}:
            raise NotFoundError(f'you are "{person.name}", and no bot; leave the challenger out')
        return person
    if request.challenger:
        return bot_of(connection, caller, request.challenger)
    mine = [] if caller.owner_id is None else bots.bots_of(connection, caller.owner_id)
    there = [bot_id for bot_id in mine if bot_id in here]
    if len(there) != 1:
        raise InvalidRequestError(
            f"challenger: {len(there)} bots of yours are connected; name the one that is to play"
        )
    return bots.bot_record(connection, there[0])


def _check_policy(caller: Caller, challenger: Bot, opponent: Bot) -> None:
    if is_person_name(opponent.name) or (is_person_name(challenger.name) and not caller.person_id):
        raise NotAllowedError("people play bots, when they ask for it themselves")
    if caller.person_id is not None:
        if opponent.challenges is not ChallengePolicy.ANYONE:
            raise NotAllowedError(f'"{opponent.name}" does not play people; choose another bot')
        return
    is_own = opponent.owner_id is not None and opponent.owner_id == challenger.owner_id
    if opponent.challenges is ChallengePolicy.NONE and not is_own:
        raise NotAllowedError(
            f'"{opponent.name}" accepts no challenges; its owner may change that by '
            f"`meijin bot set {opponent.name} --challenges owners`"
        )


def _add(
    connection: Connection,
    caller: Caller,
    pair: _Pair,
    request: ChallengeRequest,
    openings: tuple[bytes, ...],
    *,
    settings: Settings,
) -> TournamentId:
    """Store a challenge with its games, unless its request has made one meanwhile."""
    made = _find(connection, caller, request)
    if made is not None:
        return made
    maker, now = maker_of(caller), caller.time
    if request.in_place_of is not None:
        _take_back(connection, caller, request.in_place_of, even_over=True)
    check_budget(connection, settings, maker, request.games, now)
    check_load(connection, request.games)
    new = _tournament(caller, pair, request, openings)
    challenge_id = tournaments.add_tournament(connection, new, now)
    challenge = Challenge(
        tournament_id=challenge_id,
        challenger_id=pair.challenger.id,
        opponent_id=pair.opponent.id,
        games=request.games,
        colors=request.colors,
        create_time=now,
        owner_id=maker.owner_id,
    )
    add_row(connection, challenge)
    if maker.person_id is None:
        facts = {"challenger": pair.challenger.name, "games": request.games}
        caller.note(connection, "challenge", f"bot {pair.opponent.name}", after=facts)
    return challenge_id


def _tournament(
    caller: Caller, pair: _Pair, request: ChallengeRequest, openings: tuple[bytes, ...]
) -> NewTournament:
    """The tournament that a challenge's games are of."""
    players = (pair.challenger.id, pair.opponent.id)
    controls = request.controls
    differ = controls[0] != controls[1]
    return NewTournament(
        name=f"{pair.challenger.name} - {pair.opponent.name}",
        format=CHALLENGE,
        rounds=request.games,
        seed=0,
        variant=request.variant,
        time_control=controls[0],
        max_games=1,
        is_rated=False,
        bots=players,
        schedule=schedule(*players, request.games, request.colors, openings),
        request_id=_request_id(caller, request),
        openings=() if request.server_openings else openings,
        time_controls=dict(zip(players, controls, strict=True)) if differ else {},
    )


def _take_back(
    connection: Connection, caller: Caller, challenge_id: TournamentId, *, even_over: bool = False
) -> None:
    challenge = store.get_challenge(connection, challenge_id)
    maker = maker_of(caller)
    is_limited = maker.owner_id is not None or maker.person_id is not None
    if is_limited and not store.is_made_by(challenge, maker):
        raise NotAllowedError(f"challenge {challenge_id} is somebody else's")
    if challenge.state is not TournamentState.RUNNING:
        if even_over:
            return
        raise WrongStateError(f"challenge {challenge_id} is {challenge.state.value}")
    _cancel(connection, challenge_id)
    if maker.person_id is None:
        caller.note(connection, "take back", f"challenge {challenge_id}")


def _cancel(connection: Connection, challenge_id: TournamentId) -> None:
    tournaments.set_state(connection, challenge_id, TournamentState.CANCELLED)
