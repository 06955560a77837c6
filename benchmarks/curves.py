"""What costs grow with: a move, a look, a hello and a refresh, against bots and games.

    python benchmarks/curves.py [--only move,look,hello,refresh] [--games 16,64,256,1024]
                                [--bots 2,8,32,128] [--connected 100,1000,10000,100000]
                                [--hellos 10,100,1000,3000]
                                [--stored 10000,30000,100000,1000000]
                                [--seconds 4] [--repeat 1] [--json]

Every figure is processor time of the server's process, of the worker's for a refresh, or of this
one's for a look, so that it can be taken beside other work; with --repeat the least of this many.

move      instant bots in a round robin, for each number of --games at once and of --bots, for
          --seconds: microseconds a move, and what of them is the event loop's and the writer's
look      with each number of --connected bots and 10 tournaments: microseconds of a look of the
          scheduler after a game has ended, with what it starts, and after a bot has come
hello     this many bots of --hellos come in at once, each on a connection of its own: microseconds
          each, with names that the server has never heard, and again with the same; those that
          are refused, or whose connections end before they have said hello, try again
refresh   a ladder of 10 bots with this many --stored games on 40 openings: seconds from no, one and
          256 more games to the published run, by a worker that has run before, from one more by
          a worker that has just started, and of the first run of all
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

import grpc
import ladder
import scheduler
from arbitration import Load
from arbitration import measure as measure_arbitration
from arena_process import ArenaProcess, arena_process
from report import Row, parser_of, print_json, show

from meijin.v1 import bot_service_pb2
from meijin.v1.bot_service_pb2_grpc import BotServiceStub

HELLO_BOTS = Path(__file__).with_name("hello_bots.py")
CROWDED = {
    f"MEIJIN_{limit}": "100000"
    for limit in ("CONNECTIONS_PER_SECOND", "HELLOS_PER_SECOND", "MAX_STREAMS")
}
"""Settings of a server that lets everybody of one address in at once."""
CROWD = 500
"""The most bots of a process: with thousands, one is too slow to keep its connections."""
LEAVING_TIME = 60.0
TOURNAMENTS = 10
"""That are played while the scheduler looks."""
PLANNED_GAMES = 5
"""Of each bot in each of them."""
LOOKS = 200
LADDER_BOTS = 10
"""So few that all have met on all openings in each of the sizes: counts have as many rows."""
DAYS = 1
REFRESHES = {
    "nothing new": "nothing_new",
    "new game": "new_game",
    "256 new games": "256_new_games",
    "cold start": "cold_start",
    "first run": "first_run",
}
"""Steps of a ladder's job, and their columns."""
LAST_REFRESH = "cold start"


def moves(options: argparse.Namespace) -> Iterator[Row]:
    """A move, by games at once and bots."""
    for games in options.games:
        for bots in options.bots:
            load = Load(games, bots, "process", options.seconds)
            runs = [measure_arbitration(load) for _ in range(options.repeat)]
            run = min(runs, key=lambda run: run.server_us)
            yield {
                "games": games,
                "bots": bots,
                "server_us": round(run.server_us, 2),
                "loop_us": round(run.server.loop / run.moves * 1e6, 2),
                "writer_us": round(run.server.writer / run.moves * 1e6, 2),
                "moves_per_message": round(run.moves / max(run.tally.messages, 1), 1),
                "moves_per_second": round(run.moves_per_second),
            }


def looks(options: argparse.Namespace) -> Iterator[Row]:
    """A look of the scheduler, by the bots that are connected."""
    for bots in options.connected:
        rows = [
            scheduler.measure(bots, TOURNAMENTS, games=PLANNED_GAMES, looks=LOOKS)
            for _ in range(options.repeat)
        ]
        yield {
            "connected": bots,
            "running": rows[0]["running"],
            "ended_us": min(row["ended_us"] for row in rows),
            "joined_us": min(row["joined_us"] for row in rows),
        }


@dataclass(frozen=True, slots=True)
class Arrival:
    """Bots that came in at once."""

    us: float
    """Processor time of the server for each."""
    seconds: float
    """Until the last was in."""
    refused: int
    """Streams that had no welcome."""


def hellos(options: argparse.Namespace) -> Iterator[Row]:
    """A hello, by how many there are at once."""
    for count in options.hellos:
        new: list[Arrival] = []
        known: list[Arrival] = []
        with arena_process("process", settings=CROWDED) as arena:
            arrive(arena, "first", 1)
            for number in range(options.repeat):
                new.append(arrive(arena, f"bot-{number}", count))
                known.append(arrive(arena, f"bot-{number}", count))
        yield {
            "hellos": count,
            "new_us": round(min(arrival.us for arrival in new), 1),
            "known_us": round(min(arrival.us for arrival in known), 1),
            "new_seconds": min(arrival.seconds for arrival in new),
            "known_seconds": min(arrival.seconds for arrival in known),
            "refused": max(arrival.refused for arrival in (*new, *known)),
        }


def arrive(arena: ArenaProcess, name: str, count: int, *, others: int = 0) -> Arrival:
    """Have this many bots come in at once beside others, and leave again."""
    crowds = -(-count // CROWD)
    with ExitStack() as stack:
        processes = [
            _crowd(stack, arena.address, f"{name}-{number}", len(range(number, count, crowds)))
            for number in range(crowds)
        ]
        for _, said in processes:
            said.readline()
        cpu = arena.time.total
        for told, _ in processes:
            told.write("come\n")
            told.flush()
        seen = [json.loads(said.readline()) for _, said in processes]
        spent = arena.time.total - cpu
    wait_for_leaving(arena, others)
    refused = sum(sum(crowd["refused"].values()) for crowd in seen)
    return Arrival(spent / count * 1e6, max(crowd["seconds"] for crowd in seen), refused)


def _crowd(stack: ExitStack, address: str, name: str, count: int) -> tuple[IO[str], IO[str]]:
    """A process with some of the bots: what it is told, and what it says."""
    pipe = subprocess.PIPE
    process = stack.enter_context(
        subprocess.Popen(
            [sys.executable, str(HELLO_BOTS), address, name, str(count)],
            stdin=pipe,
            stdout=pipe,
            text=True,
            env={**os.environ, "GRPC_VERBOSITY": "NONE"},
        )
    )
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def wait_for_leaving(arena: ArenaProcess, others: int) -> None:
    """Return once none but so many others are connected."""
    deadline = time.monotonic() + LEAVING_TIME
    request = bot_service_pb2.ListBotsRequest(connected=True, page_size=others + 1)
    with grpc.insecure_channel(arena.address) as channel:
        stub = BotServiceStub(channel)
        while len(stub.ListBots(request, timeout=LEAVING_TIME).bots) > others:
            if time.monotonic() > deadline:
                raise TimeoutError(f"bots are still connected {LEAVING_TIME:g} s after they left")
            time.sleep(0.1)


def refreshes(options: argparse.Namespace) -> Iterator[Row]:
    """A ladder's refresh, by the games that are stored."""
    for games in options.stored:
        sizes = [ladder.Size(min(LADDER_BOTS, games), games)] * options.repeat
        rows = list(ladder.jobs(sizes, DAYS, LAST_REFRESH))
        least = {
            f"{column}_cpu_seconds": min(
                float(row["cpu_seconds"]) for row in rows if row["step"] == step
            )
            for step, column in REFRESHES.items()
        }
        yield {"stored_games": games, "bots": sizes[0].bots, **least}


Curve: TypeAlias = Callable[[argparse.Namespace], Iterator[Row]]

CURVES: Mapping[str, tuple[str, Curve]] = {
    "move": ("A move: processor time of the server", moves),
    "look": ("A look of the scheduler: processor time of the loop", looks),
    "hello": ("A hello: processor time of the server", hellos),
    "refresh": ("A ladder's refresh: processor time of the worker", refreshes),
}
"""Titles and measurements by their names on the command line."""


def numbers(text: str) -> list[int]:
    """Read ``16,64,256``."""
    return [int(number) for number in text.split(",")]


def chosen(text: str) -> list[str]:
    """Read ``move,hello``."""
    names = text.split(",")
    for name in names:
        if name not in CURVES:
            raise argparse.ArgumentTypeError(f"no curve {name!r}; there are {', '.join(CURVES)}")
    return names


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the curves asked for, each a table."""
    parser = parser_of(__doc__)
    parser.add_argument("--only", type=chosen, default=list(CURVES))
    parser.add_argument("--games", type=numbers, default="16,64,256,1024")
    parser.add_argument("--bots", type=numbers, default="2,8,32,128")
    parser.add_argument("--connected", type=numbers, default="100,1000,10000,100000")
    parser.add_argument("--hellos", type=numbers, default="10,100,1000,3000")
    parser.add_argument("--stored", type=numbers, default="10000,30000,100000,1000000")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args(arguments)
    found: list[Row] = []
    for name in options.only:
        title, curve = CURVES[name]
        rows = list(curve(options))
        show(title, rows)
        found += rows
    if options.json:
        print_json(found)


if __name__ == "__main__":
    main()
