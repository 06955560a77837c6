"""How many moves a second the arena arbitrates and commits, beside a bare grpc.aio echo.

    python benchmarks/arbitration.py [--games 1,16,64,256,1024] [--durability process,power]
                                     [--bots 2] [--seconds 8] [--repeat 1] [--against PATH]
                                     [--json]

Instant bots in processes of their own play freestyle games on 15x15 against each other on a
server in another process; every move is committed before the opponent hears of it. Two bots on
many games fall into step; more of them play a round robin with the games spread among them.
After each run a bare echo exchanges the run's mean message, with as many streams.

--against PATH          another checkout with an environment in `.venv`: its server is measured in
                        turns with this one's, by the same bots, and the ratios are of neighbours

games                   games at once
durability              what a committed move survives
moves_per_second        moves that the bots made in the window; the median of the repeats
games_per_second        games that ended in the window
moves_per_message       of a bot
bytes_per_move          bytes over the loopback interface, both directions, headers included
stored_bytes_per_move   growth of the database file
echo_per_second         moves that the echo's messages stand for
of_echo                 the arena's rate over the echo's
server_us               processor time of the server's process, microseconds a move: its event
                        loop, its writer, gRPC's threads and the others
worker_us               of the processes that the server has started
echo_us                 of the bare server
bots_us                 of all bots together
server_cores            cores that the server kept busy, and bots_cores its bots
"""

import argparse
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from arena_process import CHECKOUT, ArenaProcess, arena_process
from bot_processes import BotProcesses, instant_bots
from echo import Batch, Echoed, echo
from processor_time import ServerTime
from report import Row, parser_of, print_json, show
from spread import Spread
from tally import Tally

WARM_UP = 2.0
"""Seconds before the window opens."""


@dataclass(frozen=True, slots=True)
class Load:
    """What is played."""

    games: int
    """At once."""
    bots: int
    durability: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Reading:
    """Where everything stands at one end of the window."""

    time: float
    server: ServerTime
    wire_bytes: int
    stored_bytes: int
    games: int
    moves: int
    """Of the games that have ended."""


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
    return Reading(now, arena.time, _loopback_bytes(), pages * 4096, games, moves)


def _loopback_bytes() -> int:
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, fields = line.partition(":")
        if name.strip() == "lo":
            return int(fields.split()[0])
    return 0


@dataclass(frozen=True, slots=True)
class Run:
    """What happened in the window of one run."""

    seconds: float
    server: ServerTime
    bots_cpu: float
    tally: Tally
    games: int
    wire_bytes: int
    stored_bytes: int

    @property
    def moves(self) -> int:
        """Of the bots; at least one, to divide by."""
        return max(self.tally.moves, 1)

    @property
    def moves_per_second(self) -> float:
        """The rate."""
        return self.moves / self.seconds

    @property
    def server_us(self) -> float:
        """Processor time of the server for a move, in microseconds."""
        return self.server.total / self.moves * 1e6

    @property
    def busy_cores(self) -> float:
        """Of the server and its bots together."""
        return (self.server.total + self.bots_cpu) / self.seconds


def measure(load: Load, checkout: Path = CHECKOUT) -> Run:
    """Play on a new server and look at both ends of the window."""
    with (
        arena_process(load.durability, checkout=checkout) as arena,
        instant_bots(
            arena, bots=load.bots, games=load.games, seconds=WARM_UP + load.seconds
        ) as bots,
    ):
        time.sleep(WARM_UP)
        return _window(arena, bots, load.seconds)


def _window(arena: ArenaProcess, bots: BotProcesses, seconds: float) -> Run:
    before, cpu, tally = read(arena), bots.cpu_seconds, bots.tally
    time.sleep(seconds)
    after, cpu, tally = read(arena), bots.cpu_seconds - cpu, bots.tally - tally
    return Run(
        seconds=after.time - before.time,
        server=after.server - before.server,
        bots_cpu=cpu,
        tally=tally,
        games=after.games - before.games,
        wire_bytes=after.wire_bytes - before.wire_bytes,
        stored_bytes=after.stored_bytes - before.stored_bytes,
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """All runs of one load, in turns."""

    load: Load
    runs: Sequence[Run]
    echoes: Sequence[Echoed]
    """Each after the run of the same place."""
    others: Sequence[Run]
    """Of the other checkout, each before the run of the same place; empty without one."""

    def median(self, of: Callable[[Run], float]) -> float:
        """The median of the runs."""
        return Spread.of(map(of, self.runs)).median

    def rates(self) -> Row:
        """How fast it was."""
        rate = self.median(lambda run: run.moves_per_second)
        echoed = Spread.of(echoed.moves_per_second for echoed in self.echoes).median
        paired = zip(self.runs, self.echoes, strict=True)
        shares = [run.moves_per_second / echoed.moves_per_second for run, echoed in paired]
        return {
            **self._name(),
            "moves_per_second": round(rate, 1),
            "games_per_second": round(self.median(lambda run: run.games / run.seconds), 1),
            "moves_per_message": round(self.median(lambda run: Batch.of(run.tally).moves), 1),
            "bytes_per_move": round(self.median(lambda run: run.wire_bytes / run.moves), 1),
            "stored_bytes_per_move": round(
                self.median(lambda run: run.stored_bytes / run.moves), 1
            ),
            "echo_per_second": round(echoed, 1),
            "of_echo": round(Spread.of(shares).median, 4),
        }

    def times(self) -> Row:
        """Where the processor time went, in microseconds a move, and how many cores had it."""

        def us(of: Callable[[Run], float]) -> float:
            return round(self.median(lambda run: of(run) / run.moves * 1e6), 2)

        return {
            **self._name(),
            "server_us": us(lambda run: run.server.total),
            "loop_us": us(lambda run: run.server.loop),
            "writer_us": us(lambda run: run.server.writer),
            "grpc_us": us(lambda run: run.server.grpc),
            "other_us": us(lambda run: run.server.other),
            "worker_us": us(lambda run: run.server.children),
            "echo_us": round(Spread.of(echoed.cpu_us_per_move for echoed in self.echoes).median, 2),
            "bots_us": us(lambda run: run.bots_cpu),
            "server_cores": round(self.median(lambda run: run.server.total / run.seconds), 2),
            "bots_cores": round(self.median(lambda run: run.bots_cpu / run.seconds), 2),
        }

    def compared(self, name: str, of: Callable[[Run], float]) -> Row:
        """Medians and quartiles of both checkouts, and of the ratios of neighbours."""
        before, now = [*map(of, self.others)], [*map(of, self.runs)]
        return {
            **self._name(),
            **Spread.of(before).columns(f"{name}_before"),
            **Spread.of(now).columns(f"{name}_now"),
            **Spread.of_ratios(now, before).columns(f"{name}_ratio"),
        }

    def _name(self) -> Row:
        load = self.load
        return {"games": load.games, "bots": load.bots, "durability": load.durability}


COMPARED: Sequence[tuple[str, str, Callable[[Run], float]]] = (
    ("rate", "Moves a second", lambda run: run.moves_per_second),
    ("us", "Server's processor time, us a move", lambda run: run.server_us),
    ("cores", "Busy cores", lambda run: run.busy_cores),
)


def measure_in_turns(
    load: Load, repeat: int, against: Path | None, echo_seconds: float
) -> Measured:
    """Measure the other checkout if there is one, this one and the echo, again and again."""
    runs: list[Run] = []
    others: list[Run] = []
    echoes: list[Echoed] = []
    for _ in range(repeat):
        if against is not None:
            others.append(measure(load, against))
        runs.append(measure(load))
        streams = min(load.bots, load.games)
        echoes.append(echo(Batch.of(runs[-1].tally), streams=streams, seconds=echo_seconds))
    return Measured(load, runs, echoes, others)


def loads(options: argparse.Namespace) -> Iterator[Load]:
    """Every configuration asked for."""
    for durability in options.durability.split(","):
        for bots in map(int, options.bots.split(",")):
            for games in map(int, options.games.split(",")):
                yield Load(games, bots, durability, options.seconds)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every configuration asked for."""
    parser = parser_of(__doc__)
    parser.add_argument("--games", default="1,16,64,256,1024")
    parser.add_argument("--durability", default="process,power")
    parser.add_argument("--bots", default="2", help="numbers of them, such as 2,8,32")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--echo-seconds", type=float, default=2.0)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--against", type=Path, metavar="PATH")
    options = parser.parse_args(arguments)
    measured = [
        measure_in_turns(load, options.repeat, options.against, options.echo_seconds)
        for load in loads(options)
    ]
    tables = {
        "Arbitrated and committed moves": [found.rates() for found in measured],
        "Processor time of a move": [found.times() for found in measured],
    }
    if options.against is not None:
        for name, title, of in COMPARED:
            tables[f"{title}, before ({options.against}) and now"] = [
                found.compared(name, of) for found in measured
            ]
    for title, rows in tables.items():
        show(title, rows)
    if options.json:
        print_json([merged(parts) for parts in zip(*tables.values(), strict=True)])


def merged(parts: Sequence[Row]) -> Row:
    """The columns of several tables as one row."""
    return {name: value for part in parts for name, value in part.items()}


if __name__ == "__main__":
    main()
