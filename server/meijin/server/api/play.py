"""The bot's stream: a thin shell around its session."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial

import grpc
import structlog

from meijin.server.api.interceptor import (
    Context,
    abort,
    authentication_ns,
    caller,
    check_decoded,
)
from meijin.server.errors import ProtocolError, StoppingError
from meijin.server.match.actions import ActionHandler
from meijin.server.match.admission import admit
from meijin.server.match.commands import Actions, Hello, Pong
from meijin.server.match.lobby import Lobby
from meijin.server.match.session import Session
from meijin.server.match.stalls import Moment, StallWatch
from meijin.server.match.store_watch import StoreWatch
from meijin.server.match.wire import command_from_proto, delivery_to_proto, hello_from_proto
from meijin.server.storage import Storage
from meijin.store.bots import Identity
from meijin.v1.play_service_pb2_grpc import PlayServiceServicer

log = structlog.get_logger()

HELLO_TIMEOUT = timedelta(seconds=5)
"""How long a new stream has to say hello."""


class PlayServicer(PlayServiceServicer):
    """Opens a session for each stream, and moves messages between the two."""

    def __init__(
        self,
        lobby: Lobby,
        actions: ActionHandler,
        watch: StallWatch,
        storage: Storage,
        store_watch: StoreWatch,
    ) -> None:
        self._lobby = lobby
        self._actions = actions
        self._watch = watch
        self._storage = storage
        self._store_watch = store_watch

    async def Play(  # type: ignore[override]  # grpc.aio takes a coroutine too
        self,
        request_iterator: object,
        context: Context,
    ) -> None:
        """Serve one bot until its stream ends."""
        if self._lobby.is_draining:
            raise StoppingError("the server is stopping; come back")
        session = await self._admit(context)
        log.info("bot joined", bot=session.player.name, session=session.id, peer=context.peer())
        try:
            await self._serve(session, context)
        finally:
            self._lobby.leave(session)
            log.info("bot left", bot=session.player.name, session=session.id)

    async def _admit(self, context: Context) -> Session:
        """Let the bot in; what that waits for the store is no absence of the bot."""
        cost_ns = authentication_ns.get()
        with self._store_watch.arrival(self._watch.moment().running_ns - cost_ns):
            hello = await self._read_hello(context)
            now_ns, stall_ns = self._watch.moment()
            # On its own: an abort while the first write is under way would send it again, and hang.
            await context.send_initial_metadata(())
            return await self._join(hello, caller.get(), Moment(now_ns - cost_ns, stall_ns))

    async def _read_hello(self, context: Context) -> Hello:
        try:
            async with asyncio.timeout(HELLO_TIMEOUT.total_seconds()):
                request = await context.read()
        except TimeoutError:
            raise ProtocolError(f"no hello within {HELLO_TIMEOUT.total_seconds():g} s") from None
        check_decoded(request)
        if request is grpc.aio.EOF:
            raise ProtocolError("the first message must be a hello")
        return hello_from_proto(request)

    async def _join(self, hello: Hello, identity: Identity | None, since: Moment) -> Session:
        now = datetime.now(UTC)
        work = partial(admit, hello=hello, identity=identity, now=now)
        with self._store_watch.write():
            bot = await self._storage.write(work)
        player = self._lobby.player(bot.bot_id, bot.name)
        return self._lobby.join(
            player, bot.version_id, hello.capabilities, hello.resume_session_id, since=since
        )

    async def _serve(self, session: Session, context: Context) -> None:
        reader = asyncio.create_task(self._read(session, context))
        writer = asyncio.create_task(self._write(session, context))
        try:
            await asyncio.wait(
                (reader, writer, session.closed), return_when=asyncio.FIRST_COMPLETED
            )
            for task in (writer, reader):
                if task.done():
                    task.result()
            if session.closed.done():
                self._lobby.leave(session)  # first: a peer that does not read holds the abort up
                await abort(context, session.closed.result())
        finally:
            reader.cancel()
            writer.cancel()
            await asyncio.gather(reader, writer, return_exceptions=True)

    async def _read(self, session: Session, context: Context) -> None:
        """Have the bot's messages judged until the stream ends."""
        while (request := await context.read()) is not grpc.aio.EOF:
            if session.closed.done():
                return
            check_decoded(request)
            command = command_from_proto(request)
            if isinstance(command, Actions):
                self._actions.receive(session, command)
            elif isinstance(command, Pong):
                session.pong(command.sequence, self._watch.moment().now_ns)
            else:
                self._actions.say_goodbye(session)
                return

    async def _write(self, session: Session, context: Context) -> None:
        """Send what waits in the outbox whenever something does."""
        while True:
            await session.wake.wait()
            moment = self._watch.moment()
            session.writing_since_ns = moment.now_ns
            for message in delivery_to_proto(session.drain(moment), session.player):
                await context.write(message)
            session.writing_since_ns = None
