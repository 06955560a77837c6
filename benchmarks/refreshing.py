"""A large ladder that is published while games are added to it: how long a turn of the loop is.

    python benchmarks/refreshing.py [--stored 1000000] [--bots 100] [--runs 2] [--json]

A server begins with a ladder of --stored games of so many --bots that has no run yet, and its
worker computes one; two instant bots play rated games of the ladder meanwhile, which the next runs
take in.

longest_turn_ms     processor time of the event loop's thread, the longest of its turns
games               that were played in the ladder until the last of the --runs was published
seconds             until then
"""

import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import grpc
from arena_process import ArenaProcess, arena_process
from bot_processes import INSTANT_BOT, processes
from hellos import TIMED_TURNS
from ladder import Size, fill_database
from report import Row, parser_of, report
from timed_turns import LongestTurn

from meijin.store import Database
from meijin.v1 import game_pb2, ladder_service_pb2, tournament_service_pb2
from meijin.v1.ladder_service_pb2_grpc import LadderServiceStub
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub

PLAYERS = ("ada", "bob")
GAMES_AT_ONCE = 4
GAMES = 20_000
"""Of the two bots; more than they finish."""
PUBLISHING_TIME = 600.0


def prepare(file: Path, *, size: Size) -> None:
    """Make the ladder."""
    with Database(f"sqlite:///{file}") as database:
        database.migrate()
    fill_database(file, size, days=60)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE game SET pairing_id = -pairing_id")  # of no tournament there


def start_games(channel: grpc.Channel) -> None:
    """Have the two play games of the ladder."""
    control = game_pb2.TimeControl()
    control.initial.FromSeconds(1)
    settings = tournament_service_pb2.TournamentSettings(
        bots=PLAYERS, rounds=GAMES, time_control=control, max_games=GAMES_AT_ONCE
    )
    request = tournament_service_pb2.CreateTournamentRequest(settings=settings)
    TournamentServiceStub(channel).CreateTournament(request, timeout=60)


def published(channel: grpc.Channel) -> ladder_service_pb2.RatingRun:
    """The newest run of the ladder."""
    request = ladder_service_pb2.GetStandingsRequest(page_size=1)
    return LadderServiceStub(channel).GetStandings(request, timeout=60).run


def wait_for_run(channel: grpc.Channel, before: str) -> ladder_service_pb2.RatingRun:
    """The first run after one."""
    deadline = time.monotonic() + PUBLISHING_TIME
    while (run := published(channel)).run_id == before:
        if time.monotonic() > deadline:
            raise TimeoutError(f"no run after {before!r} in {PUBLISHING_TIME:g} s")
        time.sleep(0.2)
    return run


def measure(arena: ArenaProcess, turn: LongestTurn, stored: int, runs: int) -> Row:
    """Play until the ladder was published so often."""
    with grpc.insecure_channel(arena.address) as channel:
        command = [sys.executable, str(INSTANT_BOT), ",".join(PLAYERS), arena.address, "4"]
        with processes([command]):
            arena.wait_for_bots(len(PLAYERS))
            turn.begin()
            start_games(channel)
            start, run = time.monotonic(), ladder_service_pb2.RatingRun()
            for _ in range(runs):
                run = wait_for_run(channel, run.run_id)
            return {
                "stored_games": stored,
                "longest_turn_ms": round(turn.ms, 1),
                "games": run.games + run.repeats - stored,
                "seconds": round(time.monotonic() - start, 1),
            }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--stored", type=int, default=1_000_000)
    parser.add_argument("--bots", type=int, default=100)
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args(arguments)
    size = Size(options.bots, options.stored)
    with tempfile.TemporaryDirectory(prefix="meijin-turns-") as folder, ExitStack() as stack:
        file = Path(folder) / "longest"
        runner = (str(TIMED_TURNS), str(file))
        ready = partial(prepare, size=size)
        arena = stack.enter_context(arena_process("power", runner=runner, prepare=ready))
        row = measure(arena, LongestTurn(file), options.stored, options.runs)
    report("A ladder that is published while games are played", [row], as_json=options.json)


if __name__ == "__main__":
    main()
