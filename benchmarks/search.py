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
plain           bare alpha-beta of depth 3 on the core; and the same functions, run by the
interpreted     interpreter on one position of depth 2: what compilation brings is the ratio
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta

from report import report

from meijin.bots.core.engine import Engine, Limits, Options
from meijin.bots.core.guided_tree import GuidedTree
from meijin.bots.core.pure_tree import PureTree
from meijin.bots.core.thought import Effort
from meijin.game import GOMOKU
from meijin.game.opening import Opening, openings_for

ALWAYS = 1 << 30
PLAIN_DEPTH = 3
INTERPRETED_DEPTH = 2

Row = dict[str, str | int | float]


def alphabeta(positions: Sequence[Opening], seconds: float) -> Row:
    """The engine, with all that it has."""
    engine = Engine(GOMOKU)
    engine.warm_up()
    start, nodes, depths, deepest = time.thread_time(), 0, [], []
    for moves in positions:
        found = engine.search(moves, Limits(time=timedelta(seconds=seconds)))
        nodes += found.nodes
        depths.append(found.depth)
        deepest.append(found.deepest)
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
        kind(GOMOKU).think((), Effort(ALWAYS, 0))
        spent, visits, depths = 0.0, 0, []
        for moves in positions:
            tree = kind(GOMOKU)
            start = time.thread_time()
            thought = tree.think(moves, Effort(ALWAYS, seconds))
            spent += time.thread_time() - start
            visits += thought.visits
            depths.append(len(thought.line))
        yield {
            "search": name,
            "seconds": seconds,
            "depth": statistics.median(depths),
            "deepest": max(depths),
            "per_cpu_second": round(visits / spent),
        }


def plain(name: str, positions: Sequence[Opening], depth: int) -> Row:
    """Bare alpha-beta to a fixed depth."""
    engine = Engine(GOMOKU, Options(plain=True))
    start = time.thread_time()
    nodes = sum(engine.search(moves, Limits(depth=depth)).nodes for moves in positions)
    return {
        "search": name,
        "seconds": round(time.thread_time() - start, 3),
        "depth": depth,
        "deepest": depth,
        "per_cpu_second": round(nodes / (time.thread_time() - start)),
    }


def interpreted() -> Row:
    """The same in a process whose compiler is off."""
    command = [sys.executable, __file__, "--interpreted"]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    row: Row = json.loads(done.stdout)
    return row


def main() -> None:
    """Measure every search."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--seconds", default="0.5,1")
    parser.add_argument("--interpreted", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    positions = openings_for(GOMOKU)[: options.positions]
    if options.interpreted:
        print(json.dumps(plain("interpreted", positions[:1], INTERPRETED_DEPTH)))
        return
    rows = []
    for seconds in map(float, options.seconds.split(",")):
        rows.append(alphabeta(positions, seconds))
        rows += trees(positions, seconds)
    rows += [plain("plain", positions, PLAIN_DEPTH), interpreted()]
    report("Searches", rows, as_json=options.json)


if __name__ == "__main__":
    main()
