"""Time forfeits under load, and how many of them the bots' own clocks contradict.

    python benchmarks/time_forfeits.py [--seconds 60] [--bots 4] [--games 2] [--time 0.5+0.01]
                                       [--burners 2] [--json]

A server and bots play while this many burners for each core take the processor. Every bot measures
what each move took from the read of the turn to the write of the answer; half of them tell the
server too. A forfeit whose move took less than the clock that the bot was told is a robbery; there
must be none.

forfeits   games lost on time
robbed     of those, the move had taken less than the clock told
p50, p99, max   milliseconds from the write of a move to the read of the opponent's turn
"""

import argparse
import asyncio
import os
import sys
from contextlib import ExitStack

from arena_process import arena_process, child
from hostile import percentiles
from innocents import Innocents
from report import Row, parser_of, report

BURNER = (sys.executable, "-c", "while True: pass")


def row_of(bots: str, pairs: list[Innocents]) -> Row:
    """What the bots of a kind have seen."""
    p50, p99, most = percentiles([each for pair in pairs for each in pair.latencies])
    return {
        "bots": bots,
        "moves": sum(len(pair.latencies) for pair in pairs),
        "forfeits": sum(len(pair.time_forfeits) for pair in pairs),
        "robbed": sum(len(pair.robbed) for pair in pairs),
        "p50": p50,
        "p99": p99,
        "max": most,
    }


async def play(address: str, options: argparse.Namespace) -> list[Row]:
    """Have pairs of bots play for the seconds asked for; every other pair tells what moves took."""
    pairs = [
        Innocents(
            address,
            games=options.games,
            control=options.time,
            names=(f"bot-{number}", f"bot-{number + 1}"),
            tells=number % 4 == 0,
        )
        for number in range(0, options.bots, 2)
    ]
    for pair in pairs:
        await pair.start()
    with ExitStack() as stack:
        for _ in range(options.burners * (os.cpu_count() or 1)):
            stack.enter_context(child(BURNER))
        await asyncio.sleep(options.seconds)
    for pair in pairs:
        await pair.stop()
    return [row_of("told", pairs[::2]), row_of("untold", pairs[1::2])]


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--bots", type=int, default=4)
    parser.add_argument("--games", type=int, default=2, help="at once, of each bot")
    parser.add_argument("--time", default="0.5+0.01")
    parser.add_argument("--burners", type=int, default=2, help="for each core")
    options = parser.parse_args()
    with arena_process("power") as server:
        rows = asyncio.run(play(server.address, options))
    report("time forfeits under load", rows, as_json=options.json)


if __name__ == "__main__":
    main()
