"""How the server is doing."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection

from meijin.server.api.convert_status import activity_to_proto, status_to_proto
from meijin.server.api.interceptor import Context
from meijin.server.credentials import Credentials
from meijin.server.errors import StoreAwayError
from meijin.server.match.arbiter.stalls import StallWatch
from meijin.server.match.games import Games
from meijin.server.match.live.store_watch import StoreWatch
from meijin.server.match.lobby import Lobby
from meijin.server.match.observers.game_rate import DAY, HOUR, GameRate
from meijin.server.storage import Storage
from meijin.server.tournaments.refresh_jobs import RefreshSender
from meijin.server.tournaments.scheduler import Scheduler
from meijin.server.views.status import ServerActivity, ServerStatus
from meijin.store.backup import backups_in
from meijin.store.ladders.ladders import backlog, ladder_progress
from meijin.v1 import status_service_pb2 as pb
from meijin.v1.status_service_pb2_grpc import StatusServiceServicer

LOOK_INTERVAL = timedelta(seconds=1)
"""Between two looks at what goes on, however many ask."""

MAX_LADDERS = 100

T = TypeVar("T")


class StatusServicer(StatusServiceServicer):
    """Looks at all parts of a server; `backups` is the folder of those of its database."""

    def __init__(
        self,
        *,
        lobby: Lobby,
        games: Games,
        store_watch: StoreWatch,
        scheduler: Scheduler,
        storage: Storage,
        refreshes: RefreshSender,
        watch: StallWatch,
        game_rate: GameRate,
        backups: Path,
        credentials: Credentials | None,
    ) -> None:
        self._lobby = lobby
        self._games = games
        self._store_watch = store_watch
        self._scheduler = scheduler
        self._storage = storage
        self._refreshes = refreshes
        self._watch = watch
        self._game_rate = game_rate
        self._backups = backups
        self._credentials = credentials
        self._start_time = datetime.now(UTC)
        self._activity: ServerActivity | None = None
        self._looking = asyncio.Lock()

    async def GetStatus(
        self, request: pb.GetStatusRequest, context: Context
    ) -> pb.GetStatusResponse:
        """Look at all of them once; what does not answer is left out."""
        ladders = await self._read(backlog)
        queued = await self._refreshes.queue_length()
        taken = await asyncio.to_thread(backups_in, self._backups)
        ends = None if self._credentials is None else self._credentials.ends
        return status_to_proto(
            ServerStatus(
                version=version("meijin"),
                start_time=self._start_time,
                is_draining=self._lobby.is_draining,
                is_store_failing=self._store_watch.is_away or ladders is None,
                connected_bots=len(self._lobby.sessions),
                running_tournaments=len(self._scheduler.runs),
                running_games=len(self._games.running),
                pending_games=sum(len(run.pending) for run in self._scheduler.runs.values()),
                ladders=ladders,
                queued_jobs=queued,
                backup_time=taken[0].time if taken else None,
                certificate_end=None if ends is None else ends.server,
                client_ca_end=None if ends is None else ends.client_ca,
            )
        )

    async def GetActivity(
        self, request: pb.GetActivityRequest, context: Context
    ) -> pb.GetActivityResponse:
        """Tell what goes on, as of the last look."""
        async with self._looking:
            last = self._activity
            if last is None or datetime.now(UTC) - last.time >= LOOK_INTERVAL:
                self._activity = last = await self._look()
        return activity_to_proto(last)

    async def _look(self) -> ServerActivity:
        """Look at what goes on; what does not answer is left out."""
        ladders = await self._read(partial(ladder_progress, limit=MAX_LADDERS))
        queued = await self._refreshes.queue_length()
        stalls, now_ns = self._watch.recent, self._watch.moment().now_ns
        return ServerActivity(
            time=datetime.now(UTC),
            version=version("meijin"),
            start_time=self._start_time,
            is_draining=self._lobby.is_draining,
            is_store_failing=self._store_watch.is_away or ladders is None,
            connected_bots=len(self._lobby.sessions),
            running_tournaments=len(self._scheduler.runs),
            running_games=len(self._games.running),
            pending_games=sum(len(run.pending) for run in self._scheduler.runs.values()),
            games_last_hour=self._game_rate.games(HOUR),
            games_last_day=self._game_rate.games(DAY),
            longest_stall=_duration(stalls.wall.largest(HOUR, now_ns)),
            stalls=_duration(stalls.wall.total(HOUR, now_ns)),
            longest_loop_work=_duration(stalls.loop.largest(HOUR, now_ns)),
            longest_process_work=_duration(stalls.process.largest(HOUR, now_ns)),
            ladders=ladders,
            queued_jobs=queued,
        )

    async def _read(self, query: Callable[[Connection], T]) -> T | None:
        """What a query finds; ``None`` while the database does not answer."""
        try:
            return await self._storage.read(query)
        except StoreAwayError:
            return None


def _duration(ns: int) -> timedelta:
    return timedelta(microseconds=ns // 1000)
