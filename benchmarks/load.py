"""A thousand connected bots, three hundred games at once, at a fast time control.

    python benchmarks/load.py [--seconds 600] [--bots 1000] [--games 300] [--time 0.5+0.01] [--json]

The bots are in two processes, each on a connection of its own, and play one game at a time in
tournaments of twenty; those that are in none only stay connected.

moves_per_s, games_per_s   of the whole time
p50, p99, max   milliseconds from the write of a move to the read of the opponent's turn
cpu             cores that the server's process has taken
rss_mb          the server's memory before the first game, and end_mb after the last
robbed          time forfeits whose move took less than the bot was told
breaks          streams that ended before the bots did
"""

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
from arena_process import MANY_BOTS, ArenaProcess, arena_process
from hostile import MEBIBYTE, percentiles
from report import Row, parser_of, report

from meijin.game import TimeControl
from meijin.v1 import tournament_service_pb2
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub
from meijin.wire.values import time_control_to_proto

BOTS = Path(__file__).with_name("load_bots.py")
CROWDS = 2
GROUP = 20
"""Bots of a tournament."""
ROUNDS = 60
"""More than are played."""


class Crowd:
    """A process with some of the bots."""

    def __init__(self, stack: ExitStack, address: str, first: int, count: int) -> None:
        command = [sys.executable, str(BOTS), address, str(first), str(count)]
        self._process = stack.enter_context(
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        )
        stack.callback(self._process.terminate)

    def stop(self) -> dict[str, Any]:
        """Have it end, and return what it has seen."""
        output, _ = self._process.communicate()
        seen: dict[str, Any] = json.loads(output)
        return seen


def start_tournaments(address: str, games: int, control: str) -> None:
    """Have this many games be played at once, without end."""
    with grpc.insecure_channel(address) as channel:
        stub = TournamentServiceStub(channel)
        for first in range(0, 2 * games, GROUP):
            settings = tournament_service_pb2.TournamentSettings(
                bots=[f"bot-{number}" for number in range(first, first + GROUP)],
                rounds=ROUNDS,
                time_control=time_control_to_proto(TimeControl.parse(control)),
                unrated=True,
            )
            request = tournament_service_pb2.CreateTournamentRequest(settings=settings)
            stub.CreateTournament(request, timeout=60)


def row_of(crowds: Sequence[dict[str, Any]], seconds: float) -> dict[str, str | int | float]:
    """What the bots have seen, all together."""
    latencies = [us / 1e6 for crowd in crowds for us in crowd["latencies_us"]]
    endings, breaks = (
        sum((Counter(crowd[key]) for crowd in crowds), Counter()) for key in ("endings", "breaks")
    )
    p50, p99, most = percentiles(latencies)
    return {
        "moves_per_s": len(latencies) / seconds,
        "games_per_s": endings.total() / seconds,
        "p50": p50,
        "p99": p99,
        "max": most,
        "endings": _text(endings),
        "robbed": sum(len(crowd["robbed"]) for crowd in crowds),
        "breaks": _text(breaks),
    }


def _text(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "none"


def measure(server: ArenaProcess, options: argparse.Namespace) -> Row:
    """Play for the seconds asked for."""
    with ExitStack() as stack:
        share = options.bots // CROWDS
        crowds = [Crowd(stack, server.address, number * share, share) for number in range(CROWDS)]
        server.wait_for_bots(options.bots)
        rss = server.resident_bytes
        start_tournaments(server.address, options.games, options.time)
        cpu, start = server.cpu_seconds, time.monotonic()
        time.sleep(options.seconds)
        cpu, seconds = server.cpu_seconds - cpu, time.monotonic() - start
        end = server.resident_bytes
        row = row_of([crowd.stop() for crowd in crowds], seconds)
    return {
        **row,
        "cpu": cpu / seconds,
        "rss_mb": rss / MEBIBYTE,
        "end_mb": end / MEBIBYTE,
    }


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--bots", type=int, default=1000)
    parser.add_argument("--games", type=int, default=300, help="at once")
    parser.add_argument("--time", default="0.5+0.01")
    options = parser.parse_args()
    with arena_process("power", settings=MANY_BOTS) as server:
        row = measure(server, options)
    report("load", [row], as_json=options.json)


if __name__ == "__main__":
    main()
