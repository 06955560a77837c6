"""What the arena adds to a ply of a lone game, beside a bare grpc.aio echo.

    python benchmarks/latency.py [--plies 3000] [--json]

Three servers are measured in turns, a slice of each again and again, so that the machine's
mood is the same for all: an echo of messages of the usual size, and an arena with each
durability. An arena's ply is the time from one bot's write of its move to the other bot's
read of its turn, both bots being in the measuring process. An echo is the time from a write
to the read of its answer: the transport alone, both ways.

added_p50_us   the ply's median less the echo's
ratio_p50      the ply's median over the echo's
"""

import argparse
import asyncio
import random
import statistics
import subprocess
import sys
import time
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any, Protocol

import grpc
from arena_process import arena_process
from report import report

from meijin.v1 import game_pb2, tournament_service_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub
from meijin.wire.contract import PROTOCOL_VERSION

CELLS = 225
SLICES = 10
ECHO_SERVER = Path(__file__).with_name("echo_server.py")


class Sampler(Protocol):
    """Something whose messages can be timed."""

    async def sample(self, count: int) -> list[float]:
        """Seconds of so many exchanges."""


class Echo:
    """The bare transport, with messages of the size of a turn in mid-game."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        turn = pb.TurnRequested(game=1, ply=60, moves=bytes(120), own_clock_ms=60_000)
        self._message = pb.PlayResponse(events=pb.Events(turns=[turn])).SerializeToString()
        self._call: Any = channel.stream_stream("/Echo/Echo")()

    async def sample(self, count: int) -> list[float]:
        """Seconds from a write to the read of its answer."""
        times = []
        for _ in range(count):
            start = time.perf_counter()
            await self._call.write(self._message)
            await self._call.read()
            times.append(time.perf_counter() - start)
        return times


class LoneGame:
    """Two bots of this process that play one game after the other at an arena."""

    def __init__(self, channels: list[grpc.aio.Channel]) -> None:
        self._calls = [PlayServiceStub(channel).Play() for channel in channels]
        self._turns: asyncio.Queue[tuple[int, pb.TurnRequested]] = asyncio.Queue()
        self._readers: list[asyncio.Task[None]] = []

    async def start(self, channel: grpc.aio.Channel) -> None:
        """Say hello for both bots and have them paired without end."""
        for name, call in zip(("one", "two"), self._calls, strict=True):
            await call.write(
                pb.PlayRequest(hello=pb.Hello(protocol_version=PROTOCOL_VERSION, bot_name=name))
            )
            await call.read()
        self._readers = [asyncio.create_task(self._read(seat)) for seat in range(2)]
        control = game_pb2.TimeControl()
        control.per_move.FromSeconds(60)
        settings = tournament_service_pb2.TournamentSettings(
            bots=["one", "two"], rounds=10_000, time_control=control, unrated=True
        )
        request = tournament_service_pb2.CreateTournamentRequest(settings=settings)
        await TournamentServiceStub(channel).CreateTournament(request)

    async def sample(self, count: int) -> list[float]:
        """Seconds from a move's write to the opponent's read of its turn, within games."""
        times: list[float] = []
        seat, turn = await self._turns.get()
        while len(times) < count:
            move = _random_move(turn)
            start = time.perf_counter()
            await self._calls[seat].write(move)
            seat, following = await self._turns.get()
            if following.game == turn.game:
                times.append(time.perf_counter() - start)
            turn = following
        self._turns.put_nowait((seat, turn))
        return times

    async def _read(self, seat: int) -> None:
        call = self._calls[seat]
        try:
            while isinstance(response := await call.read(), pb.PlayResponse):
                for turn in response.events.turns:
                    self._turns.put_nowait((seat, turn))
        except grpc.aio.AioRpcError:
            pass

    async def stop(self) -> None:
        """End both streams."""
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)


def _random_move(turn: pb.TurnRequested) -> pb.PlayRequest:
    taken = set(memoryview(turn.moves).cast("H"))
    cell = random.choice([cell for cell in range(CELLS) if cell not in taken])
    play = pb.Play(game=turn.game, ply=turn.ply, cell=cell)
    return pb.PlayRequest(actions=pb.Actions(plays=[play]))


async def measure(addresses: dict[str, str], plies: int) -> dict[str, list[float]]:
    """Take slices of every server in turns."""
    async with AsyncExitStack() as stack:

        async def channel(address: str) -> grpc.aio.Channel:
            options = (("grpc.use_local_subchannel_pool", 1),)
            return await stack.enter_async_context(
                grpc.aio.insecure_channel(address, options=options)
            )

        samplers: dict[str, Sampler] = {"echo": Echo(await channel(addresses["echo"]))}
        for name in ("process", "power"):
            game = LoneGame([await channel(addresses[name]) for _ in range(2)])
            await game.start(await channel(addresses[name]))
            stack.push_async_callback(game.stop)
            samplers[name] = game
        times: dict[str, list[float]] = {name: [] for name in samplers}
        for number in range(SLICES + 1):
            for name, sampler in samplers.items():
                sample = await sampler.sample(plies // SLICES)
                times[name] += sample if number else []
        return times


def row(name: str, times: list[float], echo: list[float]) -> dict[str, str | int | float]:
    """The figures of one server, in microseconds."""
    median, base = statistics.median(times), statistics.median(echo)
    return {
        "server": name if name == "echo" else f"arena, durability {name}",
        "p50_us": round(median * 1e6, 1),
        "p99_us": round(statistics.quantiles(times, n=100)[98] * 1e6, 1),
        "added_p50_us": round((median - base) * 1e6, 1),
        "ratio_p50": round(median / base, 2),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--plies", type=int, default=3000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with ExitStack() as stack:
        echo = stack.enter_context(
            subprocess.Popen([sys.executable, str(ECHO_SERVER)], stdout=subprocess.PIPE, text=True)
        )
        stack.callback(echo.terminate)
        assert echo.stdout is not None
        addresses = {"echo": echo.stdout.readline().split()[-1]}
        for durability in ("process", "power"):
            addresses[durability] = stack.enter_context(arena_process(durability)).address
        times = asyncio.run(measure(addresses, options.plies))
    rows = [row(name, sample, times["echo"]) for name, sample in times.items()]
    report("One game: from a move to the opponent's turn", rows, as_json=options.json)


if __name__ == "__main__":
    main()
