"""How many moves a second the arena arbitrates and commits.

    python benchmarks/arbitration.py [--games 1,16,64,256,1024] [--durability process,power]
                                     [--seconds 8] [--repeat 1] [--json]

Two instant bots, each in a process of its own, play freestyle games on 15x15 against each
other on a server in a third process; every move is committed before the opponent hears of it.

games                   games at once
durability              what a committed move survives
moves_per_second        moves of the games that ended in the window; the median of the repeats
games_per_second        games that ended in the window
server_cpu_us_per_move  processor time of the server's process, microseconds
bytes_per_move          bytes over the loopback interface, both directions, headers included
stored_bytes_per_move   growth of the database file
"""

import argparse
import sqlite3
import statistics
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import grpc
from arena_process import ArenaProcess, arena_process, child
from report import report

from meijin.v1 import game_pb2, tournament_service_pb2
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub

ROUNDS = 40_000
"""More games than any run finishes."""

WARM_UP = 2.0
"""Seconds before the window opens."""

INSTANT_BOT = Path(__file__).with_name("instant_bot.py")


@dataclass(frozen=True, slots=True)
class Reading:
    """Where everything stands at one end of the window."""

    time: float
    cpu: float
    wire_bytes: int
    stored_bytes: int
    games: int
    moves: int


def read(arena: ArenaProcess) -> Reading:
    """Look at the server and its database."""
    now = time.monotonic()
    database = arena.data / "meijin.db"
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        games, moves = connection.execute(
            "SELECT COUNT(*), COALESCE(SUM(LENGTH(moves) / 2 - opening_plies), 0) "
            "FROM game WHERE state = 'finished'"
        ).fetchone()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
    return Reading(now, arena.cpu_seconds, _loopback_bytes(), pages * 4096, games, moves)


def _loopback_bytes() -> int:
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, fields = line.partition(":")
        if name.strip() == "lo":
            return int(fields.split()[0])
    return 0


def measure(games: int, durability: str, seconds: float) -> tuple[Reading, Reading]:
    """Play on a new server and look at both ends of the window."""
    with arena_process(durability) as arena:
        command = [sys.executable, str(INSTANT_BOT)]
        size = [arena.address, str(games)]
        with child([*command, "one", *size]), child([*command, "two", *size]):
            arena.wait_for_bots(2)
            _start(arena.address)
            time.sleep(WARM_UP)
            before = read(arena)
            time.sleep(seconds)
            return before, read(arena)


def _start(address: str) -> None:
    control = game_pb2.TimeControl()
    control.per_move.FromSeconds(60)
    settings = tournament_service_pb2.TournamentSettings(
        bots=["one", "two"], rounds=ROUNDS, time_control=control, unrated=True
    )
    with grpc.insecure_channel(address) as channel:
        request = tournament_service_pb2.CreateTournamentRequest(settings=settings)
        TournamentServiceStub(channel).CreateTournament(request, timeout=60)


def row(games: int, durability: str, seconds: float, repeat: int) -> dict[str, str | int | float]:
    """The median run of one configuration."""
    windows = [measure(games, durability, seconds) for _ in range(repeat)]
    rates = [(after.moves - before.moves) / (after.time - before.time) for before, after in windows]
    middle = sorted(range(repeat), key=rates.__getitem__)[repeat // 2]
    before, after = windows[middle]
    moves, span = max(after.moves - before.moves, 1), after.time - before.time
    return {
        "games": games,
        "durability": durability,
        "moves_per_second": round(statistics.median(rates), 1),
        "games_per_second": round((after.games - before.games) / span, 1),
        "server_cpu_us_per_move": round((after.cpu - before.cpu) / moves * 1e6, 2),
        "bytes_per_move": round((after.wire_bytes - before.wire_bytes) / moves, 1),
        "stored_bytes_per_move": round((after.stored_bytes - before.stored_bytes) / moves, 1),
    }


def main() -> None:
    """Measure every configuration asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", default="1,16,64,256,1024")
    parser.add_argument("--durability", default="process,power")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [
        row(int(games), durability, options.seconds, options.repeat)
        for durability in options.durability.split(",")
        for games in options.games.split(",")
    ]
    report("Arbitrated and committed moves", rows, as_json=options.json)


if __name__ == "__main__":
    main()
