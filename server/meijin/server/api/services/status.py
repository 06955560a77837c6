"""How the server is doing."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from sqlalchemy import Connection

from meijin.server.api.calls.interceptor import Context
from meijin.server.credentials import Credentials
from meijin.server.errors import StoreAwayError
from meijin.server.match.observers import DAY, HOUR
from meijin.server.parts import Parts
from meijin.store.backup import backups_in
from meijin.store.ladders.ladders import LadderSummary, backlog, list_ladders
from meijin.v1 import status_service_pb2 as pb
from meijin.v1.status_service_pb2_grpc import StatusServiceServicer
from meijin.wire.mapping import to_message
from meijin.wire.values import time_to_proto

LOOK_INTERVAL = timedelta(seconds=1)
"""Between two looks at what goes on, however many ask."""

MAX_LADDERS = 100

P = ParamSpec("P")
T = TypeVar("T")


class StatusServicer(StatusServiceServicer):
    """Looks at all parts of a server; `backups` is the folder of those of its database."""

    def __init__(self, parts: Parts, backups: Path, credentials: Credentials | None) -> None:
        self._parts = parts
        self._backups = backups
        self._credentials = credentials
        self._start_time = time_to_proto(datetime.now(UTC))
        self._activity: pb.GetActivityResponse | None = None
        self._looking = asyncio.Lock()

    async def GetStatus(
        self, request: pb.GetStatusRequest, context: Context
    ) -> pb.GetStatusResponse:
        ladders = await self._read(backlog)
        queued = await self._parts.refreshes.queue_length()
        taken = await asyncio.to_thread(backups_in, self._backups)
        ends = None if self._credentials is None else self._credentials.ends
        return pb.GetStatusResponse(
            outdated_ladders=None if ladders is None else ladders.outdated,
            oldest_run_time=None if ladders is None else _time(ladders.oldest),
            queued_jobs=queued,
            backup_time=_time(taken[0].time if taken else None),
            certificate_expire_time=None if ends is None else _time(ends.server),
            client_ca_expire_time=None if ends is None else _time(ends.client_ca),
            **self._counts(is_store_failing=ladders is None),
        )

    async def GetActivity(
        self, request: pb.GetActivityRequest, context: Context
    ) -> pb.GetActivityResponse:
        async with self._looking:
            last = self._activity
            if last is None or datetime.now(UTC) - last.time.ToDatetime(UTC) >= LOOK_INTERVAL:
                self._activity = last = await self._look()
        return last

    async def _look(self) -> pb.GetActivityResponse:
        """Look at what goes on; what does not answer is left out."""
        ladders = await self._read(list_ladders, limit=MAX_LADDERS)
        stalls, now_ns = self._parts.watch.recent, self._parts.watch.moment().now_ns
        return pb.GetActivityResponse(
            time=time_to_proto(datetime.now(UTC)),
            games_last_hour=self._parts.game_rate.games(HOUR),
            games_last_day=self._parts.game_rate.games(DAY),
            stalls=pb.Stalls(
                longest=_duration(stalls.wall.largest(HOUR, now_ns)),
                total=_duration(stalls.wall.total(HOUR, now_ns)),
                longest_loop_cpu_time=_duration(stalls.loop.largest(HOUR, now_ns)),
                longest_process_cpu_time=_duration(stalls.process.largest(HOUR, now_ns)),
            ),
            ladders=map(_ladder, ladders or ()),
            queued_jobs=await self._parts.refreshes.queue_length(),
            **self._counts(is_store_failing=ladders is None),
        )

    def _counts(self, *, is_store_failing: bool) -> dict[str, Any]:
        runs = self._parts.scheduler.runs
        return {
            "version": version("meijin"),
            "start_time": self._start_time,
            "draining": self._parts.lobby.is_draining,
            "store_failing": self._parts.store_watch.is_away or is_store_failing,
            "connected_bots": len(self._parts.lobby.sessions),
            "running_tournaments": len(runs),
            "running_games": len(self._parts.games.running),
            "pending_games": sum(len(run.pending) for run in runs.values()),
        }

    async def _read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T | None:
        """What a query finds; ``None`` while the database does not answer."""
        try:
            return await self._parts.storage.read(query, *args, **kwargs)
        except StoreAwayError:
            return None


def _ladder(ladder: LadderSummary) -> pb.LadderActivity:
    behind = max(0, ladder.games - ladder.run_games)
    return to_message(
        ladder,
        pb.LadderActivity,
        ladder=ladder.name,
        run_time=ladder.run_create_time,
        games_behind=behind,
    )


def _time(time: datetime | None) -> Timestamp | None:
    return None if time is None else time_to_proto(time)


def _duration(ns: int) -> Duration:
    message = Duration()
    message.FromMicroseconds(ns // 1000)
    return message
