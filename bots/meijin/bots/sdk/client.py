"""The client: a bot's streams to a server, one after the other, until it leaves."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Self

import grpc

from meijin.bots.sdk.bot import Bot, Chooser, as_bot, overrides
from meijin.bots.sdk.errors import StreamLostError
from meijin.bots.sdk.evaluator import Evaluator
from meijin.bots.sdk.games import RunningGames
from meijin.bots.sdk.hardware import hardware as machine_of
from meijin.bots.sdk.hardware import read_speed
from meijin.bots.sdk.searcher import SearchThreads, run_hook, searcher_for
from meijin.bots.sdk.stream import Stream, StreamOutbox
from meijin.bots.sdk.wire import hello_to_proto
from meijin.v1.play_service_pb2 import Events, Welcome
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.wire.channel import Security, open_async_channel
from meijin.wire.contract import (
    DEFAULT_HOST,
    SERVER_VARIABLE,
    TOKEN_VARIABLE,
    UNIX_SCHEME,
    Address,
    check_own_name,
    client_keepalive_options,
    parse_address,
)

FIRST = timedelta(seconds=0.2)
LONGEST = timedelta(seconds=5)


class Backoff:
    """Exponential backoff from `first` to `longest`, each delay cut by a random half at most.

    Without the jitter, all bots of a server that restarts would return at once.
    """

    def __init__(
        self, rng: Random, *, first: timedelta = FIRST, longest: timedelta = LONGEST
    ) -> None:
        self._rng = rng
        self._first = first
        self._longest = longest
        self._next = first

    def next(self) -> timedelta:
        delay = self._next
        self._next = min(2 * delay, self._longest)
        return delay * self._rng.uniform(0.5, 1)

    def reset(self) -> None:
        self._next = self._first


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """The server's address and the bot's identity, checked."""

    address: Address
    security: Security
    """How the connection is made safe."""
    token: str
    """May be empty on a server with open registration."""
    name: str
    """Empty when the token alone says which bot it is."""

    @classmethod
    def resolve(
        cls,
        *,
        server: str | None,
        token: str | None,
        name: str | None,
        security: Security | None,
        default_name: str,
    ) -> Self:
        """Fill in MEIJIN_SERVER, MEIJIN_TOKEN and, without a token, `default_name`.

        An empty token is none, whatever the environment says.

        Raises:
            ValueError: the address, the token or the name can't be one, or the token would be
                sent to another machine in plain text.
        """
        if token is None:
            token = os.environ.get(TOKEN_VARIABLE, "")
        token = token.strip()
        if not (token.isascii() and token.isprintable()):
            raise ValueError("the token holds characters that no token has; copy it again")
        name = name or ("" if token else default_name)
        if name:
            check_own_name(name)
        address = parse_address(server or os.environ.get(SERVER_VARIABLE) or DEFAULT_HOST)
        security = security or Security.from_environment()
        security.check_token(address, token)
        return cls(address=address, security=security, token=token, name=name)


GOODBYE_TIMEOUT = timedelta(seconds=1)
"""What the server may take to close the stream after a goodbye."""
SETTLED_AFTER = timedelta(seconds=1)
"""After a stream that lived as long the delays begin with the first again."""

CONNECTED = "connected as"
"""How the line begins that a bot logs when it is there."""

_CHANNEL_OPTIONS = (
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.use_local_subchannel_pool", 1),
)
"""A connection of its own for each bot of a process: a server takes eight streams on one."""


def channel_options(address: Address) -> tuple[tuple[str, int], ...]:
    """GRPC's options of a bot: a silent connection is probed, unless it is a Unix socket.

    That can't be cut, and a bot that was frozen meanwhile would find its own probe unanswered.
    """
    is_socket = address.target.startswith(UNIX_SCHEME)
    return _CHANNEL_OPTIONS if is_socket else (*client_keepalive_options(), *_CHANNEL_OPTIONS)


logger = logging.getLogger("meijin.bots")


def ignore(_name: str) -> None:
    """Do nothing about a bot's being let in."""


class Client:
    """Plays a bot's games until `stop`, and returns whenever its stream is lost."""

    def __init__(
        self,
        bot: Bot | Chooser,
        *,
        server: str | None = None,
        token: str | None = None,
        name: str | None = None,
        security: Security | None = None,
        threads: int = 1,
        hardware: str | None = None,
        on_entered: Callable[[str], object] = ignore,
        backoff: Backoff | None = None,
    ) -> None:
        """Prepare to connect; `run` explains the arguments, `backoff` spaces the attempts.

        Raises:
            ValueError: one of the arguments can't be what it should be.
        """
        bot = as_bot(bot)
        self.settings = ClientSettings.resolve(
            server=server, token=token, name=name, security=security, default_name=bot.name
        )
        self._bot = bot
        self._hardware = machine_of(hardware)
        self._nodes_per_second = read_speed() if self._hardware else 0
        self._digest = bot.digest  # of the program that runs, whatever is on disk by then
        self._on_entered = on_entered
        self._backoff = backoff or Backoff(Random())  # noqa: S311 - no secret hangs on it
        self._threads = SearchThreads(threads)
        self._games = RunningGames(bot, searcher_for(bot, self._threads))
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
            options = channel_options(address)
            async with open_async_channel(address, security, options) as channel:
                while not self._leaving.is_set():
                    await self._play(channel)
        finally:
            self._threads.close()
            run_hook(self._bot.close)
        self._log_farewell()

    async def _prepare(self) -> None:
        """Let the bot get ready in a search thread, as long as it isn't to leave."""
        if not overrides(self._bot, "prepare"):
            return
        prepared: asyncio.Future[BaseException | None] = asyncio.get_running_loop().create_future()

        def prepare() -> BaseException | None:
            try:
                self._bot.prepare()
            except BaseException as error:  # noqa: BLE001 - it is raised again below
                return error
            return None

        self._threads.run(prepare, prepared.set_result)
        leaving = asyncio.create_task(self._leaving.wait())
        try:
            await asyncio.wait((prepared, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
        if prepared.done() and (error := prepared.result()) is not None:
            raise error

    async def _play(self, channel: grpc.aio.Channel) -> None:
        """Open a stream and play on it until it ends; if that is no reason to leave, pause."""
        token = self.settings.token
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        stream = Stream(PlayServiceStub(channel).Play(metadata=metadata), self.settings.address)
        try:
            await self._run_stream(stream, StreamOutbox())
        except StreamLostError as lost:
            self._games.close()
            await self._pause(lost)
        finally:
            self._games.close()
            self._evaluator.close()
            stream.cancel()

    async def _run_stream(self, stream: Stream, outbox: StreamOutbox) -> None:
        reader = asyncio.create_task(self._read(stream, outbox))
        writer = asyncio.create_task(stream.write_from(outbox))
        leaving = asyncio.create_task(self._leaving.wait())
        tasks = (reader, writer, leaving)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not self._leaving.is_set():
                for ended in (reader, writer):
                    if ended.done():  # gather would miss a cancellation that comes now
                        ended.result()
            elif self._is_admitted and not self._games.count:
                outbox.say_goodbye()
                await asyncio.wait((reader,), timeout=GOODBYE_TIMEOUT.total_seconds())
        finally:
            self._is_admitted = False
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, stream: Stream, outbox: StreamOutbox) -> None:
        hello = hello_to_proto(
            self._bot,
            name=self.settings.name,
            digest=self._digest,
            session_id=self._welcome.session_id if self._welcome else "",
            hardware=self._hardware,
            nodes_per_second=self._nodes_per_second,
            known_games=self._games.known(),
        )
        welcome = await stream.open(hello)
        self._enter(welcome)
        self._games.open(outbox, returning=welcome.running_games)
        self._evaluator.open(outbox)
        while True:
            message = await stream.read()
            match message.WhichOneof("fact"):
                case "events":
                    self._apply(message.events)
                case "ping":
                    outbox.add_pong(message.ping.sequence)
                case "draining":
                    logger.info("the server is about to stop; games go on after its return")
                case "paused":
                    logger.error("no new games for a while: %s", message.paused.reason)

    def _enter(self, welcome: Welcome) -> None:
        self._welcome = welcome
        self._entered_at = time.monotonic()
        self._is_admitted = True
        logger.info("%s %s to %s", CONNECTED, welcome.bot_name, self.settings.address)
        if welcome.notice:
            logger.warning("%s", welcome.notice)
        self._on_entered(welcome.bot_name)

    def _apply(self, events: Events) -> None:
        try:
            self._games.apply(events, read_at=time.monotonic())
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
            grace = self._welcome.grace_ms / 1000
            logger.info("left; games that wait %.0f s for the bot's return: %d", grace, waiting)
        else:
            logger.info("left")
