"""How long it takes to say whether a cell is forbidden to black under the renju rule.

    python benchmarks/fouls.py [--positions 500] [--seed 1] [--repeat 3] [--json]

The positions are those of tests/data, and as many again with stones at random; and one in which
more threes hang on each other than in any other that a climb over random changes has found. Each
empty cell is asked about `--repeat` times, and the quickest answer counts: on a shared machine the
others tell of the neighbours. It is processor time, of which they take less.

positions   where they come from
cells       asked about: `quiet` ones, where no black stones make a foul possible, and `others`
fouls       forbidden ones among them
median_us   microseconds for one; as are
p99_us      the 99th percentile
worst_us    and the worst
first_us    the worst of the first answers, with nothing remembered of any line
"""

import gc
import random
import statistics
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from report import parser_of, report

from meijin.game import RENJU, Board, Color, Variant
from meijin.game.rules.renju import may_be_foul, shape_of, shapes_at

DATA = Path(__file__).parents[1] / "tests" / "data" / "renju_forbidden_points.tsv"
VARIANT = Variant(RENJU)
HARDEST = (
    "..x..x.o.x.xxoo.....xo.x.o...x..xx........xxo.x..x..xxoxo..x..xx....oxoo.x."
    "x...xx....ox..x..x..x..oo..xx...x....o.xxx.x.....o........x....xx.xx.xx.xxx"
    "x.xx...o.x..xo.xxo.xxxooox.oxo.xxx...xxo..x.o.x...x...xxoox..xxx..ox.x.xxx."
)
"""`x` black, `o` white."""

Row = dict[str, str | int | float]
Answers = tuple[bool, list[float]]
"""Whether a cell is forbidden, and the microseconds of each answer."""


def set_up(symbols: str, black: str, white: str) -> Board:
    """A board of the symbols of its cells."""
    board = Board(VARIANT)
    colors = {black: Color.BLACK, white: Color.WHITE}
    for at, symbol in zip(board.grid.index, symbols, strict=True):
        board.stones[at] = colors.get(symbol, 0)
    return board


def known_positions() -> Iterator[Board]:
    """Those of tests/data."""
    with DATA.open() as file:
        for line in file:
            yield set_up(line.split("\t")[0], "o", "x")


def random_positions(seed: int) -> Iterator[Board]:
    """Boards with up to half of their cells taken, and no five of black's."""
    rng = random.Random(seed)
    while True:
        share = rng.uniform(0.05, 0.5)
        symbols = "".join(
            rng.choice("xo") if rng.random() < share else "." for _ in range(VARIANT.cells)
        )
        board = set_up(symbols, "x", "o")
        black = (cell for cell, symbol in enumerate(symbols) if symbol == "x")
        if not any(RENJU.wins(board, cell) for cell in black):
            yield board


def ask(board: Board, cell: int, repeat: int) -> list[float]:
    """The microseconds of each answer."""
    times = []
    for _ in range(repeat):
        start = time.thread_time()
        RENJU.forbids(board, cell, Color.BLACK)
        times.append((time.thread_time() - start) * 1e6)
    return times


def row(name: str, kind: str, answers: list[Answers]) -> Row:
    """Sum up the answers about one kind of cells."""
    best = sorted(min(times) for _, times in answers) or [0.0]
    return {
        "positions": name,
        "cells": f"{len(answers)} {kind}",
        "fouls": sum(is_foul for is_foul, _ in answers),
        "median_us": round(statistics.median(best), 1),
        "p99_us": round(best[len(best) * 99 // 100], 1),
        "worst_us": round(best[-1], 1),
        "first_us": round(max((times[0] for _, times in answers), default=0.0), 1),
    }


def rows(name: str, boards: Iterable[Board], repeat: int) -> Iterator[Row]:
    """Ask about every empty cell, of each kind."""
    quiet: list[Answers] = []
    others: list[Answers] = []
    shape_of.cache_clear()
    for board in boards:
        for cell, at in enumerate(board.grid.index):
            if board.stones[at]:
                continue
            times = ask(board, cell, repeat)
            kind = others if may_be_foul(shapes_at(board, cell)) else quiet
            kind.append((RENJU.forbids(board, cell, Color.BLACK), times))
    yield row(name, "quiet", quiet)
    yield row(name, "others", others)


def measure(positions: int, seed: int, repeat: int) -> Iterator[Row]:
    """A row for each source of positions and kind of cells."""
    yield from rows("tests/data", islice(known_positions(), positions), repeat)
    yield from rows("random", islice(random_positions(seed), positions), repeat)
    yield from rows("hardest", [set_up(HARDEST, "x", "o")], repeat)


def main() -> None:
    """Run as a script."""
    parser = parser_of(__doc__)
    parser.add_argument("--positions", type=int, default=500, help="of each source")
    parser.add_argument("--seed", type=int, default=1, help="of the random positions")
    parser.add_argument("--repeat", type=int, default=3, help="answers for each cell")
    options = parser.parse_args()
    gc.disable()  # or a look at all that is kept here would count as somebody's answer
    made = list(measure(options.positions, options.seed, options.repeat))
    report("Microseconds for a cell", made, as_json=options.json)


if __name__ == "__main__":
    main()
