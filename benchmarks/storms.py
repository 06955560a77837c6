"""Storms of connections beside bots with little time: who loses, how late the others are.

    python benchmarks/storms.py [--runs 10] [--count 10000] [--seconds 6] [--kind NAME] [--json]

Four games at 0.2 s a move and four at 0.5 s run while thousands of sockets are opened at once: idle
ones, half-open and slow ones, such as are reset, and TLS handshakes that stop. Bots, storm and
server are in processes of their own, and each kind has a server of its own.

opened       connections that the server took
moves        of the bots while the storm lasted
base_p99, p99, max  milliseconds from the write of a move to the read of the opponent's turn
forfeits     games lost on time, and robbed those whose bot had answered in time by its own clock
stall_ms     what the server counts as its own standstill
rss_mb       the server's memory before, rss_peak_mb the most meanwhile, rss_after_mb a while later
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import grpc
from arena_process import ArenaProcess, arena_process
from connection_storm import KINDS
from hostile import LOOK_INTERVAL, MEBIBYTE, WARM_UP, percentiles
from innocents import OWN, Innocents, plain_channel
from report import Row, parser_of, report

from meijin.server.certificates import Authority
from meijin.v1 import status_service_pb2
from meijin.v1.status_service_pb2_grpc import StatusServiceStub

STORM = Path(__file__).with_name("connection_storm.py")
CONTROLS = {("ada", "bob"): "0.2/move", ("eve", "dan"): "0.5/move"}
BASE = 3.0
"""Seconds before the storm."""

CALM = 12.0
"""Seconds after it, in which the server hangs up on idle connections."""

GRPCS = "grpcs://"


class Crowd:
    """Pairs of bots, each at a time control of its own."""

    def __init__(self, address: str, channel: Callable[[str], grpc.aio.Channel]) -> None:
        self.pairs = [
            Innocents(address, control=control, names=names, channel=channel)
            for names, control in CONTROLS.items()
        ]

    def take_latencies(self) -> list[float]:
        """What was measured since it was taken last."""
        found = [value for pair in self.pairs for value in pair.latencies]
        for pair in self.pairs:
            pair.latencies.clear()
        return found


@contextmanager
def server(kind: str) -> Iterator[tuple[ArenaProcess, Callable[[str], grpc.aio.Channel]]]:
    """A server, with TLS where the storm is of handshakes, and how bots connect to it."""
    if kind != "tls":
        with arena_process("power") as arena:
            yield arena, plain_channel
        return
    with TemporaryDirectory(prefix="meijin-benchmark-") as name:
        folder, now, validity = Path(name), datetime.now(UTC), timedelta(days=1)
        authority = Authority.make("benchmark", now=now, validity=validity)
        pair = authority.server_pair(["localhost", "127.0.0.1"], now=now, validity=validity)
        pair.write(folder / "server.pem", folder / "key.pem")
        trust = grpc.ssl_channel_credentials(authority.pair.certificate)
        settings = {
            "MEIJIN_CERTIFICATE": str(folder / "server.pem"),
            "MEIJIN_KEY": str(folder / "key.pem"),
        }
        with arena_process("power", settings=settings) as arena:
            yield arena, lambda address: grpc.aio.secure_channel(address, trust, OWN)


async def stall_seconds(channel: grpc.aio.Channel) -> float:
    """What the server counts as its own standstill in the last hour."""
    request = status_service_pb2.GetActivityRequest()
    response = await StatusServiceStub(channel).GetActivity(request, wait_for_ready=True)
    return response.stalls.total.ToMilliseconds() / 1000


async def measure(kind: str, *, count: int, seconds: float, sources: int) -> Row:
    """Have bots play alone, in a storm, and after it."""
    with server(kind) as (arena, channel):
        address = arena.address.removeprefix(GRPCS)
        crowd = Crowd(address, channel)
        for pair in crowd.pairs:
            await pair.start()
        async with channel(address) as asking:
            await asyncio.sleep(WARM_UP)
            crowd.take_latencies()
            await asyncio.sleep(BASE)
            base = percentiles(crowd.take_latencies())
            before, stood = arena.resident_bytes, await stall_seconds(asking)
            command = (str(STORM), kind, address, str(count), str(seconds), str(sources))
            storm = await asyncio.create_subprocess_exec(
                sys.executable, *command, stdout=asyncio.subprocess.PIPE
            )
            ended, peak = asyncio.create_task(storm.communicate()), before
            while not ended.done():
                await asyncio.wait((ended,), timeout=LOOK_INTERVAL)
                peak = max(peak, arena.resident_bytes)
            heard = json.loads((await ended)[0])
            latencies = crowd.take_latencies()
            await asyncio.sleep(CALM)
            stood = await stall_seconds(asking) - stood
        for pair in crowd.pairs:
            await pair.stop()
        under = percentiles(latencies)
        return {
            "kind": kind,
            "opened": heard["opened"],
            "in_s": heard["seconds"],
            "moves": len(latencies),
            "base_p99": base[1],
            "p99": under[1],
            "max": under[2],
            "forfeits": sum(len(pair.time_forfeits) for pair in crowd.pairs),
            "robbed": sum(len(pair.robbed) for pair in crowd.pairs),
            "stall_ms": stood * 1000,
            "rss_mb": before / MEBIBYTE,
            "rss_peak_mb": peak / MEBIBYTE,
            "rss_after_mb": arena.resident_bytes / MEBIBYTE,
        }


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=int, default=10, help="of each kind")
    parser.add_argument("--count", type=int, default=10_000, help="sockets")
    parser.add_argument("--seconds", type=float, default=6.0, help="that they are held")
    parser.add_argument("--sources", type=int, default=1, help="addresses that they come from")
    parser.add_argument("--kind", choices=KINDS, help="the one kind")
    options = parser.parse_args()
    rows = []
    for kind in KINDS if options.kind is None else [options.kind]:
        for _ in range(options.runs):
            row = measure(
                kind, count=options.count, seconds=options.seconds, sources=options.sources
            )
            rows.append(asyncio.run(row))
            print(rows[-1], flush=True)
    report("Bots in storms of connections", rows, as_json=options.json)


if __name__ == "__main__":
    main()
