"""How far the journal grows beside a game that is not moved in, and what a restart reads of it.

    python benchmarks/slow_game.py [--seconds 60] [--looks 6] [--games 256] [--durability process]
                                   [--against PATH] [--json]

Two bots have a game of an hour a move, in which they do not move, while instant bots play with
this many games at once.

--against PATH  measures the server of another checkout, with an environment in `.venv`, first

server          this one, or the other
seconds         since the slow game began
moves           that the instant bots have made
entries         of the journal
journal_mb      their moves, in megabytes
restart_cpu     seconds of processor time that reading them for a restart takes, at the end
"""

import argparse
import asyncio
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import grpc
from arena_process import CHECKOUT, ArenaProcess, arena_process
from bot_processes import BotProcesses, instant_bots
from report import Row, parser_of, report

from meijin.store import Database, journal
from meijin.store.move_log.reader import LogReader, read_log
from meijin.store.move_log.segment import log_folder
from meijin.store.running_games import read_running_games
from meijin.v1 import game_pb2, tournament_service_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub
from meijin.wire.contract import PROTOCOL_VERSION

SLOW = ("slow-one", "slow-two")
INSTANT = 2


async def _sit(address: str, begun: asyncio.Event) -> None:
    """Have two bots begin a game, answer their pings, and never move."""
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as tasks:
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(address))
        calls = [PlayServiceStub(channel).Play() for _ in SLOW]
        for name, call in zip(SLOW, calls, strict=True):
            hello = pb.Hello(protocol_version=PROTOCOL_VERSION, bot_name=name)
            await call.write(pb.PlayRequest(hello=hello))
            await call.read()
        control = game_pb2.TimeControl()
        control.per_move.FromSeconds(3600)
        settings = tournament_service_pb2.TournamentSettings(
            bots=SLOW, rounds=1, time_control=control, unrated=True
        )
        request = tournament_service_pb2.CreateTournamentRequest(settings=settings)
        await TournamentServiceStub(channel).CreateTournament(request)
        for call in calls:
            tasks.create_task(_answer_pings(call, begun))


async def _answer_pings(
    call: "grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]", begun: asyncio.Event
) -> None:
    while isinstance(response := await call.read(), pb.PlayResponse):
        if response.events.turns:
            begun.set()
        if response.HasField("ping"):
            await call.write(pb.PlayRequest(pong=pb.Pong(sequence=response.ping.sequence)))


async def measure(
    options: argparse.Namespace, checkout: Path
) -> list[dict[str, str | int | float]]:
    """Play on a server of a checkout, and look at its journal now and then."""
    with (
        arena_process(options.durability, checkout=checkout) as arena,
        instant_bots(arena, bots=INSTANT, games=options.games, seconds=2 * options.seconds) as bots,
    ):
        begun = asyncio.Event()
        sitting = asyncio.create_task(_sit(arena.address, begun))
        await begun.wait()
        rows = await asyncio.to_thread(lambda: list(_looks(arena, bots, options)))
        sitting.cancel()
        rows[-1]["restart_cpu"] = round(_restart_seconds(arena), 3)
    name = "this" if checkout == CHECKOUT else str(checkout)
    return [{"server": name, "restart_cpu": "", **row} for row in rows]


def _looks(
    arena: ArenaProcess, bots: BotProcesses, options: argparse.Namespace
) -> Iterator[dict[str, str | int | float]]:
    began = time.monotonic()
    for look in range(1, options.looks + 1):
        time.sleep(max(began + look * options.seconds / options.looks - time.monotonic(), 0))
        entries, size = _journal(arena)
        yield {
            "seconds": round(time.monotonic() - began, 1),
            "moves": bots.tally.moves,
            "entries": entries,
            "journal_mb": round(size / 2**20, 2),
        }


def _journal(arena: ArenaProcess) -> tuple[int, int]:
    """The entries, and the bytes of their moves, in the database and in the log beside it."""
    path = arena.data / "meijin.db"
    with (
        Database(f"sqlite:///{path}") as database,
        database.reader.connect() as connection,
        LogReader(log_folder(path)) as log,
    ):
        entries = connection.exec_driver_sql("SELECT moves FROM journal")
        sizes = [len(moves) for (moves,) in entries]
        sizes += [len(entry.moves) for entry in read_log(connection, log)]
        return len(sizes), sum(sizes)


def _restart_seconds(arena: ArenaProcess) -> float:
    """What a restart reads of the games that run, while the server plays on."""
    path = arena.data / "meijin.db"
    with Database(f"sqlite:///{path}") as database, database.reader.connect() as connection:
        began = time.process_time()
        read_running_games(connection, log_folder(path))
        journal.kept_entries(connection)
        return time.process_time() - began


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--looks", type=int, default=6)
    parser.add_argument("--games", type=int, default=256)
    parser.add_argument("--durability", default="process")
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    checkouts = [CHECKOUT] if options.against is None else [options.against, CHECKOUT]
    rows: list[Row] = []
    for checkout in checkouts:
        rows += asyncio.run(measure(options, checkout))
    report("The journal beside a game that waits", rows, as_json=options.json)


if __name__ == "__main__":
    main()
