"""A bot that answers at once, straight on the wire: what it costs is the arena's, not its own.

    python benchmarks/instant_bot.py NAME[,NAME...] ADDRESS GAMES [PAUSE] [--tally FOLDER]

In a game both sides play the cells of one shuffled list in turn, after the opening: every move is
free, and neither has to look at the board. The game's number names the list. With PAUSE, seconds,
it waits before each answer, for games that are to be looked at. Several bots have a connection each,
and count together in the folder what they do.
"""

import argparse
import asyncio
import random
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import grpc
from tally import FIELDS, tally_file

from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.wire.contract import PROTOCOL_VERSION

CELLS = 225
ORDERS = 64
"""Different orders of play, so that games differ."""
SAMPLED = 32
"""Of this many messages one is sized, which takes as long as writing it."""


class InstantBot:
    """One stream, many games, no thought."""

    def __init__(
        self, name: str, games: int, pause: float = 0.0, tally: memoryview | None = None
    ) -> None:
        self._name = name
        self._games = games
        self._pause = pause
        self._tally = memoryview(bytearray(8 * FIELDS)).cast("q") if tally is None else tally
        rng = random.Random(0)
        self._orders = [rng.sample(range(CELLS), CELLS) for _ in range(ORDERS)]
        self._lines: dict[int, list[int]] = {}

    async def run(self, address: str) -> None:
        """Play until the server ends the stream."""
        options = (("grpc.use_local_subchannel_pool", 1),)
        async with grpc.aio.insecure_channel(address, options=options) as channel:
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
                        answer = self._answer(response.events.turns)
                        await call.write(answer)
                        self._count(response, answer)

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

    def _count(self, response: pb.PlayResponse, answer: pb.PlayRequest) -> None:
        tally = self._tally
        tally[0] += len(answer.actions.plays)
        tally[1] += 1
        if tally[1] % SAMPLED == 0:
            tally[2] += 1
            tally[3] += response.ByteSize()
            tally[4] += answer.ByteSize()

    def _line(self, started: pb.GameStarted) -> list[int]:
        """All moves of a game, from the first to the last cell."""
        opening = memoryview(started.moves).cast("H").tolist()
        order = self._orders[started.game % ORDERS]
        return opening + [cell for cell in order if cell not in opening]


async def run(options: argparse.Namespace) -> None:
    """Play as every bot that is named."""
    tally = None if options.tally is None else tally_file(options.tally)
    bots = [
        InstantBot(name, options.games, options.pause, tally) for name in options.names.split(",")
    ]
    await asyncio.gather(*(bot.run(options.address) for bot in bots))


def main() -> None:
    """Play until the server ends the streams."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", metavar="NAME[,NAME...]")
    parser.add_argument("address")
    parser.add_argument("games", type=int, help="of each bot at once")
    parser.add_argument("pause", type=float, nargs="?", default=0.0)
    parser.add_argument("--tally", type=Path)
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
