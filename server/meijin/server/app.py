"""The server as a whole: start-up, main loop, shutdown."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial

import grpc
import structlog
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from meijin.server.api.bots import BotServicer
from meijin.server.api.games import GameServicer
from meijin.server.api.health import HealthServicer
from meijin.server.api.interceptor import Interceptor
from meijin.server.api.ladders import LadderServicer
from meijin.server.api.play import PlayServicer
from meijin.server.api.tournaments import TournamentServicer
from meijin.server.errors import StoppingError
from meijin.server.parts import Parts
from meijin.server.process.operator_token import ensure_operator_token
from meijin.server.process.supervisor import Supervisor
from meijin.server.settings import Settings
from meijin.server.storage import Storage
from meijin.server.tournaments.recovery import load, restore
from meijin.store import Database, FileClaim, Writer
from meijin.store.bots import Identity, authenticate
from meijin.store.database import STATEMENT_TIMEOUT
from meijin.v1 import (
    bot_service_pb2,
    bot_service_pb2_grpc,
    game_service_pb2,
    game_service_pb2_grpc,
    ladder_service_pb2,
    ladder_service_pb2_grpc,
    play_service_pb2,
    play_service_pb2_grpc,
    tournament_service_pb2,
    tournament_service_pb2_grpc,
)
from meijin.wire.contract import SERVER_LOCK_FILE, keepalive_options

log = structlog.get_logger()

CLOSING_TIME = timedelta(seconds=1)
"""How long calls may take to end when the server stops."""

STORING_TIME = timedelta(seconds=5)
"""How long the last commit may take when the server stops."""

STORING_SERVICES = (
    play_service_pb2.DESCRIPTOR.services_by_name["PlayService"].full_name,
    bot_service_pb2.DESCRIPTOR.services_by_name["BotService"].full_name,
    tournament_service_pb2.DESCRIPTOR.services_by_name["TournamentService"].full_name,
    game_service_pb2.DESCRIPTOR.services_by_name["GameService"].full_name,
    ladder_service_pb2.DESCRIPTOR.services_by_name["LadderService"].full_name,
)
"""Those that need the store."""

OTHER_SERVICES = (health.SERVICE_NAME, reflection.SERVICE_NAME)

SERVICES = (*STORING_SERVICES, *OTHER_SERVICES)


async def serve(settings: Settings, ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; `ready` is told the address once bots may connect.

    Raises:
        StoreInUseError: another server runs on the same database.
        OSError: the address can't be listened on.
    """
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    settings.data.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        database = stack.enter_context(open_database(settings))
        stack.enter_context(FileClaim(settings.data / SERVER_LOCK_FILE, of=str(settings.data)))
        stack.enter_context(database.claim())
        await asyncio.to_thread(database.migrate)
        supervisor = await stack.enter_async_context(Supervisor(settings))
        app = await stack.enter_async_context(App.open(settings, database, supervisor.redis_url))
        address = await app.listen()
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(task) for task in (*app.tasks(), supervisor.run())]
            ready(address)
            await _stop_or_failure(stop, running)
            await app.drain()
            for task in running:
                task.cancel()


def open_database(settings: Settings) -> Database:
    """The server's database, where no statement may keep games waiting for long.

    Raises:
        ArgumentError: the URL is that of no such database.
    """
    return Database(settings.database, settings.durability, statement_timeout=STATEMENT_TIMEOUT)


async def _stop_or_failure(stop: asyncio.Event, running: list[asyncio.Task[None]]) -> None:
    """Wait for the signal, or for a task that has failed; the task group then raises it."""
    waiting = asyncio.create_task(stop.wait())
    await asyncio.wait((waiting, *running), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()


class App:
    """A server's parts on the network."""

    def __init__(self, settings: Settings, parts: Parts) -> None:
        self.parts = parts
        self._settings = settings
        self._health = HealthServicer(
            parts.store_watch, storing=STORING_SERVICES, other=OTHER_SERVICES
        )
        interceptor = Interceptor(partial(_authenticate, parts), is_open=settings.open_registration)
        self._server = grpc.aio.server(interceptors=[interceptor], options=_options(settings))
        _add_services(self._server, parts, self._health)

    @classmethod
    @asynccontextmanager
    async def open(
        cls, settings: Settings, database: Database, redis_url: str
    ) -> AsyncIterator["App"]:
        """An app whose games are those that an earlier server left."""
        writer = Writer(database)
        try:
            storage = Storage(database, writer)
            await ensure_operator_token(storage, settings)
            recovered = await storage.read(partial(load, storage=storage))
            parts = Parts.assemble(settings, writer, storage, redis_url, recovered.last)
            restore(recovered, parts.lobby, parts.games, parts.scheduler)
            app = cls(settings, parts)
            try:
                yield app
            finally:
                await app.stop()
                if parts.store_watch.is_away:
                    database.cut()
        finally:
            await asyncio.to_thread(writer.close)

    def tasks(self) -> list[Coroutine[None, None, None]]:
        """What runs as long as the server does."""
        return [*self.parts.tasks(), self._health.run()]

    async def listen(self) -> str:
        """Open the port and return the address."""
        try:
            port = self._server.add_insecure_port(self._settings.listen)
        except RuntimeError as error:
            message = f"can't listen on {self._settings.listen}: is another server running there?"
            raise OSError(message) from error
        await self._server.start()
        host, _, _ = self._settings.listen.rpartition(":")
        return f"{host}:{port}"

    async def drain(self) -> None:
        """Start no game any more, give running ones a little time, and close every stream."""
        lobby, games = self.parts.lobby, self.parts.games
        lobby.drain()
        self._health.stop()
        log.info("stopping", running_games=len(games.running))
        try:
            async with asyncio.timeout(self._settings.drain.total_seconds()):
                await games.all_ended()
        except TimeoutError:
            log.info("games wait for the next start", games=len(games.running))
        await self._store_the_rest()
        lobby.close(StoppingError("the server stops; games resume after its return"))
        await self.stop(CLOSING_TIME)
        await self._store_the_rest()

    async def _store_the_rest(self) -> None:
        """Commit what has happened, unless the store is away: nobody has been told of the rest."""
        try:
            async with asyncio.timeout(STORING_TIME.total_seconds()):
                await self.parts.journal.drained()
        except TimeoutError:
            log.error("the database fails; the last moves are asked for again at the next start")

    async def stop(self, grace: timedelta = timedelta(0)) -> None:
        """Close every connection; calls that are under way have a grace to end."""
        await self._server.stop(grace.total_seconds())


def _add_services(server: grpc.aio.Server, parts: Parts, health_servicer: HealthServicer) -> None:
    """Have the server answer the calls of every service."""
    play_service_pb2_grpc.add_PlayServiceServicer_to_server(
        PlayServicer(parts.lobby, parts.actions, parts.watch, parts.storage, parts.store_watch),
        server,
    )
    bot_service_pb2_grpc.add_BotServiceServicer_to_server(
        BotServicer(parts.lobby, parts.storage), server
    )
    tournament_service_pb2_grpc.add_TournamentServiceServicer_to_server(
        TournamentServicer(parts.control, parts.scheduler, parts.storage, parts.feed), server
    )
    game_service_pb2_grpc.add_GameServiceServicer_to_server(
        GameServicer(parts.control, parts.games, parts.storage, parts.feed), server
    )
    ladder_service_pb2_grpc.add_LadderServiceServicer_to_server(
        LadderServicer(parts.storage, parts.refreshes), server
    )
    health_pb2_grpc.add_HealthServicer_to_server(health_servicer, server)
    reflection.enable_server_reflection(SERVICES, server)


async def _authenticate(parts: Parts, token: str) -> Identity | None:
    with parts.store_watch.read():
        return await parts.storage.read(partial(authenticate, token=token))


def _options(settings: Settings) -> list[tuple[str, int]]:
    """GRPC's settings."""
    return [
        ("grpc.so_reuseport", 0),
        *keepalive_options(settings.keepalive),
        ("grpc.http2.min_ping_interval_without_data_ms", 5000),
        ("grpc.max_concurrent_streams", 8),
        ("grpc.max_connection_idle_ms", 10_000),
        ("grpc.max_receive_message_length", settings.max_message_bytes),
    ]
