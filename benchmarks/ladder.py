"""How fast a ladder's run is computed: counting its games, and fitting them with everything shown.

    python benchmarks/ladder.py [--sizes 100x1000000,1000x10000000,...] [--sqlite 1000000]
                                [--repeat 3] [--json]

Each size is bots x games, and has a fresh process. Strengths deviate by 200 Elo; half of the games
are of any two bots, half of two within a tenth of the ranks.

counted        sqlite: by the server's own query, from a database with its tables and indexes.
               drawn: with more games than --sqlite the counts are made directly, and not timed.
pairs          rows of the counts: who met whom with which colours
count_seconds  from the query to arrays, the median of --repeat
fit_seconds    from arrays to ratings, 95 % intervals and everyone's LOS over the next
steps          of Newton's method
peak_mb        the most memory that the process ever had
"""

import argparse
import multiprocessing
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import numpy as np
from report import Row, report
from simulated import OUTCOMES

from meijin.game import Party, Result
from meijin.ladder.rating_table import Pool
from meijin.ladder.statistics.covariance import superiority_to_next
from meijin.ladder.statistics.pair_counts import Integers, PairCounts
from meijin.store import Database, Durability
from meijin.store.ladders.rated_games import pair_counts
from meijin.store.schema import Base, Game, GameState, LadderId

SIZES = "100x1000000,1000x1000000,10000x1000000,100x10000000,1000x10000000"
DEVIATION = 200.0
CHUNK = 1_000_000
"""Games drawn at once."""
LADDER = LadderId(1)
RESULTS = (Result.BLACK_WINS, Result.DRAW, Result.WHITE_WINS)
NOON = datetime(2026, 1, 1, 12)  # noqa: DTZ001 - as SQLite keeps it

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Size:
    """How large a ladder is."""

    bots: int
    games: int

    @classmethod
    def parse(cls, text: str) -> "Size":
        """Read ``100x1000000``."""
        bots, _, games = text.partition("x")
        return cls(int(bots), int(games))


def draw_games(size: Size) -> Iterator[tuple[Integers, Integers, Integers]]:
    """First players, second players and places in `RESULTS`, by chunks of games."""
    rng = np.random.default_rng(size.bots)
    strengths = -np.sort(-rng.normal(0, DEVIATION, size.bots))
    for start in range(0, size.games, CHUNK):
        count = min(CHUNK, size.games - start)
        first = rng.integers(0, size.bots, count)
        farthest = np.where(rng.random(count) < 0.5, size.bots - 1, max(size.bots // 10, 1))
        second = (first + rng.integers(1, farthest + 1)) % size.bots
        difference = strengths[first] - strengths[second]
        luck = rng.random(count)
        result = np.where(luck < OUTCOMES.losses(difference), 2, 1)
        result[luck > 1 - OUTCOMES.wins(difference)] = 0
        yield first, second, result


def fill_database(path: Path, size: Size) -> None:
    """Make a database of finished games: their rows alone, with all indexes."""
    with Database(f"sqlite:///{path}", Durability.PROCESS) as database:
        Base.metadata.create_all(database.writer)
        indexes = list(Game.metadata.tables[Game.__tablename__].indexes)
        for index in indexes:
            index.drop(database.writer)
        with sqlite3.connect(path) as connection:
            for rows in _rows(size):
                connection.executemany(_INSERT, rows)
        connection.close()
        for index in indexes:
            index.create(database.writer)


_INSERT = """
    INSERT INTO game (id, pairing_id, tournament_id, ladder_id, black_id, white_id, opening_plies,
                      opening, moves, start_time, state, times, result, at_fault, detail, end_sequence,
                      end_time, is_repeat)
    VALUES (?, ?, 1, 1, ?, ?, 0, 0, x'', ?, ?, x'', ?, ?, '', ?, ?, 0)
"""


def _rows(size: Size) -> Iterator[Iterator[tuple[object, ...]]]:
    """What goes into the statement, by chunks."""
    time_text, state, nobody = str(NOON), GameState.FINISHED.value, Party.NOBODY.value
    values = [result.value for result in RESULTS]
    number = 0
    for chunk in draw_games(size):
        numbered = enumerate(zip(*(column.tolist() for column in chunk), strict=True), number + 1)
        yield (
            (
                key,
                key,
                first + 1,
                second + 1,
                time_text,
                state,
                values[result],
                nobody,
                key,
                time_text,
            )
            for key, (first, second, result) in numbered
        )
        number += len(chunk[0])


def draw_counts(path: Path, size: Size) -> None:
    """Count games without a database, into a file."""
    none = np.empty(0, dtype=np.int64)
    counts = PairCounts(none, none, *np.empty((3, 0)))
    for first, second, result in draw_games(size):
        wins, draws, losses = (result == place for place in range(3))
        more = PairCounts(first, second, wins * 1.0, draws * 1.0, losses * 1.0)
        counts = counts.joined(more.merged()).merged()
    np.savez(path, **{field.name: getattr(counts, field.name) for field in fields(counts)})


def count(path: Path) -> PairCounts:
    """Count the games of a database as a run does."""
    with Database(f"sqlite:///{path}", Durability.PROCESS) as database:
        pairs = database.read(lambda connection: pair_counts(connection, LADDER))
    first, second, *results = np.array(pairs).T
    return PairCounts(first, second, *(column.astype(np.float64) for column in results))


def compute(counts: PairCounts) -> int:
    """Fit the games and find everything that is shown; return the steps that it took."""
    pool = Pool.of(counts, ())
    pool.margins()
    order = np.argsort(-pool.elo(), kind="stable")
    superiority_to_next(pool.fit.elo, order, pool.covariance)
    return pool.fit.steps


def timed(work: Callable[[], T], repeat: int) -> tuple[T, float]:
    """A result, and the median of the seconds that it takes."""
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return result, statistics.median(seconds)


def measure(path: Path, size: Size, repeat: int) -> Row:
    """The row of one size, from a database or a file of counts."""
    row: dict[str, str | int | float] = {"bots": size.bots, "games": size.games}
    if path.suffix == ".npz":
        with np.load(path) as file:
            counts = PairCounts(**file)
        row |= {"counted": "drawn", "pairs": len(counts.first), "count_seconds": ""}
    else:
        counts, seconds = timed(lambda: count(path), repeat)
        row |= {"counted": "sqlite", "pairs": len(counts.first), "count_seconds": round(seconds, 3)}
    steps, fit_seconds = timed(lambda: compute(counts), repeat)
    return row | {
        "fit_seconds": round(fit_seconds, 4),
        "steps": steps,
        "peak_mb": round(peak_bytes() / 2**20, 1),
    }


def peak_bytes() -> int:
    """The most resident memory that this process ever had."""
    status = Path("/proc/self/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def rows(sizes: Sequence[Size], sqlite_games: int, repeat: int) -> Iterator[Row]:
    """One row for each size; games are drawn in one process and counted in the next."""
    spawn = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(1, mp_context=spawn, max_tasks_per_child=1) as process,
    ):
        for number, size in enumerate(sizes):
            has_database = size.games <= sqlite_games
            path = Path(folder) / (f"{number}.db" if has_database else f"{number}.npz")
            process.submit(fill_database if has_database else draw_counts, path, size).result()
            yield process.submit(measure, path, size, repeat).result()


def main() -> None:
    """Compute every size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--sqlite", type=int, default=1_000_000, help="most games in a database")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sizes = [Size.parse(text) for text in options.sizes.split(",")]
    made = list(rows(sizes, options.sqlite, options.repeat))
    report("Ladder runs", made, as_json=options.json)


if __name__ == "__main__":
    main()
