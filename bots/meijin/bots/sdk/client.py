"""The client: a bot's streams to a server, one after the other, until it leaves."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from contextlib import suppress
from datetime import timedelta
from random import Random

import grpc

from meijin.bots.sdk.backoff import Backoff
from meijin.bots.sdk.batch_searcher import searcher_for
from meijin.bots.sdk.bot import Bot
from meijin.bots.sdk.errors import StreamLostError
from meijin.bots.sdk.evaluator import Evaluator
from meijin.bots.sdk.events import Draining, Events, Paused, Ping, Welcome
from meijin.bots.sdk.games import Games
from meijin.bots.sdk.hardware import hardware as machine_of
from meijin.bots.sdk.outbox import Outbox
from meijin.bots.sdk.searcher import run_hook
from meijin.bots.sdk.settings import Settings
from meijin.bots.sdk.speed import read_speed
from meijin.bots.sdk.stream import Stream
from meijin.bots.sdk.threads import SearchThreads
from meijin.bots.sdk.wire import hello_to_proto
from meijin.v1.play_service_pb2 import PlayRequest
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.wire.channel import Security, open_async_channel
from meijin.wire.contract import client_keepalive_options

GOODBYE_TIMEOUT = timedelta(seconds=1)
"""What the server may take to close the stream after a goodbye."""
SETTLED_AFTER = timedelta(seconds=1)
"""After a stream that lived as long the delays begin with the first again."""

CONNECTED = "connected as"
"""How the line begins that a bot logs when it is there."""

CHANNEL_OPTIONS = (
    *client_keepalive_options(),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 1_000),
)

logger = logging.getLogger("meijin.bots")


class Client:
    """Plays a bot's games until `stop`, and returns whenever its stream is lost."""

    def __init__(
        self,
        bot: Bot,
        *,
        server: str | None = None,
        token: str | None = None,
        name: str | None = None,
        security: Security | None = None,
        threads: int = 1,
        hardware: str | None = None,
        backoff: Backoff | None = None,
    ) -> None:
        """Prepare to connect; `run` explains the arguments, `backoff` spaces the attempts.

        Raises:
            ValueError: one of the arguments can't be what it should be.
        """
        if not isinstance(bot, Bot):
            raise TypeError(f"{bot!r} is no bot; give an instance of a subclass of Bot")
        self.settings = Settings.resolve(
            server=server, token=token, name=name, security=security, default_name=bot.name
        )
        self._bot = bot
        self._hardware = machine_of(hardware)
        self._nodes_per_second = read_speed() if self._hardware else 0
        self._digest = bot.digest  # of the program that runs, whatever is on disk by then
        self._backoff = backoff or Backoff(Random())  # noqa: S311 - no secret hangs on it
        self._threads = SearchThreads(threads)
        self._games = Games(bot, searcher_for(bot, self._threads))
        self._evaluator = Evaluator(bot, self._threads)
        self._leaving = asyncio.Event()
        self._welcome: Welcome | None = None
        self._entered_at = math.inf
        self._is_admitted = False  # the server has answered the hello of the stream that is open

    def stop(self) -> None:
        """Leave: with a goodbye if no game is running, else so that games wait for a while."""
        self._leaving.set()

    async def serve(self) -> None:
        """Play until `stop`.

        Raises:
            RefusedError: the server doesn't let the bot in.
            ValueError: a file for TLS can't be read, or isn't what it should be.
        """
        address, security = self.settings.address, self.settings.security
        try:
            await self._prepare()
            async with open_async_channel(address, security, CHANNEL_OPTIONS) as channel:
                while not self._leaving.is_set():
                    await self._play(channel)
        finally:
            self._threads.close()
            run_hook(self._bot.close)
        self._log_farewell()

    async def _prepare(self) -> None:
        """Let the bot get ready in a search thread, as long as it isn't to leave."""
        if type(self._bot).prepare is Bot.prepare:
            return
        prepared = asyncio.Event()
        errors: list[BaseException] = []

        def prepare() -> None:
            try:
                self._bot.prepare()
            except BaseException as error:  # noqa: BLE001 - it is raised again below
                errors.append(error)

        self._threads.run(prepare, lambda _: prepared.set())
        waits = [asyncio.create_task(event.wait()) for event in (prepared, self._leaving)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        if errors:
            raise errors[0]

    async def _play(self, channel: grpc.aio.Channel) -> None:
        """Open a stream and play on it until it ends; if that is no reason to leave, pause."""
        token = self.settings.token
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        stream = Stream(PlayServiceStub(channel).Play(metadata=metadata), self.settings.address)
        try:
            await self._run_stream(stream, Outbox())
        except StreamLostError as lost:
            self._games.close()
            await self._pause(lost)
        finally:
            self._games.close()
            self._evaluator.close()
            stream.cancel()

    def _hello(self) -> PlayRequest:
        return hello_to_proto(
            self._bot,
            name=self.settings.name,
            digest=self._digest,
            session_id=self._welcome.session_id if self._welcome else "",
            hardware=self._hardware,
            nodes_per_second=self._nodes_per_second,
            known_games=self._games.known(),
        )

    async def _run_stream(self, stream: Stream, outbox: Outbox) -> None:
        """Run the stream's one reader and its one writer."""
        reader = asyncio.create_task(self._read(stream, outbox))
        writer = asyncio.create_task(stream.write_from(outbox))
        leaving = asyncio.create_task(self._leaving.wait())
        tasks = (reader, writer, leaving)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not self._leaving.is_set():
                await asyncio.gather(reader, writer)
            elif self._is_admitted and not self._games.count:
                outbox.say_goodbye()
                await asyncio.wait((reader,), timeout=GOODBYE_TIMEOUT.total_seconds())
        finally:
            self._is_admitted = False
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, stream: Stream, outbox: Outbox) -> None:
        welcome = await stream.open(self._hello())
        self._enter(welcome)
        self._games.open(outbox, returning=welcome.running_games)
        self._evaluator.open(outbox)
        while True:
            match await stream.read():
                case Events() as events:
                    self._apply(events)
                case Ping(sequence):
                    outbox.add_pong(sequence)
                case Draining():
                    logger.info("the server is about to stop; games go on after its return")
                case Paused(reason):
                    logger.error("no new games for a while: %s", reason)

    def _enter(self, welcome: Welcome) -> None:
        self._welcome = welcome
        self._entered_at = time.monotonic()
        self._is_admitted = True
        logger.info("%s %s to %s", CONNECTED, welcome.bot_name, self.settings.address)
        if welcome.notice:
            logger.warning("%s", welcome.notice)

    def _apply(self, events: Events) -> None:
        try:
            self._games.apply(events)
        except ValueError as error:
            raise StreamLostError(f"the server tells of an impossible game: {error}") from error
        if events.evaluations:
            self._evaluator.search(events.evaluations)

    async def _pause(self, lost: StreamLostError) -> None:
        """Wait before the next attempt, or until `stop`."""
        if time.monotonic() - self._entered_at >= SETTLED_AFTER.total_seconds():
            self._backoff.reset()
        self._entered_at = math.inf
        delay = self._backoff.next().total_seconds()
        logger.warning("reconnecting in %.1f s because %s", delay, lost)
        with suppress(TimeoutError):
            async with asyncio.timeout(delay):
                await self._leaving.wait()

    def _log_farewell(self) -> None:
        waiting = self._games.count
        if waiting and self._welcome:
            grace = self._welcome.grace.total_seconds()
            logger.info("left; games that wait %.0f s for the bot's return: %d", grace, waiting)
        else:
            logger.info("left")
