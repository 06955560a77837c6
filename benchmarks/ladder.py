"""How fast a ladder is computed: the fit of counted games, and the whole job on games with moves.

    python benchmarks/ladder.py [--sizes 100x1000000,1000x10000000,...] [--repeat 3]
                                [--jobs 100x10000,100x100000] [--days 60] [--last verify] [--json]

Each size is bots x games, and has a fresh process. Strengths deviate by 200 Elo; half of the games
are of any two bots, half of two within a tenth of the ranks.

--sizes  are fitted, from counts that are drawn: nothing is read. None, if empty.

pairs          rows of the counts: who met whom with which colours
fit_seconds    from arrays to ratings, 95 % intervals and everyone's LOS over the next, the median
               of --repeat
steps          of Newton's method
peak_mb        the most memory that the process ever had

--jobs   are SQLite databases of finished games with moves and times on 40 openings, over --days.
         What is done to them, in this order, up to --last, has a row each, with its CPU and wall
         seconds:

sequencing     every game is taken into the ladder's log, as those of a server that had no worker
first run      every game is read
whole history  every day is rated, from the kept counts
nothing new    a look of the job that finds no new game; the least of three, as of the next two
new game       one more game, from its commit to the published run
256 new games  as many more
cold start     the same by a worker that has just started
new day        one more game, and the day before is over and rated
recent void    a game of the last day is voided
old void       a game of the first day is voided, and all days since are read and rated anew
anchors        others: a run, and every day is rated anew
standings      the table of the ladder, as a view of the server
verify         every game is read, and nothing believed
"""

import logging
import random
import sqlite3
import statistics
import struct
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np
import structlog
from report import Row, parser_of, pool_of, report
from simulated import OUTCOMES
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, DropIndex

from meijin.game import Result
from meijin.ladder.history import update_history
from meijin.ladder.pool import Pool
from meijin.ladder.refresh import refresh
from meijin.ladder.statistics.fit.covariance import superiority_to_next
from meijin.ladder.statistics.fit.pair_counts import Integers, PairCounts
from meijin.ladder.tally import TallyCache
from meijin.ladder.verification.verify import verify
from meijin.server.views.ladders import ladder_table
from meijin.store import Database, Durability
from meijin.store.ladders.games import fingerprint, opening_key
from meijin.store.ladders.ladders import set_anchors
from meijin.store.ladders.sequencer import sequence
from meijin.store.schema import BotVersionId, Game, GameId, LadderId, Record
from meijin.store.voids import GameVoid, void_game

JOBS = "100x10000,100x100000"
SIZES = "100x1000000,1000x1000000,10000x1000000,100x10000000,1000x10000000"
DEVIATION = 200.0
CHUNK = 1_000_000
"""Games drawn at once."""
LADDER = LadderId(1)
OPENINGS = 40
NEW_GAMES = {"new game": 1, "256 new games": 256}
"""Steps that play this many, and refresh the ladder."""
REPEATS = 3
"""Of those steps, whose cheapest is told."""
LAST = "verify"
"""The last step, which reads every game."""
RESULTS = (Result.BLACK_WINS, Result.DRAW, Result.WHITE_WINS)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

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


def fill_database(path: Path, size: Size, days: int) -> None:
    """Make a database of a ladder with finished games, with all indexes.

    Nothing is written twice, so that a million games take 20 seconds, and ten million are possible.
    """
    with Database(f"sqlite:///{path}", Durability.PROCESS) as database:
        Record.metadata.create_all(database.writer)
    with closing(sqlite3.connect(path)) as connection:
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -262144"):
            connection.execute(f"PRAGMA {pragma}")
        indexes = list(Game.metadata.tables[Game.__table__.name].indexes)
        for index in indexes:
            connection.execute(str(DropIndex(index).compile(dialect=_SQLITE)))
        with connection:
            _insert(connection, size, days)
        for index in indexes:
            connection.execute(str(CreateIndex(index).compile(dialect=_SQLITE)))


def _insert(connection: sqlite3.Connection, size: Size, days: int) -> None:
    connection.execute(_INSERT_LADDER)
    connection.execute(_INSERT_TOURNAMENT)
    for key in range(1, size.bots + 1):
        connection.execute(_INSERT_BOT, (key, f"bot-{key}", "2026-01-01 12:00:00"))
        connection.execute(_INSERT_VERSION, (key, key, "2026-01-01 12:00:00"))
    for rows in _rows(size, days):
        connection.executemany(_INSERT, rows)


_SQLITE = sqlite.dialect()


_INSERT_LADDER = """
    INSERT INTO ladder (id, name, variant, time_class, revision, run_revision, voided, games)
    VALUES (1, 'freestyle-15x15-ultrabullet', 'freestyle 15x15', 'ultrabullet 0-4', 0, 0, 0, 0)
"""
_INSERT_TOURNAMENT = """
    INSERT INTO tournament (id, name, format, rounds, seed, variant, time_control, max_games,
                            create_time, state, openings, verdict, planned, running, finished)
    VALUES (1, 'all', 'ladder', 0, 1, 'freestyle 15x15', '1', 0, '2026-01-01', 'cancelled', x'',
            '', 0, 0, 0)
"""
_INSERT_BOT = """
    INSERT INTO bot (id, name, create_time, is_open, state, reason, is_hidden, former_names)
    VALUES (?, ?, ?, 0, 'active', '', 0, '[]')
"""
_INSERT_VERSION = """
    INSERT INTO bot_version (id, bot_id, digest, label, hardware, nodes_per_second, configuration,
                             create_time)
    VALUES (?, ?, '', '1', '', 0, '[]', ?)
"""
_INSERT = """
    INSERT INTO game (id, pairing_id, tournament_id, ladder_id, black_id, white_id, opening_plies,
                      opening, moves, start_time, state, times, result, ending, at_fault, detail,
                      end_sequence, end_time, fingerprint, is_repeat, is_swapped)
    VALUES (?, ?, 1, 1, ?, ?, 3, ?, ?, ?, 'finished', ?, ?, 'five', 'nobody', '', ?, ?, ?, 0, 0)
"""


def _rows(size: Size, days: int) -> Iterator[Iterator[tuple[object, ...]]]:
    """What goes into the statement, by chunks."""
    number = 0
    for chunk in draw_games(size):
        numbered = enumerate(zip(*(column.tolist() for column in chunk), strict=True), number + 1)
        yield (
            _row(key, first + 1, second + 1, result, day=(key - 1) * days // size.games)
            for key, (first, second, result) in numbered
        )
        number += len(chunk[0])


def _row(key: int, black: int, white: int, result: int, *, day: int) -> tuple[object, ...]:
    """A game of 30 to 80 plies on one of the openings; no two are alike."""
    opening, opening_hash = _OPENINGS[_spread(key, 1, OPENINGS)]
    plies, start = 27 + _spread(key, 2, 51), _spread(key, 3, MOST_BYTES)
    moves = opening + key.to_bytes(8, "little") + _NOISE[start : start + 2 * plies - 8]
    times = _NOISE[start : start + 16 * plies]
    time_text, name = _noon(day), RESULTS[result].value
    printed = fingerprint(BotVersionId(black), BotVersionId(white), 3, moves)
    return (
        *(key, key, black, white, opening_hash, moves, time_text, times),
        *(name, key, time_text, printed),
    )


def _spread(key: int, column: int, below: int) -> int:
    """A number below another, as if drawn: a generator for each game would take ten times as long."""
    return ((key * 4 + column) * 0x9E3779B97F4A7C15 >> 32) % below


@cache
def _noon(day: int) -> str:
    return str((NOON + timedelta(days=day)).replace(tzinfo=None))


_OPENINGS = [
    (opening, opening_key(opening))
    for opening in (struct.pack("<3H", 112, 113, cell) for cell in range(OPENINGS))
]
MOST_BYTES = 16 * 77
"""Of the times of a game."""
_NOISE = random.Random(1).randbytes(2 * MOST_BYTES)


def draw_counts(path: Path, size: Size) -> None:
    """Count games without a database, into a file."""
    none = np.empty(0, dtype=np.int64)
    counts = PairCounts(none, none, *np.empty((3, 0)))
    for first, second, result in draw_games(size):
        wins, draws, losses = (result == place for place in range(3))
        more = PairCounts(first, second, wins * 1.0, draws * 1.0, losses * 1.0)
        counts = counts.joined(more.merged()).merged()
    columns = {field.name: getattr(counts, field.name) for field in fields(counts)}
    np.savez(path, **{name: column for name, column in columns.items() if column is not None})


def compute(counts: PairCounts) -> int:
    """Fit the games and find everything that is shown; return the steps that it took."""
    pool = Pool.of(counts, ())
    assert pool.margin.size
    order = np.argsort(-pool.elo, kind="stable")
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
    """The row of one size, from a file of counts."""
    with np.load(path) as file:
        counts = PairCounts(**file)
    steps, fit_seconds = timed(lambda: compute(counts), repeat)
    return {
        "bots": size.bots,
        "games": size.games,
        "pairs": len(counts.first),
        "fit_seconds": round(fit_seconds, 4),
        "steps": steps,
        "peak_mb": round(peak_bytes() / 2**20, 1),
    }


class Job:
    """The ladder of a database, and a worker that refreshes it."""

    def __init__(self, path: Path, database: Database, size: Size, days: int) -> None:
        self._path = path
        self._database = database
        self._last = size.games
        self._day = days - 1
        self._cache = TallyCache()

    def steps(self) -> Iterator[tuple[str, Callable[[], object]]]:
        """What is timed; what comes before it is done as the next is asked for."""
        yield "sequencing", lambda: sequence(self._database, LADDER)
        yield "first run", self.refresh
        yield "whole history", self.rate_days
        for _ in range(REPEATS):
            yield "nothing new", self.look_for_games
        for name, games in NEW_GAMES.items():
            for _ in range(REPEATS):
                self.play(games)
                yield name, self.refresh
        self.play()
        self._cache = TallyCache()
        yield "cold start", self.refresh
        self._day += 1
        self.play()
        yield "new day", self.refresh_all
        self.void(self._last - 5)
        yield "recent void", self.refresh_all
        self.void(5)
        yield "old void", self.refresh_all
        self._database.write(lambda to: set_anchors(to, LADDER, [BotVersionId(1)]))
        yield "anchors", self.refresh_all
        yield "standings", self.look
        yield "verify", self.verify

    def noon(self) -> datetime:
        """The time of the games that end now."""
        return NOON + timedelta(days=self._day)

    def refresh(self) -> None:
        """Publish a run."""
        assert refresh(self._database, LADDER, self.noon, self._cache)

    def look_for_games(self) -> None:
        """Find nothing to publish."""
        assert not refresh(self._database, LADDER, self.noon, self._cache)

    def rate_days(self) -> None:
        """Rate the days that are over."""
        update_history(self._database, LADDER, self.noon())

    def refresh_all(self) -> None:
        """Publish a run, and rate the days that are over."""
        self.refresh()
        self.rate_days()

    def play(self, games: int = 1) -> None:
        """Finish this many more games."""
        keys = range(self._last + 1, self._last + 1 + games)
        self._last += games
        # Not as the server does it: there is no pairing that a game would refer to.
        with closing(sqlite3.connect(self._path)) as connection, connection:
            rows = (_row(key, 1, 2, 0, day=self._day) for key in keys)
            connection.executemany(_INSERT, rows)

    def void(self, key: int) -> None:
        """Void a game."""
        void = GameVoid(GameId(key), "a measurement", self.noon())
        assert self._database.write(lambda to: void_game(to, void))

    def look(self) -> None:
        """Read the table."""
        self._database.read(lambda at: ladder_table(at, ""))

    def verify(self) -> None:
        """Verify the run."""
        found = verify(self._database, LADDER).differences
        assert not found, found


def measure_job(path: Path, size: Size, days: int, last: str = LAST) -> list[Row]:
    """The rows of one database, up to a step; of one that is repeated the cheapest."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    found: dict[str, Row] = {}
    with Database(f"sqlite:///{path}", Durability.PROCESS) as database:
        for name, work in Job(path, database, size, days).steps():
            if last in found and name != last:
                break
            start, cpu = time.perf_counter(), time.process_time()
            work()
            row: Row = {
                "bots": size.bots,
                "games": size.games,
                "step": name,
                "cpu_seconds": round(time.process_time() - cpu, 4),
                "wall_seconds": round(time.perf_counter() - start, 4),
                "peak_mb": round(peak_bytes() / 2**20, 1),
            }
            kept = found.setdefault(name, row)
            if float(row["cpu_seconds"]) < float(kept["cpu_seconds"]):
                found[name] = row
    return list(found.values())


def peak_bytes() -> int:
    """The most resident memory that this process ever had."""
    status = Path("/proc/self/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def fits(sizes: Sequence[Size], repeat: int) -> Iterator[Row]:
    """One row for each size; games are drawn in one process and fitted in the next."""
    with tempfile.TemporaryDirectory() as folder, fresh_processes() as process:
        for number, size in enumerate(sizes):
            path = Path(folder) / f"{number}.npz"
            process.submit(draw_counts, path, size).result()
            yield process.submit(measure, path, size, repeat).result()


def jobs(sizes: Sequence[Size], days: int, last: str = LAST) -> Iterator[Row]:
    """Rows of each size, up to a step; games are made in one process and counted in the next."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder, fresh_processes() as process:
            path = Path(folder) / "ladder.db"
            process.submit(fill_database, path, size, days).result()
            yield from process.submit(measure_job, path, size, days, last).result()


def fresh_processes() -> ProcessPoolExecutor:
    """Runs everything in a process of its own."""
    return pool_of(1, tasks=1)


def main() -> None:
    """Compute every size."""
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--jobs", default=JOBS)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--last", default=LAST)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    sizes, databases = (
        [Size.parse(text) for text in given.split(",") if text]
        for given in (options.sizes, options.jobs)
    )
    if sizes:
        report("Ladder fits", list(fits(sizes, options.repeat)), as_json=options.json)
    if databases:
        report(
            "Ladder jobs", list(jobs(databases, options.days, options.last)), as_json=options.json
        )


if __name__ == "__main__":
    main()
