"""How fast the arena is beside local runners, which start bots and talk to them over pipes.

    python benchmarks/compare.py [--bots 2,8,32] [--games 256] [--durability power]
                                 [--concurrency 2] [--runner 'CMD {bot} {games} {concurrency}']
                                 [--seconds 8] [--repeat 5] [--json]

In each of --repeat rounds everybody plays once, so that the machine's mood is the same for all:

arena, N bots     instant bots in processes of their own, as in arbitration.py, with --games at
                  once; every move is committed before the opponent hears of it. Two bots on many
                  games fall into step, more of them do not
pipes             pipe_runner.py: two engines for each of --concurrency games, five in a row is
                  judged, nothing is stored
runner 1, 2, ...  any other, once for each --runner: a command in which {bot} stands for the path
                  of the engine, {games} for more games than it can end, and {concurrency} for
                  --concurrency. It is to play freestyle on 15x15 by the Gomocup protocol, without
                  an opening, and is ended with all that it has started

Bots count their own moves in files, so that no output has to be read. The engine is in C where
there is a compiler; games are as long as those of the instant bots, some 105 moves.

moves_per_second       the median of the rounds, with its quartiles
moves_per_cpu_second   of the processor time of everybody: server and bots, or runner and engines
cores                  that were busy with it
ratio                  of the rates of one round, arena over runner; the median and its quartiles
cpu_ratio              of the moves per second of processor time
"""

import argparse
import shlex
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from arbitration import Load
from arbitration import measure as measure_arena
from line_engine import engine
from report import Row, parser_of, print_json, show
from runner_process import runner_command, runner_process
from spread import Spread
from tally import read_tally

PIPE_RUNNER = Path(__file__).with_name("pipe_runner.py")
GAMES = 1_000_000
"""More than any runner ends."""
WARM_UP = 1.0
"""Seconds from a runner's first move until the window opens."""


@dataclass(frozen=True, slots=True)
class Window:
    """What somebody has done in a round."""

    moves: int
    seconds: float
    cpu_seconds: float

    @property
    def moves_per_second(self) -> float:
        """The rate."""
        return self.moves / self.seconds

    @property
    def moves_per_cpu_second(self) -> float:
        """The rate by the processor time of all processes."""
        return self.moves / max(self.cpu_seconds, 1e-3)


class Contestant(ABC):
    """Somebody who plays, a round at a time."""

    def __init__(self, name: str, games: int) -> None:
        self.name = name
        self.games = games
        """At once."""
        self.windows: list[Window] = []

    @abstractmethod
    def play(self, seconds: float) -> Window:
        """Play anew, and measure for so long."""

    def row(self) -> Row:
        """What it has reached."""
        return {
            "who": self.name,
            "games": self.games,
            **Spread.of(self.rates()).columns("moves_per_second"),
            **Spread.of(self.cpu_rates()).columns("moves_per_cpu_second"),
            "cores": round(
                Spread.of(window.cpu_seconds / window.seconds for window in self.windows).median, 2
            ),
        }

    def rates(self) -> Iterator[float]:
        """Of each round."""
        return (window.moves_per_second for window in self.windows)

    def cpu_rates(self) -> Iterator[float]:
        """Of each round, by processor time."""
        return (window.moves_per_cpu_second for window in self.windows)


class Arena(Contestant):
    """A server and instant bots."""

    def __init__(self, bots: int, games: int, durability: str) -> None:
        super().__init__(f"arena, {bots} bots", games)
        self._bots = bots
        self._durability = durability

    def play(self, seconds: float) -> Window:
        """Play on a new server."""
        run = measure_arena(Load(self.games, self._bots, self._durability, seconds))
        return Window(run.moves, run.seconds, run.server.total + run.bots_cpu)


class LocalRunner(Contestant):
    """A command that plays with engines of its own."""

    def __init__(self, name: str, command: Sequence[str], games: int) -> None:
        super().__init__(name, games)
        self.command = command

    def play(self, seconds: float) -> Window:
        """Start the command, and end it when it has been measured."""
        with runner_process(self.name, self.command) as runner:
            runner.wait_for(1)
            time.sleep(WARM_UP)
            before, cpu, start = read_tally(runner.tallies), runner.cpu_seconds, time.monotonic()
            time.sleep(seconds)
            span, spent = time.monotonic() - start, runner.cpu_seconds - cpu
            moves = (read_tally(runner.tallies) - before).moves
            runner.check()
        return Window(max(moves, 1), span, spent)


def local_runners(options: argparse.Namespace, program: Path) -> Iterator[LocalRunner]:
    """Our own, and those of the command line."""
    own = shlex.join([sys.executable, str(PIPE_RUNNER)])
    named = {"pipes": f"{own} {{bot}} --games {{games}} --concurrency {{concurrency}}"}
    named |= {f"runner {number}": text for number, text in enumerate(options.runner, 1)}
    for name, text in named.items():
        command = runner_command(text, bot=program, games=GAMES, concurrency=options.concurrency)
        yield LocalRunner(name, command, options.concurrency)


def ratios(arenas: Sequence[Arena], runners: Sequence[LocalRunner]) -> Iterator[Row]:
    """Each arena over each runner, of the same rounds."""
    for runner in runners:
        for arena in arenas:
            yield {
                "who": arena.name,
                "over": runner.name,
                **Spread.of_ratios(arena.rates(), runner.rates()).columns("ratio"),
                **Spread.of_ratios(arena.cpu_rates(), runner.cpu_rates()).columns("cpu_ratio"),
            }


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = parser_of(__doc__)
    parser.add_argument("--bots", default="2,8,32")
    parser.add_argument("--games", type=int, default=256, help="of the arena at once")
    parser.add_argument("--durability", default="power")
    parser.add_argument("--concurrency", type=int, default=2, help="games of a runner at once")
    parser.add_argument("--runner", action="append", default=[], metavar="CMD")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--repeat", type=int, default=5)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Let everybody play in turns, and print how they compare."""
    options = parsed(arguments)
    arenas = [
        Arena(int(bots), options.games, options.durability) for bots in options.bots.split(",")
    ]
    with engine() as program:
        runners = list(local_runners(options, program))
        for _ in range(options.repeat):
            for contestant in (*arenas, *runners):
                contestant.windows.append(contestant.play(options.seconds))
    rates = [contestant.row() for contestant in (*arenas, *runners)]
    compared = list(ratios(arenas, runners))
    show("Moves", rates)
    show("The arena over local runners", compared)
    if options.json:
        print_json([*rates, *compared])


if __name__ == "__main__":
    main()
