"""How fast the built-in bots search.

    python benchmarks/search.py [--positions 20] [--seconds 0.5,1] [--json]

The positions are the first of the balanced openings. Rates are by processor time of the thread
that searches, so they compare on a busy machine; depths need a quiet one.

search          what is measured, see below
seconds         of one search, by the clock
depth           plies searched to the end; the median of the positions
deepest         the longest line looked at, plies; the median of the positions
per_cpu_second  nodes, playouts or visits in a second of processor time

alphabeta       the engine as it plays
pure, guided    the two forms of mcts: playouts, and visits
plain           bare alpha-beta of depth 3 on the core
reference       the readable alpha-beta, depth 2, over the cells near stones
"""

import statistics
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta

from report import parser_of, report

from meijin.bots.core.engine import Engine
from meijin.bots.core.limits import Options, SearchLimits, TreeLimits
from meijin.bots.core.puct import GuidedTree
from meijin.bots.core.uct import PureTree
from meijin.bots.reference import alphabeta as readable_alphabeta
from meijin.bots.reference.gomoku import NEAR, GomokuGame, by_promise
from meijin.game import GOMOKU, Board, Opening, openings_for

ALWAYS = 1 << 30
PLAIN_DEPTH = 3
REFERENCE_DEPTH = 2

Row = dict[str, str | int | float]


def alphabeta(positions: Sequence[Opening], seconds: float) -> Row:
    """The engine, with all that it has."""
    engine = Engine(GOMOKU)
    engine.warm_up()
    start, nodes, depths, deepest = time.thread_time(), 0, [], []
    for moves in positions:
        found = engine.search(moves, SearchLimits(time=timedelta(seconds=seconds)))
        nodes += found.nodes
        depths.append(found.depth)
        deepest.append(found.seldepth)
    return {
        "search": "alphabeta",
        "seconds": seconds,
        "depth": statistics.median(depths),
        "deepest": statistics.median(deepest),
        "per_cpu_second": round(nodes / (time.thread_time() - start)),
    }


def trees(positions: Sequence[Opening], seconds: float) -> Iterator[Row]:
    """Both forms of tree search."""
    for name, kind in (("pure", PureTree), ("guided", GuidedTree)):
        kind(GOMOKU).search((), TreeLimits(ALWAYS, timedelta(0)))
        spent, visits, depths = 0.0, 0, []
        for moves in positions:
            tree = kind(GOMOKU)
            start = time.thread_time()
            found = tree.search(moves, TreeLimits(ALWAYS, timedelta(seconds=seconds)))
            spent += time.thread_time() - start
            visits += found.visits
            depths.append(len(found.pv))
        yield {
            "search": name,
            "seconds": seconds,
            "depth": statistics.median(depths),
            "deepest": max(depths),
            "per_cpu_second": round(visits / spent),
        }


def plain(positions: Sequence[Opening], depth: int) -> Row:
    """Bare alpha-beta on the core."""
    engine = Engine(GOMOKU, Options(plain=True))
    engine.warm_up()
    start = time.thread_time()
    nodes = sum(engine.search(moves, SearchLimits(depth=depth)).nodes for moves in positions)
    return _plain("plain", depth, nodes, time.thread_time() - start)


def reference(positions: Sequence[Opening], depth: int) -> Row:
    """The readable alpha-beta."""
    start, nodes = time.thread_time(), 0
    for moves in positions:
        board = Board.from_moves(moves)
        game = GomokuGame(board, maximiser=board.side_to_move, reach=NEAR)
        nodes += readable_alphabeta(game, depth, order=by_promise(board)).nodes
    return _plain("reference", depth, nodes, time.thread_time() - start)


def _plain(name: str, depth: int, nodes: int, seconds: float) -> Row:
    """A row for searches of a fixed depth; `seconds` are those of all positions together."""
    return {
        "search": name,
        "seconds": round(seconds, 3),
        "depth": depth,
        "deepest": depth,
        "per_cpu_second": round(nodes / seconds),
    }


def rows(positions: Sequence[Opening], seconds: Sequence[float]) -> Iterator[Row]:
    """Measure every search."""
    for each in seconds:
        yield alphabeta(positions, each)
        yield from trees(positions, each)
    yield plain(positions, PLAIN_DEPTH)
    yield reference(positions, REFERENCE_DEPTH)


def main() -> None:
    """Print what is measured."""
    parser = parser_of(__doc__)
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--seconds", default="0.5,1")
    options = parser.parse_args()
    positions = openings_for(GOMOKU)[: options.positions]
    seconds = [float(each) for each in options.seconds.split(",")]
    report("Searches", list(rows(positions, seconds)), as_json=options.json)


if __name__ == "__main__":
    main()
