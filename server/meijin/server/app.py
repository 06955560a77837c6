"""The server as a whole: start-up, main loop, shutdown."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic
from typing import Protocol, TypeAlias

import grpc
import structlog
from prometheus_client import CollectorRegistry

from meijin.server.api.answers.webhook_payloads import payload_of
from meijin.server.api.calls.interceptor import Interceptor
from meijin.server.api.calls.limits import Limits
from meijin.server.api.calls.local import LocalCalls, Registrar
from meijin.server.api.calls.loopback import Loopback
from meijin.server.api.services.health import HealthServicer
from meijin.server.api.services.webhooks import WebhookServicer
from meijin.server.connections.guard import ConnectionGuard
from meijin.server.connections.limits import ConnectionLimits
from meijin.server.credentials import Credentials
from meijin.server.errors import StoppingError
from meijin.server.metrics.exporter import Exporter
from meijin.server.metrics.ladders import LadderWatch
from meijin.server.metrics.registry import (
    CertificateExpiry,
    GameCounts,
    LiveMetrics,
    make_registry,
)
from meijin.server.parts import Parts
from meijin.server.process.backups import Backups
from meijin.server.process.bind_failure import bind_failure, check_port
from meijin.server.process.data_folder import (
    check_database,
    check_move_log,
    make_private,
    undo_cut_restore,
)
from meijin.server.process.garbage import GarbageCollector
from meijin.server.process.host_token import renew_host_token
from meijin.server.process.last_resort import end_within
from meijin.server.process.open_files import allow_open_files, max_connections
from meijin.server.process.operator_token import OperatorTokenFile, ensure_operator_token
from meijin.server.process.supervisor import Supervisor
from meijin.server.process.systemd import ServiceManager
from meijin.server.services import OTHER_SERVICES, STORING_SERVICES, add_services
from meijin.server.settings import Settings
from meijin.server.storage import Storage
from meijin.server.tournaments.recovery import (
    RecoveredState,
    first_entry,
    kept_in,
    load,
    restore,
)
from meijin.server.tracing.spans import NO_TRACER, Tracer
from meijin.server.tracing.start import start_tracer
from meijin.server.webhooks.deliverer import Deliverer
from meijin.server.webhooks.egress import EgressPolicy
from meijin.store import Database, FileClaim, StoreInUseError, Writer
from meijin.store.access.tokens import Identity, authenticate
from meijin.store.database import STATEMENT_TIMEOUT, database_file
from meijin.store.ladders.ladders import check_time_classes
from meijin.store.move_log.entry import LogEntry
from meijin.store.move_log.log import MoveLog, open_log
from meijin.store.move_log.mark import write_mark
from meijin.store.schema import Epoch
from meijin.wire.contract import (
    MAX_RECORDS_BYTES,
    SERVER_LOCK_FILE,
    UNIX_SCHEME,
    Address,
    keepalive_options,
    on_this_machine,
)

log = structlog.get_logger()

CLOSING_TIME = timedelta(seconds=1)
"""How long calls may take to end when the server stops."""

LAST_COMMITS_TIME = timedelta(seconds=3)
"""How long the last commits may take when the server stops."""

HANDSHAKE_TIMEOUT = timedelta(seconds=10)
"""How long a client has to open a connection; until then it is none that could be idle."""

READ_TO_REFUSE = 2
"""Messages of up to this many times `max_message_bytes` are read, to be refused in our own words.

Larger ones gRPC refuses unread, unless a worker might send them. So this bounds what a peer has us
hold of a message: with the 2,000 streams of an address half a gigabyte, which it has to send first.
"""

HANDOVER_TIME = timedelta(seconds=10)
"""How long a server that has lost the database to this one may append to its log of moves."""

STOP_LIMIT = timedelta(seconds=20)
"""A stop that takes longer than this and the drain is cut off: something hangs."""


SERVICE = "meijin"
"""What traces call the server, unless the environment says otherwise."""


class Site(Protocol):
    """Pages that are served beside the arena."""

    async def run(self) -> None:
        """Serve them, until `stop`."""

    async def stop(self) -> None:
        """End every stream to a browser, and stop; the games go on."""


OpenSite: TypeAlias = Callable[[LocalCalls], Awaitable[Site | None]]
"""Opens the pages, which call the services in this process; ``None`` where there are none."""


async def serve(settings: Settings, ready: Callable[[str], None], open_site: OpenSite) -> None:
    """Serve until SIGTERM or SIGINT; `ready` is told the address once bots may connect.

    The process ends some time after the signal even if a part of it hangs. Pages are opened after
    that, so that bots do not wait for them.

    Raises:
        CertificateError: a file for TLS can't be used.
        StoreError: another server runs on the same database, it or its log of moves is damaged,
            or its ladders are of classes with other bounds.
        OSError: the address can't be listened on.
        TracingError: traces can't be sent from here.
    """
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    allow_open_files()
    if not settings.data.exists():  # else one that runs on the folder is told of first
        check_port(settings.listen)
    make_private(settings.data)
    async with AsyncExitStack() as stack:
        tracer = stack.enter_context(start_tracer(settings.traces, SERVICE))
        database = stack.enter_context(open_database(settings))
        claim = FileClaim(settings.data / SERVER_LOCK_FILE, of=str(settings.data))
        stack.enter_context(claim)
        stack.enter_context(database.claim())
        check_port(settings.listen)
        await asyncio.to_thread(undo_cut_restore, settings)
        await asyncio.to_thread(check_database, settings)
        await asyncio.to_thread(database.migrate)
        await asyncio.to_thread(database.fence.claim)
        supervisor = await stack.enter_async_context(Supervisor(settings))
        opening = App.open(settings, database, supervisor.redis_url, tracer)
        app = await stack.enter_async_context(opening)
        address = await app.listen()
        if settings.hosting:
            await _start_host(settings, app, supervisor, address)
        if settings.is_tls:
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, app.reload_certificate)
        if settings.metrics is not None:
            stack.enter_context(Exporter(settings.metrics, app.registry()))
        manager = ServiceManager()
        async with asyncio.TaskGroup() as tasks:
            lasting = (*app.tasks(), supervisor.run(), manager.run())
            running = [tasks.create_task(task) for task in lasting]
            claim.tell(address)
            ready(address)
            manager.tell("READY=1")
            site = await open_site(app.local_calls)
            if site is not None:
                running.append(tasks.create_task(site.run()))
            garbage = stack.enter_context(GarbageCollector())
            running.append(tasks.create_task(garbage.run(lambda: not app.parts.games.running)))
            await _stop_or_failure(stop, running)
            manager.tell("STOPPING=1")
            end_within(settings.drain + STOP_LIMIT)
            if site is not None:
                await site.stop()
            await app.drain()
            for task in running:
                task.cancel()


async def _start_host(settings: Settings, app: "App", supervisor: Supervisor, address: str) -> None:
    """Start the server's own host, unless it would need a certificate for this machine."""
    if settings.is_tls:
        log.warning(
            "a server with TLS starts no host of its own",
            fix="make a token by `meijin token create host`, and start `meijin host run` with it",
        )
        return
    token = await app.parts.storage.write(renew_host_token)
    supervisor.start_host(on_this_machine(address), token)


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
    def __init__(self, settings: Settings, parts: Parts, credentials: Credentials | None) -> None:
        self.parts = parts
        self._settings = settings
        self._credentials = credentials
        self._health = HealthServicer(
            parts.store_watch, storing=STORING_SERVICES, other=OTHER_SERVICES
        )
        self._games = GameCounts()
        self.ladders = LadderWatch(parts.storage, parts.refreshes)
        """How far the ladders are behind, for the metrics."""
        parts.listeners.add(self._games)
        self._loopback = Loopback(parts.watch)
        self._backups = _backups(settings)
        self._guard: ConnectionGuard | None = None
        self.limits = Limits(settings)
        """What an address or a bot may open and ask for."""
        self._interceptor = interceptor = Interceptor(
            partial(_authenticate, parts),
            self.limits,
            settings=settings,
            calls=parts.calls,
            uses=parts.uses,
            tracer=parts.tracer,
        )
        self._server = grpc.aio.server(interceptors=[interceptor], options=_options(settings))
        registrar = Registrar(self._server)
        self.local_calls = LocalCalls(interceptor, registrar.handlers)
        """The services, for what else is in this process."""
        policy = EgressPolicy(settings.webhook_networks or ())
        self.webhooks = Deliverer(parts.storage, payload_of, policy=policy)
        """What tells webhooks what happens, where the settings let it."""
        webhooks = WebhookServicer(
            parts.storage, policy if settings.webhooks else None, self.webhooks.wake
        )
        add_services(
            registrar,
            parts,
            self._health,
            self.limits,
            settings=settings,
            webhooks=webhooks,
            credentials=credentials,
        )

    @classmethod
    @asynccontextmanager
    async def open(
        cls, settings: Settings, database: Database, redis_url: str, tracer: Tracer = NO_TRACER
    ) -> AsyncIterator["App"]:
        """An app whose games are those that an earlier server left."""
        credentials = Credentials.of(settings)
        move_log = await _open_move_log(database)
        writer = Writer(database)
        storage = Storage(database, writer)
        try:
            await ensure_operator_token(storage, OperatorTokenFile(settings.data))
            await storage.read(check_time_classes, classes=settings.time_classes)
            folder = None if move_log is None else move_log.folder
            recovered = await storage.read(load, log_folder=folder)
            check_move_log(recovered.games, settings)
            begun, last = first_entry(recovered), recovered.last
            if move_log is not None:
                last = last._replace(kept=kept_in(begun, database.fence.epoch))
            parts = Parts(
                settings,
                writer,
                database.fence,
                storage,
                redis_url=redis_url,
                last=last,
                move_log=move_log,
                tracer=tracer,
            )
            restore(recovered, parts.lobby, parts.games, parts.scheduler)
            if move_log is not None:
                await _begin_log(move_log, begun, recovered, storage, database.fence.epoch)
            parts.incidents.restarted()
            app = cls(settings, parts, credentials)
            try:
                yield app
            finally:
                await app.close()
                parts.journal.close()
                if parts.store_watch.is_away:
                    database.cut()
        finally:
            if not await asyncio.to_thread(writer.close, CLOSING_TIME):
                log.warning("the database does not answer; its last transaction is left to it")
            storage.close()
            if move_log is not None:
                move_log.close()

    def tasks(self) -> list[Coroutine[None, None, None]]:
        """What runs as long as the server does."""
        tasks = [*self.parts.tasks(), self._loopback.run(), self._health.run()]
        if self._credentials is not None:
            tasks.append(self._credentials.watch())
        if self._settings.metrics is not None:
            tasks.append(self.ladders.run())
        if self._guard is not None:
            tasks.append(self._guard.run())
        if self._backups is not None:
            tasks.append(self._backups.run())
        if self._settings.webhooks:
            tasks.append(self.webhooks.run())
        return tasks

    def reload_certificate(self) -> None:
        if self._credentials is not None:
            self._credentials.reload()

    def registry(self) -> CollectorRegistry:
        return make_registry(
            LiveMetrics(self.parts, asyncio.get_running_loop()),
            self._games,
            self.ladders,
            self._interceptor.counts,
            self.parts.journal.commits,
            self.parts.actions.notices,
            self.parts.watch.recent.seconds,
            *([] if self._backups is None else [self._backups]),
            *([] if self._credentials is None else [CertificateExpiry(self._credentials)]),
        )

    async def listen(self) -> str:
        listen, credentials = self._settings.listen, self._credentials
        try:
            if credentials is None:
                port = self._server.add_insecure_port(listen)
            else:
                port = self._server.add_secure_port(listen, credentials.for_server())
        except RuntimeError as error:
            raise OSError(f"can't listen on {listen}: {bind_failure(listen)}") from error
        await self._server.start()
        if listen.startswith(UNIX_SCHEME):
            return listen
        self._guard = self._open_guard(port)
        host, _, _ = listen.rpartition(":")
        return str(Address(f"{host}:{port}", is_tls=credentials is not None))

    def _open_guard(self, port: int) -> ConnectionGuard | None:
        """The guard of new connections, where the system has what it needs."""
        settings, most = self._settings, max_connections()
        limits = ConnectionLimits(
            per_second=settings.connections_per_second,
            most=min(settings.max_streams, most // 2),
            most_in_all=most * 3 // 4,
            now=monotonic(),
        )
        try:
            return ConnectionGuard(port, limits, self.limits.calling)
        except OSError as error:
            log.info("new connections are not limited on this system", error=str(error))
            return None

    async def drain(self) -> None:
        """Start no game any more, give running ones a little time, and close every stream."""
        lobby, games = self.parts.lobby, self.parts.games
        lobby.drain()
        self._health.stop()
        log.info("stopping", running_games=len(games.running))
        try:
            async with asyncio.timeout(self._settings.drain.total_seconds()):
                await games.all_ended.wait()
        except TimeoutError:
            log.info("games wait for the next start", games=len(games.running))
        deadline = asyncio.get_running_loop().time() + LAST_COMMITS_TIME.total_seconds()
        await self._commit_rest(deadline)
        await self.close()
        await self._commit_rest(deadline)

    async def _commit_rest(self, deadline: float) -> None:
        """Commit what is left, unless the database is away: nobody was told of that."""
        try:
            async with asyncio.timeout_at(deadline):
                await self.parts.journal.drained()
        except TimeoutError:
            log.warning("the last moves are not stored; nobody was told of them")

    async def close(self) -> None:
        """End every stream, and let nobody in any more."""
        self.parts.lobby.is_draining = True
        self.parts.lobby.close(StoppingError("the server stops; games resume after its return"))
        await self.stop(CLOSING_TIME)

    async def stop(self, grace: timedelta = timedelta(0)) -> None:
        """Close every connection; calls that are under way have a grace to end."""
        if self._guard is not None:
            self._guard.close()
        await self._server.stop(grace.total_seconds())


async def _open_move_log(database: Database) -> MoveLog | None:
    """The log of moves; a server that was replaced has a moment to notice it and to let it go.

    Raises:
        StoreInUseError: it does not.
    """
    deadline = asyncio.get_running_loop().time() + HANDOVER_TIME.total_seconds()
    while True:
        try:
            return open_log(database)
        except StoreInUseError:
            if asyncio.get_running_loop().time() >= deadline:
                raise
        await asyncio.sleep(HANDOVER_TIME.total_seconds() / 100)


async def _begin_log(
    move_log: MoveLog,
    first: LogEntry,
    recovered: RecoveredState,
    storage: Storage,
    epoch: Epoch,
) -> None:
    """Begin the log anew, once its moves have stood on boards; only then the old one goes.

    Raises:
        OSError: the disk does not take it; nothing has changed.
    """
    mark = move_log.begin(first, database_id=recovered.games.mark.database_id, epoch=epoch)
    await storage.write(write_mark, mark=mark)
    if recovered.games.problem is None:
        move_log.drop_old()
    else:
        kept = move_log.keep_old()
        log.warning("the log of moves that was found is kept", folder=str(kept))


async def _authenticate(parts: Parts, token: str) -> Identity | None:
    with parts.store_watch.read():
        return await parts.storage.read_for_sign_in(authenticate, token, datetime.now(UTC))


def _backups(settings: Settings) -> Backups | None:
    file = database_file(settings.database)
    if file is None or settings.backup_every is None:
        return None
    every, keep = settings.backup_every, settings.backup_keep
    return Backups(file, settings.backups, every=every, keep=keep)


def _options(settings: Settings) -> list[tuple[str, int]]:
    largest = READ_TO_REFUSE * settings.max_message_bytes
    return [
        ("grpc.so_reuseport", 0),
        *keepalive_options(settings.keepalive),
        ("grpc.http2.min_ping_interval_without_data_ms", 5000),
        ("grpc.max_concurrent_streams", 8),
        ("grpc.max_allowed_incoming_connections", max_connections()),
        ("grpc.max_connection_idle_ms", 10_000),
        ("grpc.server_handshake_timeout_ms", HANDSHAKE_TIMEOUT // timedelta(milliseconds=1)),
        ("grpc.max_receive_message_length", max(largest, MAX_RECORDS_BYTES)),
    ]
