"""A bot that answers at once, straight on the wire: what it costs is the arena's, not its own.

    python benchmarks/instant_bot.py NAME ADDRESS GAMES [PAUSE]

In a game both sides play the cells of one shuffled list in turn, after the opening: every move is
free, and neither has to look at the board. The game's number names the list. With PAUSE, seconds,
it waits before each answer, for games that are to be looked at.
"""

import asyncio
import random
import sys
from collections.abc import Iterable
from contextlib import suppress

import grpc

from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.wire.contract import PROTOCOL_VERSION

CELLS = 225
ORDERS = 64
"""Different orders of play, so that games differ."""


class InstantBot:
    """One stream, many games, no thought."""

    def __init__(self, name: str, games: int, pause: float = 0.0) -> None:
        self._name = name
        self._games = games
        self._pause = pause
        rng = random.Random(0)
        self._orders = [rng.sample(range(CELLS), CELLS) for _ in range(ORDERS)]
        self._lines: dict[int, list[int]] = {}

    async def run(self, address: str) -> None:
        """Play until the server ends the stream."""
        async with grpc.aio.insecure_channel(address) as channel:
            await channel.channel_ready()
            call = PlayServiceStub(channel).Play()
            capabilities = pb.Capabilities(max_games=self._games)
            hello = pb.Hello(
                protocol_version=PROTOCOL_VERSION, bot_name=self._name, capabilities=capabilities
            )
            with suppress(grpc.aio.AioRpcError):
                await call.write(pb.PlayRequest(hello=hello))
                while isinstance(response := await call.read(), pb.PlayResponse):
                    if response.HasField("events"):
                        self._take(response.events)
                    if response.events.turns:
                        if self._pause:
                            await asyncio.sleep(self._pause)
                        await call.write(self._answer(response.events.turns))

    def _take(self, events: pb.Events) -> None:
        for ended in events.ended:
            self._lines.pop(ended.game, None)
        for started in events.started:
            self._lines[started.game] = self._line(started)

    def _answer(self, turns: Iterable[pb.TurnRequested]) -> pb.PlayRequest:
        message = pb.PlayRequest()
        add, lines = message.actions.plays.add, self._lines
        for turn in turns:
            play = add()
            play.game, play.ply = game, ply = turn.game, turn.ply
            play.cell = lines[game][ply]
        return message

    def _line(self, started: pb.GameStarted) -> list[int]:
        """All moves of a game, from the first to the last cell."""
        opening = memoryview(started.moves).cast("H").tolist()
        order = self._orders[started.game % ORDERS]
        return opening + [cell for cell in order if cell not in opening]


if __name__ == "__main__":
    name, address, games, *pause = sys.argv[1:]
    asyncio.run(InstantBot(name, int(games), *map(float, pause)).run(address))
