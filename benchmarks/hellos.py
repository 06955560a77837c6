"""Many bots that say hello at once while games run: what it costs, and how long a turn of the loop is.

    python benchmarks/hellos.py [--hellos 1000] [--games 0,64] [--repeat 1] [--json]

The bots come with names that the server has never heard, and again with the same, each on a
connection of its own, to a server with durability=power that plays this many --games of instant
bots. All figures are processor time; with --repeat the least of this many for each.

longest_turn_ms     of the event loop's thread, from the first hello until the last bot has left
server_us           of the server's process for each hello, the games' own included
seconds             until the last of the bots was in
refused             streams that had no welcome, and tried again
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from arena_process import ArenaProcess, arena_process
from bot_processes import instant_bots
from curves import CROWDED, Arrival, arrive, numbers
from report import Row, parser_of, report
from timed_turns import LongestTurn

TIMED_TURNS = Path(__file__).with_name("timed_turns.py")
PLAYERS = 4
LONGEST_RUN = 20.0
"""Seconds that games as fast as can be last for: those that run beside a crowd last longer."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """Bots that came in at once."""

    arrival: Arrival
    longest_turn_ms: float


def crowd(arena: ArenaProcess, turn: LongestTurn, name: str, count: int, others: int) -> Crowd:
    """Have bots come in at once and leave."""
    turn.begin()
    arrival = arrive(arena, name, count, others=others)
    return Crowd(arrival, turn.ms)


def measure(hellos: int, games: int, repeat: int) -> Iterator[Row]:
    """New bots, and the same again."""
    found: dict[str, list[Crowd]] = {"new": [], "known": []}
    with tempfile.TemporaryDirectory(prefix="meijin-turns-") as folder, ExitStack() as stack:
        file = Path(folder) / "longest"
        runner = (str(TIMED_TURNS), str(file))
        arena = stack.enter_context(arena_process("power", settings=CROWDED, runner=runner))
        turn, others = LongestTurn(file), PLAYERS if games else 0
        if games:
            playing = instant_bots(arena, bots=PLAYERS, games=games, seconds=LONGEST_RUN)
            stack.enter_context(playing)
        for number in range(repeat):
            for crowds in found.values():
                crowds.append(crowd(arena, turn, f"crowd-{number}", hellos, others))
    for bots, crowds in found.items():
        yield {
            "hellos": hellos,
            "games": games,
            "bots": bots,
            "longest_turn_ms": round(min(each.longest_turn_ms for each in crowds), 1),
            "server_us": round(min(each.arrival.us for each in crowds)),
            "seconds": min(each.arrival.seconds for each in crowds),
            "refused": max(each.arrival.refused for each in crowds),
        }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--hellos", type=int, default=1000)
    parser.add_argument("--games", type=numbers, default="0,64")
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args(arguments)
    sizes = options.games
    rows = [row for games in sizes for row in measure(options.hellos, games, options.repeat)]
    report(f"{options.hellos} hellos at once", rows, as_json=options.json)


if __name__ == "__main__":
    main()
