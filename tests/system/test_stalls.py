"""No stall of a real server's event loop has more than 20 ms of its own work in it."""

import asyncio
import sqlite3
from contextlib import AsyncExitStack, closing
from typing import TypeAlias

import grpc
from ladder import Size, fill_database
from tests.system.processes import BOTS, NO_LADDER, PATIENCE, Processes, eventually
from tests.system.timed_server import TimedServer

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
    """Say hello, and be welcome."""
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
    """Read whatever comes."""
    while isinstance(await call.read(), pb.PlayResponse):
        pass


def play_and_cancel(server: TimedServer) -> None:
    """Make a tournament, and cancel it once as many of its games run as its bots take."""
    key = server.create_tournament(*BOTS[:2], rounds=2 * AT_ONCE, time="3600", variant="15x15")
    eventually(lambda: server.tournament(key).tournament.running_games == AT_ONCE)
    server.cancel(key)
    assert not server.tournament(key).tournament.running_games


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
    data = processes.folder / "data"
    data.mkdir(mode=0o700)
    with Database(f"sqlite:///{data / 'meijin.db'}") as database:
        database.migrate()
    with closing(sqlite3.connect(data / "meijin.db")) as file, file:
        file.execute("CREATE TABLE filling (bytes BLOB)")
        file.executemany("INSERT INTO filling VALUES (randomblob(1000000))", [()] * FILLING_MB)
    server = TimedServer(processes, "--open", NO_LADDER, "--backup-every=0.5")
    server.start_bots(*BOTS[:2])
    server.create_tournament(*BOTS[:2], rounds=1000)

    def back_up() -> None:
        times = server.process.words.count('"event": "backed up"') + 2
        eventually(lambda: server.process.has_said('"event": "backed up"', times=times))

    server.assert_no_stall(back_up)


def test_a_refresh_of_a_ladder(processes: Processes) -> None:
    """A ladder of many games and bots is published anew while games are added to it."""
    data = processes.folder / "data"
    data.mkdir(mode=0o700)
    with Database(f"sqlite:///{data / 'meijin.db'}") as database:
        database.migrate()
    fill_database(data / "meijin.db", SIZE, days=1)
    with closing(sqlite3.connect(data / "meijin.db")) as file, file:
        file.execute("UPDATE game SET pairing_id = -pairing_id")  # no tournament's of the server
    server = TimedServer(processes, "--open")
    server.start_bots(*BOTS[:2], delay=0)
    server.create_tournament(*BOTS[:2], rounds=1000, time="1", variant="freestyle 15x15")

    def refresh() -> None:
        published = server.published_run(LADDER)
        eventually(lambda: server.published_run(LADDER) != published)

    server.assert_no_stall(refresh)


def test_a_tournament_of_many_games(processes: Processes) -> None:
    """It is made, played and cancelled."""
    server = TimedServer(processes, "--open", NO_LADDER)
    server.start_bots(*BOTS[:2])

    def play() -> None:
        key = server.create_tournament(*BOTS[:2], rounds=MANY)
        eventually(lambda: server.tournament(key).tournament.running_games)
        server.cancel(key)

    server.assert_no_stall(play)


def test_a_tournament_with_many_games_at_once(processes: Processes) -> None:
    """All of them begin at once, and are void at once."""
    server = TimedServer(processes, "--open", NO_LADDER)
    server.assert_no_stall(lambda: asyncio.run(sit_in_many_games(server)))
