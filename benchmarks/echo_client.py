"""Streams that exchange messages with an echo server, each the next when the last is answered.

    python benchmarks/echo_client.py ADDRESS STREAMS SENT_BYTES RECEIVED_BYTES --tally FOLDER

Each stream is a connection of its own. Messages are counted in the folder.
"""

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
from tally import tally_file


async def exchange(address: str, sent: bytes, received: bytes, tally: memoryview) -> None:
    """Send and read without end."""
    options = (("grpc.use_local_subchannel_pool", 1),)
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        call: Any = channel.stream_stream("/Echo/Answer")()
        await call.write(received)
        while True:
            await call.write(sent)
            await call.read()
            tally[1] += 1


async def main() -> None:
    """Exchange on all streams until killed."""
    address, streams, sent, received, _, folder = sys.argv[1:]
    tally = tally_file(Path(folder))
    messages = (bytes(int(sent)), bytes(int(received)))
    with suppress(grpc.aio.AioRpcError):
        await asyncio.gather(*(exchange(address, *messages, tally) for _ in range(int(streams))))


if __name__ == "__main__":
    asyncio.run(main())
