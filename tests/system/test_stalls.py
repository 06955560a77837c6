"""No stall of a real server's event loop has more than 20 ms of its own work in it."""

import asyncio
import sqlite3
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import TypeAlias

import grpc
import timed_turns
from ladder import Size, fill_database
from tests.processes import PATIENCE, Processes, eventually
from tests.system.server import BOTS, NO_LADDER, Server
from timed_turns import LongestTurn

from meijin.store import Database
from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.wire.channel import Security, open_async_channel
from meijin.wire.contract import PROTOCOL_VERSION, parse_address

Call: TypeAlias = "grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]"

CROWD = 256
"""Bots that come at once."""

MANY = 50_000
"""Games of a tournament; a million of them take 50 s of processor time to plan."""

AT_ONCE = 2000
"""Games that begin, and are void, together."""

LADDER = "freestyle-15x15-ultrabullet"
SIZE = Size(bots=200, games=20_000)
"""Of the ladder: `benchmarks/refreshing.py` does the same with a million games."""

FILLING_MB = 64
"""What a database is blown up by."""

LONGEST_MS = 20
"""Of the processor time of the loop's thread: the wall clock tells how busy the machine is."""

WATCHED = 0.05
"""Seconds; a bucket of the stall watch's histogram. It may count 10 ms that were before a stall."""

TRIES = 3
"""A processor that others share takes longer for the same work at times, but not each time."""


class TimedServer(Server):
    """A `meijin serve` whose longest turn is measured by the loop's own selector."""

    def __init__(self, processes: Processes, *options: str, **env: str) -> None:
        file = processes.folder / "longest-turn"
        self._turn = LongestTurn(file)
        self.program = (sys.executable, timed_turns.__file__, str(file), "meijin")
        super().__init__(processes, "--metrics=127.0.0.1:0", *options, **env)

    def assert_no_stall(self, happen: Callable[[], None]) -> None:
        """Fail if the loop works for too long in one turn whenever something happens."""
        found = []
        for _ in range(TRIES):
            stalls = self._stalls()
            self._turn.begin()
            happen()
            turn_ms, stalls = self._turn.ms, self._stalls() - stalls
            if turn_ms <= LONGEST_MS and not stalls:
                return
            found.append(f"{turn_ms:.1f} ms, and {stalls} stalls above {WATCHED:g} s")
        raise AssertionError(f"the loop's longest turns were {'; '.join(found)}")

    def _stalls(self) -> int:
        """The stalls so far in which the loop has worked for long, as its stall watch tells."""
        (family,) = (
            each for each in self.metrics() if each.name == "meijin_event_loop_stalls_seconds"
        )
        counts = {
            float(sample.labels["le"]): int(sample.value)
            for sample in family.samples
            if sample.labels["time"] == "loop" and "le" in sample.labels
        }
        return counts[float("inf")] - counts[WATCHED]


async def come_and_go(address: str) -> None:
    """Have a crowd say hello at once, each on a connection of its own, and leave when all are in."""
    options = (("grpc.use_local_subchannel_pool", 1),)
    async with AsyncExitStack() as stack, asyncio.timeout(PATIENCE):
        hellos = []
        for place in range(CROWD):
            channel = open_async_channel(parse_address(address), Security(), options)
            call = PlayServiceStub(await stack.enter_async_context(channel)).Play()
            hellos.append(say_hello(call, f"bot-{place}"))
        await asyncio.gather(*hellos)


async def say_hello(call: Call, name: str, capabilities: pb.Capabilities | None = None) -> None:
    hello = pb.Hello(protocol_version=PROTOCOL_VERSION, bot_name=name, capabilities=capabilities)
    await call.write(pb.PlayRequest(hello=hello))
    response = await call.read()
    assert isinstance(response, pb.PlayResponse)
    assert response.HasField("welcome")


async def sit_in_many_games(server: TimedServer) -> None:
    """Have two bots begin many games, in which they never move; cancel them."""
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as tasks:
        channel = open_async_channel(parse_address(server.address), Security(), ())
        stub = PlayServiceStub(await stack.enter_async_context(channel))
        calls = [stub.Play() for _ in range(2)]
        for name, call in zip(BOTS[:2], calls, strict=True):
            await say_hello(call, name, pb.Capabilities(max_games=AT_ONCE))
        reading = [tasks.create_task(read_all(call)) for call in calls]
        await asyncio.to_thread(play_and_cancel, server)
        for each in reading:
            each.cancel()


async def read_all(call: Call) -> None:
    while isinstance(await call.read(), pb.PlayResponse):
        pass


def play_and_cancel(server: TimedServer) -> None:
    """Make a tournament, and cancel it once as many of its games run as its bots take."""
    key = server.create_tournament(*BOTS[:2], rounds=2 * AT_ONCE, time="3600", variant="15x15")
    eventually(lambda: server.tournament(key).tournament.running_games == AT_ONCE)
    server.cancel(key)
    assert not server.tournament(key).tournament.running_games


def new_database(processes: Processes) -> Path:
    """The file of a database in which nothing is, where a server will look for it."""
    data = processes.folder / "data"
    data.mkdir(mode=0o700)
    with Database(f"sqlite:///{data / 'meijin.db'}") as database:
        database.migrate()
    return data / "meijin.db"


def test_a_crowd_of_hellos(processes: Processes) -> None:
    """New bots, and then the same again, while games are played."""
    crowded = {"MEIJIN_CONNECTIONS_PER_SECOND": "1000", "MEIJIN_HELLOS_PER_SECOND": "1000"}
    server = TimedServer(processes, "--open", NO_LADDER, **crowded)
    server.start_bots(*BOTS[:2])
    server.create_tournament(*BOTS[:2], rounds=1000)

    def come_twice() -> None:
        for _ in range(2):
            asyncio.run(come_and_go(server.address))
            eventually(lambda: server.connected_bots() == set(BOTS[:2]))

    server.assert_no_stall(come_twice)


def test_a_backup(processes: Processes) -> None:
    """A database of some size is copied again and again while games are played."""
    with closing(sqlite3.connect(new_database(processes))) as file, file:
        file.execute("CREATE TABLE filling (bytes BLOB)")
        file.executemany("INSERT INTO filling VALUES (randomblob(1000000))", [()] * FILLING_MB)
    server = TimedServer(processes, "--open", NO_LADDER, "--backup-every=0.5")
    server.start_bots(*BOTS[:2])
    server.create_tournament(*BOTS[:2], rounds=1000)

    def back_up() -> None:
        times = server.process.words.count('"event": "backed up"') + 2
        server.process.wait_for('"event": "backed up"', times)

    server.assert_no_stall(back_up)


def test_a_refresh_of_a_ladder(processes: Processes) -> None:
    """A ladder of many games and bots is published anew while games are added to it."""
    path = new_database(processes)
    fill_database(path, SIZE, days=1)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE game SET pairing_id = -pairing_id")  # no tournament's of the server
    server = TimedServer(processes, "--open")
    server.start_bots(*BOTS[:2], delay=0)
    server.create_tournament(*BOTS[:2], rounds=1000, time="1", variant="freestyle 15x15")

    def refresh() -> None:
        published = server.ladder(LADDER).run.run_id
        eventually(lambda: server.ladder(LADDER).run.run_id != published)

    server.assert_no_stall(refresh)


def test_a_tournament_with_many_games_at_once(processes: Processes) -> None:
    server = TimedServer(processes, "--open", NO_LADDER)
    server.assert_no_stall(lambda: asyncio.run(sit_in_many_games(server)))
