"""Bots that come into an arena at the same time, each on a connection of its own.

    python benchmarks/hello_bots.py ADDRESS NAME COUNT

Says `ready`, and lets them all say hello when it is given a line; who is refused tries again.
Prints one JSON object when all are in, keeps them there until its input ends, and has them leave.

seconds   until the last of them was in
refused   how streams ended that had no welcome, and how many did so
"""

import asyncio
import json
import sys
import time
from collections import Counter

import grpc

from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.wire.contract import PROTOCOL_VERSION

PAUSE = 0.5
"""Seconds before a bot tries again."""
WELCOME = "WELCOME"


class HelloBot:
    """A bot that says hello and no more."""

    def __init__(self, address: str, name: str) -> None:
        options = (("grpc.use_local_subchannel_pool", 1),)
        self._channel = grpc.aio.insecure_channel(address, options=options)
        self._hello = pb.Hello(protocol_version=PROTOCOL_VERSION, bot_name=name)

    async def come(self, refused: Counter[str]) -> None:
        """Say hello until the server lets the bot in."""
        while (answer := await self._say_hello()) != WELCOME:
            refused[answer] += 1
            await asyncio.sleep(PAUSE)

    async def _say_hello(self) -> str:
        """How the server answers: `WELCOME`, or the code of a refusal."""
        call = PlayServiceStub(self._channel).Play()
        try:
            await call.write(pb.PlayRequest(hello=self._hello))
            answer = await call.read()
        except grpc.aio.AioRpcError as error:
            return error.code().name
        except asyncio.InvalidStateError:  # a write to a stream that has just been ended
            return (await call.code()).name
        if isinstance(answer, pb.PlayResponse) and answer.HasField("welcome"):
            return WELCOME
        return (await call.code()).name

    async def leave(self) -> None:
        """Close the connection."""
        await self._channel.close()


async def main() -> None:
    """Come, stay and leave."""
    address, name, count = sys.argv[1:]
    bots = [HelloBot(address, f"{name}-{number}") for number in range(int(count))]
    print("ready", flush=True)
    sys.stdin.readline()
    start = time.monotonic()
    refused: Counter[str] = Counter()
    await asyncio.gather(*(bot.come(refused) for bot in bots))
    seen = {"seconds": round(time.monotonic() - start, 3), "refused": refused}
    print(json.dumps(seen), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await asyncio.gather(*(bot.leave() for bot in bots))


if __name__ == "__main__":
    asyncio.run(main())
