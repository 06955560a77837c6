"""The bot's stream: a thin shell around its session."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import structlog

from meijin.game.arbiter.moment import NS_PER_SECOND, Moment, nanoseconds
from meijin.server.access.caller import current_caller
from meijin.server.access.open_calls import End, OpenCalls
from meijin.server.api.calls.call_spans import session_span
from meijin.server.api.calls.interceptor import Context, Undecoded, authentication_ns, check_decoded
from meijin.server.api.calls.limits import ABUSES, BotKey, Limits, address_of
from meijin.server.api.calls.stream_ends import StreamEnds
from meijin.server.errors import (
    LateSubmissionError,
    MeijinError,
    MessageTooLargeError,
    ProtocolError,
    StoppingError,
    TooManyMessagesError,
)
from meijin.server.match.actions import ActionHandler
from meijin.server.match.admission import Admitted, count_late_attempt, let_in
from meijin.server.match.live.commands import Actions, Hello, Pong
from meijin.server.match.live.live_game import SupplierBudget
from meijin.server.match.live.session import Session
from meijin.server.match.live.store_watch import StoreWatch
from meijin.server.match.lobby import Lobby
from meijin.server.match.stalls import StallWatch
from meijin.server.match.wire import command_from_proto, delivery_to_proto, hello_from_proto
from meijin.server.storage import Storage
from meijin.server.token_bucket import Rate, TokenBucket
from meijin.server.tracing.spans import NO_TRACER, Tracer
from meijin.store.access.tokens import Identity
from meijin.store.schema import TokenKind
from meijin.v1.play_service_pb2_grpc import PlayServiceServicer

log = structlog.get_logger()

HELLO_TIMEOUT = timedelta(seconds=5)
"""How long a new stream has to say hello."""

PORTION = 128
"""Moves of a message that are judged together, before the first of them are told of."""

MESSAGE_RATE = Rate(per_second=20, burst=100)
"""Of a bot's messages that have no effect in a game: pongs, and actions that are all refused."""

MAX_THROTTLING = timedelta(seconds=5)
"""How long a stream may send more of them, one waiting behind the other."""


MESSAGES_TAKEN = 32
QUIET = timedelta(seconds=0.25)
"""Of the messages behind one that was too large this many are taken, or fewer when none has come for
so long: a way there and back."""


class Throttle:
    """Slows a stream whose messages have no effect: meanwhile nothing is read from it.

    What the peer sends then waits in its own process, held back by HTTP/2's flow control.
    """

    __slots__ = ("_bucket", "_clock", "_sleep", "_waited")

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._bucket = TokenBucket(MESSAGE_RATE, clock())
        self._waited = 0.0

    async def wait(self) -> None:
        """Wait for as long as a message without effect takes.

        Raises:
            TooManyMessagesError: there was no end of them.
        """
        wait = self._bucket.reserve(self._clock())
        self._waited = self._waited + wait if wait else 0.0
        if self._waited > MAX_THROTTLING.total_seconds():
            rate = f"{MESSAGE_RATE.per_second:g} a second"
            raise TooManyMessagesError(f"more than {rate} of your messages had no effect")
        if wait:
            await self._sleep(wait)


def _close(session: Session, end: End) -> None:
    """End a stream whose token is valid no more."""
    if not end.cancelled():
        session.close(end.result())


async def _take_the_rest(context: Context) -> None:
    """Take more messages that are too large, before the peer hears why its stream has ended.

    A client of grpc.aio that waits to write when the stream ends hears of that alone: `INTERNAL`,
    "Internal error from Core", in place of the status. Other messages fit into what it may send.
    """
    for _ in range(MESSAGES_TAKEN):
        try:
            async with asyncio.timeout(QUIET.total_seconds()):
                request = await context.read()
        except TimeoutError:
            return
        if not isinstance(request, Undecoded):
            return


class PlayServicer(PlayServiceServicer):
    """Opens a session for each stream, and moves messages between the two."""

    def __init__(
        self,
        lobby: Lobby,
        actions: ActionHandler,
        watch: StallWatch,
        storage: Storage,
        *,
        limits: Limits,
        store_watch: StoreWatch,
        calls: OpenCalls,
        tracer: Tracer = NO_TRACER,
    ) -> None:
        self._calls = calls
        self._lobby = lobby
        self._actions = actions
        self._watch = watch
        self._storage = storage
        self._limits = limits
        self._store_watch = store_watch
        self._tracer = tracer
        self._ends = StreamEnds()

    async def Play(  # type: ignore[override]  # grpc.aio takes a coroutine too
        self,
        request_iterator: object,
        context: Context,
    ) -> None:
        if self._lobby.is_draining:
            raise StoppingError("the server is stopping; come back")
        identity = current_caller.get().identity
        bot_id = None if identity is None else identity.bot_id
        with ExitStack() as held:
            end = None
            if bot_id is not None:
                assert identity is not None
                held.enter_context(self._limits.streams_of_bot.hold(bot_id))
                end = held.enter_context(self._calls.hold(identity.token_id))
            session, bot = await self._admit(identity, context)
            if end is not None:
                end.add_done_callback(lambda ended: _close(session, ended))
            try:
                await self._play(session, bot, context)
            except MessageTooLargeError:
                await _take_the_rest(context)
                raise

    async def _play(self, session: Session, bot: BotKey, context: Context) -> None:
        # Of this stream's own task: every line about it has both, until it has ended.
        structlog.contextvars.bind_contextvars(bot=session.player.name, session=session.id)
        log.info("bot joined", peer=context.peer())
        try:
            with session_span(self._tracer, session):
                await self._serve(session, context)
        except MeijinError as error:
            session.close(error)  # before it leaves: what it did itself is no loss of a stream
            if isinstance(error, ABUSES):
                self._limits.suspensions.add(bot, session.id)
            raise
        finally:
            try:
                await self._ends.turn()
            finally:
                self._lobby.leave(session)
                log.info("bot left")

    async def _admit(self, identity: Identity | None, context: Context) -> tuple[Session, BotKey]:
        """Let the bot in, unless it is suspended; what it waits for us is no absence of it."""
        cost_ns = authentication_ns.get()
        with self._store_watch.arrival(self._watch.moment().served_ns - cost_ns):
            hello = await self._read_hello(context)
            now_ns, stall_ns = self._watch.moment()
            # On its own: an abort while the first write is under way would send it again, and hang.
            await context.send_initial_metadata(())
            address, suspensions = address_of(context.peer()), self._limits.suspensions
            bot_id = None if identity is None else identity.bot_id
            bot = bot_id or (address, hello.bot_name)
            is_return = hello.resume_session_id in suspensions.sessions
            await self._limits.hello_turn(address, is_return=is_return)
            suspensions.check(bot, is_return=is_return)
            async with self._limits.admitting:
                since = Moment(now_ns - cost_ns, stall_ns)
                session = await self._join(hello, identity, since)
        suspensions.sessions.discard(hello.resume_session_id)
        suspensions.sessions.add(session.id)
        return session, bot

    async def _read_hello(self, context: Context) -> Hello:
        """The hello, for which the stream has its time on the clock that stands with the server."""
        limit_ns = self._watch.moment().served_ns + nanoseconds(HELLO_TIMEOUT)
        reading = asyncio.create_task(context.read())
        try:
            while not reading.done():
                left_ns = limit_ns - self._watch.moment().served_ns
                if left_ns <= 0:
                    raise ProtocolError(f"no hello within {HELLO_TIMEOUT.total_seconds():g} s")
                await asyncio.wait([reading], timeout=left_ns / NS_PER_SECOND)
        finally:
            reading.cancel()
        request = reading.result()
        check_decoded(request)
        if request is grpc.aio.EOF:
            raise ProtocolError("the first message must be a hello")
        return hello_from_proto(request)

    async def _join(self, hello: Hello, identity: Identity | None, since: Moment) -> Session:
        if identity is not None and identity.kind is TokenKind.SEAT:
            engine = replace(hello.engine, is_hosted=True)
            capabilities = hello.capabilities.as_hosted()
            hello = replace(hello, engine=engine, capabilities=capabilities)
        bot = await self._find(hello, identity)
        if bot.notice:
            log.info("bot on another machine", bot=bot.name, detail=bot.notice)
        player = self._lobby.player(bot.bot_id, bot.name)
        player.name, player.is_hidden = bot.name, bot.is_hidden
        player.supplier_failures = SupplierBudget(bot.supplier_failures)
        return self._lobby.join(
            player,
            bot.version_id,
            hello.capabilities,
            hello.resume_session_id,
            since=since,
            siblings=bot.siblings,
            has_passed=bot.has_passed,
            notice=bot.notice,
            known_games=hello.known_games,
        )

    async def _find(self, hello: Hello, identity: Identity | None) -> Admitted:
        """Who comes in; asked again when a token was replaced before the answer was here.

        That a version came too late is kept, though nothing else of it is.
        """
        while True:
            expulsions, now = self._lobby.expulsions, datetime.now(UTC)
            try:
                with self._store_watch.write():
                    bot = await self._storage.write(let_in, hello=hello, identity=identity, now=now)
            except LateSubmissionError:
                await self._storage.write(
                    count_late_attempt, hello=hello, identity=identity, now=now
                )
                raise
            if expulsions == self._lobby.expulsions:
                return bot

    async def _serve(self, session: Session, context: Context) -> None:
        reader = asyncio.create_task(self._read(session, context))
        tasks = [reader]
        try:
            await asyncio.sleep(0)
            if not reader.done():  # whoever has left while it waited is asked nothing
                tasks.append(asyncio.create_task(self._write(session, context)))
            ends: list[asyncio.Future[Any]] = [*tasks, session.closed]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for task in reversed(tasks):
                if task.done():
                    task.result()
            if session.closed.done():
                self._lobby.leave(session)  # first: a peer that does not read holds the abort up
                raise session.closed.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, session: Session, context: Context) -> None:
        """Have the bot's messages judged until the stream ends."""
        throttle = Throttle()
        while (request := await context.read()) is not grpc.aio.EOF:
            if session.closed.done():
                return
            check_decoded(request)
            command = command_from_proto(request, len(session.games) + session.spare_actions)
            if isinstance(command, Actions):
                if not await self._judge(session, command):
                    await throttle.wait()
            elif isinstance(command, Pong):
                self._actions.receive_pong(session, command.sequence)
                await throttle.wait()
            else:
                self._actions.say_goodbye(session)
                return

    async def _judge(self, session: Session, actions: Actions) -> bool:
        """Judge a message; of a large one some are with their opponents while others are judged.

        Returns:
            Whether any of it had an effect.
        """
        moment = self._actions.hear(session, actions)
        has_effect = False
        for portion in actions.portions(PORTION):
            has_effect |= self._actions.judge(session, portion, moment)
            if len(portion.plays) == PORTION:
                await asyncio.sleep(0)
            if session.closed.done():
                break
        return has_effect

    async def _write(self, session: Session, context: Context) -> None:
        """Send what waits in the outbox whenever something does."""
        while True:
            await session.wake.wait()
            moment = self._watch.moment()
            session.writing_since_ns = moment.now_ns
            for message in delivery_to_proto(session.drain(moment), session.player):
                await context.write(message)
            session.writing_since_ns = None
