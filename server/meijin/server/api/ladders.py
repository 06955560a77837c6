"""Ladders: their standings, what they say of any two bots, their history, their anchors."""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from functools import partial

from sqlalchemy import Connection

from meijin.server.access.caller import Caller, current_caller
from meijin.server.api.convert_diagnoses import diagnosis_to_proto
from meijin.server.api.convert_ladders import (
    covariance_row_to_proto,
    day_rating_to_proto,
    head_to_head_to_proto,
    ladder_to_proto,
    line_to_proto,
    matrix_row_to_proto,
    pair_count_to_proto,
    run_to_proto,
)
from meijin.server.api.interceptor import Context
from meijin.server.api.requests import number, page_key, page_size, read_page, within
from meijin.server.errors import InvalidRequestError, invalid_request
from meijin.server.storage import Storage
from meijin.server.tournaments.pauses import Pauses
from meijin.server.tournaments.refresh_jobs import RefreshSender
from meijin.server.views.diagnoses import ladder_diagnosis
from meijin.server.views.ladders import (
    LadderTable,
    MachineFilter,
    Matrix,
    day_ratings,
    head_to_head,
    ladder_table,
    matrix,
)
from meijin.store.access.audit import add_act
from meijin.store.ladders import ladders
from meijin.store.ladders.days import DayRating
from meijin.store.ladders.exports import (
    exported_covariances,
    exported_pair_counts,
    run_to_export,
)
from meijin.store.ladders.runs import PublishedRun, list_runs
from meijin.store.schema import BotVersionId, LadderId, RatingRunId
from meijin.v1 import ladder_service_pb2 as pb
from meijin.v1.ladder_service_pb2_grpc import LadderServiceServicer

MAX_ROWS = 100
"""The most rows of a covariance matrix in a page: the largest takes 6 KB a row."""

MATRIX_SIZE, MAX_MATRIX_SIZE = 20, 200
"""Rows of a matrix when nobody says how many, and the most."""


class LadderServicer(LadderServiceServicer):
    """The published ladders."""

    def __init__(self, storage: Storage, refreshes: RefreshSender, pauses: Pauses) -> None:
        self._storage = storage
        self._refreshes = refreshes
        self._pauses = pauses

    async def ListLadders(
        self, request: pb.ListLaddersRequest, context: Context
    ) -> pb.ListLaddersResponse:
        """List ladders by name."""
        page = await read_page(
            self._storage,
            ladders.list_ladders,
            ladder_to_proto,
            size=request.page_size,
            start=request.page_token,
            token=lambda ladder: ladder.name,
        )
        return pb.ListLaddersResponse(ladders=page.messages, next_page_token=page.next_token)

    async def GetStandings(
        self, request: pb.GetStandingsRequest, context: Context
    ) -> pb.GetStandingsResponse:
        """Show a page of a ladder's table."""
        run_id = RatingRunId(number(request.run_id, "run_id")) if request.run_id else None
        paused = {pause.version_id for pause in self._pauses.in_force()}
        find = partial(
            ladder_table,
            ladder=request.ladder,
            run_id=run_id,
            paused=paused,
            all_versions=request.all_versions,
            machines=MachineFilter(
                request.hardware, request.min_nodes_per_second, request.max_nodes_per_second
            ),
        )
        size, start = page_size(request.page_size), _line_of(request.page_token)
        return await self._storage.read(_standings, find=find, size=size, start=start)

    async def ListRatingRuns(
        self, request: pb.ListRatingRunsRequest, context: Context
    ) -> pb.ListRatingRunsResponse:
        """List the runs of a ladder that are kept, newest first."""
        page = await read_page(
            self._storage,
            partial(_runs, ladder=request.ladder),
            run_to_proto,
            size=request.page_size,
            start=request.page_token,
            token=lambda run: run.id,
        )
        return pb.ListRatingRunsResponse(runs=page.messages, next_page_token=page.next_token)

    async def GetMatrix(
        self, request: pb.GetMatrixRequest, context: Context
    ) -> pb.GetMatrixResponse:
        """Compare each two of some versions."""
        limit = request.limit or MATRIX_SIZE
        if limit > MAX_MATRIX_SIZE:
            raise InvalidRequestError(f"limit {limit} is above {MAX_MATRIX_SIZE}")
        if len(request.bots) > MAX_MATRIX_SIZE:
            raise InvalidRequestError(f"bots: {len(request.bots)} names; at most {MAX_MATRIX_SIZE}")
        find = partial(
            matrix,
            ladder=request.ladder,
            bots=request.bots,
            limit=limit,
            all_versions=request.all_versions,
        )
        show = partial(_matrix, find=find)
        return await self._storage.read(show)

    async def ListPairCounts(
        self, request: pb.ListPairCountsRequest, context: Context
    ) -> pb.ListPairCountsResponse:
        """List the published run's games by who met whom."""
        expected, place = _place_in_run(request.page_token, 2)
        show = partial(
            _pair_counts,
            ladder=request.ladder,
            expected=expected,
            after=(BotVersionId(place[0]), BotVersionId(place[1])),
            limit=page_size(request.page_size),
        )
        return await self._storage.read(show)

    async def ListCovariances(
        self, request: pb.ListCovariancesRequest, context: Context
    ) -> pb.ListCovariancesResponse:
        """List the rows of the published run's covariance matrix."""
        expected, (start,) = _place_in_run(request.page_token, 1)
        show = partial(
            _covariances,
            ladder=request.ladder,
            expected=expected,
            start=start,
            limit=page_size(request.page_size),
        )
        return await self._storage.read(show)

    async def ListRatings(
        self, request: pb.ListRatingsRequest, context: Context
    ) -> pb.ListRatingsResponse:
        """List a bot's ratings by day, newest first."""
        page = await read_page(
            self._storage,
            partial(_ratings, ladder=request.ladder, bot=request.bot),
            day_rating_to_proto,
            size=request.page_size,
            start=request.page_token,
            token=lambda rating: f"{rating.day}.{rating.version_id}",
        )
        return pb.ListRatingsResponse(ratings=page.messages, next_page_token=page.next_token)

    async def GetDiagnosis(
        self, request: pb.GetDiagnosisRequest, context: Context
    ) -> pb.GetDiagnosisResponse:
        """Show what speaks against a run."""
        run_id = RatingRunId(number(request.run_id, "run_id")) if request.run_id else None
        show = partial(ladder_diagnosis, ladder=request.ladder, run_id=run_id)
        return diagnosis_to_proto(await self._storage.read(show))

    async def GetHeadToHead(
        self, request: pb.GetHeadToHeadRequest, context: Context
    ) -> pb.GetHeadToHeadResponse:
        """Show what two bots scored against each other, and what is to be expected."""
        same = (request.bot, request.version_id) == (request.opponent, request.opponent_version_id)
        if same:
            raise InvalidRequestError(f'opponent: "{request.bot}" does not meet itself')
        find = partial(
            head_to_head,
            ladder=request.ladder,
            bots=(request.bot, request.opponent),
            versions=(
                _version(request.version_id, "version_id"),
                _version(request.opponent_version_id, "opponent_version_id"),
            ),
        )
        return head_to_head_to_proto(await self._storage.read(find))

    async def SetAnchors(
        self, request: pb.SetAnchorsRequest, context: Context
    ) -> pb.SetAnchorsResponse:
        """Make a ladder's ratings relative to some bots."""
        caller = current_caller.get()
        set_anchors = partial(_set_anchors, request=request, caller=caller, now=datetime.now(UTC))
        ladder_id = await self._storage.write(set_anchors)
        self._refreshes.ladder_changed(ladder_id)
        ladder = await self._storage.read(ladders.summary, ladder_id=ladder_id)
        return pb.SetAnchorsResponse(ladder=ladder_to_proto(ladder))


def _ratings(
    connection: Connection, *, limit: int, after: str, ladder: str, bot: str
) -> Sequence[DayRating]:
    return day_ratings(connection, ladder, bot, limit=limit, before=_place(after))


def _runs(connection: Connection, *, limit: int, after: str, ladder: str) -> Sequence[PublishedRun]:
    before = page_key(after)
    ladder_id = ladders.get_ladder(connection, ladder)
    return list_runs(
        connection,
        ladder_id,
        limit=limit,
        before=None if before is None else RatingRunId(before),
    )


def _place(token: str) -> tuple[date, BotVersionId] | None:
    """Where a page of ratings begins: after this day's line of this version."""
    if not token:
        return None
    day, _, version = token.partition(".")
    try:
        return date.fromisoformat(day), BotVersionId(number(version, "page_token"))
    except ValueError:
        raise InvalidRequestError(f'page_token "{token}" is none of this server\'s') from None


def _version(text: str, field: str) -> BotVersionId | None:
    return BotVersionId(number(text, field)) if text else None


def _line_of(token: str) -> tuple[RatingRunId, int]:
    """Where a page of a table begins: which run's, and after how many lines."""
    run_id, _, line = token.partition(".") if token else ("0", "", "0")
    return RatingRunId(number(run_id, "page_token")), number(line, "page_token")


def _standings(
    connection: Connection,
    *,
    find: Callable[..., LadderTable],
    size: int,
    start: tuple[RatingRunId, int],
) -> pb.GetStandingsResponse:
    """A page of a table, as a message already: a large one would hold up the loop."""
    run_id, first = start
    table = find(connection)
    if run_id and table.run is not None and table.run.id != run_id:
        table = find(connection, run_id=run_id)
    lines = within(map(line_to_proto, table.lines[first : first + size]))
    last = first + len(lines)
    is_more = table.run is not None and last < len(table.lines)
    return pb.GetStandingsResponse(
        ladder=ladder_to_proto(table.ladder),
        run=None if table.run is None else run_to_proto(table.run),
        standings=lines,
        next_page_token=f"{table.run.id}.{last}" if is_more and table.run else "",
    )


def _place_in_run(token: str, numbers: int) -> tuple[RatingRunId | None, Sequence[int]]:
    """Where a page of an export begins: whose run's, and after which numbers."""
    if not token:
        return None, [0] * numbers
    run_id, *place = (number(word, "page_token") for word in token.split("."))
    if len(place) != numbers:
        raise InvalidRequestError(f'page_token "{token}" is none of this server\'s')
    return RatingRunId(run_id), place


def _pair_counts(
    connection: Connection,
    *,
    ladder: str,
    expected: RatingRunId | None,
    after: tuple[BotVersionId, BotVersionId],
    limit: int,
) -> pb.ListPairCountsResponse:
    """A page of counts, as a message already."""
    ladder_id = ladders.get_ladder(connection, ladder)
    run = run_to_export(connection, ladder_id, expected)
    rows = exported_pair_counts(connection, ladder_id, run, after=after, limit=limit + 1)
    messages = within(pair_count_to_proto(*row) for row in rows[:limit])
    last = rows[len(messages) - 1][0] if len(messages) < len(rows) else None
    return pb.ListPairCountsResponse(
        run=run_to_proto(run),
        pair_counts=messages,
        next_page_token=f"{run.id}.{last.black_id}.{last.white_id}" if last else "",
    )


def _covariances(
    connection: Connection, *, ladder: str, expected: RatingRunId | None, start: int, limit: int
) -> pb.ListCovariancesResponse:
    """A page of rows, as a message already."""
    ladder_id = ladders.get_ladder(connection, ladder)
    run = run_to_export(connection, ladder_id, expected)
    limit = min(limit, MAX_ROWS)
    rows = exported_covariances(connection, ladder_id, run, start=start, limit=limit + 1)
    messages = within(covariance_row_to_proto(row) for row in rows[:limit])
    last = rows[len(messages) - 1] if len(messages) < len(rows) else None
    return pb.ListCovariancesResponse(
        run=run_to_proto(run),
        rows=messages,
        next_page_token=f"{run.id}.{last.place + 1}" if last else "",
    )


def _matrix(
    connection: Connection, *, find: Callable[[Connection], Matrix]
) -> pb.GetMatrixResponse:
    """A matrix, as a message already: a large one would hold up the loop."""
    found = find(connection)
    return pb.GetMatrixResponse(
        ladder=ladder_to_proto(found.ladder),
        rows=[matrix_row_to_proto(row) for row in found.rows],
    )


def _set_anchors(
    connection: Connection, *, request: pb.SetAnchorsRequest, caller: Caller, now: datetime
) -> LadderId:
    ladder_id = ladders.get_ladder(connection, request.ladder)
    with invalid_request("bots"):
        versions = ladders.anchor_versions(connection, request.bots)
    before = {"versions": list(ladders.anchors(connection, ladder_id))}
    ladders.set_anchors(connection, ladder_id, versions)
    after = {"versions": list(ladders.anchors(connection, ladder_id)), "bots": list(request.bots)}
    subject = f"ladder {ladders.name_of(connection, ladder_id)}"
    act = caller.act("set anchors", subject, now, before=before, after=after)
    add_act(connection, act)
    return ladder_id
