"""A worker's stream: what it is to play, and what it has played."""

import asyncio
import json
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import grpc

from meijin.game import decode_moves
from meijin.server.api.calls.interceptor import Context, check_decoded
from meijin.server.errors import InvalidRequestError, ProtocolError, StoppingError, invalid_request
from meijin.server.match.admission import Admitted, admit
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.commands import Hello, PlayedGame
from meijin.server.match.live.live_game import Participant
from meijin.server.match.live.session import MILLISECOND
from meijin.server.match.lobby import Lobby
from meijin.server.match.wire import MAX_ID_DIGITS, analysis_from_proto, hello_from_proto
from meijin.server.settings import Admission, Settings
from meijin.server.storage import Storage
from meijin.server.tournaments.leases import Lease, Worker, WorkerSide
from meijin.server.tournaments.workers import Workers
from meijin.store.schema import BotId, PairingId
from meijin.v1 import play_service_pb2, tournament_service_pb2
from meijin.v1 import worker_service_pb2 as pb
from meijin.v1.worker_service_pb2_grpc import WorkerServiceServicer
from meijin.wire.contract import MAX_GAMES_AT_ONCE
from meijin.wire.mapping import to_message
from meijin.wire.text import plain_text
from meijin.wire.values import outcome_from_proto, time_control_to_proto, variant_to_proto

MAX_SIDES = 1000
MAX_DETAIL = 500
"""Characters of an outcome's detail that are kept."""
MAX_EVIDENCE = 1 << 16
"""Characters of a forfeit's evidence."""


class WorkerServicer(WorkerServiceServicer):
    """Leases games to each worker, and takes its records."""

    def __init__(
        self, workers: Workers, lobby: Lobby, journal: Journal, storage: Storage, settings: Settings
    ) -> None:
        self._workers = workers
        self._lobby = lobby
        self._journal = journal
        self._storage = storage
        self._settings = settings

    async def Work(  # type: ignore[override]  # grpc.aio takes a coroutine too
        self, request_iterator: object, context: Context
    ) -> None:
        if self._lobby.is_draining:
            raise StoppingError("the server is stopping; come back")
        worker = await self._admit(context)
        self._workers.join(worker)
        writer = asyncio.create_task(self._write(worker, context))
        try:
            await self._read(worker, context)
        finally:
            self._workers.leave(worker)
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)

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
            bot = await self._storage.write(admit, hello=side, identity=None, now=datetime.now(UTC))
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
        while (request := await context.read()) is not grpc.aio.EOF:
            check_decoded(request)
            if request.WhichOneof("message") != "played":
                raise ProtocolError("after the hello only games that were played are expected")
            if request.played.room:
                worker.room = min(request.played.room, MAX_GAMES_AT_ONCE)
            ids: list[PairingId] = []
            for pair in request.played.pairs:
                games = [played_from_proto(each) for each in pair.games]
                self._workers.hand_in(worker, games)
                ids += [game.pairing_id for game in games]
                await asyncio.sleep(0)
            await self._journal.drained()
            worker.acknowledge(ids)

    async def _write(self, worker: Worker, context: Context) -> None:
        """Send what is leased and what is stored, whenever something is."""
        names = {bot_id: side.participant.name for bot_id, side in worker.sides.items()}
        margin_ms = self._settings.margin // MILLISECOND
        while True:
            await worker.wake.wait()
            worker.wake.clear()
            if acknowledged := worker.take_acknowledged():
                ids = pb.Acknowledged(pairing_ids=map(str, acknowledged))
                await context.write(pb.WorkResponse(acknowledged=ids))
            pairs, withdrawn = worker.take_unsent()
            message = pb.Lease(withdrawn=map(str, withdrawn))
            for pair in pairs:
                message.pairs.add(games=[lease_to_proto(lease, names, margin_ms) for lease in pair])
            if pairs or withdrawn:
                await context.write(pb.WorkResponse(lease=message))


def lease_to_proto(lease: Lease, names: Mapping[BotId, str], margin_ms: int) -> pb.LeasedGame:
    row, pairing = lease.run.row, lease.pairing
    rules = row.adjudication
    return pb.LeasedGame(
        pairing_id=str(pairing.id),
        black=names[pairing.black_id],
        white=names[pairing.white_id],
        variant=variant_to_proto(row.variant),
        black_time=time_control_to_proto(lease.time_control(pairing.black_id)),
        white_time=time_control_to_proto(lease.time_control(pairing.white_id)),
        opening=pairing.opening,
        margin_ms=margin_ms,
        adjudication=(
            None if rules is None else to_message(rules, tournament_service_pb2.Adjudication)
        ),
    )


def played_from_proto(message: pb.PlayedGame) -> PlayedGame:
    """Read a record.

    Raises:
        InvalidRequestError: a field has a value that it can't have.
    """
    if not message.pairing_id.isdecimal() or len(message.pairing_id) > MAX_ID_DIGITS:
        raise InvalidRequestError("pairing_id: that is no number")
    with invalid_request("game"):
        codes = decode_moves(message.actions)
        actions = list(zip(codes, message.raw_ns, message.charged_ns, strict=True))
        outcome = outcome_from_proto(message.outcome)
        evidence = json.loads(message.evidence[:MAX_EVIDENCE] or "{}")
        start_time, end_time = message.start_time.ToDatetime(UTC), message.end_time.ToDatetime(UTC)
    if not isinstance(evidence, dict):
        raise InvalidRequestError("evidence: that is no JSON object")
    return PlayedGame(
        PairingId(int(message.pairing_id)),
        start_time,
        end_time,
        actions,
        {ply: analysis_from_proto(said) for ply, said in message.analyses.items()},
        replace(outcome, detail=plain_text(outcome.detail[:MAX_DETAIL])),
        evidence,
    )
