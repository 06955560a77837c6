"""Ladders: their standings, what they say of any two bots, their history, their anchors."""

import sys
from array import array
from collections.abc import Container, Sequence
from datetime import date
from functools import partial
from itertools import starmap
from operator import attrgetter

from sqlalchemy import Connection

from meijin.server.access.anchors import set_anchors
from meijin.server.access.caller import current_caller
from meijin.server.api.answers.calibrations import calibration_of, recent_calibration
from meijin.server.api.answers.diagnoses import diagnosis_of
from meijin.server.api.answers.messages import run_to_proto
from meijin.server.api.answers.pages import (
    id_if_any,
    list_page,
    newest_first,
    number,
    page_size,
    within,
)
from meijin.server.api.calls.interceptor import Context
from meijin.server.errors import InvalidRequestError
from meijin.server.storage import Storage
from meijin.server.tournaments.pauses import Pauses
from meijin.server.tournaments.refresh_jobs import RefreshSender
from meijin.server.views.ladders import (
    MachineFilter,
    head_to_head,
    ladder_table,
    matrix,
)
from meijin.store.bots import get_bot
from meijin.store.ladders import ladders
from meijin.store.ladders.days import DayRating, rating_history
from meijin.store.ladders.games import PairCount
from meijin.store.ladders.heads import head_of
from meijin.store.ladders.runs import (
    CovarianceRow,
    RatedVersion,
    RunRating,
    exported_covariances,
    exported_pair_counts,
    list_runs,
    ratings_by_run,
    run_to_export,
)
from meijin.store.schema import BotVersionId, RatingRun, RatingRunId
from meijin.v1 import ladder_service_pb2 as pb
from meijin.v1.ladder_service_pb2_grpc import LadderServiceServicer
from meijin.wire.mapping import to_message

MAX_ROWS = 100
"""The most rows of a covariance matrix in a page: the largest takes 6 KB a row."""

MAX_OPENINGS = 50
"""Of two versions that are told by themselves."""

MATRIX_SIZE, MAX_MATRIX_SIZE = 20, 200
"""Rows of a matrix when nobody says how many, and the most."""


class LadderServicer(LadderServiceServicer):
    def __init__(self, storage: Storage, refreshes: RefreshSender, pauses: Pauses) -> None:
        self._storage = storage
        self._refreshes = refreshes
        self._pauses = pauses

    async def ListLadders(
        self, request: pb.ListLaddersRequest, context: Context
    ) -> pb.ListLaddersResponse:
        return await list_page(
            self._storage,
            request,
            pb.ListLaddersResponse,
            ladders.list_ladders,
            token=attrgetter("name"),
        )

    async def GetStandings(
        self, request: pb.GetStandingsRequest, context: Context
    ) -> pb.GetStandingsResponse:
        paused = {pause.version_id for pause in self._pauses.in_force()}
        return await self._storage.read(_standings, request, paused)

    async def ListRatingRuns(
        self, request: pb.ListRatingRunsRequest, context: Context
    ) -> pb.ListRatingRunsResponse:
        return await list_page(
            self._storage,
            request,
            pb.ListRatingRunsResponse,
            newest_first(partial(_runs, ladder=request.ladder)),
            run_to_proto,
        )

    async def GetMatrix(
        self, request: pb.GetMatrixRequest, context: Context
    ) -> pb.GetMatrixResponse:
        limit = request.limit or MATRIX_SIZE
        if limit > MAX_MATRIX_SIZE:
            raise InvalidRequestError(f"limit {limit} is above {MAX_MATRIX_SIZE}")
        if len(request.bots) > MAX_MATRIX_SIZE:
            raise InvalidRequestError(f"bots: {len(request.bots)} names; at most {MAX_MATRIX_SIZE}")
        return await self._storage.read(_matrix, request, limit)

    async def ListPairCounts(
        self, request: pb.ListPairCountsRequest, context: Context
    ) -> pb.ListPairCountsResponse:
        return await self._storage.read(_pair_counts, request)

    async def ListCovariances(
        self, request: pb.ListCovariancesRequest, context: Context
    ) -> pb.ListCovariancesResponse:
        return await self._storage.read(_covariances, request)

    async def ListRatings(
        self, request: pb.ListRatingsRequest, context: Context
    ) -> pb.ListRatingsResponse:
        if request.by_run:
            return await list_page(
                self._storage,
                request,
                pb.ListRatingsResponse,
                partial(_ratings_by_run, ladder=request.ladder, bot=request.bot),
                token=lambda rating: f"{rating.run_id}.{rating.version_id}",
            )
        return await list_page(
            self._storage,
            request,
            pb.ListRatingsResponse,
            partial(_ratings, ladder=request.ladder, bot=request.bot),
            lambda rating: to_message(rating, pb.DayRating, create_time=None),
            token=lambda rating: f"{rating.day}.{rating.version_id}",
        )

    async def GetDiagnosis(
        self, request: pb.GetDiagnosisRequest, context: Context
    ) -> pb.GetDiagnosisResponse:
        run_id = id_if_any(request, "run_id", RatingRunId)
        return await self._storage.read(diagnosis_of, request.ladder, run_id)

    async def GetCalibration(
        self, request: pb.GetCalibrationRequest, context: Context
    ) -> pb.GetCalibrationResponse:
        return await self._storage.read(calibration_of, request.ladder)

    async def GetHeadToHead(
        self, request: pb.GetHeadToHeadRequest, context: Context
    ) -> pb.GetHeadToHeadResponse:
        """Show what two bots scored against each other, and what is to be expected."""
        same = (request.bot, request.version_id) == (request.opponent, request.opponent_version_id)
        if same:
            raise InvalidRequestError(f'opponent: "{request.bot}" does not meet itself')
        versions = (
            id_if_any(request, "version_id", BotVersionId),
            id_if_any(request, "opponent_version_id", BotVersionId),
        )
        bots = (request.bot, request.opponent)
        found = await self._storage.read(head_to_head, request.ladder, bots, versions)
        return to_message(
            found,
            pb.GetHeadToHeadResponse,
            as_black=found.scores.as_black,
            as_white=found.scores.as_white,
            openings=[
                pb.OpeningScores(opening=opening, scores=to_message(scores, pb.ColorScores))
                for opening, scores in found.openings[:MAX_OPENINGS]
            ],
            opening_count=len(found.openings),
            elsewhere=[
                pb.LadderScores(ladder=ladder, scores=to_message(scores, pb.ColorScores))
                for ladder, scores in found.elsewhere
            ],
        )

    async def SetAnchors(
        self, request: pb.SetAnchorsRequest, context: Context
    ) -> pb.SetAnchorsResponse:
        ladder_id = await self._storage.write(set_anchors, current_caller.get(), request)
        self._refreshes.send(ladder_id)
        ladder = await self._storage.read(ladders.summary, ladder_id)
        return pb.SetAnchorsResponse(ladder=to_message(ladder, pb.Ladder))


def _ratings(
    connection: Connection, *, limit: int, after: str, ladder: str, bot: str
) -> Sequence[DayRating]:
    ladder_id, bot_id = ladders.get_ladder(connection, ladder), get_bot(connection, bot)
    return rating_history(connection, ladder_id, bot_id, limit=limit, before=_place(after))


def _ratings_by_run(
    connection: Connection, *, limit: int, after: str, ladder: str, bot: str
) -> Sequence[RunRating]:
    ladder_id, bot_id = ladders.get_ladder(connection, ladder), get_bot(connection, bot)
    run_id, (version,) = _place_in_run(after, 1)
    before = None if run_id is None else (run_id, BotVersionId(version))
    return ratings_by_run(connection, ladder_id, bot_id, limit=limit, before=before)


def _runs(
    connection: Connection, *, limit: int, before: int | None, ladder: str
) -> Sequence[RatingRun]:
    ladder_id = ladders.get_ladder(connection, ladder)
    run_id = None if before is None else RatingRunId(before)
    return list_runs(connection, ladder_id, limit=limit, before=run_id)


def _place(token: str) -> tuple[date, BotVersionId] | None:
    """Where a page of ratings begins: after this day's line of this version."""
    if not token:
        return None
    day, _, version = token.partition(".")
    try:
        return date.fromisoformat(day), BotVersionId(number(version, "page_token"))
    except ValueError:
        raise InvalidRequestError(f'page_token "{token}" is none of this server\'s') from None


def _standings(
    connection: Connection, request: pb.GetStandingsRequest, paused: Container[BotVersionId]
) -> pb.GetStandingsResponse:
    """A page of a table, as a message already: a large one would hold up the loop."""
    expected, (first,) = _place_in_run(request.page_token, 1)
    size = page_size(request.page_size)
    find = partial(
        ladder_table,
        connection,
        request.ladder,
        paused=paused,
        all_versions=request.all_versions,
        machines=MachineFilter(
            request.hardware,
            request.min_nodes_per_second,
            request.max_nodes_per_second,
            request.hosted if request.HasField("hosted") else None,
        ),
    )
    table = find(id_if_any(request, "run_id", RatingRunId))
    if expected is not None and table.run is not None and table.run.id != expected:
        table = find(expected)
    lines = within(to_message(row, pb.Standing) for row in table.standings[first : first + size])
    last = first + len(lines)
    is_more = table.run is not None and last < len(table.standings)
    is_newest = not (request.page_token or request.run_id)
    return pb.GetStandingsResponse(
        ladder=to_message(table.ladder, pb.Ladder),
        run=None if table.run is None else run_to_proto(table.run),
        standings=lines,
        next_page_token=f"{table.run.id}.{last}" if is_more and table.run else "",
        foretold=recent_calibration(connection, table.ladder.id) if is_newest else None,
        head=str(head_of(connection, table.ladder.id) or "") if is_newest else "",
    )


def _place_in_run(token: str, numbers: int) -> tuple[RatingRunId | None, Sequence[int]]:
    """Where a page of a run begins: which run's, and after which numbers."""
    if not token:
        return None, [0] * numbers
    run_id, *place = (number(word, "page_token") for word in token.split("."))
    if len(place) != numbers:
        raise InvalidRequestError(f'page_token "{token}" is none of this server\'s')
    return RatingRunId(run_id), place


def _pair_counts(
    connection: Connection, request: pb.ListPairCountsRequest
) -> pb.ListPairCountsResponse:
    """A page of counts, as a message already."""
    expected, (black, white) = _place_in_run(request.page_token, 2)
    limit, after = page_size(request.page_size), (BotVersionId(black), BotVersionId(white))
    ladder_id = ladders.get_ladder(connection, request.ladder)
    run = run_to_export(connection, ladder_id, expected)
    rows = exported_pair_counts(connection, ladder_id, run, after=after, limit=limit + 1)
    messages = within(starmap(_pair_count, rows[:limit]))
    last = rows[len(messages) - 1][0] if len(messages) < len(rows) else None
    return pb.ListPairCountsResponse(
        run=run_to_proto(run),
        pair_counts=messages,
        next_page_token=f"{run.id}.{last.black_id}.{last.white_id}" if last else "",
    )


def _covariances(
    connection: Connection, request: pb.ListCovariancesRequest
) -> pb.ListCovariancesResponse:
    """A page of rows, as a message already."""
    expected, (start,) = _place_in_run(request.page_token, 1)
    limit = min(page_size(request.page_size), MAX_ROWS)
    ladder_id = ladders.get_ladder(connection, request.ladder)
    run = run_to_export(connection, ladder_id, expected)
    rows = exported_covariances(connection, ladder_id, run, start=start, limit=limit + 1)
    messages = within(map(_covariance_row, rows[:limit]))
    last = rows[len(messages) - 1] if len(messages) < len(rows) else None
    return pb.ListCovariancesResponse(
        run=run_to_proto(run),
        rows=messages,
        next_page_token=f"{run.id}.{last.place + 1}" if last else "",
    )


def _exported(version: RatedVersion) -> pb.RatedVersion:
    """A version by its names, or by its id alone where its bot is hidden."""
    if version.is_hidden:
        return pb.RatedVersion(version_id=str(version.id))
    return to_message(version, pb.RatedVersion)


def _pair_count(pair: PairCount, black: RatedVersion, white: RatedVersion) -> pb.PairCount:
    score = to_message(pair, pb.Score)
    return pb.PairCount(black=_exported(black), white=_exported(white), score=score)


def _covariance_row(row: CovarianceRow) -> pb.CovarianceRow:
    values = array("f", row.values)
    if sys.byteorder == "big":
        values.byteswap()
    return pb.CovarianceRow(version=_exported(row.version), values=values)


def _matrix(
    connection: Connection, request: pb.GetMatrixRequest, limit: int
) -> pb.GetMatrixResponse:
    """A matrix, as a message already: a large one would hold up the loop."""
    found = matrix(
        connection,
        request.ladder,
        bots=request.bots,
        limit=limit,
        all_versions=request.all_versions,
    )
    return to_message(found, pb.GetMatrixResponse)
