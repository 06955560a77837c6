"""How fast engines play by our local runner and by another, when they think for a known time.

    python benchmarks/runner.py --runner 'CMD {bot} {games} {concurrency} {limit}'
                                [--own CMD] [--think 0,1,8,40,400] [--concurrency 1,2]
                                [--seconds 10] [--repeat 3] [--json]

The engine of line_engine.py waits --think milliseconds before each move, and a game of two of them
has some 61 moves. In each of --repeat rounds both runners play once, one after the other. A command
has {bot} for the engine's command line, {games} for how many to play, {concurrency} for those at
once, and {limit} for the seconds of a move, such as

    c-gomoku-cli -each tc=0/{limit} "cmd={bot}" -engine name=a -engine name=b
                 -games {games} -repeat -rule 0 -boardsize 15 -concurrency {concurrency}

Left out, it is pipe_runner.py. It is measured from its second game on, over whole games and
--seconds or somewhat more, and then ended.

games_per_hour   of 61 moves; the median of the rounds, with its quartiles
beyond_ms        of a move, in which no engine thought: the pipes, and the runner
cpu_ms           the runner's processor time a move, without that of the engines
engine_cpu_ms    theirs
ratio            of the games an hour in one round, ours over the other's
"""

import argparse
import shlex
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from line_engine import engine
from report import Row, parser_of, print_json, show
from runner_process import RunnerProcess, runner_command, runner_process
from spread import Spread

OWN = (
    f"{shlex.quote(sys.executable)} -m meijin play {{bot}} {{bot}} --games {{games}}"
    " --concurrency {concurrency} --time {limit}/move"
)
PIPES = (
    f"{shlex.join([sys.executable, str(Path(__file__).with_name('pipe_runner.py'))])}"
    " {bot} --games {games} --concurrency {concurrency}"
)
PLIES = 61
"""Of a game between two line engines."""
BEYOND_MS = 0.2
"""Of a move, by which the number of games is chosen."""
GAMES = 100_000
"""More than any runner ends before it is ended."""


@dataclass(frozen=True, slots=True)
class Count:
    """What has been spent, in seconds."""

    time: float
    moves: int
    thought: float
    engines_cpu: float
    all_cpu: float

    @classmethod
    def of(cls, runner: RunnerProcess) -> "Count":
        """Until now."""
        files = [path.read_bytes() for path in runner.tallies.iterdir()]
        rows = [struct.unpack("=3q", file) for file in files if file]
        moves, thought, cpu = map(sum, zip(*rows, strict=True))
        return cls(time.monotonic(), moves, thought / 1e9, cpu / 1e9, runner.cpu_seconds)

    def __sub__(self, before: "Count") -> "Count":
        pairs = zip(astuple(self), astuple(before), strict=True)
        return Count(*(one - another for one, another in pairs))


@dataclass(frozen=True, slots=True)
class Task:
    """Engines that think for so long, in so many games at once."""

    think_ms: float
    at_once: int

    def games(self, seconds: float) -> int:
        """How many each slot plays in about this time, at least one."""
        return max(1, round(seconds * 1000 / PLIES / (self.think_ms + BEYOND_MS)))

    def play(self, name: str, text: str, program: Path, seconds: float) -> Count:
        """What whole games take, after a first one of each slot."""
        first, games = PLIES * self.at_once, self.games(seconds)
        command = runner_command(
            text,
            bot=f"{program} {self.think_ms:g}",
            games=GAMES,
            concurrency=self.at_once,
            limit=f"{1 + self.think_ms / 1000:g}",
        )
        with runner_process(name, command) as runner:
            runner.wait_for(first)
            before = Count.of(runner)
            runner.wait_for(before.moves + games * first)
            return Count.of(runner) - before

    def row(self, name: str, counts: Sequence[Count]) -> Row:
        """What a runner has reached in all rounds."""
        beyond = [(c.time * self.at_once - c.thought) / c.moves * 1000 for c in counts]
        own_cpu = [(c.all_cpu - c.engines_cpu) / c.moves * 1000 for c in counts]
        engine_cpu = [c.engines_cpu / c.moves * 1000 for c in counts]
        return {
            "think_ms": self.think_ms,
            "at_once": self.at_once,
            "who": name,
            **Spread.of(rates(counts)).columns("games_per_hour"),
            "beyond_ms": round(Spread.of(beyond).median, 4),
            "cpu_ms": round(Spread.of(own_cpu).median, 4),
            "engine_cpu_ms": round(Spread.of(engine_cpu).median, 4),
        }

    def ratio(self, own: Sequence[Count], other: Sequence[Count]) -> Row:
        """The one runner over the other, round by round."""
        return {
            "think_ms": self.think_ms,
            "at_once": self.at_once,
            **Spread.of_ratios(rates(own), rates(other)).columns("ratio"),
        }


def rates(counts: Sequence[Count]) -> Iterator[float]:
    """Games an hour."""
    return (count.moves / PLIES / count.time * 3600 for count in counts)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = parser_of(__doc__)
    parser.add_argument("--runner", default=PIPES, metavar="CMD")
    parser.add_argument("--own", default=OWN, metavar="CMD")
    parser.add_argument("--think", default="0,1,8,40,400", help="milliseconds")
    parser.add_argument("--concurrency", default="1,2", help="games at once")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--repeat", type=int, default=3)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Let both runners play in turns, and print how they compare."""
    options = parsed(arguments)
    runners = {"meijin": options.own, "runner": options.runner}
    rows: list[Row] = []
    ratios: list[Row] = []
    with engine() as program:
        for think_ms in map(float, options.think.split(",")):
            for at_once in map(int, options.concurrency.split(",")):
                task = Task(think_ms, at_once)
                counts: dict[str, list[Count]] = {name: [] for name in runners}
                for _ in range(options.repeat):
                    for name, text in runners.items():
                        counts[name].append(task.play(name, text, program, options.seconds))
                rows += [task.row(name, found) for name, found in counts.items()]
                ratios.append(task.ratio(*counts.values()))
    show("Games of engines that think", rows)
    show("Ours over the other", ratios)
    if options.json:
        print_json([*rows, *ratios])


if __name__ == "__main__":
    main()
