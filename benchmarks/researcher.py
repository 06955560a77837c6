"""A researcher's day: a match of two versions by nodes, a test, and its games as a dataset.

    python benchmarks/researcher.py --games 2000

Plays `meijin match --local --sprt`, serves what it has kept, exports it to Parquet, reads that with
pyarrow, and works the test's figures out again from the rows. They have to be those that the match
printed. Time is that of all processes together.

--games N    the most that are played; the test may need fewer
--nodes N N  what the two versions search for a move
--folder F   where everything is kept; else a temporary folder
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from meijin.ladder.statistics.sequential.sprt import Estimate, Sprt
from meijin.ladder.statistics.sequential.stopped import estimate_of

MEIJIN = (sys.executable, "-m", "meijin")
ELO0, ELO1 = 0.0, 5.0
VERSION = '''"""A weak version that searches {nodes} positions for a move."""

from dataclasses import replace

from meijin.bots import AlphaBetaBot


class Version(AlphaBetaBot):
    """Plays many games at once, since a search takes it a millisecond."""

    capabilities = replace(AlphaBetaBot.capabilities, max_games=32)

    def __init__(self) -> None:
        super().__init__(level=1, nodes={nodes})
'''


@dataclass(frozen=True, slots=True)
class Figures:
    """What a match has come to, from the first version's side."""

    losses: int
    draws: int
    wins: int
    pairs: tuple[int, ...]
    """By half points, from none to four."""
    elo: float
    normalised_elo: float
    los: float


@dataclass(frozen=True, slots=True)
class Day:
    """What was found, twice, and what it rests on."""

    printed: Figures
    worked_out: Figures
    """From the dataset."""
    games: int
    moves: int
    analysed: int
    """Moves with a score, a depth, nodes and a principal variation; no nodes where one look did."""
    most_nodes: tuple[int, int]
    """Of a move, of either version."""
    plays_seconds: float
    """Of processor time."""


def meijin(*words: str) -> str:
    """Run a command, and return what it prints; a test may end undecided."""
    done = subprocess.run([*MEIJIN, *words], capture_output=True, text=True, check=False)
    if done.returncode not in {0, 3}:
        raise RuntimeError(f"{words}: {done.stderr}")
    return done.stdout


def spend_day(folder: Path, games: int, nodes: tuple[int, int]) -> Day:
    """Play, export, read and compare."""
    files = [folder / f"nodes{number}.py" for number in nodes]
    for file, number in zip(files, nodes, strict=True):
        file.write_text(VERSION.format(nodes=number))
    began = cpu_seconds()
    told = meijin(
        *("match", *map(str, files), "--local", f"--data={folder / 'data'}", "--json", "--seed=1"),
        *(f"--games={games}", f"--sprt={ELO0},{ELO1}", "--time=60/move", "--variant=15x15"),
    )
    played = cpu_seconds() - began
    tournament = json.loads(told.splitlines()[-1])["tournament"]
    tables = exported(folder, tournament["tournament_id"])
    rows, moves = (pq.read_table(table).to_pylist() for table in tables)
    names = [file.stem for file in files]
    most = [most_nodes(rows, moves, name) for name in names]
    said = ("score", "depth", "nodes", "pv")
    analysed = [row for row in moves if all(row[column] is not None for column in said)]
    return Day(
        printed=printed_figures(tournament["sprt"]),
        worked_out=worked_out(rows, names[0]),
        games=len(rows),
        moves=sum(not row["is_opening"] for row in moves),
        analysed=len(analysed),
        most_nodes=(most[0], most[1]),
        plays_seconds=played,
    )


def cpu_seconds() -> float:
    """Processor time of this process's children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def exported(folder: Path, tournament: str) -> list[Path]:
    """The games and the moves of a tournament, as Parquet."""
    made = []
    for rows in ("games", "moves"):
        made.append(folder / f"{rows}.parquet")
        words = (f"--rows={rows}", f"--output={made[-1]}", f"--data={folder / 'data'}", "--force")
        meijin("game", "export", f"--tournament={tournament}", "--format=parquet", *words)
    return made


def printed_figures(standing: dict[str, Any]) -> Figures:
    """What the match printed as JSON."""
    estimate = standing["estimate"]
    return Figures(
        standing["losses"],
        standing["draws"],
        standing["wins"],
        tuple(standing["pairs"]),
        estimate["elo"],
        estimate["normalised_elo"],
        estimate["los"],
    )


def worked_out(rows: Sequence[dict[str, Any]], first: str) -> Figures:
    """The same from the rows of the games: two of an opening are a pair.

    Void games count for nothing, and the test leaves out what repeats an earlier game.
    """
    points: dict[str, list[int]] = defaultdict(list)
    known: set[tuple[str, str]] = set()
    for row in sorted(rows, key=lambda row: int(row["game_id"])):
        game = (row["black"], row["moves"])
        if not row["winner"] or game in known:
            continue
        known.add(game)
        is_draw, has_won = row["winner"] == "draw", row.get(row["winner"]) == first
        points[opening(row)].append(1 if is_draw else 2 * has_won)
    games = Counter(point for pair in points.values() for point in pair)
    pairs = Counter(sum(pair) for pair in points.values() if len(pair) == len(("black", "white")))
    counts = tuple(pairs[half_points] for half_points in range(5))
    found: Estimate = estimate_of(Sprt(ELO0, ELO1, alpha=0.05, beta=0.05), counts)
    return Figures(games[0], games[1], games[2], counts, found.elo, found.normalised_elo, found.los)


def opening(row: dict[str, Any]) -> str:
    """The moves that were given, as a position string."""
    cells = list(cells_of(row["moves"]))
    return "".join(cells[: row["opening_plies"]])


def cells_of(position: str) -> Iterator[str]:
    """The cells of a position string."""
    start = 0
    for place in range(1, len(position) + 1):
        if place == len(position) or position[place].isalpha():
            yield position[start:place]
            start = place


def most_nodes(rows: Sequence[dict[str, Any]], moves: Sequence[dict[str, Any]], name: str) -> int:
    """The most positions that a version has searched for one move."""
    sides = {row["game_id"]: "black" if row["black"] == name else "white" for row in rows}
    return max(row["nodes"] or 0 for row in moves if sides[row["game_id"]] == row["side"])


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="meijin-") as made:
        yield Path(made)


def main() -> None:
    """Spend a day, and tell of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--nodes", type=int, nargs=2, default=(20, 100))
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    began = time.monotonic()
    with _folder(options.folder) as folder:
        day = spend_day(folder, options.games, (options.nodes[0], options.nodes[1]))
    found = day.printed
    print(
        f"+{found.wins} ={found.draws} -{found.losses}, pairs {found.pairs}, Elo {found.elo:+.1f}"
    )
    print(f"{day.games} games, {day.moves} moves, {day.analysed} of them with their analysis")
    print(f"{day.plays_seconds:.0f} s of processor time, {time.monotonic() - began:.0f} s in all")
    print("the dataset says the same" if day.worked_out == found else f"NO: {day.worked_out}")


if __name__ == "__main__":
    main()
