"""How fast records are written and read, and how much memory their exports take.

    python benchmarks/records.py --games 500

Random games of about 60 moves with times and an analysis a move, as a server sends them. Each
format is written and read in this process; tables and a tournament's zip are written to nowhere.
Rates are games a second of processor time, since others may use the machine. Peak memory is Python's own, above what the games take, in a run of its own beside the timed one.

--games N    how many
--seed N     for their moves
"""

from __future__ import annotations

import argparse
import io
import time
import tracemalloc
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from random import Random

from meijin.cli.tournament.archive import write_archive
from meijin.game import GOMOKU, Board, Color, Ending, Outcome, TimeControl, encode_moves
from meijin.game.records.file import FileFormat, read_games, write_game
from meijin.game.records.referee import problems
from meijin.local.game_tables import COLUMNS, Rows, table_rows, write_csv, write_parquet
from meijin.v1 import game_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.records import record_from_proto
from meijin.wire.values import outcome_to_proto, time_control_to_proto, variant_to_proto

PLIES = 60
START = datetime(2026, 1, 2, tzinfo=UTC)


class Nowhere(io.BytesIO):
    """A file that counts its bytes and keeps none."""

    def __init__(self) -> None:
        super().__init__()
        self.size = 0

    def write(self, data: object) -> int:
        """Count."""
        length = memoryview(data).nbytes  # type: ignore[arg-type]
        self.size += length
        return length

    def tell(self) -> int:
        """What was written so far."""
        return self.size


def made_game(number: int, rng: Random) -> game_pb2.Game:
    """A resigned game of random moves."""
    board = Board(GOMOKU)
    for cell in rng.sample(range(GOMOKU.cells), PLIES):
        if not board.is_over:
            board.play(cell)
    if board.is_over:
        board.undo()
    outcome = Outcome(Ending.RESIGN, Color.BLACK)
    game = game_pb2.Game(
        game_id=str(number),
        tournament_id="1",
        black="ada",
        white="bob",
        variant=variant_to_proto(GOMOKU),
        time_control=time_control_to_proto(TimeControl.parse("600")),
        state=game_pb2.GAME_STATE_FINISHED,
        outcome=outcome_to_proto(outcome),
    )
    game.start_time.FromDatetime(START)
    game.end_time.FromDatetime(START + timedelta(minutes=1))
    for cell in board.moves:
        move = game.moves.add(cell=cell)
        move.raw_time.FromNanoseconds(rng.randrange(10**8, 10**9))
        move.charged_time.FromNanoseconds(10**8)
        pv = encode_moves(board.moves[:8])
        analysis = game_pb2.MoveAnalysis(score=rng.randrange(999), depth=9, nodes=40_000, pv=pv)
        move.analysis.CopyFrom(analysis)
    return game


def measured(name: str, games: int, work: Callable[[], object]) -> None:
    """Print what a piece of work takes."""
    start = time.process_time()
    work()
    seconds = time.process_time() - start
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"| {name} | {games / seconds:,.0f} | {peak / 2**20:.1f} |", flush=True)


def measure_formats(games: Sequence[game_pb2.Game]) -> None:
    """Each text format there and back."""
    records = [record_from_proto(game) for game in games]
    for form in (FileFormat.SGF, FileFormat.JSON, FileFormat.POSITIONS, FileFormat.PSQ):
        texts = [write_game(record, form) for record in records]

        def write(form: FileFormat = form) -> None:
            for record in records:
                write_game(record, form)

        def read(form: FileFormat = form, texts: Sequence[str] = texts) -> None:
            for text in texts:
                (found,) = read_games([text.encode()], form)
                assert found.record is not None

        measured(f"{form.value} written", len(games), write)
        measured(f"{form.value} read", len(games), read)
    measured("refereed", len(games), lambda: [problems(record) for record in records])


def measure_exports(games: Sequence[game_pb2.Game]) -> None:
    """Tables and the zip."""
    for rows in Rows:
        for name, write in (("csv", write_csv), ("parquet", write_parquet)):

            def table(rows: Rows = rows, write: Callable[..., None] = write) -> None:
                write(Nowhere(), COLUMNS[rows], table_rows(games, rows))

            measured(f"{name}, a row a {rows.value[:-1]}", len(games), table)
    settings = pb.TournamentSettings(
        bots=["ada", "bob"],
        variant=variant_to_proto(GOMOKU),
        time_control=time_control_to_proto(TimeControl.parse("600")),
    )
    found = pb.GetTournamentResponse(tournament=pb.Tournament(settings=settings))
    measured("zip", len(games), lambda: write_archive(Nowhere(), found, games))


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = Random(options.seed)
    games = [made_game(number, rng) for number in range(1, options.games + 1)]
    print("| | games/s of processor time | peak MiB |\n|---|---|---|")
    measure_formats(games)
    measure_exports(games)


if __name__ == "__main__":
    main()
