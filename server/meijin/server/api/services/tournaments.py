"""Tournaments: made, followed, stopped and taken up again."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from sqlalchemy import Connection

from meijin.ladder.statistics.sequential.sprt import elo_beyond, estimate_of_match
from meijin.server.access.caller import current_caller
from meijin.server.api.answers.ended_games import EndedGames
from meijin.server.api.answers.games import live_game
from meijin.server.api.answers.messages import tournament_to_proto
from meijin.server.api.answers.pages import id_of, list_page, newest_first
from meijin.server.api.calls.interceptor import Context
from meijin.server.errors import InvalidRequestError, invalid_request
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
from meijin.server.tournaments.creation import MAX_BOTS, Creator, RequestedTournament
from meijin.server.tournaments.formats import FORMATS
from meijin.server.tournaments.formats.report import Meeting
from meijin.server.tournaments.formats.sprt_settings import SprtStanding
from meijin.server.tournaments.run import run_of
from meijin.server.tournaments.scheduler import Scheduler
from meijin.server.views import llr_paths, reports
from meijin.server.views.kept import KeptByTournament
from meijin.server.views.llr_paths import DEFAULT_POINTS, CountedPath, LlrPoint, path_of_test
from meijin.server.views.reports import TournamentReport, look_at
from meijin.server.views.tallies import TournamentTally
from meijin.server.views.tournaments import (
    TournamentSummary,
    listed_tournament,
    tournament_summary,
)
from meijin.store import tournaments as store
from meijin.store.schema import BotId, FormatName, TournamentId, TournamentState
from meijin.store.tournaments import TournamentRow
from meijin.store.tournaments.match_counts import (
    MatchCounts,
    TimeUse,
    match_counts,
    match_sums,
)
from meijin.v1 import tournament_service_pb2 as pb
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceServicer
from meijin.wire.formats import Options, detail_field, format_from_proto, options_from_proto
from meijin.wire.mapping import from_message, to_message
from meijin.wire.values import time_control_from_proto

MAX_CELLS = 10_000
"""Of a crosstable: a hundred bots that have all met. One of a thousand would be 40 MB."""

MAX_MEETINGS = 5000
"""The newest that are shown."""

PLAYERS = 2
"""Of a match."""

MOST_READ = 1_000_000
"""Games that are read for reports on opponents, all of them once for each."""

MOST_LISTED = 10_000
"""Games with a result of a tournament whose leader lists tell."""

LED = 100
"""Tournaments of a page whose leaders are told: the games of each are read."""

MOST_LEADS = 300
"""Tournaments whose leaders are kept."""

_Report: TypeAlias = TournamentReport[pb.GetTournamentResponse]


class TournamentServicer(TournamentServiceServicer):
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
        self._reports = KeptByTournament[_Report](storage, reports.MOST_KEPT)
        self._leads = KeptByTournament[TournamentReport[pb.Tournament]](storage, MOST_LEADS)
        self._paths = KeptByTournament[CountedPath](storage, llr_paths.MOST_KEPT)

    async def CreateTournament(
        self, request: pb.CreateTournamentRequest, context: Context
    ) -> pb.CreateTournamentResponse:
        caller = current_caller.get()
        tournament_id = await self._creator.create(
            settings_from_proto(request.settings),
            request.request_id,
            caller.actor,
            caller.owner_id,
        )
        await self._control.play(tournament_id)
        found = await self._storage.read(tournament_summary, tournament_id)
        return pb.CreateTournamentResponse(tournament=self._to_proto(found))

    async def GetTournament(
        self, request: pb.GetTournamentRequest, context: Context
    ) -> pb.GetTournamentResponse:
        # What is rendered is a message, made in a thread: a large crosstable holds up the loop.
        look = partial(look_at, render=_report)
        found = await self._reports.find(id_of(request, "tournament_id", TournamentId), look)
        read, asked, summary = self._storage.read, request.with_match_report, found.summary
        response = pb.GetTournamentResponse(
            tournament=self._to_proto(summary),
            match_report=await read(_match_report, summary) if asked else None,
            match_reports=await read(_match_reports, summary) if asked else (),
        )
        response.MergeFrom(found.shown)
        return response

    async def ListTournaments(
        self, request: pb.ListTournamentsRequest, context: Context
    ) -> pb.ListTournamentsResponse:
        query = partial(store.list_tournaments, with_challenges=request.with_challenges)
        rows: list[TournamentRow] = []

        def listed(row: TournamentRow) -> pb.Tournament:
            rows.append(row)
            return self._to_proto(listed_tournament(row), with_openings=False)

        if request.with_leaders:
            request.page_size = min(request.page_size or LED, LED)
        page = await list_page(
            self._storage, request, pb.ListTournamentsResponse, newest_first(query), listed
        )
        if request.with_leaders:
            for row, message in zip(rows, page.tournaments, strict=False):
                message.MergeFrom(await self._lead(row))
        return page

    async def _lead(self, row: TournamentRow) -> pb.Tournament:
        """Who leads a tournament, or where its test stands; read only where that has changed."""
        if not 0 < row.finished <= MOST_LISTED:
            return pb.Tournament()
        found = self._leads.kept(row.id)
        if found is None or not found.is_of(row):
            found = await self._leads.find(row.id, partial(look_at, render=_leader))
        return found.shown

    async def ListTestPoints(
        self, request: pb.ListTestPointsRequest, context: Context
    ) -> pb.ListTestPointsResponse:
        look = partial(path_of_test, most=request.max_points or DEFAULT_POINTS)
        _, path = await self._paths.find(id_of(request, "tournament_id", TournamentId), look)
        return to_message(path, pb.ListTestPointsResponse, points=map(_point, path.points))

    async def UpdateTournament(
        self, request: pb.UpdateTournamentRequest, context: Context
    ) -> pb.UpdateTournamentResponse:
        tournament_id = id_of(request, "tournament_id", TournamentId)
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
        tournament_id = id_of(request, "tournament_id", TournamentId)
        past = EndedGames(self._storage, tournament_id)
        state: TournamentState | None = None
        if request.with_ended_games:  # no feed yet: it would fill while these are being read
            found = await self._storage.read(tournament_summary, tournament_id)
            state = found.row.state
            yield pb.WatchTournamentResponse(tournament=self._to_proto(found))
            async for message in past.until_now():
                yield message
            await self._scheduler.settled()
        with self._feed.subscribe(tournament_topic(tournament_id)) as subscriber:
            found = await self._storage.read(tournament_summary, tournament_id)
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
                found = await self._storage.read(tournament_summary, tournament_id)
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
    message = live_game(fact.game)
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
            part = getattr(message, detail_field(message, run.row.format))
            part.CopyFrom(to_message(run.format.detail, type(part)))
            return message
    return None


def settings_from_proto(message: pb.TournamentSettings) -> RequestedTournament:
    """What a request asks a tournament to be.

    Raises:
        InvalidRequestError: a field has a value that it can't have.
    """
    name, options = _requested_format(message)
    with invalid_request("time_controls"):
        controls = tuple(map(time_control_from_proto, message.time_controls))
    with invalid_request("time_control"):
        time_control = controls[0] if controls else time_control_from_proto(message.time_control)
    with invalid_request():
        return from_message(
            message,
            RequestedTournament,
            format=name,
            options=options,
            time_control=time_control,
            time_controls=controls if len(set(controls)) > 1 else (),
            is_rated=not message.unrated,
        )


def _requested_format(message: pb.TournamentSettings) -> tuple[FormatName, Options | None]:
    with invalid_request():
        name = FormatName(format_from_proto(message.format))
        options = options_from_proto(message, name)
    if name not in FORMATS:
        raise InvalidRequestError(f"no tournament format {name}")
    return name, options


def _report(
    connection: Connection, summary: TournamentSummary, tally: TournamentTally
) -> pb.GetTournamentResponse:
    """How the bots of a tournament stand and have met; without the tournament itself."""
    row, table = summary.row, tally.crosstable
    report = FORMATS[row.format].report(connection, row, table)
    names: dict[BotId | None, str] = {None: ""} | dict(row.bots)
    return pb.GetTournamentResponse(
        standings=[
            to_message(each, pb.TournamentStanding, bot=names[each.bot_id])
            for each in report.standings
        ],
        meetings=[_meeting(each, names) for each in report.meetings[-MAX_MEETINGS:]],
        crosstable=[
            to_message(
                score,
                pb.CrosstableCell,
                bot=names[score.bot_id],
                opponent=names[score.opponent_id],
            )
            for score in (table if 2 * len(table) <= MAX_CELLS else ())
        ],
        faults=[
            pb.FaultCount(bot=name, faults=tally.faults.get(bot_id, 0))
            for bot_id, name in row.bots[:MAX_BOTS]
        ],
    )


def _leader(
    connection: Connection, summary: TournamentSummary, tally: TournamentTally
) -> pb.Tournament:
    """What lists tell of who leads, or of a test."""
    row, found = summary.row, pb.Tournament()
    if isinstance(summary.detail, SprtStanding):
        found.sprt.CopyFrom(to_message(summary.detail, pb.SprtStanding))
    match FORMATS[row.format].report(connection, row, tally.crosstable).standings:
        case (first, *others) if first.games and all(each.rank > 1 for each in others[:1]):
            found.leader = dict(row.bots)[first.bot_id]
            found.leader_points = first.points
    return found


def _meeting(meeting: Meeting, names: Mapping[BotId | None, str]) -> pb.Meeting:
    return to_message(
        meeting,
        pb.Meeting,
        first=names[meeting.first],
        second=names[meeting.second],
        winner=names[meeting.winner],
    )


def _match_report(connection: Connection, summary: TournamentSummary) -> pb.MatchReport | None:
    """What the results of two bots say of the first; ``None`` of any others, or without any."""
    row = summary.row
    if len(row.bots) != PLAYERS or not row.finished:
        return None
    return _report_against(connection, row, None, summary.detail)


def _match_reports(connection: Connection, summary: TournamentSummary) -> list[pb.MatchReport]:
    """The same against each of the others, where the first bot has met them all."""
    row = summary.row
    others = [key for key, _ in row.bots[1:]]
    if not FORMATS[row.format].FIRST_MEETS_ALL or len(others) * row.finished > MOST_READ:
        return []
    return [_report_against(connection, row, other) for other in others]


def _report_against(
    connection: Connection, row: TournamentRow, opponent: BotId | None, detail: object = None
) -> pb.MatchReport:
    """Empty without a result.

    Args:
        opponent: Of several; ``None`` in a tournament of two.
        detail: That of a tournament of two; a test's says what it counts and estimates.
    """
    (first, _), *_ = row.bots
    sums = match_sums(connection, row.id, first, opponent)
    if sums.start_time is None:
        return pb.MatchReport()
    counts = match_counts(connection, row.id, opponent)
    estimate = estimate_of_match(counts.games, counts.pairs)
    counted: MatchCounts | SprtStanding = counts
    if isinstance(detail, SprtStanding):
        counted, estimate = detail, detail.estimate
    return to_message(
        sums,
        pb.MatchReport,
        pairs=counted.pairs,
        repeats=counted.repeats,
        estimate=estimate,
        elo_bound=elo_beyond(counts.games),
        first=_time_use(sums.first),
        second=_time_use(sums.second),
        play_time=(sums.end_time or sums.start_time) - sums.start_time,
    )


def _time_use(use: TimeUse) -> pb.TimeUse:
    message = pb.TimeUse(moves=use.moves)
    message.time.FromNanoseconds(use.nanoseconds)
    message.longest.FromNanoseconds(use.longest)
    return message


def _point(point: LlrPoint) -> pb.TestPoint:
    estimate = {
        each: getattr(point.estimate, each, None) for each in ("elo", "elo_low", "elo_high")
    }
    return to_message(point, pb.TestPoint, **estimate)
