"""Many bots in one process, each with a connection of its own, that play as a crowd does.

    python benchmarks/load_bots.py ADDRESS FIRST COUNT

Each puts its stones on a row of its own, so that black has five with its eighth, and thinks for so
long that half a second and the increments are nearly used up by then. When its input ends it
prints one JSON object and ends.
"""

import asyncio
import json
import random
import sys
import time
from array import array
from collections import Counter
from contextlib import AsyncExitStack, suppress
from typing import TypeAlias

import grpc

from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.wire.contract import PROTOCOL_VERSION

Call: TypeAlias = "grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]"

AT_ONCE = 20
"""Bots that connect at the same time."""

SHORTEST_THOUGHT, LONGEST_THOUGHT = 0.050, 0.064

ROWS = (7 * 15, 9 * 15)
"""The first cells of black's and white's row."""

COLUMNS = (0, 2, 4, 6, 8, 10, 1, 3)
"""Five in a row with the last."""


class Crowd:
    """What all bots of the process have seen."""

    def __init__(self) -> None:
        self.latencies = array("d")
        """Seconds from the write of a move to the read of the opponent's turn."""
        self.written: dict[tuple[str, int], float] = {}
        self.endings: Counter[str] = Counter()
        """Of the games, as black hears of them."""
        self.robbed: list[str] = []
        """Games that a bot lost on time with a move that took less than its clock."""
        self.breaks: Counter[str] = Counter()
        """How streams ended that did so before the bots did."""
        self.rng = random.Random(1)

    def summary(self) -> dict[str, object]:
        """For the program that started it."""
        return {
            "latencies_us": [round(seconds * 1e6) for seconds in self.latencies],
            "endings": self.endings,
            "robbed": self.robbed,
            "breaks": self.breaks,
        }


class Bot:
    """One stream."""

    def __init__(self, name: str, crowd: Crowd) -> None:
        self._name = name
        self._crowd = crowd
        self._game = pb.GameStarted()
        self._own: tuple[int, float] = (0, 0.0)
        self._thoughts: set[asyncio.Task[None]] = set()
        self._writing = asyncio.Lock()
        """Two writes at once end a stream."""

    async def connect(self, stack: AsyncExitStack, address: str, gate: asyncio.Semaphore) -> Call:
        """Say hello, and return once it is heard."""
        options = (("grpc.use_local_subchannel_pool", 1),)
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(address, options))
        async with gate:
            call: Call = PlayServiceStub(channel).Play()
            hello = pb.Hello(
                protocol_version=PROTOCOL_VERSION,
                bot_name=self._name,
                capabilities=pb.Capabilities(max_games=1),
            )
            await call.write(pb.PlayRequest(hello=hello))
            await call.read()
        return call

    async def play(self, call: Call) -> None:
        """Play until the stream ends."""
        with suppress(grpc.aio.AioRpcError):
            while isinstance(response := await call.read(), pb.PlayResponse):
                now = time.monotonic()
                if response.HasField("ping"):
                    pong = pb.Pong(sequence=response.ping.sequence)
                    await self._write(call, pb.PlayRequest(pong=pong))
                for ended in response.events.ended:
                    self._note(ended.outcome)
                for started in response.events.started:
                    self._game = started
                for turn in response.events.turns:
                    self._start(call, turn, now)
        self._crowd.breaks[f"{(await call.code()).name} {await call.details()}"] += 1

    def _note(self, outcome: game_pb2.Outcome) -> None:
        color = self._game.color
        if color == game_pb2.COLOR_BLACK:
            self._crowd.endings[game_pb2.Ending.Name(outcome.ending)] += 1
        told_ms, own = self._own
        is_late = outcome.ending == game_pb2.ENDING_TIME and outcome.winner != color
        if is_late and 0 < own * 1000 < told_ms:
            self._crowd.robbed.append(self._game.game_id)

    def _start(self, call: Call, turn: pb.TurnRequested, read: float) -> None:
        self._own = (turn.own_clock_ms, 0.0)
        written = self._crowd.written.pop((self._game.game_id, turn.ply), None)
        if written is not None:
            self._crowd.latencies.append(read - written)
        task = asyncio.create_task(self._answer(call, turn, read))
        self._thoughts.add(task)
        task.add_done_callback(self._thoughts.discard)

    async def _answer(self, call: Call, turn: pb.TurnRequested, read: float) -> None:
        await asyncio.sleep(self._crowd.rng.uniform(SHORTEST_THOUGHT, LONGEST_THOUGHT))
        taken = set(memoryview(turn.moves).cast("H"))
        row = ROWS[turn.ply % 2]
        wanted = (*(row + column for column in COLUMNS), *range(225))
        cell = next(cell for cell in wanted if cell not in taken)
        now = time.monotonic()
        own_us = max(round((now - read) * 1e6), 1)
        play = pb.Play(game=turn.game, ply=turn.ply, cell=cell, thinking_us=own_us)
        self._own = (turn.own_clock_ms, now - read)
        self._crowd.written[self._game.game_id, turn.ply + 1] = now
        await self._write(call, pb.PlayRequest(actions=pb.Actions(plays=[play])))

    async def _write(self, call: Call, request: pb.PlayRequest) -> None:
        async with self._writing:
            with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
                await call.write(request)


async def run(address: str, first: int, count: int) -> None:
    """Bring the bots in, play until the input ends, and print what they have seen."""
    crowd, gate = Crowd(), asyncio.Semaphore(AT_ONCE)
    bots = [Bot(f"bot-{number}", crowd) for number in range(first, first + count)]
    async with AsyncExitStack() as stack:
        calls = await asyncio.gather(*(bot.connect(stack, address, gate) for bot in bots))
        games = [asyncio.create_task(bot.play(call)) for bot, call in zip(bots, calls, strict=True)]
        await asyncio.to_thread(sys.stdin.read)
        summary = json.dumps(crowd.summary())
        for game in games:
            game.cancel()
        await asyncio.wait(games)
    print(summary)


def main() -> None:
    """Play as the command line says."""
    address, first, count = sys.argv[1:]
    asyncio.run(run(address, int(first), int(count)))


if __name__ == "__main__":
    main()
