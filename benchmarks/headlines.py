"""What pruning saves, and what the order of moves does to it, in positions visited.

    python benchmarks/headlines.py [--depth 4] [--most 200000000] [--json]

One position of ten stones is searched to each depth from 2 on, over every empty cell (full) and
over the cells near stones (near). A five ends a line; else the core's evaluation is the value.
All searches have to find the same one, or the benchmark fails.

search    minimax     every position; estimated as moves^depth where that is more than --most
          scan        alpha-beta, cells row by row
          random      alpha-beta, cells in an order drawn at each position, from a fixed seed
          ordered     alpha-beta, the cell of the highest policy score first
          table       the same with a transposition table, iterative deepening: the sum of all depths
          n^(1/2)     of minimax's positions: the ideal at even depths
          n^(3/4)     about what a random order needs
          bound       moves^ceil(depth/2) + moves^floor(depth/2) - 1, the leaves of the perfect order
                      where every position has as many moves
nodes     positions visited, the first included
leaves    those of them that were evaluated
exponent  log(nodes) / log(n)
ms        of processor time
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from counted_search import POLICY, RANDOM, SCAN, TALLY, alphabeta, generate_moves, minimax
from report import parser_of, report

from meijin.bots.core.jit import new_record
from meijin.bots.core.lookup import tables_of
from meijin.bots.core.movegen import clear_history
from meijin.bots.core.state import STATE, init, make
from meijin.bots.core.transposition import new_table
from meijin.bots.reference import fewest_leaves
from meijin.bots.reference.gomoku import MIDGAME
from meijin.game import GOMOKU, Variant
from meijin.game.records.chances import WIN_SCORE

FIRST_DEPTH = 2
SEED = 1
TABLE_BITS = 20
ORDERS = {"scan": SCAN, "random": RANDOM, "ordered": POLICY}

Row = dict[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Count:
    """What one search found, and what it cost."""

    value: int
    """To the side to move."""
    nodes: int
    leaves: int
    seconds: float


class Counter:
    """One position, searched in every way."""

    def __init__(self, cells: Sequence[int], variant: Variant = GOMOKU, *, wide: bool) -> None:
        self._wide = wide
        self._tables = tables_of(variant)
        self._state = new_record(STATE)
        init(self._state, self._tables)
        for cell in cells:
            make(self._state, self._tables, cell)
        clear_history(self._state)

    @property
    def moves(self) -> int:
        """How many moves the position has."""
        return generate_moves(self._state, self._tables, self._tally(SCAN), 0)

    def minimax(self, depth: int) -> Count:
        """Visit everything."""
        tally = self._tally(SCAN)
        start = time.thread_time()
        value = minimax(self._state, self._tables, tally, depth, 0)
        return _counted(value, tally, start)

    def alphabeta(self, depth: int, order: int) -> Count:
        """Prune, without a table."""
        return self._deepened((depth,), self._tally(order), table_bits=2)

    def tabled(self, depth: int) -> Count:
        """Prune with a table, which tells each depth the best moves of the one before."""
        tally = self._tally(POLICY)
        tally.use_table = 1
        return self._deepened(range(1, depth + 1), tally, table_bits=TABLE_BITS)

    def _deepened(self, depths: Sequence[int], tally: np.record, *, table_bits: int) -> Count:
        state, tables, table = self._state, self._tables, new_table(table_bits)
        start = time.thread_time()
        for depth in depths:
            value = alphabeta(state, tables, tally, table, -WIN_SCORE, WIN_SCORE, depth, 0)
        return _counted(value, tally, start)

    def _tally(self, order: int) -> np.record:
        tally = new_record(TALLY)
        tally.wide, tally.order, tally.seed, tally.tt_move = self._wide, order, SEED, -1
        return tally


def _counted(value: int, tally: np.record, start: float) -> Count:
    return Count(value, int(tally.nodes), int(tally.leaves), time.thread_time() - start)


def counts(counter: Counter, depth: int, most: int) -> dict[str, Count]:
    """Search in every way; minimax is missing where it would visit more than `most`.

    Raises:
        RuntimeError: the searches find different values.
    """
    found = {}
    if counter.moves**depth <= most:
        found["minimax"] = counter.minimax(depth)
    found |= {name: counter.alphabeta(depth, order) for name, order in ORDERS.items()}
    found["table"] = counter.tabled(depth)
    for (one, first), (other, second) in pairwise(found.items()):
        if first.value != second.value:
            raise RuntimeError(
                f"at depth {depth} {one} finds {first.value} and {other} {second.value}"
            )
    return found


def rows(width: str, counter: Counter, depth: int, most: int) -> Iterator[Row]:
    """One row for each search of a depth, and one for each of the marks beside them."""
    found = counts(counter, depth, most)
    moves = counter.moves
    total = found["minimax"].nodes if "minimax" in found else moves**depth
    common: Row = {"width": width, "depth": depth, "moves": moves}
    if "minimax" not in found:
        yield common | _row("minimax (estimated)", total, total)
    for name, count in found.items():
        yield common | _row(name, count.nodes, total, count)
    for name, power in (("n^(1/2)", 0.5), ("n^(3/4)", 0.75)):
        yield common | _row(name, round(total**power), total)
    yield common | _row("bound", fewest_leaves(moves, depth), total)


def _row(name: str, nodes: int, total: int, count: Count | None = None) -> Row:
    return {
        "search": name,
        "nodes": nodes,
        "leaves": "" if count is None else count.leaves,
        "exponent": round(math.log(nodes) / math.log(total), 3),
        "ms": "" if count is None else round(1000 * count.seconds, 1),
    }


def main() -> None:
    """Count everything."""
    parser = parser_of(__doc__)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--most", type=int, default=200_000_000)
    options = parser.parse_args()
    widths: Mapping[str, bool] = {"full": True, "near": False}
    made: list[Row] = []
    counts(Counter(MIDGAME, wide=True), 1, options.most)  # the first call of each is slow
    for width, wide in widths.items():
        counter = Counter(MIDGAME, wide=wide)
        for depth in range(FIRST_DEPTH, options.depth + 1):
            made += rows(width, counter, depth, options.most)
    report("Positions visited", made, as_json=options.json)


if __name__ == "__main__":
    main()
