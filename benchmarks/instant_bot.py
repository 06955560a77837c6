"""A bot that answers at once, straight on the wire: what it costs is the arena's, not its own.

    python benchmarks/instant_bot.py NAME ADDRESS GAMES

In a game both sides play the cells of one shuffled list in turn, after the opening: every move is
free, and neither has to look at the board. The game's number names the list.
"""

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable

import grpc

from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub

CELLS = 225
ORDERS = 64
"""Different orders of play, so that games differ."""

COLLECT_TICKS = 5


class InstantBot:
    """One stream, many games, no thought."""

    def __init__(self, name: str, games: int) -> None:
        self._name = name
        self._games = games
        rng = random.Random(0)
        self._orders = [rng.sample(range(CELLS), CELLS) for _ in range(ORDERS)]
        self._lines: dict[int, list[int]] = {}
        self._plays = (message := pb.PlayRequest()).actions.plays
        self._message = message
        self._wake = asyncio.Event()

    async def run(self, address: str) -> None:
        """Play until the server ends the stream."""
        async with grpc.aio.insecure_channel(address) as channel:
            await channel.channel_ready()
            call = PlayServiceStub(channel).Play()
            capabilities = pb.Capabilities(max_games=self._games)
            hello = pb.Hello(protocol_version=1, bot_name=self._name, capabilities=capabilities)
            await call.write(pb.PlayRequest(hello=hello))
            writer = asyncio.create_task(self._write(call.write))
            try:
                while isinstance(response := await call.read(), pb.PlayResponse):
                    self._take(response)
            except grpc.aio.AioRpcError:
                pass
            finally:
                writer.cancel()

    async def _write(self, write: Callable[[pb.PlayRequest], Awaitable[None]]) -> None:
        while True:
            await self._wake.wait()
            for _ in range(COLLECT_TICKS):
                await asyncio.sleep(0)
            self._wake.clear()
            message, self._message = self._message, pb.PlayRequest()
            self._plays = self._message.actions.plays
            await write(message)

    def _take(self, response: pb.PlayResponse) -> None:
        if not response.HasField("events"):
            return
        events = response.events
        for ended in events.ended:
            self._lines.pop(ended.game, None)
        for started in events.started:
            self._lines[started.game] = self._line(started)
        add, lines = self._plays.add, self._lines
        for turn in events.turns:
            game, ply = turn.game, turn.ply
            add(game=game, ply=ply, cell=lines[game][ply])
        if self._plays:
            self._wake.set()

    def _line(self, started: pb.GameStarted) -> list[int]:
        """All moves of a game, from the first to the last cell."""
        opening = memoryview(started.moves).cast("H").tolist()
        order = self._orders[started.game % ORDERS]
        return opening + [cell for cell in order if cell not in opening]


if __name__ == "__main__":
    asyncio.run(InstantBot(sys.argv[1], int(sys.argv[3])).run(sys.argv[2]))
