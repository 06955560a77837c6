"""A bot that writes down what each of its moves took, by its own clock.

    python benchmarks/journaling_bot.py NAME ADDRESS GAMES JOURNAL {told,untold}

It thinks for a few milliseconds and plays the cells of a shuffled list. The journal has a JSON
object a line: game, ply, the clock that it was told in milliseconds, and the microseconds from the
read of the turn to the write of the answer. With `told` the server hears of these too.
"""

import asyncio
import json
import random
import sys
import time
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO, TypeAlias

import grpc

from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.wire.contract import PROTOCOL_VERSION

Call: TypeAlias = "grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]"

CELLS = 225
SHORTEST_THOUGHT, LONGEST_THOUGHT = 0.001, 0.006


class JournalingBot:
    """One stream, whose every answer is written down."""

    def __init__(self, name: str, games: int, journal: TextIO, *, tells: bool) -> None:
        self._name = name
        self._games = games
        self._journal = journal
        self._tells = tells
        self._rng = random.Random(name)
        self._ids: dict[int, str] = {}
        self._requests: asyncio.Queue[pb.PlayRequest] = asyncio.Queue()
        self._thoughts: set[asyncio.Task[None]] = set()

    async def run(self, address: str) -> None:
        """Play until the server ends the stream."""
        async with grpc.aio.insecure_channel(address) as channel:
            await channel.channel_ready()
            call = PlayServiceStub(channel).Play()
            hello = pb.Hello(
                protocol_version=PROTOCOL_VERSION,
                bot_name=self._name,
                capabilities=pb.Capabilities(max_games=self._games),
            )
            with suppress(grpc.aio.AioRpcError):
                await call.write(pb.PlayRequest(hello=hello))
                writer = asyncio.create_task(self._write(call))
                while isinstance(response := await call.read(), pb.PlayResponse):
                    self._take(response, time.monotonic_ns())
                writer.cancel()

    async def _write(self, call: Call) -> None:
        while True:
            await call.write(await self._requests.get())

    def _take(self, response: pb.PlayResponse, read_ns: int) -> None:
        if response.HasField("ping"):
            pong = pb.Pong(sequence=response.ping.sequence)
            self._requests.put_nowait(pb.PlayRequest(pong=pong))
        for started in response.events.started:
            self._ids[started.game] = started.game_id
        for turn in response.events.turns:
            self._start(self._answer(turn, self._ids[turn.game], read_ns))

    def _start(self, thought: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(thought)
        self._thoughts.add(task)
        task.add_done_callback(self._thoughts.discard)

    async def _answer(self, turn: pb.TurnRequested, game_id: str, read_ns: int) -> None:
        await asyncio.sleep(self._rng.uniform(SHORTEST_THOUGHT, LONGEST_THOUGHT))
        taken = set(memoryview(turn.moves).cast("H"))
        cell = self._rng.choice([cell for cell in range(CELLS) if cell not in taken])
        play = pb.Play(game=turn.game, ply=turn.ply, cell=cell)
        own_us = max((time.monotonic_ns() - read_ns) // 1000, 1)
        if self._tells:
            play.thinking_us = own_us
        self._requests.put_nowait(pb.PlayRequest(actions=pb.Actions(plays=[play])))
        line = {"game": game_id, "ply": turn.ply, "told_ms": turn.own_clock_ms, "own_us": own_us}
        print(json.dumps(line), file=self._journal, flush=True)


def main() -> None:
    """Play as the command line says."""
    name, address, games, journal, telling = sys.argv[1:]
    with Path(journal).open("w", encoding="utf-8") as file:
        bot = JournalingBot(name, int(games), file, tells=telling == "told")
        asyncio.run(bot.run(address))


if __name__ == "__main__":
    main()
