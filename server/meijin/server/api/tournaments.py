"""Tournaments: made, followed, stopped and taken up again."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Connection

from meijin.game import Variant, check_opening, openings_for
from meijin.server.api.convert import (
    openings_from_proto,
    requested_time_control,
    requested_variant,
)
from meijin.server.api.convert_games import game_to_proto
from meijin.server.api.convert_tournaments import (
    crosstable_to_proto,
    fill,
    meetings_to_proto,
    requested_format,
    standings_to_proto,
    tournament_to_proto,
)
from meijin.server.api.interceptor import Context
from meijin.server.api.requests import number, page_key, read_page
from meijin.server.errors import InvalidRequestError, WrongStateError
from meijin.server.match.feed import Event, EventKind, Feed, GameEvent, StateEvent, tournament_topic
from meijin.server.storage import Storage
from meijin.server.tournaments.control import TournamentControl
from meijin.server.tournaments.formats import FORMATS
from meijin.server.tournaments.formats.base import Request
from meijin.server.tournaments.formats.report import Report
from meijin.server.tournaments.run import run_of
from meijin.server.tournaments.scheduler import MAX_AT_ONCE, Scheduler
from meijin.server.views.games import live_summary
from meijin.server.views.tournaments import TournamentDetail, tournament_detail
from meijin.store import tournaments as store
from meijin.store.bots import get_bot
from meijin.store.schema import BotId, TournamentId, TournamentState
from meijin.store.tournaments import NewTournament, TournamentRow, ladder_name
from meijin.v1 import tournament_service_pb2 as pb
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceServicer
from meijin.wire import format_field

MAX_TEXT = 100
"""Characters of a tournament's name and of a request id."""

MAX_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class StoredTournament:
    """A tournament as it is told of."""

    row: TournamentRow
    detail: object | None = None
    """What only its format tells."""


class TournamentServicer(TournamentServiceServicer):
    """The server's tournaments."""

    def __init__(
        self, control: TournamentControl, scheduler: Scheduler, storage: Storage, feed: Feed
    ) -> None:
        self._control = control
        self._scheduler = scheduler
        self._storage = storage
        self._feed = feed

    async def CreateTournament(
        self, request: pb.CreateTournamentRequest, context: Context
    ) -> pb.CreateTournamentResponse:
        """Make a tournament and start it, once for a request id."""
        found = await self._storage.write(partial(_create, request=request))
        await self._control.play(found.row.id)
        return pb.CreateTournamentResponse(tournament=self._to_proto(found))

    async def GetTournament(
        self, request: pb.GetTournamentRequest, context: Context
    ) -> pb.GetTournamentResponse:
        """Show a tournament with its crosstable."""
        tournament_id = _id(request.tournament_id)
        detail, found, report = await self._storage.read(
            partial(_detail, tournament_id=tournament_id)
        )
        return pb.GetTournamentResponse(
            tournament=self._to_proto(found),
            crosstable=crosstable_to_proto(detail.crosstable),
            faults=[pb.FaultCount(bot=line.bot, faults=line.faults) for line in detail.faults],
            standings=standings_to_proto(report, dict(found.row.bots)),
            meetings=meetings_to_proto(report, dict(found.row.bots)),
        )

    async def ListTournaments(
        self, request: pb.ListTournamentsRequest, context: Context
    ) -> pb.ListTournamentsResponse:
        """List tournaments, newest first."""
        page = await read_page(
            self._storage,
            partial(store.list_tournaments, before=page_key(request.page_token)),
            size=request.page_size,
            token=lambda row: row.id,
        )
        return pb.ListTournamentsResponse(
            tournaments=[
                self._to_proto(StoredTournament(row), with_openings=False) for row in page.rows
            ],
            next_page_token=page.next_token,
        )

    async def CancelTournament(
        self, request: pb.CancelTournamentRequest, context: Context
    ) -> pb.CancelTournamentResponse:
        """Stop a tournament."""
        tournament_id = _id(request.tournament_id)
        change = partial(
            _change_state,
            tournament_id=tournament_id,
            before=TournamentState.RUNNING,
            after=TournamentState.CANCELLED,
        )
        async with self._control.changing:
            found = await self._storage.write(change)
            run = self._scheduler.runs.get(tournament_id)
            if run is not None:
                self._scheduler.cancel(run)
                await self._scheduler.settled()
                found = await self._storage.read(partial(_find, tournament_id=tournament_id))
        self._feed.tournament_changed(tournament_id)
        return pb.CancelTournamentResponse(tournament=self._to_proto(found))

    async def ResumeTournament(
        self, request: pb.ResumeTournamentRequest, context: Context
    ) -> pb.ResumeTournamentResponse:
        """Take a cancelled tournament up again."""
        change = partial(
            _change_state,
            tournament_id=_id(request.tournament_id),
            before=TournamentState.CANCELLED,
            after=TournamentState.RUNNING,
        )
        async with self._control.changing:
            found = await self._storage.write(change)
        await self._control.play(found.row.id)
        return pb.ResumeTournamentResponse(tournament=self._to_proto(found))

    async def WatchTournament(
        self, request: pb.WatchTournamentRequest, context: Context
    ) -> AsyncIterator[pb.WatchTournamentResponse]:
        """Tell where a tournament stands, then each game as it begins and ends."""
        tournament_id = _id(request.tournament_id)
        find = partial(_find, tournament_id=tournament_id)
        told: pb.WatchTournamentResponse | None = None
        with self._feed.subscribe(tournament_topic(tournament_id)) as subscriber:
            found = await self._storage.read(find)
            yield pb.WatchTournamentResponse(tournament=self._to_proto(found))
            while found.row.state is TournamentState.RUNNING:
                facts = [await subscriber.next(), *subscriber.rest()]
                if any(_may_be_over(fact) for fact in facts):
                    found = await self._storage.read(find)
                is_over = found.row.state is not TournamentState.RUNNING
                if is_over:
                    await self._scheduler.settled()
                    facts += subscriber.rest()
                for fact in facts:
                    if isinstance(fact, GameEvent):
                        yield _game_event_to_proto(fact)
                detail = _detail_after(facts)
                if detail is not None and detail != told:
                    told = detail
                    yield detail
                if is_over or any(isinstance(fact, StateEvent) for fact in facts):
                    yield pb.WatchTournamentResponse(tournament=self._to_proto(found))

    def _to_proto(self, found: StoredTournament, *, with_openings: bool = True) -> pb.Tournament:
        row = found.row
        waiting_for = self._scheduler.waiting_for(row.id, dict(row.bots))
        return tournament_to_proto(row, found.detail, waiting_for, with_openings=with_openings)


def _may_be_over(fact: Event) -> bool:
    """Whether the tournament may have ended with it."""
    return isinstance(fact, StateEvent) or not run_of(fact.game).is_playing


def _game_event_to_proto(fact: GameEvent) -> pb.WatchTournamentResponse:
    message = game_to_proto(live_summary(fact.game))
    if fact.kind is EventKind.STARTED:
        return pb.WatchTournamentResponse(game_started=message)
    return pb.WatchTournamentResponse(game_ended=message)


def _detail_after(facts: Sequence[Event]) -> pb.WatchTournamentResponse | None:
    """What only the format tells, if it does and games have ended."""
    for fact in facts:
        if isinstance(fact, GameEvent) and fact.kind is EventKind.ENDED:
            run = run_of(fact.game)
            if run.format.detail is None:
                return None
            message = pb.WatchTournamentResponse()
            fill(getattr(message, format_field(run.format_name)), run.format.detail)
            return message
    return None


def _id(text: str) -> TournamentId:
    return TournamentId(number(text, "tournament_id"))


def _find(connection: Connection, tournament_id: TournamentId) -> StoredTournament:
    row = store.get_tournament(connection, tournament_id)
    return StoredTournament(row, FORMATS[row.format].stored_detail(connection, row))


def _detail(
    connection: Connection, tournament_id: TournamentId
) -> tuple[TournamentDetail, StoredTournament, Report]:
    detail = tournament_detail(connection, tournament_id)
    row = detail.tournament
    form = FORMATS[row.format]
    found = StoredTournament(row, form.stored_detail(connection, row))
    return detail, found, form.report(connection, row)


def _change_state(
    connection: Connection,
    *,
    tournament_id: TournamentId,
    before: TournamentState,
    after: TournamentState,
) -> StoredTournament:
    row = _find(connection, tournament_id).row
    if row.state is not before:
        raise WrongStateError(f"tournament {tournament_id} is {row.state.value}")
    store.set_state(connection, tournament_id, after)
    return _find(connection, tournament_id)


def _create(connection: Connection, *, request: pb.CreateTournamentRequest) -> StoredTournament:
    """The tournament that a request makes, or has made."""
    _check_room(request)
    if request.request_id:
        known = store.find_request(connection, request.request_id)
        if known is not None:
            return _find(connection, known)
    new = _plan(connection, request)
    tournament_id = store.add_tournament(connection, new, datetime.now(UTC))
    return _find(connection, tournament_id)


def _check_room(request: pb.CreateTournamentRequest) -> None:
    """Refuse what the store has no room for."""
    settings = request.settings
    for field, text in (("name", settings.name), ("request_id", request.request_id)):
        if len(text) > MAX_TEXT:
            raise InvalidRequestError(f"{field} is longer than {MAX_TEXT} characters")
    bounds = (("seed", settings.seed, MAX_SEED), ("max_games", settings.max_games, MAX_AT_ONCE))
    for field, value, most in bounds:
        if value > most:
            raise InvalidRequestError(f"{field} {value} is above {most}")


def _plan(connection: Connection, request: pb.CreateTournamentRequest) -> NewTournament:
    settings = request.settings
    variant = requested_variant(settings.variant)
    name, options = requested_format(settings)
    form = FORMATS[name]
    bots = _entrants(connection, settings.bots, may_be_all=form.MAY_BE_OPEN)
    wanted = Request(
        bots=bots,
        rounds=settings.rounds,
        seed=settings.seed,
        openings=_openings(settings, variant),
        ladder=ladder_name(variant),
        is_rated=not settings.unrated,
        options=options,
    )
    plan = form.plan(connection, wanted)
    return NewTournament(
        name=settings.name,
        format=name,
        rounds=plan.rounds,
        seed=settings.seed,
        variant=variant,
        time_control=requested_time_control(settings.time_control),
        max_games=settings.max_games,
        is_rated=not settings.unrated,
        bots=plan.bots,
        schedule=plan.games,
        request_id=request.request_id or None,
        openings=tuple(settings.openings),
        options=None if plan.options is None else dict(plan.options),
    )


def _entrants(
    connection: Connection, names: Sequence[str], *, may_be_all: bool
) -> tuple[BotId, ...]:
    if not names and may_be_all:
        return ()
    if len(names) < 2:  # noqa: PLR2004 - a game needs two
        raise InvalidRequestError("bots: a tournament needs at least two bots")
    bots = []
    for name in names:
        bot_id = get_bot(connection, name)
        if bot_id in bots:
            raise InvalidRequestError(f'bots: "{name}" is named twice')
        bots.append(bot_id)
    return tuple(bots)


def _openings(settings: pb.TournamentSettings, variant: Variant) -> Sequence[Sequence[int]]:
    if not settings.openings:
        return openings_for(variant)
    openings = openings_from_proto(settings.openings)
    for opening in openings:
        try:
            check_opening(opening, variant)
        except ValueError as error:
            raise InvalidRequestError(f"openings: {error}") from None
    return openings
