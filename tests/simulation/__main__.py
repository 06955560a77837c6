"""``python -m tests.simulation``: plays random games with random faults, and prints what failed."""

import argparse
import sys

from tests.simulation.runner import explain, open_simulator


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the first world")
    parser.add_argument("--games", type=int, default=10_000, help="at least this many")
    parser.add_argument("--hostile", action="store_true", help="with bots that say anything")
    options = parser.parse_args()
    with open_simulator() as simulator:
        summary = simulator.simulate(options.seed, games=options.games, is_hostile=options.hostile)
    if summary.failed is not None:
        print(explain(summary.failed))
    print(summary)
    return 1 if summary.failed else 0


if __name__ == "__main__":
    sys.exit(main())
