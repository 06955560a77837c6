"""What the arena adds to a ply of a lone game, beside a bare grpc.aio echo.

    python benchmarks/latency.py [--plies 3000] [--repeat 1] [--against PATH] [--json]

The servers are measured in turns, a slice of each again and again, so that the machine's mood is
the same for all: an echo of messages of the usual size, and an arena with each durability; with
--against also those of another checkout that has an environment in `.venv`. --repeat starts all
of them anew, for two servers of equal code may differ by a tenth. An arena's ply is the time from
one bot's write of its move to the other bot's read of its turn, both bots being in the measuring
process. An echo is the time from a write to the read of its answer: the transport alone, both
ways.

added_p50_us   the ply's median less the echo's
ratio_p50      the ply's median over the echo's
cpu_us         processor time of the server's process for a ply
p50_ratio      this checkout's median over the other's, slice by slice: their median and quartiles
"""

import asyncio
import random
import statistics
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import grpc
from arena_process import arena_process
from echo import echo_server
from report import Row, parser_of, print_json, show
from spread import Spread

from meijin.v1 import game_pb2, tournament_service_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub
from meijin.wire.contract import PROTOCOL_VERSION

CELLS = 225
SLICES = 10
DURABILITIES = ("process", "power")
ECHO = "echo"
BEFORE = ", before"
"""Ends the names of the other checkout's servers."""


class Server(Protocol):
    """A process that is measured."""

    @property
    def address(self) -> str:
        """Host and port."""

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all its threads."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Some exchanges with one server, one after the other."""

    times: Sequence[float]
    """Seconds of each."""
    cpu_seconds: float
    """Of the server, for all of them."""

    @property
    def median(self) -> float:
        """Of the seconds."""
        return statistics.median(self.times)


class Sampler(Protocol):
    """Something whose messages can be timed."""

    async def sample(self, count: int) -> list[float]:
        """Seconds of this many exchanges."""


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
            start = perf_counter()
            await self._call.write(self._message)
            await self._call.read()
            times.append(perf_counter() - start)
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
            start = perf_counter()
            await self._calls[seat].write(move)
            seat, following = await self._turns.get()
            if following.game == turn.game:
                times.append(perf_counter() - start)
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


@dataclass(frozen=True, slots=True)
class Measured:
    """One server, and its slices."""

    server: Server
    sampler: Sampler
    slices: list[Slice] = field(default_factory=list)

    async def sample(self, plies: int) -> Slice:
        """Take one more slice."""
        cpu = self.server.cpu_seconds
        times = await self.sampler.sample(plies)
        return Slice(times, self.server.cpu_seconds - cpu)

    @property
    def times(self) -> list[float]:
        """Of all slices."""
        return [seconds for part in self.slices for seconds in part.times]

    def row(self, name: str, echo: "Measured") -> Row:
        """The figures, in microseconds."""
        median, base = statistics.median(self.times), statistics.median(echo.times)
        cpu = sum(part.cpu_seconds for part in self.slices)
        return {
            "server": name if name == ECHO else f"arena, durability {name}",
            "p50_us": round(median * 1e6, 1),
            "p99_us": round(statistics.quantiles(self.times, n=100)[98] * 1e6, 1),
            "added_p50_us": round((median - base) * 1e6, 1),
            "ratio_p50": round(median / base, 2),
            "cpu_us": round(cpu / len(self.times) * 1e6, 1),
        }

    def compared(self, name: str, before: "Measured") -> Row:
        """The other checkout's server of the same durability, and this one."""
        medians = [[part.median * 1e6 for part in one.slices] for one in (before, self)]
        return {
            "durability": name,
            **Spread.of(medians[0]).columns("p50_us_before"),
            **Spread.of(medians[1]).columns("p50_us_now"),
            **Spread.of_ratios(medians[1], medians[0]).columns("p50_ratio"),
        }


async def measure(servers: Mapping[str, Server], plies: int) -> dict[str, Measured]:
    """Take slices of every server in turns; the first is to warm up."""
    async with AsyncExitStack() as stack:

        async def channel(address: str) -> grpc.aio.Channel:
            options = (("grpc.use_local_subchannel_pool", 1),)
            return await stack.enter_async_context(
                grpc.aio.insecure_channel(address, options=options)
            )

        async def sampler(name: str, address: str) -> Sampler:
            if name == ECHO:
                return Echo(await channel(address))
            game = LoneGame([await channel(address) for _ in range(2)])
            await game.start(await channel(address))
            stack.push_async_callback(game.stop)
            return game

        found = {
            name: Measured(server, await sampler(name, server.address))
            for name, server in servers.items()
        }
        for number in range(SLICES + 1):
            for measured in list(found.values())[:: 1 if number % 2 else -1]:
                sample = await measured.sample(max(plies // SLICES, 2))
                if number:
                    measured.slices.append(sample)
        return found


def started(stack: ExitStack, against: Path | None) -> dict[str, Server]:
    """The servers, of which one of the other checkout stands before its like of this one."""
    servers: dict[str, Server] = {ECHO: stack.enter_context(echo_server())}
    for name in DURABILITIES:
        if against is not None:
            before = stack.enter_context(arena_process(name, checkout=against))
            servers[name + BEFORE] = before
        servers[name] = stack.enter_context(arena_process(name))
    return servers


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--plies", type=int, default=3000)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--against", type=Path, metavar="PATH")
    options = parser.parse_args(arguments)
    found: dict[str, Measured] = {}
    for _ in range(options.repeat):
        with ExitStack() as stack:
            again = asyncio.run(measure(started(stack, options.against), options.plies))
        for name, measured in again.items():
            measured.slices[:0] = found[name].slices if name in found else []
        found = again
    rows = [measured.row(name, found[ECHO]) for name, measured in found.items()]
    show("One game: from a move to the opponent's turn", rows)
    compared = [
        found[name].compared(name, found[name + BEFORE])
        for name in DURABILITIES
        if name + BEFORE in found
    ]
    if compared:
        show(f"Before ({options.against}) and now", compared)
    if options.json:
        print_json([*rows, *compared])


if __name__ == "__main__":
    main()
