"""A worker's stream: what it is to play, and what it has played."""

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime

import grpc
import structlog

from meijin.server.access.caller import current_caller
from meijin.server.access.open_calls import End, OpenCalls
from meijin.server.api.calls.interceptor import Context, check_decoded, write_in_time
from meijin.server.api.calls.limits import Limits, address_of
from meijin.server.api.calls.stream_ends import run_until_first
from meijin.server.api.streams.play import Throttle
from meijin.server.api.streams.records import (
    lease_to_proto,
    pairing_id_from_proto,
    played_from_proto,
    when_played,
)
from meijin.server.errors import (
    InvalidRequestError,
    ProtocolError,
    StoppingError,
)
from meijin.server.match.admission import Admitted, admit
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.commands import Hello, PlayedGame
from meijin.server.match.live.live_game import Participant
from meijin.server.match.live.session import MILLISECOND
from meijin.server.match.lobby import Lobby
from meijin.server.match.wire import hello_from_proto
from meijin.server.settings import Admission, Settings
from meijin.server.storage import Storage
from meijin.server.tournaments.leases import Worker, WorkerSide
from meijin.server.tournaments.workers import Workers
from meijin.store.schema import PairingId
from meijin.v1 import play_service_pb2
from meijin.v1 import worker_service_pb2 as pb
from meijin.v1.worker_service_pb2_grpc import WorkerServiceServicer
from meijin.wire.contract import MAX_GAMES_AT_ONCE

log = structlog.get_logger()

MAX_SIDES = 1000
MAX_PAIRS = 2000
"""Of a message: more than fit into one, unless nobody has leased them; those take 3 us each."""
GAMES_OF_A_PAIR = 2
PAIRS_AT_ONCE = 64
"""Pairs that are written in one message: 40 us each, in which no other stream is served."""


class WorkerServicer(WorkerServiceServicer):
    """Leases games to each worker, and takes its records."""

    def __init__(
        self,
        workers: Workers,
        lobby: Lobby,
        journal: Journal,
        storage: Storage,
        *,
        settings: Settings,
        limits: Limits,
        calls: OpenCalls,
    ) -> None:
        self._workers = workers
        self._lobby = lobby
        self._journal = journal
        self._storage = storage
        self._settings = settings
        self._limits = limits
        self._calls = calls

    async def Work(  # type: ignore[override]  # grpc.aio takes a coroutine too
        self, request_iterator: object, context: Context
    ) -> None:
        if self._lobby.is_draining:
            raise StoppingError("the server is stopping; come back")
        identity = current_caller.get().identity
        with ExitStack() as held:
            ends: list[End] = []
            if identity is not None:
                ends.append(held.enter_context(self._calls.hold(identity.token_id)))
            worker = await self._admit(context)
            self._workers.join(worker)
            work = [self._read(worker, context), self._write(worker, context)]
            try:
                await run_until_first(work, ends)
            finally:
                self._workers.leave(worker)

    async def _admit(self, context: Context) -> Worker:
        request = await context.read()
        check_decoded(request)
        if request is grpc.aio.EOF or request.WhichOneof("message") != "hello":
            raise ProtocolError("the first message must be a hello")
        hello = request.hello
        if not 0 < hello.room <= MAX_GAMES_AT_ONCE:
            raise InvalidRequestError(f"room must be 1 to {MAX_GAMES_AT_ONCE}")
        if not 0 < len(hello.sides) <= MAX_SIDES:
            raise InvalidRequestError(f"sides must be 1 to {MAX_SIDES}")
        worker_id, sides = secrets.token_hex(8), {}
        for said in hello.sides:
            side = hello_from_proto(play_service_pb2.PlayRequest(hello=said))
            if current_caller.get().identity is None:  # each may be the name of another new bot
                await self._limits.hello_turn(address_of(context.peer()), is_return=False)
            async with self._limits.admitting:
                bot = await self._storage.write(
                    admit, hello=side, identity=None, now=datetime.now(UTC)
                )
            if bot.notice:
                log.info("bot on another machine", bot=bot.name, detail=bot.notice)
            sides[bot.bot_id] = self._side(worker_id, bot, side)
        await context.write(pb.WorkResponse(welcome=pb.WorkerWelcome()))
        return Worker(worker_id, sides, hello.room)

    def _side(self, worker_id: str, bot: Admitted, hello: Hello) -> WorkerSide:
        needs_doctor = self._settings.admission is Admission.DOCTOR
        return WorkerSide(
            worker_id,
            Participant(bot.bot_id, bot.name),
            bot.version_id,
            hello.capabilities,
            may_be_rated=bot.has_passed or not needs_doctor,
        )

    async def _read(self, worker: Worker, context: Context) -> None:
        """Take what it hands in, and acknowledge it once that is committed."""
        throttle = Throttle()
        while (request := await context.read()) is not grpc.aio.EOF:
            check_decoded(request)
            if request.WhichOneof("message") != "played":
                raise ProtocolError("after the hello only games that were played are expected")
            if request.played.room:
                worker.room = min(request.played.room, MAX_GAMES_AT_ONCE)
            pairs = request.played.pairs
            if len(pairs) > MAX_PAIRS:
                raise InvalidRequestError(f"{len(pairs)} pairs in a message; at most {MAX_PAIRS}")
            leased, ids = len(worker.leased), list[PairingId]()
            for pair in pairs:
                ids += await self._take(worker, pair)
            self._workers.offer(worker)
            if ids and leased == len(worker.leased):
                await throttle.wait()
            await self._journal.drained()
            await worker.acknowledge(ids)

    async def _take(self, worker: Worker, pair: pb.PlayedPair) -> Sequence[PairingId]:
        """Take a pair, and let others have their turn."""
        if not 0 < len(pair.games) <= GAMES_OF_A_PAIR:
            raise InvalidRequestError(f"{len(pair.games)} games in a pair: it has 1 or 2")
        ids = [pairing_id_from_proto(game.pairing_id) for game in pair.games]
        now, games = datetime.now(UTC), list[PlayedGame]()
        for pairing_id, game in zip(ids, pair.games, strict=True):
            lease = worker.leased.get(pairing_id)
            if lease is not None:  # what others have played by now isn't looked at
                played = played_from_proto(game)
                start_time, end_time = when_played(played, lease.time, now)
                games.append(replace(played, start_time=start_time, end_time=end_time))
        if games:
            self._workers.hand_in(worker, games)
            await asyncio.sleep(0)
        return ids

    async def _write(self, worker: Worker, context: Context) -> None:
        """Send what is leased and what is stored, whenever something is."""
        names = {bot_id: side.participant.name for bot_id, side in worker.sides.items()}
        margin_ms, limit = self._settings.margin // MILLISECOND, self._limits.write_timeout
        while True:
            await worker.wake.wait()
            worker.wake.clear()
            if acknowledged := worker.take_acknowledged():
                ids = pb.Acknowledged(pairing_ids=map(str, acknowledged))
                await write_in_time(pb.WorkResponse(acknowledged=ids), context, limit)
            pairs, withdrawn = worker.take_unsent(PAIRS_AT_ONCE)
            message = pb.Lease(withdrawn=map(str, withdrawn))
            for pair in pairs:
                message.pairs.add(games=[lease_to_proto(lease, names, margin_ms) for lease in pair])
            if pairs or withdrawn:
                await write_in_time(pb.WorkResponse(lease=message), context, limit)
