"""Two innocent bots that play while others attack: how long their moves take, and what it costs.

    python benchmarks/hostile.py [--seconds 8] [--base 4] [--only NAME] [--json]

The server, the attackers and the innocent bots are in processes of their own. Each attack has a
server of its own; its base is taken on that, seconds before.

p50, p99, max   milliseconds from the write of a move to the read of the opponent's turn
above_ms        how far the p99 under attack is above that of the base
rss_mb          the server's memory before the attack, and rss_peak_mb the most while it lasted
forfeits        games that did not end on the board
heard           what the attacker heard, the most frequent first
"""

import asyncio
import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from arena_process import ArenaProcess, arena_process
from attacks import ATTACKS, Attack
from innocents import Innocents
from report import Row, parser_of, report

from meijin.v1 import game_pb2

ATTACKER = Path(__file__).with_name("attacks.py")
ON_THE_BOARD = (game_pb2.ENDING_FIVE, game_pb2.ENDING_DRAW)
MEBIBYTE = 2**20
LOOK_INTERVAL = 0.1
WARM_UP = 2.0


def percentiles(seconds: Sequence[float]) -> tuple[float, float, float]:
    """The median, the 99th percentile and the largest, in milliseconds."""
    if len(seconds) < 2:
        return (0.0, 0.0, 0.0)
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return cuts[49] * 1000, cuts[98] * 1000, max(seconds) * 1000


async def _peak_until_done(arena: ArenaProcess, done: "asyncio.Task[bytes]") -> int:
    """The most memory that the server has until a task is done."""
    peak = arena.resident_bytes
    while not done.done():
        await asyncio.wait((done,), timeout=LOOK_INTERVAL)
        peak = max(peak, arena.resident_bytes)
    return peak


async def _run_attacker(name: str, address: str, seconds: float) -> bytes:
    command = (sys.executable, str(ATTACKER), name, address, str(seconds))
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    output, _ = await process.communicate()
    return output


async def measure(arena: ArenaProcess, attack: Attack, base: float, seconds: float) -> Row:
    """Have the innocents play alone, and then under attack."""
    innocents = Innocents(arena.address)
    await innocents.start()
    await asyncio.sleep(WARM_UP)
    innocents.latencies.clear()
    await asyncio.sleep(base)
    alone = percentiles(innocents.latencies)
    innocents.latencies.clear()
    before = arena.resident_bytes
    lasting = max(seconds, attack.seconds)
    attacker = asyncio.create_task(_run_attacker(attack.name, arena.address, lasting))
    peak = await _peak_until_done(arena, attacker)
    under = percentiles(innocents.latencies)
    moves = len(innocents.latencies)
    await innocents.stop()
    heard = json.loads(await attacker)
    forfeits = sum(end.outcome.ending not in ON_THE_BOARD for end in innocents.ends)
    return {
        "attack": attack.name,
        "base_p50": alone[0],
        "base_p99": alone[1],
        "p50": under[0],
        "p99": under[1],
        "max": under[2],
        "above_ms": under[1] - alone[1],
        "moves": moves,
        "forfeits": forfeits,
        "rss_mb": before / MEBIBYTE,
        "rss_peak_mb": peak / MEBIBYTE,
        "heard": ", ".join(f"{name} {count}" for name, count in _most(heard)),
    }


def _most(heard: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(heard.items(), key=lambda item: -item[1])


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--seconds", type=float, default=8.0, help="of each attack, at least")
    parser.add_argument("--base", type=float, default=4.0, help="seconds before it")
    parser.add_argument("--only", help="the one attack of this name")
    options = parser.parse_args()
    rows = []
    for attack in ATTACKS:
        if options.only in {None, attack.name}:
            with arena_process("power") as arena:
                rows.append(asyncio.run(measure(arena, attack, options.base, options.seconds)))
            print(rows[-1], flush=True)
    report("Innocent bots under attack", rows, as_json=options.json)


if __name__ == "__main__":
    main()
