"""A scripted bot: one play stream, which does what its script says."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import grpc
from google.rpc import error_details_pb2, status_pb2

from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.wire.contract import PROTOCOL_VERSION

WAIT_TIMEOUT = timedelta(seconds=20)
"""How long anything is waited for before a test fails."""


def bearer(token: str | None) -> tuple[tuple[str, str], ...]:
    """The metadata that carries a token."""
    return () if token is None else (("authorization", f"Bearer {token}"),)


F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class CallEnding:
    """How a call ended."""

    code: grpc.StatusCode
    details: str
    reason: str
    """The reason of the one `ErrorInfo`; empty without one."""


def _ending_of(code: grpc.StatusCode, details: str | None, metadata: Any) -> CallEnding:
    """A call's end with the reason from ``grpc-status-details-bin``."""
    reason = ""
    for key, value in metadata or ():
        if key == "grpc-status-details-bin":
            status = status_pb2.Status.FromString(value)
            assert (status.code, status.message) == (code.value[0], details)
            packed = status.details[0]
            info = error_details_pb2.ErrorInfo()
            assert packed.Unpack(info)
            assert info.domain == "meijin"
            reason = info.reason
    return CallEnding(code, details or "", reason)


def _next_of(kind: str, _: type[F]) -> Callable[[Peer], Awaitable[F]]:
    """Waits for the next fact of a kind, unless one has come already."""

    async def wait(peer: Peer) -> F:
        fact: F = await peer._next(kind)
        return fact

    return wait


class Peer:
    """A scripted bot: one stream, read only when the script waits for something."""

    def __init__(self, channel: grpc.aio.Channel, token: str | None) -> None:
        self.call = PlayServiceStub(channel).Play(metadata=bearer(token))
        self.name = ""
        self.session_id = ""
        self.start = pb.GameStarted()
        """The last game that started."""
        self._facts: defaultdict[str, deque[Any]] = defaultdict(deque)

    async def write(self, **command: Any) -> None:
        await self.call.write(pb.PlayRequest(**command))

    async def play(self, turn: pb.TurnRequested, cell: int, **more: Any) -> None:
        play = pb.Play(game=turn.game, ply=turn.ply, cell=cell, **more)
        await self.write(actions=pb.Actions(plays=[play]))

    async def place(self, turn: pb.TurnRequested, *cells: int) -> None:
        placement = pb.Placement(game=turn.game, ply=turn.ply, cells=cells)
        await self.write(actions=pb.Actions(placements=[placement]))

    async def choose(self, turn: pb.TurnRequested, color: game_pb2.Color.ValueType) -> None:
        choice = pb.Choose(game=turn.game, ply=turn.ply, color=color)
        await self.write(actions=pb.Actions(choices=[choice]))

    async def resign(self, game: int) -> None:
        await self.write(actions=pb.Actions(resigns=[pb.Resign(game=game)]))

    async def fail(
        self,
        game: int,
        message: str,
        cause: pb.FailureCause.ValueType = pb.FAILURE_CAUSE_UNSPECIFIED,
    ) -> None:
        failure = pb.Failure(game=game, message=message, cause=cause)
        await self.write(actions=pb.Actions(failures=[failure]))

    async def hello(self, name: str = "", **more: Any) -> None:
        await self.write(hello=pb.Hello(protocol_version=PROTOCOL_VERSION, bot_name=name, **more))

    async def welcome(self) -> pb.Welcome:
        welcome: pb.Welcome = await self._next("welcome")
        self.name, self.session_id = welcome.bot_name, welcome.session_id
        return welcome

    async def started(self) -> pb.GameStarted:
        self.start = await self._next("started")
        return self.start

    turn = _next_of("turns", pb.TurnRequested)
    chosen = _next_of("choices", pb.SideChosen)
    ended = _next_of("ended", pb.GameEnded)
    notice = _next_of("notices", pb.Notice)
    asked = _next_of("evaluations", pb.EvaluationRequested)
    draining = _next_of("draining", pb.Draining)
    paused = _next_of("paused", pb.Paused)

    async def evaluate(self, *evaluations: pb.Evaluation) -> None:
        await self.write(actions=pb.Actions(evaluations=evaluations))

    async def play_out(self, games: int) -> list[pb.GameEnded]:
        """Take the first free cell at every turn, until this many games have ended."""
        ended: list[pb.GameEnded] = []
        async with asyncio.timeout(WAIT_TIMEOUT.total_seconds()):
            while len(ended) < games:
                while self._facts["turns"]:
                    turn = self._facts["turns"].popleft()
                    taken = set(memoryview(turn.moves).cast("H"))
                    await self.play(turn, next(cell for cell in range(484) if cell not in taken))
                ended += self._facts.pop("ended", ())
                if len(ended) < games:
                    assert await self._read(), f"the stream ended after {len(ended)} games"
        return ended

    def unread(self, kind: str) -> int:
        """How many facts of a kind have come that the script did not wait for."""
        return len(self._facts[kind])

    async def catch_up(self) -> None:
        """Read everything that was sent to the bot before now: its own nonsense is refused last."""
        await self.resign(12345)
        assert (await self.notice()).game == 12345

    async def closed(self) -> CallEnding:
        return await ending_of_call(self.call)

    async def _next(self, kind: str) -> Any:
        async with asyncio.timeout(WAIT_TIMEOUT.total_seconds()):
            while not self._facts[kind]:
                assert await self._read(), f"the stream ended before any {kind}"
        return self._facts[kind].popleft()

    async def _read(self) -> bool:
        """Take one message in, and answer it if it is a ping; false at the end."""
        response = await self.call.read()
        if not isinstance(response, pb.PlayResponse):
            return False
        kind = response.WhichOneof("fact")
        if kind == "ping":
            await self.write(pong=pb.Pong(sequence=response.ping.sequence))
        elif kind == "events":
            for field_name in ("ended", "started", "choices", "turns", "notices", "evaluations"):
                self._facts[field_name].extend(getattr(response.events, field_name))
        else:
            assert kind is not None
            self._facts[kind].append(getattr(response, kind))
        return True


async def play_moves(players: Sequence[Peer], cells: Sequence[int], *, first: int = 0) -> None:
    """Have black and white answer their turns with these cells, from the ply `first` on."""
    for ply, cell in enumerate(cells, start=first):
        mover = players[ply % 2]
        turn = await mover.turn()
        assert turn.ply == ply
        await mover.play(turn, cell)


async def ending_of_call(call: Any) -> CallEnding:
    """Read a streaming call to its end, and tell how it ended."""
    async with asyncio.timeout(WAIT_TIMEOUT.total_seconds()):
        try:
            while await call.read() is not grpc.aio.EOF:
                pass
        except grpc.aio.AioRpcError:
            pass
        return _ending_of(await call.code(), await call.details(), await call.trailing_metadata())


async def ending_of_request(
    channel: grpc.aio.Channel, method: str, request: bytes, token: str | None
) -> CallEnding:
    """Send the bytes of a request to a method, and tell how the call ended."""
    method_of: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(method)
    return await ending_of_call(method_of(request, metadata=bearer(token)))
