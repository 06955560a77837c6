"""Two bots that play each other, and measure how long each move takes to reach the other.

They keep time themselves: whoever loses on time within what it was told was robbed.
"""

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import grpc

from meijin.game import TimeControl, Variant
from meijin.v1 import game_pb2, tournament_service_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub
from meijin.wire.contract import PROTOCOL_VERSION
from meijin.wire.values import time_control_to_proto, variant_to_proto

NAMES = ("ada", "bob")
THOUGHT = 0.003
ROUNDS = 5_000


OWN = (("grpc.use_local_subchannel_pool", 1),)
"""A connection for each bot."""


def plain_channel(address: str) -> grpc.aio.Channel:
    """A connection of its own, without TLS."""
    return grpc.aio.insecure_channel(address, OWN)


@dataclass(slots=True)
class Turn:
    """What a bot was asked last in a game."""

    told: float
    """Seconds on its clock."""
    read: float
    written: float | None = None
    """When its answer was."""

    def used(self, now: float) -> float:
        """Seconds from reading it to writing the answer, or until now."""
        return (self.written or now) - self.read


class Innocents:
    """Both bots, on one event loop and one clock."""

    def __init__(
        self,
        address: str,
        *,
        games: int = 4,
        control: str = "5+0.1",
        names: tuple[str, str] = NAMES,
        channel: Callable[[str], grpc.aio.Channel] = plain_channel,
        tells: bool = False,
    ) -> None:
        self.latencies: list[float] = []
        """Seconds from the write of a move to the read of the opponent's turn."""
        self.ends: list[pb.GameEnded] = []
        self.notices = 0
        self.time_forfeits: list[Turn] = []
        """The turns that were lost on time."""
        self.robbed: list[Turn] = []
        """Those of them whose bot had not used what it was told, by its own clock."""
        self._asked: dict[int, Turn] = {}
        """By game."""
        self._names = names
        self._tells = tells  # the server what each move took
        self._channel = channel
        self._address = address
        self._games = games
        self._control = control
        self._written: dict[tuple[int, int], float] = {}
        self._rng = random.Random(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self._calls: list[Any] = []

    async def start(self) -> None:
        """Bring both in, and have them play without end."""
        arrived = [asyncio.Event() for _ in self._names]
        for name, event in zip(self._names, arrived, strict=True):
            self._keep(self._play(name, event))
        for event in arrived:
            await event.wait()
        settings = tournament_service_pb2.TournamentSettings(
            bots=self._names,
            rounds=ROUNDS,
            unrated=True,
            variant=variant_to_proto(Variant(width=9, height=9)),
            time_control=time_control_to_proto(TimeControl.parse(self._control)),
        )
        request = tournament_service_pb2.CreateTournamentRequest(settings=settings)
        async with self._channel(self._address) as channel:
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
        async with self._channel(self._address) as channel:
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
        for ended in events.ended:
            self._judge(ended, now)
        actions = pb.Actions()
        for turn in events.turns:
            written = self._written.pop((turn.game, turn.ply), None)
            if written is not None:
                self.latencies.append(now - written)
            self._asked[turn.game] = Turn(turn.own_clock_ms / 1000, now)
            taken = set(memoryview(turn.moves).cast("H"))
            cell = self._rng.choice([cell for cell in range(81) if cell not in taken])
            actions.plays.add(game=turn.game, ply=turn.ply, cell=cell)
        if actions.plays:
            await asyncio.sleep(THOUGHT)
            now = time.perf_counter()
            for play in actions.plays:
                self._written[play.game, play.ply + 1] = now
                self._asked[play.game].written = now
                if self._tells:
                    play.thinking_us = round((now - self._asked[play.game].read) * 1e6)
            await call.write(pb.PlayRequest(actions=actions))

    def _judge(self, ended: pb.GameEnded, now: float) -> None:
        """Look whether a game was lost on time, and rightly; both bots hear of it."""
        turn = self._asked.pop(ended.game, None)
        if turn is not None and ended.outcome.ending == game_pb2.ENDING_TIME:
            self.time_forfeits.append(turn)
            if turn.used(now) < turn.told:
                self.robbed.append(turn)
