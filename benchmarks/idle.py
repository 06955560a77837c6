"""What a connected bot costs while it waits.

    python benchmarks/idle.py [--bots 1000] [--seconds 10] [--json]

Each bot is a stream on a TCP connection of its own, from one client process.

kilobytes_per_bot   growth of the server's resident memory
cpu_percent         of one core, for all of them together, while nothing is played
"""

import asyncio
import time

import grpc
from arena_process import MANY_BOTS, ArenaProcess, arena_process
from report import parser_of, report

from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.wire.contract import PROTOCOL_VERSION

AT_ONCE = 20
"""Bots that connect at the same time."""


async def connect(address: str, name: str, gate: asyncio.Semaphore) -> grpc.aio.Channel:
    """Bring a bot into the arena; it answers its pings from then on."""
    options = (("grpc.use_local_subchannel_pool", 1),)
    channel = grpc.aio.insecure_channel(address, options=options)
    async with gate:  # a stream has seconds to say hello from its beginning
        call = PlayServiceStub(channel).Play()
        await call.write(
            pb.PlayRequest(hello=pb.Hello(protocol_version=PROTOCOL_VERSION, bot_name=name))
        )
        await call.read()
    BACKGROUND.add(asyncio.create_task(_answer(call)))
    return channel


BACKGROUND: set[asyncio.Task[None]] = set()


async def _answer(call: "grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]") -> None:
    try:
        while isinstance(response := await call.read(), pb.PlayResponse):
            if response.HasField("ping"):
                pong = pb.Pong(sequence=response.ping.sequence)
                await call.write(pb.PlayRequest(pong=pong))
    except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
        pass


async def measure(arena: ArenaProcess, bots: int, seconds: float) -> dict[str, str | int | float]:
    """Connect the bots and watch the server while nothing happens."""
    gate = asyncio.Semaphore(AT_ONCE)
    first = await connect(arena.address, "first", gate)
    before = arena.resident_bytes
    names = (f"bot-{number}" for number in range(bots))
    channels = await asyncio.gather(*(connect(arena.address, name, gate) for name in names))
    await asyncio.sleep(seconds)
    after = arena.resident_bytes
    cpu, start = arena.cpu_seconds, time.monotonic()
    await asyncio.sleep(seconds)
    share = (arena.cpu_seconds - cpu) / (time.monotonic() - start)
    await asyncio.gather(*(channel.close() for channel in (first, *channels)))
    return {
        "bots": bots,
        "kilobytes_per_bot": round((after - before) / bots / 1024, 1),
        "server_megabytes": round(after / 2**20, 1),
        "cpu_percent": round(share * 100, 1),
    }


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--bots", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    with arena_process("power", settings=MANY_BOTS) as arena:
        row = asyncio.run(measure(arena, options.bots, options.seconds))
    report("Connected idle bots", [row], as_json=options.json)


if __name__ == "__main__":
    main()
