"""Tournaments: made, followed, stopped and taken up again."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Connection

from meijin.game import Variant, check_opening, openings_for
from meijin.server.api.convert import (
    FORMATS,
    openings_from_proto,
    requested_ladder,
    requested_time_control,
    requested_variant,
    tournament_to_proto,
)
from meijin.server.api.convert_games import game_to_proto
from meijin.server.api.convert_sprt import requested_sprt, standing_to_proto
from meijin.server.api.interceptor import Context
from meijin.server.api.requests import number, page_key, read_page
from meijin.server.errors import InvalidRequestError, WrongStateError
from meijin.server.match.feed import Event, EventKind, Feed, GameEvent, StateEvent, tournament_topic
from meijin.server.storage import Storage
from meijin.server.tournaments.control import TournamentControl
from meijin.server.tournaments.formats.ladder_plan import LadderPlan
from meijin.server.tournaments.formats.schedule import MAX_GAMES, pairs, schedule
from meijin.server.tournaments.formats.sprt import SprtSupply
from meijin.server.tournaments.formats.sprt_plan import SprtPlan
from meijin.server.tournaments.run import run_of
from meijin.server.tournaments.scheduler import MAX_AT_ONCE, Scheduler
from meijin.server.views.games import live_summary
from meijin.server.views.tournaments import tournament_detail
from meijin.store import tournaments as store
from meijin.store.bots import get_bot
from meijin.store.schema import BotId, TournamentFormat, TournamentId, TournamentState
from meijin.store.tournaments import NewTournament, TournamentRow
from meijin.v1 import tournament_service_pb2 as pb
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceServicer

DEFAULT_ROUNDS = 2

MAX_TEXT = 100
"""Characters of a tournament's name and of a request id."""

MAX_SEED = 2**63 - 1


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
        row = await self._storage.write(partial(_create, request=request))
        await self._control.play(row.id)
        return pb.CreateTournamentResponse(tournament=self._to_proto(row))

    async def GetTournament(
        self, request: pb.GetTournamentRequest, context: Context
    ) -> pb.GetTournamentResponse:
        """Show a tournament with its crosstable."""
        tournament_id = _id(request.tournament_id)
        detail = await self._storage.read(partial(tournament_detail, tournament_id=tournament_id))
        return pb.GetTournamentResponse(
            tournament=self._to_proto(detail.tournament),
            crosstable=[
                pb.CrosstableCell(
                    bot=cell.bot,
                    opponent=cell.opponent,
                    wins=cell.wins,
                    draws=cell.draws,
                    losses=cell.losses,
                )
                for cell in detail.crosstable
            ],
            faults=[pb.FaultCount(bot=line.bot, faults=line.faults) for line in detail.faults],
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
            tournaments=[self._to_proto(row, with_openings=False) for row in page.rows],
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
            row = await self._storage.write(change)
            run = self._scheduler.runs.get(tournament_id)
            if run is not None:
                self._scheduler.cancel(run)
                await self._scheduler.settled()
                row = await self._storage.read(partial(_find, tournament_id=tournament_id))
        self._feed.tournament_changed(tournament_id)
        return pb.CancelTournamentResponse(tournament=self._to_proto(row))

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
            row = await self._storage.write(change)
        await self._control.play(row.id)
        return pb.ResumeTournamentResponse(tournament=self._to_proto(row))

    async def WatchTournament(
        self, request: pb.WatchTournamentRequest, context: Context
    ) -> AsyncIterator[pb.WatchTournamentResponse]:
        """Tell where a tournament stands, then each game as it begins and ends."""
        tournament_id = _id(request.tournament_id)
        find = partial(_find, tournament_id=tournament_id)
        with self._feed.subscribe(tournament_topic(tournament_id)) as subscriber:
            row = await self._storage.read(find)
            yield pb.WatchTournamentResponse(tournament=self._to_proto(row))
            while row.state is TournamentState.RUNNING:
                facts = [await subscriber.next(), *subscriber.rest()]
                if any(_may_be_over(fact) for fact in facts):
                    row = await self._storage.read(find)
                if row.state is not TournamentState.RUNNING:
                    await self._scheduler.settled()
                    facts += subscriber.rest()
                for fact in facts:
                    if isinstance(fact, GameEvent):
                        yield _game_event_to_proto(fact)
                standing = _standing_after(facts)
                if standing is not None:
                    yield standing
                has_changed = any(isinstance(fact, StateEvent) for fact in facts)
                if has_changed or row.state is not TournamentState.RUNNING:
                    yield pb.WatchTournamentResponse(tournament=self._to_proto(row))

    def _to_proto(self, row: TournamentRow, *, with_openings: bool = True) -> pb.Tournament:
        waiting_for = self._scheduler.waiting_for(row.id, dict(row.bots))
        return tournament_to_proto(row, waiting_for, with_openings=with_openings)


def _may_be_over(fact: Event) -> bool:
    """Whether the tournament may have ended with it."""
    return isinstance(fact, StateEvent) or run_of(fact.game).is_over


def _game_event_to_proto(fact: GameEvent) -> pb.WatchTournamentResponse:
    message = game_to_proto(live_summary(fact.game))
    if fact.kind is EventKind.STARTED:
        return pb.WatchTournamentResponse(game_started=message)
    return pb.WatchTournamentResponse(game_ended=message)


def _standing_after(facts: Sequence[Event]) -> pb.WatchTournamentResponse | None:
    """Where the test stands, if there is one and games of it have ended."""
    for fact in facts:
        if isinstance(fact, GameEvent) and fact.kind is EventKind.ENDED:
            supply = run_of(fact.game).supply
            if not isinstance(supply, SprtSupply):
                return None
            return pb.WatchTournamentResponse(sprt=standing_to_proto(supply.plan, supply.standing))
    return None


def _id(text: str) -> TournamentId:
    return TournamentId(number(text, "tournament_id"))


def _find(connection: Connection, tournament_id: TournamentId) -> TournamentRow:
    return store.get_tournament(connection, tournament_id)


def _change_state(
    connection: Connection,
    *,
    tournament_id: TournamentId,
    before: TournamentState,
    after: TournamentState,
) -> TournamentRow:
    row = _find(connection, tournament_id)
    if row.state is not before:
        raise WrongStateError(f"tournament {tournament_id} is {row.state.value}")
    has_all = row.stopping is None and row.finished == row.planned
    is_done = after is TournamentState.RUNNING and has_all
    store.set_state(connection, tournament_id, TournamentState.FINISHED if is_done else after)
    return _find(connection, tournament_id)


def _create(connection: Connection, *, request: pb.CreateTournamentRequest) -> TournamentRow:
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
    if settings.format not in _FORMATS:
        raise InvalidRequestError(f"no tournament format {settings.format}")
    form = _FORMATS[settings.format]
    bots = _entrants(connection, settings.bots, may_be_all=form is TournamentFormat.LADDER)
    plan = _test(settings, form) or _ladder_plan(settings, form)
    openings = _openings(settings, variant)
    rounds = 0 if plan else settings.rounds or DEFAULT_ROUNDS
    games = rounds * len(pairs(form, bots))
    if games > MAX_GAMES:
        raise InvalidRequestError(f"rounds {rounds} make {games} games; at most {MAX_GAMES}")
    return NewTournament(
        name=settings.name,
        format=form,
        rounds=rounds,
        seed=settings.seed,
        variant=variant,
        time_control=requested_time_control(settings.time_control),
        max_games=settings.max_games,
        is_rated=not settings.unrated,
        bots=bots,
        schedule=schedule(form, bots, rounds=rounds, openings=openings, seed=settings.seed),
        request_id=request.request_id or None,
        openings=tuple(settings.openings),
        stopping=None if plan is None else plan.to_json(),
    )


def _test(settings: pb.TournamentSettings, form: TournamentFormat) -> SprtPlan | None:
    """The test that ends the tournament, if its format has one."""
    if form is not TournamentFormat.SPRT:
        if settings.HasField("sprt"):
            raise InvalidRequestError("sprt: a test ends the format SPRT and no other")
        return None
    if not settings.HasField("sprt"):
        raise InvalidRequestError("sprt: the format SPRT needs the test's hypotheses")
    if len(settings.bots) != 2:  # noqa: PLR2004 - one against the other
        raise InvalidRequestError(f"bots: a test is between two, not {len(settings.bots)}")
    if settings.rounds:
        raise InvalidRequestError("rounds: a test has none; sprt.most_games bounds it")
    return requested_sprt(settings.sprt)


def _ladder_plan(settings: pb.TournamentSettings, form: TournamentFormat) -> LadderPlan | None:
    """What ends the tournament, if it is a continuous ladder."""
    if form is not TournamentFormat.LADDER:
        if settings.HasField("ladder"):
            raise InvalidRequestError("ladder: for the format LADDER and no other")
        return None
    if settings.unrated:
        raise InvalidRequestError("unrated: a ladder's games are rated")
    if settings.rounds:
        raise InvalidRequestError("rounds: a ladder has none; ladder.most_games bounds it")
    return requested_ladder(settings.ladder)


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


_FORMATS = {pb.TOURNAMENT_FORMAT_UNSPECIFIED: TournamentFormat.ROUND_ROBIN} | {
    value: form for form, value in FORMATS.items()
}
