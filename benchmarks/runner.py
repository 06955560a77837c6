"""How fast engines play by our local runner and by another, when they think for a known time.

    python benchmarks/runner.py --runner 'CMD {bot} {games} {concurrency} {limit}'
                                [--own CMD] [--think 0,1,8,40,400] [--concurrency 1,2]
                                [--seconds 5] [--repeat 3] [--json]

The engine of line_engine.py waits --think milliseconds before each move, and a game of two of them
has some 61 moves. In each of --repeat rounds both runners play once, one after the other. A command
has {bot} for the engine's command line, {games} for how many to play, {concurrency} for those at
once, and {limit} for the seconds of a move, such as

    c-gomoku-cli -each tc=0/{limit} "cmd={bot}" -engine name=a -engine name=b
                 -games {games} -repeat -rule 0 -boardsize 15 -concurrency {concurrency}

Left out, it is pipe_runner.py. It is measured from its second game on, over whole games that take
--seconds or somewhat more, and then ended; where a game takes longer, after two seconds and over
moves of one. With what is left out all takes 10 minutes.

games_per_hour   of 61 moves; the median of the rounds, with its quartiles
beyond_ms        of a move, in which no engine thought: the pipes, and the runner
cpu_ms           the runner's processor time a move, without that of the engines
command_ms ...   the same of its command; of ours its server, its worker and the worker's slots too
engines_ms       that of the engines
ratio            of the games an hour in one round, ours over the other's

At last the same stands in a table for a page: both runners in a line, the other's after a stroke.
"""

import argparse
import math
import shlex
import struct
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from line_engine import engine
from report import Row, parser_of, print_json, show, show_markdown
from runner_process import PARTS, RunnerProcess, runner_command, runner_process
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
FIRST_SECONDS = 2.0
"""At most, of what is not measured."""
GAMES = 100_000
"""More than any runner ends before it is ended."""


@dataclass(frozen=True, slots=True)
class Count:
    """What has been spent, in seconds."""

    time: float
    moves: int
    thought: float
    cpu: Mapping[str, float]
    """By the `PARTS` of the runner."""

    @classmethod
    def of(cls, runner: RunnerProcess) -> "Count":
        """Until now, thoughts under way among it."""
        files = [path.read_bytes() for path in runner.players]
        now_ns = time.monotonic_ns()
        rows = [struct.unpack("=4q", file) for file in files if file]
        moves, thought_ns = sum(row[0] for row in rows), sum(row[1] for row in rows)
        thought_ns += sum(now_ns - since_ns for *_, since_ns in rows if since_ns)
        return cls(now_ns / 1e9, moves, thought_ns / 1e9, runner.parts)

    def __sub__(self, before: "Count") -> "Count":
        cpu = {part: self.cpu[part] - before.cpu[part] for part in PARTS}
        moves, thought = self.moves - before.moves, self.thought - before.thought
        return Count(self.time - before.time, moves, thought, cpu)

    def cpu_ms(self, *parts: str) -> float:
        """Processor time of some parts a move."""
        return sum(self.cpu[part] for part in parts) / self.moves * 1000


@dataclass(frozen=True, slots=True)
class Task:
    """Engines that think for so long, in so many games at once."""

    think_ms: float
    at_once: int

    def moves(self, seconds: float) -> int:
        """How many each slot makes in about this time: whole games, unless one takes longer."""
        moves = math.ceil(seconds * 1000 / (self.think_ms + BEYOND_MS))
        return moves if moves < PLIES else round(moves / PLIES) * PLIES

    def play(self, name: str, text: str, program: Path, seconds: float) -> Count:
        """What moves take, after a first game of each slot or the first moves of one."""
        first = min(PLIES, self.moves(FIRST_SECONDS)) * self.at_once
        command = runner_command(
            text,
            bot=f"{program} {self.think_ms:g}",
            games=GAMES,
            concurrency=self.at_once,
            limit=f"{1 + self.think_ms / 1000:g}",
        )
        with runner_process(name, command) as runner:
            runner.wait_for_play(first)
            runner.wait_for(runner.moves + 1)  # a move has just begun, as at the end
            made, before = runner.moves, Count.of(runner)
            runner.wait_for(made + self.moves(seconds) * self.at_once)
            return Count.of(runner) - before

    def row(self, name: str, counts: Sequence[Count]) -> Row:
        """What a runner has reached in all rounds."""
        beyond = [(c.time * self.at_once - c.thought) / c.moves * 1000 for c in counts]
        *own, _ = PARTS
        cpu = {"cpu_ms": own} | {f"{part}_ms": [part] for part in PARTS}
        return {
            "think_ms": self.think_ms,
            "at_once": self.at_once,
            "who": name,
            **Spread.of(rates(counts)).columns("games_per_hour"),
            "beyond_ms": round(Spread.of(beyond).median, 4),
            **{
                name: round(Spread.of(count.cpu_ms(*parts) for count in counts).median, 4)
                for name, parts in cpu.items()
            },
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


def line_of(own: Row, other: Row, ratio: Row) -> Row:
    """A line for a page, of the rows of a task."""

    def both(name: str) -> str:
        return " / ".join(
            f"{row[name]:,.{0 if name == 'games_per_hour' else 3}f}" for row in (own, other)
        )

    return {
        "waiting, ms": f"{own['think_ms']:g}",
        "at once": own["at_once"],
        "games an hour": both("games_per_hour"),
        "ratio": f"{ratio['ratio']:.3f}",
        "beyond waiting, ms a move": both("beyond_ms"),
        "processor time, ms": both("cpu_ms"),
        **{f"of its {part}": f"{own[f'{part}_ms']:.3f}" for part in PARTS[:-1]},
    }


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = parser_of(__doc__)
    parser.add_argument("--runner", default=PIPES, metavar="CMD")
    parser.add_argument("--own", default=OWN, metavar="CMD")
    parser.add_argument("--think", default="0,1,8,40,400", help="milliseconds")
    parser.add_argument("--concurrency", default="1,2", help="games at once")
    parser.add_argument("--seconds", type=float, default=5.0)
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
    show_markdown([line_of(*pair) for pair in zip(rows[::2], rows[1::2], ratios, strict=True)])
    if options.json:
        print_json([*rows, *ratios])


if __name__ == "__main__":
    main()
