"""Ladders: their standings, their history, and what two bots scored."""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection

from meijin.server.errors import InvalidRequestError, NotFoundError
from meijin.server.guard import Context
from meijin.server.paging import number, page_size
from meijin.server.storage import Storage
from meijin.store import bots as bot_store
from meijin.store import ladders as store
from meijin.store.tables import BotId, BotVersionId, RatingRunId
from meijin.v1 import ladder_service_pb2 as pb
from meijin.v1.ladder_service_pb2_grpc import LadderServiceServicer
from meijin.wire import time_to_proto

T = TypeVar("T")


class LadderServicer(LadderServiceServicer):
    """The published ladders."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def ListLadders(
        self, request: pb.ListLaddersRequest, context: Context
    ) -> pb.ListLaddersResponse:
        """List ladders by name."""
        size = page_size(request.page_size)
        rows = await self._read(
            partial(store.list_ladders, limit=size + 1, after=request.page_token)
        )
        return pb.ListLaddersResponse(
            ladders=[_ladder_to_proto(row) for row in rows[:size]],
            next_page_token=rows[size - 1].name if len(rows) > size else "",
        )

    async def GetStandings(
        self, request: pb.GetStandingsRequest, context: Context
    ) -> pb.GetStandingsResponse:
        """Show a ladder's published table."""
        table = await self._read(
            lambda connection: store.standings(
                connection, store.ladder_named(connection, request.ladder or None).id
            )
        )
        response = pb.GetStandingsResponse(
            ladder=_ladder_to_proto(table.ladder),
            standings=[_standing_to_proto(row) for row in table.standings],
        )
        if table.run is not None:
            response.run.CopyFrom(_run_to_proto(table.run))
        return response

    async def ListRatings(
        self, request: pb.ListRatingsRequest, context: Context
    ) -> pb.ListRatingsResponse:
        """List a bot's ratings, newest first."""
        size = page_size(request.page_size)
        before = _place(request.page_token)
        rows = await self._read(
            lambda connection: store.rating_history(
                connection,
                store.ladder_named(connection, request.ladder or None).id,
                _bot(connection, request.bot),
                limit=size + 1,
                before=before,
            )
        )
        last = rows[size - 1] if len(rows) > size else None
        return pb.ListRatingsResponse(
            ratings=[
                pb.PastRating(run=_run_to_proto(row.run), standing=_standing_to_proto(row.standing))
                for row in rows[:size]
            ],
            next_page_token=f"{last.run.id}.{last.standing.version_id}" if last else "",
        )

    async def GetHeadToHead(
        self, request: pb.GetHeadToHeadRequest, context: Context
    ) -> pb.GetHeadToHeadResponse:
        """Show what two bots scored against each other."""
        score = await self._read(
            lambda connection: store.head_to_head(
                connection,
                store.ladder_named(connection, request.ladder or None).id,
                _bot(connection, request.bot),
                _bot(connection, request.opponent),
            )
        )
        return pb.GetHeadToHeadResponse(**asdict(score))

    async def _read(self, query: Callable[[Connection], T]) -> T:
        try:
            return await self._storage.read(query)
        except store.UnknownLadderError as error:
            raise NotFoundError(str(error)) from None


def _bot(connection: Connection, name: str) -> BotId:
    bot_id = bot_store.find_bot(connection, name)
    if bot_id is None:
        raise NotFoundError(f'no bot "{name}"; `meijin bot list` names them')
    return bot_id


def _place(token: str) -> tuple[RatingRunId, BotVersionId] | None:
    """Where a page of ratings begins: after this run's line of this version."""
    if not token:
        return None
    run, dot, version = token.partition(".")
    if not dot:
        raise InvalidRequestError(f'page_token "{token}" is none of this server\'s')
    return RatingRunId(number(run, "page_token")), BotVersionId(number(version, "page_token"))


def _ladder_to_proto(row: store.LadderSummary) -> pb.Ladder:
    return pb.Ladder(name=row.name, games=row.games, current=row.is_current)


def _run_to_proto(run: store.Run) -> pb.RatingRun:
    return pb.RatingRun(
        run_id=str(run.id),
        games=run.games,
        checksum=run.checksum,
        create_time=time_to_proto(run.create_time),
    )


def _standing_to_proto(row: store.Standing) -> pb.Standing:
    return pb.Standing(
        rank=row.rank,
        bot=row.bot,
        version=row.version,
        elo=row.elo,
        classic_elo=row.classic_elo,
        games=row.games,
        wins=row.wins,
        draws=row.draws,
        losses=row.losses,
        faults=row.faults,
    )
