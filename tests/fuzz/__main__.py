"""``python -m tests.fuzz``: sends as many random message sequences as asked for."""

import argparse

from tests.fuzz.play_stream import play_worlds


def main() -> None:
    """Send them, and tell how streams and games ended; a failure names its seed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the first world")
    parser.add_argument("--sequences", type=int, default=1_000_000, help="at least so many")
    options = parser.parse_args()
    print(play_worlds(options.seed, options.sequences))


if __name__ == "__main__":
    main()
