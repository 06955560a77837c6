"""Tournaments: made, followed, stopped and taken up again."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial

from sqlalchemy import Connection

from meijin.server.access.caller import current_caller
from meijin.server.api.convert_games import game_to_proto
from meijin.server.api.convert_matches import report_to_proto
from meijin.server.api.convert_tournaments import (
    detail_to_proto,
    fill,
    llr_path_to_proto,
    settings_from_proto,
    tournament_to_proto,
)
from meijin.server.api.ended_games import EndedGames
from meijin.server.api.interceptor import Context
from meijin.server.api.requests import number, page_key, read_page
from meijin.server.errors import InvalidRequestError
from meijin.server.match.feed import (
    Event,
    EventKind,
    Feed,
    GameEvent,
    StateEvent,
    Subscriber,
    tournament_topic,
)
from meijin.server.storage import Storage
from meijin.server.tournaments.control import TournamentControl
from meijin.server.tournaments.creation import Creator
from meijin.server.tournaments.run import run_of
from meijin.server.tournaments.scheduler import Scheduler
from meijin.server.views.games import live_summary
from meijin.server.views.llr_paths import DEFAULT_POINTS, LlrPaths
from meijin.server.views.match_reports import match_report
from meijin.server.views.reports import TournamentReports
from meijin.server.views.tournaments import (
    TournamentSummary,
    listed_tournament,
    tournament_summary,
)
from meijin.store import tournaments as store
from meijin.store.schema import TournamentId, TournamentState
from meijin.store.tournaments import TournamentRow
from meijin.v1 import tournament_service_pb2 as pb
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceServicer
from meijin.wire import detail_field


class TournamentServicer(TournamentServiceServicer):
    """The server's tournaments."""

    def __init__(
        self,
        creator: Creator,
        control: TournamentControl,
        scheduler: Scheduler,
        storage: Storage,
        feed: Feed,
    ) -> None:
        self._creator = creator
        self._control = control
        self._scheduler = scheduler
        self._storage = storage
        self._feed = feed
        # Messages already, made in a thread: that of a large crosstable would hold up the loop.
        self._reports = TournamentReports(storage, detail_to_proto)
        self._llr_paths = LlrPaths(storage)

    async def CreateTournament(
        self, request: pb.CreateTournamentRequest, context: Context
    ) -> pb.CreateTournamentResponse:
        """Make a tournament and start it, once for a request id."""
        caller = current_caller.get()
        tournament_id = await self._creator.create(
            settings_from_proto(request.settings),
            request.request_id,
            caller.actor,
            caller.owner_id,
        )
        await self._control.play(tournament_id)
        found = await self._storage.read(tournament_summary, tournament_id=tournament_id)
        return pb.CreateTournamentResponse(tournament=self._to_proto(found))

    async def GetTournament(
        self, request: pb.GetTournamentRequest, context: Context
    ) -> pb.GetTournamentResponse:
        """Show a tournament with its crosstable."""
        found, report = await self._reports.find(_id(request.tournament_id))
        response = pb.GetTournamentResponse(tournament=self._to_proto(found))
        response.MergeFrom(report)
        if request.with_match_report:
            told = await self._storage.read(match_report, row=found.row)
            if told is not None:
                response.match_report.CopyFrom(report_to_proto(told))
        return response

    async def ListTournaments(
        self, request: pb.ListTournamentsRequest, context: Context
    ) -> pb.ListTournamentsResponse:
        """List tournaments, newest first."""
        page = await read_page(
            self._storage,
            partial(_list, with_challenges=request.with_challenges),
            lambda row: self._to_proto(listed_tournament(row), with_openings=False),
            size=request.page_size,
            start=request.page_token,
            token=lambda row: row.id,
        )
        return pb.ListTournamentsResponse(
            tournaments=page.messages, next_page_token=page.next_token
        )

    async def ListTestPoints(
        self, request: pb.ListTestPointsRequest, context: Context
    ) -> pb.ListTestPointsResponse:
        """Tell how the ratio of a test moved."""
        most = request.max_points or DEFAULT_POINTS
        return llr_path_to_proto(await self._llr_paths.find(_id(request.tournament_id), most))

    async def UpdateTournament(
        self, request: pb.UpdateTournamentRequest, context: Context
    ) -> pb.UpdateTournamentResponse:
        """Stop a tournament, or take a cancelled one up again."""
        tournament_id = _id(request.tournament_id)
        if request.state == pb.TOURNAMENT_STATE_CANCELLED:
            await self._control.cancel(tournament_id, current_caller.get().actor)
        elif request.state == pb.TOURNAMENT_STATE_RUNNING:
            await self._control.resume(tournament_id, current_caller.get().actor)
        elif request.HasField("state"):
            raise InvalidRequestError("state: a tournament can be cancelled, or be running again")
        found = await self._storage.read(tournament_summary, tournament_id)
        return pb.UpdateTournamentResponse(tournament=self._to_proto(found))

    async def WatchTournament(
        self, request: pb.WatchTournamentRequest, context: Context
    ) -> AsyncIterator[pb.WatchTournamentResponse]:
        """Tell where a tournament stands, then each game as it begins and ends."""
        tournament_id = _id(request.tournament_id)
        find = partial(tournament_summary, tournament_id=tournament_id)
        past = EndedGames(self._storage, tournament_id)
        state: TournamentState | None = None
        if request.with_ended_games:  # no feed yet: it would fill while these are being read
            found = await self._storage.read(find)
            state = found.row.state
            yield pb.WatchTournamentResponse(tournament=self._to_proto(found))
            async for message in past.until_now():
                yield message
            await self._scheduler.settled()
        with self._feed.subscribe(tournament_topic(tournament_id)) as subscriber:
            found = await self._storage.read(find)
            if request.with_ended_games:
                async for message in past.since():
                    yield message
            if found.row.state is not state:
                yield pb.WatchTournamentResponse(tournament=self._to_proto(found))
            if found.row.state is TournamentState.RUNNING:
                async for message in self._follow(subscriber, tournament_id, past):
                    yield message

    async def _follow(
        self, subscriber: Subscriber, tournament_id: TournamentId, past: EndedGames
    ) -> AsyncIterator[pb.WatchTournamentResponse]:
        """Tell what happens in a tournament that is running, until it is over."""
        told: pb.WatchTournamentResponse | None = None
        is_over = False
        while not is_over:
            facts = [await subscriber.next(), *subscriber.rest()]
            if any(_may_be_over(fact) for fact in facts):
                find = partial(tournament_summary, tournament_id=tournament_id)
                found = await self._storage.read(find)
                is_over = found.row.state is not TournamentState.RUNNING
            if is_over:
                await self._scheduler.settled()
                facts += subscriber.rest()
            for fact in facts:
                if isinstance(fact, GameEvent) and _is_new(fact, past):
                    yield _game_event_to_proto(fact)
            detail = _detail_after(facts)
            if detail is not None and detail != told:
                told = detail
                yield detail
            if is_over or any(isinstance(fact, StateEvent) for fact in facts):
                yield pb.WatchTournamentResponse(tournament=self._to_proto(found))

    def _to_proto(self, found: TournamentSummary, *, with_openings: bool = True) -> pb.Tournament:
        waiting_for = self._scheduler.waiting_for(found.row.id, dict(found.row.bots))
        run = self._scheduler.runs.get(found.row.id)
        if run is not None and found.detail is None and with_openings:  # no list
            found = replace(found, detail=run.format.detail)
        return tournament_to_proto(found, waiting_for, with_openings=with_openings)


def _may_be_over(fact: Event) -> bool:
    """Whether the tournament may have ended with it."""
    return isinstance(fact, StateEvent) or not run_of(fact.game).is_playing


def _is_new(fact: GameEvent, past: EndedGames) -> bool:
    return fact.kind is not EventKind.ENDED or past.is_new(fact.game.id)


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
            fill(getattr(message, detail_field(message, run.format_name)), run.format.detail)
            return message
    return None


def _id(text: str) -> TournamentId:
    return TournamentId(number(text, "tournament_id"))


def _list(
    connection: Connection, *, limit: int, after: str, with_challenges: bool
) -> Sequence[TournamentRow]:
    return store.list_tournaments(
        connection, limit=limit, before=page_key(after), with_challenges=with_challenges
    )
