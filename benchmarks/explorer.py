"""How fast openings are counted, how large the counts are, and how fast a position is explored.

    python benchmarks/explorer.py [--games 100000] [--kinds bots,distinct] [--json]

Each kind is an SQLite database of finished games with moves and times. The worker rests four times
as long as it counts, which is left out here.

bots        games on the server's 40 openings, mirrored at random; then each move is one of 12 that
            follow from those before, the first in half of the games, the next in a quarter, ...
distinct    games whose every stone is drawn: hardly two share more than their first moves

games_per_second    counted, from reading to commit, without rests
per_cpu_second      the same by the processor's time, where the machine is not quiet
hold_ms             from the begin to the commit of a batch's transaction, for which the server's
                    moves wait, without the disk's time for it: median and most
bytes_per_game      that the counts add to the file, with their indexes
rows_per_game       moves and bands with a row
explore_ms          of positions of 0 to 12 stones that were played: median and most
"""

import random
import sqlite3
import statistics
import struct
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from report import Row, parser_of, report
from sqlalchemy import event

from meijin.game import GOMOKU, Result, decode_moves, encode_moves, openings_for
from meijin.game.board.symmetry import symmetries
from meijin.ladder.opening_counter import OpeningCounter
from meijin.server.api.answers.openings import explore
from meijin.store import Database, Durability
from meijin.store.ladders.openings import DEPTH
from meijin.store.schema import OpeningGame, OpeningMove

PLIES = 60
CHOICES = 12
EXPLORED = 300
RESULTS = (Result.BLACK_WINS, Result.DRAW, Result.WHITE_WINS)
TIME = "2026-01-01 12:00:00"
SET_UP = (
    """INSERT INTO ladder (id, name, variant, time_class, revision, run_revision, voided,
                           games)
       VALUES (1, 'freestyle-15x15', 'freestyle 15x15', 'ultrabullet 0-4', 0, 0, 0, 0)""",
    """INSERT INTO tournament (id, name, format, rounds, seed, variant, time_control, max_games,
                               create_time, state, openings, verdict, planned, running, finished)
       VALUES (1, 'all', 'ladder', 0, 1, 'freestyle 15x15', '1', 0, '2026-01-01 12:00:00', 'cancelled', x'',
               '', 0, 0, 0)""",
)
FILL = (
    """WITH RECURSIVE number(key) AS (SELECT 1 UNION ALL SELECT key + 1 FROM number WHERE key < 100)
       INSERT INTO bot (id, name, create_time, is_open, state, reason, is_hidden, former_names)
       SELECT key, 'bot-' || key, '2026-01-01 12:00:00', 0, 'active', '', 0, '[]' FROM number""",
    """INSERT INTO bot_version (id, bot_id, digest, label, hardware, nodes_per_second, configuration,
                                create_time)
       SELECT id, id, '', '1', '', 0, '[]', '2026-01-01 12:00:00' FROM bot""",
    """INSERT INTO pairing (id, tournament_id, number, round, black_id, white_id, opening, reason)
       SELECT id, 1, id, 1, black_id, white_id, x'', '' FROM game""",
    "UPDATE ladder SET sequenced = (SELECT max(end_sequence) FROM game)",
)
INSERT = f"""
    INSERT INTO game (id, pairing_id, tournament_id, ladder_id, black_id, white_id, opening_plies,
                      opening, moves, start_time, state, times, result, ending, at_fault, detail,
                      end_sequence, end_time, fingerprint, is_repeat, is_swapped)
    VALUES (?, ?, 1, 1, ?, ?, 3, 0, ?, '{TIME}', 'finished', ?, ?, 'adjudication', 'nobody', '', ?, '{TIME}',
            ?, 0, 0)
"""


def bots_line(rng: random.Random) -> list[int]:
    """A line on an opening, mirrored; what comes next depends on the moves so far."""
    line = list(rng.choice(openings_for(GOMOKU)))
    while len(line) < DEPTH + 1:
        best = random.Random(hash(tuple(line))).sample(range(GOMOKU.cells), CHOICES)
        left = [cell for cell in best if cell not in line]
        place = next((each for each in range(len(left) - 1) if rng.random() < 0.5), 0)
        line.append(left[place])
    image = rng.choice(symmetries(GOMOKU))
    return [image[cell] for cell in line]


def distinct_line(rng: random.Random) -> list[int]:
    """A line of random stones."""
    return rng.sample(range(GOMOKU.cells), DEPTH + 1)


KINDS: dict[str, Callable[[random.Random], list[int]]] = {
    "bots": bots_line,
    "distinct": distinct_line,
}


def _rows(kind: str, games: int) -> Iterator[tuple[Any, ...]]:
    rng = random.Random(1)
    for key in range(1, games + 1):
        first = encode_moves(KINDS[kind](rng))
        moves = first + struct.pack("<q", key) + rng.randbytes(2 * PLIES - len(first) - 8)
        result, players = rng.choice(RESULTS).value, rng.sample(range(1, 101), 2)
        yield key, key, *players, moves, rng.randbytes(16 * PLIES), result, key, key


def fill_database(database: Database, path: Path, kind: str, games: int) -> None:
    """Make a database of finished games."""
    database.migrate()
    with sqlite3.connect(path) as connection:
        for statement in SET_UP:
            connection.execute(statement)
        connection.executemany(INSERT, _rows(kind, games))
        for statement in FILL:
            connection.execute(statement)
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def count(database: Database) -> tuple[float, float, list[float]]:
    """The seconds that all games took, by the clock and of the processor, and those of each hold."""
    holds: list[float] = []
    begun: list[float] = []
    event.listen(database.writer, "begin", lambda _: begun.append(time.perf_counter()))
    event.listen(
        database.writer, "commit", lambda _: holds.append(time.perf_counter() - begun.pop())
    )
    start, cpu_start = time.perf_counter(), time.process_time()
    counter = OpeningCounter(database, rest_factor=0)
    while counter.count():
        pass
    return time.perf_counter() - start, time.process_time() - cpu_start, holds


def table_bytes(path: Path) -> int:
    """What the counts take of the file."""
    names = (OpeningMove.__table__.name, OpeningGame.__table__.name)
    with sqlite3.connect(path) as connection:
        query = "SELECT sum(pgsize) FROM dbstat WHERE name IN (?, ?)"
        (size,) = connection.execute(query, names).fetchone()
    connection.close()
    return int(size)


def explore_times(database: Database, path: Path, games: int) -> list[float]:
    """The seconds that some positions took."""
    rng = random.Random(2)
    found = []
    with sqlite3.connect(path) as connection:
        for _ in range(EXPLORED):
            query = "SELECT moves FROM game WHERE id = ?"
            (data,) = connection.execute(query, (rng.randint(1, games),)).fetchone()
            moves = list(decode_moves(data))[: rng.randint(0, DEPTH)]
            start = time.perf_counter()
            database.read(lambda at, moves=moves: explore(at, GOMOKU, moves))  # type: ignore[misc]
            found.append(time.perf_counter() - start)
    connection.close()
    return found


def measure(kind: str, games: int, folder: Path) -> Row:
    """The row of one kind."""
    path = folder / f"{kind}.db"
    with Database(f"sqlite:///{path}", Durability.POWER) as database:
        fill_database(database, path, kind, games)
        seconds, cpu_seconds, holds = count(database)
        explored = explore_times(database, path, games)
    with sqlite3.connect(path) as connection:
        (rows,) = connection.execute("SELECT count(*) FROM opening_move").fetchone()
    connection.close()
    size = table_bytes(path)
    path.unlink()
    return {
        "kind": kind,
        "games": games,
        "games_per_second": round(games / seconds),
        "per_cpu_second": round(games / cpu_seconds),
        "hold_ms": round(1e3 * statistics.median(holds), 1),
        "most_hold_ms": round(1e3 * max(holds), 1),
        "bytes_per_game": round(size / games),
        "rows_per_game": round(rows / games, 2),
        "explore_ms": round(1e3 * statistics.median(explored), 2),
        "most_explore_ms": round(1e3 * max(explored), 2),
    }


def main() -> None:
    """Measure each kind."""
    parser = parser_of(__doc__)
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(kind, options.games, Path(folder)) for kind in options.kinds.split(",")]
    report("openings", rows, as_json=options.json)


if __name__ == "__main__":
    main()
