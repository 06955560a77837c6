"""Two bots that play each other, and measure how long each move takes to reach the other."""

import asyncio
import random
import time
from contextlib import suppress
from typing import Any

import grpc

from meijin.game import TimeControl, Variant
from meijin.v1 import play_service_pb2 as pb
from meijin.v1 import tournament_service_pb2
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub
from meijin.wire import time_control_to_proto, variant_to_proto
from meijin.wire.contract import PROTOCOL_VERSION

NAMES = ("ada", "bob")
THOUGHT = 0.003
ROUNDS = 5_000


class Innocents:
    """Both bots, on one event loop and one clock."""

    def __init__(self, address: str, *, games: int = 4, control: str = "5+0.1") -> None:
        self.latencies: list[float] = []
        """Seconds from the write of a move to the read of the opponent's turn."""
        self.ends: list[pb.GameEnded] = []
        self.notices = 0
        self._address = address
        self._games = games
        self._control = control
        self._written: dict[tuple[int, int], float] = {}
        self._rng = random.Random(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self._calls: list[Any] = []

    async def start(self) -> None:
        """Bring both in, and have them play without end."""
        arrived = [asyncio.Event() for _ in NAMES]
        for name, event in zip(NAMES, arrived, strict=True):
            self._keep(self._play(name, event))
        for event in arrived:
            await event.wait()
        settings = tournament_service_pb2.TournamentSettings(
            bots=NAMES,
            rounds=ROUNDS,
            unrated=True,
            variant=variant_to_proto(Variant(width=9, height=9)),
            time_control=time_control_to_proto(TimeControl.parse(self._control)),
        )
        request = tournament_service_pb2.CreateTournamentRequest(settings=settings)
        async with grpc.aio.insecure_channel(self._address) as channel:
            await TournamentServiceStub(channel).CreateTournament(request)

    async def stop(self) -> None:
        """End both streams; what ended before fails here."""
        for task in list(self._tasks):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def _keep(self, work: Any) -> None:  # noqa: ANN401 - a coroutine
        task = asyncio.create_task(work)
        self._tasks.add(task)

    async def _play(self, name: str, arrived: asyncio.Event) -> None:
        options = (("grpc.use_local_subchannel_pool", 1),)
        async with grpc.aio.insecure_channel(self._address, options) as channel:
            call = PlayServiceStub(channel).Play()
            capabilities = pb.Capabilities(min_board_size=9, max_games=self._games)
            hello = pb.Hello(
                protocol_version=PROTOCOL_VERSION, bot_name=name, capabilities=capabilities
            )
            await call.write(pb.PlayRequest(hello=hello))
            while isinstance(response := await call.read(), pb.PlayResponse):
                arrived.set()
                if response.HasField("ping"):
                    pong = pb.Pong(sequence=response.ping.sequence)
                    await call.write(pb.PlayRequest(pong=pong))
                elif response.HasField("events"):
                    await self._answer(call, response.events, time.perf_counter())

    async def _answer(self, call: Any, events: pb.Events, now: float) -> None:  # noqa: ANN401
        self.ends += events.ended
        self.notices += len(events.notices)
        actions = pb.Actions()
        for turn in events.turns:
            written = self._written.pop((turn.game, turn.ply), None)
            if written is not None:
                self.latencies.append(now - written)
            taken = set(memoryview(turn.moves).cast("H"))
            cell = self._rng.choice([cell for cell in range(81) if cell not in taken])
            actions.plays.add(game=turn.game, ply=turn.ply, cell=cell)
        if actions.plays:
            await asyncio.sleep(THOUGHT)
            now = time.perf_counter()
            for play in actions.plays:
                self._written[play.game, play.ply + 1] = now
            await call.write(pb.PlayRequest(actions=actions))
