"""Bots that come into an arena at the same time, each on a connection of its own.

    python benchmarks/hello_bots.py ADDRESS NAME COUNT

Says `ready`, and lets them all say hello when it is given a line. Prints one JSON object when
each has had its answer, keeps them there until its input ends, and has them leave.

welcome   bots that were let in
seconds   until the last of them was
refused   how the other streams ended, and how many did so
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


class HelloBot:
    """A bot that says hello and no more."""

    def __init__(self, address: str, name: str) -> None:
        options = (("grpc.use_local_subchannel_pool", 1),)
        self._channel = grpc.aio.insecure_channel(address, options=options)
        self._hello = pb.Hello(protocol_version=PROTOCOL_VERSION, bot_name=name)

    async def come(self) -> str:
        """Say hello; how the server answers, `WELCOME` or the code of a refusal."""
        call = PlayServiceStub(self._channel).Play()
        try:
            await call.write(pb.PlayRequest(hello=self._hello))
            answer = await call.read()
        except grpc.aio.AioRpcError as error:
            return error.code().name
        except asyncio.InvalidStateError:  # a write to a stream that has just been ended
            return (await call.code()).name
        if isinstance(answer, pb.PlayResponse) and answer.HasField("welcome"):
            return "WELCOME"
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
    answers = Counter(await asyncio.gather(*(bot.come() for bot in bots)))
    seconds = round(time.monotonic() - start, 3)
    seen = {"welcome": answers.pop("WELCOME", 0), "seconds": seconds, "refused": answers}
    print(json.dumps(seen), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await asyncio.gather(*(bot.leave() for bot in bots))


if __name__ == "__main__":
    asyncio.run(main())
