"""How the server is doing."""

import asyncio
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from meijin.server.api.convert_status import status_to_proto
from meijin.server.api.interceptor import Context
from meijin.server.credentials import Credentials
from meijin.server.errors import StoreAwayError
from meijin.server.match.games import Games
from meijin.server.match.lobby import Lobby
from meijin.server.match.store_watch import StoreWatch
from meijin.server.storage import Storage
from meijin.server.tournaments.refresh_jobs import RefreshSender
from meijin.server.tournaments.scheduler import Scheduler
from meijin.server.views.status import ServerStatus
from meijin.store.backup import backups_in
from meijin.store.ladders.ladders import LadderBacklog, backlog
from meijin.v1 import status_service_pb2 as pb
from meijin.v1.status_service_pb2_grpc import StatusServiceServicer


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
        backups: Path,
        credentials: Credentials | None,
    ) -> None:
        self._lobby = lobby
        self._games = games
        self._store_watch = store_watch
        self._scheduler = scheduler
        self._storage = storage
        self._refreshes = refreshes
        self._backups = backups
        self._credentials = credentials
        self._start_time = datetime.now(UTC)

    async def GetStatus(
        self, request: pb.GetStatusRequest, context: Context
    ) -> pb.GetStatusResponse:
        """Look at all of them once; what does not answer is left out."""
        ladders = await self._ladders()
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

    async def _ladders(self) -> LadderBacklog | None:
        try:
            return await self._storage.read(backlog)
        except StoreAwayError:
            return None
