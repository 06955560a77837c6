"""``python -m tests.simulation``: plays random games with random faults, and prints what failed."""

import argparse
import sys
from contextlib import ExitStack

from tests.simulation.mutants import MUTANTS
from tests.simulation.runner import explain, open_simulator


def main() -> int:
    """Play, and tell how it went."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the first world")
    parser.add_argument("--games", type=int, default=10_000, help="at least so many")
    parser.add_argument("--mutant", choices=sorted(MUTANTS), help="take one guard away first")
    options = parser.parse_args()
    with ExitStack() as stack:
        simulator = stack.enter_context(open_simulator())
        if options.mutant:
            stack.enter_context(MUTANTS[options.mutant]())
        summary = simulator.simulate(options.seed, games=options.games)
    if summary.failed is not None:
        print(explain(summary.failed))
    print(summary)
    return 1 if summary.failed else 0


if __name__ == "__main__":
    sys.exit(main())
