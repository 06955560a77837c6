"""Time forfeits under load, and how many of them the bots' own clocks contradict.

    python benchmarks/time_forfeits.py [--seconds 60] [--bots 4] [--games 2] [--time 0.5+0.01]
                                       [--burners 2] [--json]

A server and bots, in processes of their own, play while so many burners for each core take the
processor. Every bot writes down what each move took from the read of the turn to the write of the
answer. Half of the bots tell the server too. A forfeit whose move took less than the clock that
the bot was told is a robbery; there must be none.

forfeits   games lost on time
robbed     of those, the move had taken less than the clock told
unwritten  of those, the bot had not answered when it was stopped
way_p50_ms, way_p99_ms, way_max_ms   what the way there and back took, of moves in time
"""

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

import grpc
from arena_process import ArenaProcess, arena_process, child
from report import Row, report

from meijin.game import Ending, TimeControl
from meijin.store.games import decode_times
from meijin.v1 import tournament_service_pb2
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub
from meijin.wire import time_control_to_proto

BOT = Path(__file__).with_name("journaling_bot.py")
KINDS = ("told", "untold")
BURNER = (sys.executable, "-c", "while True: pass")


class Move(NamedTuple):
    """A line of a bot's journal."""

    kind: str
    """Whether the server was told what it took: `told` or `untold`."""
    told_ms: int
    own_us: int


class Forfeit(NamedTuple):
    """A game lost on time, as the server has stored it."""

    game: str
    ply: int
    evidence: Mapping[str, object]


Journal = dict[tuple[str, int], Move]
"""All bots' moves, by game and ply."""


def read_journals(folder: Path, names: Mapping[str, str]) -> Journal:
    """Read the journals of bots, given with their kinds."""
    moves: Journal = {}
    for name, kind in names.items():
        for text in (folder / name).read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            moves[line["game"], line["ply"]] = Move(kind, line["told_ms"], line["own_us"])
    return moves


def rows_of(
    journal: Journal, forfeits: Iterable[Forfeit], ways_us: Mapping[str, list[int]]
) -> list[Row]:
    """The figures of each kind of bots; forfeits without a journalled move are of no kind."""
    found = [(journal.get((forfeit.game, forfeit.ply)), forfeit) for forfeit in forfeits]
    rows: list[Row] = []
    for kind in KINDS:
        lost = [move for move, _ in found if move is not None and move.kind == kind]
        ways = [way / 1000 for way in ways_us.get(kind, [])] or [0.0, 0.0]
        rows.append(
            {
                "bots": kind,
                "moves": sum(move.kind == kind for move in journal.values()),
                "forfeits": len(lost),
                "robbed": sum(move.own_us < move.told_ms * 1000 for move in lost),
                "way_p50_ms": statistics.median(ways),
                "way_p99_ms": statistics.quantiles(ways, n=100)[98],
                "way_max_ms": max(ways),
            }
        )
    unwritten = sum(move is None for move, _ in found)
    rows.append({**dict.fromkeys(rows[0], ""), "bots": "unwritten", "forfeits": unwritten})
    return rows


def read_games(database: Path, journal: Journal) -> tuple[list[Forfeit], dict[str, list[int]]]:
    """The time forfeits, and what the ways of the moves in time took, in microseconds."""
    ways: dict[str, list[int]] = {kind: [] for kind in KINDS}
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        faults = connection.execute(
            "SELECT game_id, evidence FROM fault WHERE ending = ?", (Ending.TIME.value,)
        )
        forfeits = [
            Forfeit(str(game), json.loads(text)["ply"], json.loads(text)) for game, text in faults
        ]
        games = connection.execute("SELECT id, moves, times FROM game WHERE times IS NOT NULL")
        for game, moves, times in games:
            raw = decode_times(times)[0]
            for ply, raw_ns in enumerate(raw, start=len(moves) // 2 - len(raw)):
                move = journal.get((str(game), ply))
                if move is not None:
                    ways[move.kind].append(raw_ns // 1000 - move.own_us)
    return forfeits, ways


def start_tournament(server: ArenaProcess, bots: list[str], control: str) -> None:
    """Have the bots play each other without end."""
    settings = tournament_service_pb2.TournamentSettings(
        bots=bots,
        rounds=5_000,
        time_control=time_control_to_proto(TimeControl.parse(control)),
        unrated=True,
    )
    request = tournament_service_pb2.CreateTournamentRequest(settings=settings)
    with grpc.insecure_channel(server.address) as channel:
        TournamentServiceStub(channel).CreateTournament(request, timeout=60)


def measure(options: argparse.Namespace) -> list[Row]:
    """Play for the seconds asked for, and compare journals and store."""
    names = {f"bot-{number}": KINDS[number % 2] for number in range(options.bots)}
    with tempfile.TemporaryDirectory(prefix="meijin-journals-") as folder:
        journals = Path(folder)
        with arena_process("power") as server:
            with ExitStack() as stack:
                for name, kind in names.items():
                    words = (name, server.address, str(options.games), str(journals / name), kind)
                    stack.enter_context(
                        child([sys.executable, str(BOT), *words], subprocess.DEVNULL)
                    )
                server.wait_for_bots(len(names))
                for _ in range(options.burners * (os.cpu_count() or 1)):
                    stack.enter_context(child(BURNER))
                start_tournament(server, list(names), options.time)
                time.sleep(options.seconds)
                journal = read_journals(journals, names)
                forfeits, ways = read_games(server.data / "meijin.db", journal)
            for forfeit in forfeits:
                move = journal.get((forfeit.game, forfeit.ply))
                print(json.dumps({"game": forfeit.game, "bot": move, **forfeit.evidence}))
    return rows_of(journal, forfeits, ways)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--bots", type=int, default=4)
    parser.add_argument("--games", type=int, default=2, help="at once, of each bot")
    parser.add_argument("--time", default="0.5+0.01")
    parser.add_argument("--burners", type=int, default=2, help="for each core")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report("time forfeits under load", measure(options), as_json=options.json)


if __name__ == "__main__":
    main()
