"""Games as tables."""

import csv
import io
import tracemalloc
from collections.abc import Callable, Iterator
from copy import deepcopy
from datetime import timedelta
from itertools import repeat

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.made_games import VOID, WON
from tests.web.pages.game_messages import NOON

from meijin.game import TimeControl
from meijin.local import game_tables
from meijin.local.errors import ArenaError
from meijin.local.game_tables import (
    COLUMNS,
    GAME_COLUMNS,
    Rows,
    Value,
    game_row,
    table_rows,
    write_csv,
    write_parquet,
)
from meijin.v1 import game_pb2
from meijin.wire.values import time_control_to_proto

MANY = 5000
both_kinds = pytest.mark.parametrize("rows", list(Rows))
both_writers = pytest.mark.parametrize("write", [write_csv, write_parquet])


def named(*games: game_pb2.Game, rows: Rows = Rows.GAMES) -> list[dict[str, Value]]:
    names = [column.name for column in COLUMNS[rows]]
    return [dict(zip(names, row, strict=True)) for row in table_rows(games, rows)]


def test_a_row_of_a_game() -> None:
    """It has who, what, how it ended and how long it took; nobody has won a void game."""
    row, void = named(WON, VOID)
    assert (row["game_id"], row["tournament_id"], row["white"]) == (1, 5, 'b"o,b')
    assert (row["rule"], row["width"], row["line"]) == ("freestyle", 15, 5)
    assert (row["winner"], row["ending"], row["at_fault"]) == ("black", "five", "nobody")
    assert (row["opening_plies"], row["plies"]) == (2, 9)
    assert (row["black_time_us"], row["white_time_us"]) == (4_000_000, 3_000_000)
    assert (row["start_time"], row["end_time"]) == (NOON, NOON + timedelta(seconds=20))
    assert row["moves"] == "h8i9h9i8h7i7h6i6h5"
    assert (void["winner"], void["ending"], void["at_fault"]) == ("", "void", "server")


def test_a_row_says_what_played() -> None:
    """Options, digest and hardware of both, and where the game belongs."""
    (row,) = named(WON)
    assert row["black_options"] == "depth=4; nodes=3000"
    assert (row["black_digest"], row["black_hardware"]) == ("ab12", "EPYC, 2 cores")
    assert (row["black_threads"], row["black_memory_bytes"]) == (2, 2**40)
    assert (row["white_threads"], row["white_memory_bytes"]) == (None, None)
    assert (row["white_options"], row["white_digest"], row["white_hardware"]) == ("", "", "")
    assert (row["round"], row["pair"], row["seed"], row["release"]) == (5, 3, 7, "0.1.0")
    assert row["opening"] == "h8i9"


def test_white_s_clock_has_a_column() -> None:
    """It is black's, unless a match gave each side its own."""
    game = deepcopy(WON)
    game.white_time_control.CopyFrom(time_control_to_proto(TimeControl.parse("5")))
    clocks = [(row["time_control"], row["white_time_control"]) for row in named(WON, game)]
    assert clocks == [("60+0.5", "60+0.5"), ("60+0.5", "5")]


def test_rows_of_moves() -> None:
    """The opening has no times, and who said nothing no analysis."""
    rows = named(WON, rows=Rows.MOVES)
    assert "".join(str(row["cell_name"]) for row in rows) == "h8i9h9i8h7i7h6i6h5"
    assert [row["side"] for row in rows[:3]] == ["black", "white", "black"]
    assert (rows[1]["is_opening"], rows[1]["time_us"], rows[1]["raw_time_us"]) == (True, None, None)
    assert (rows[2]["time_us"], rows[2]["raw_time_us"]) == (1_000_000, 2_000_000)
    assert (rows[2]["score"], rows[2]["depth"], rows[2]["pv"]) == (-7, 3, "h9i8")
    assert rows[2]["nodes"] == 2**63 - 1
    assert (rows[3]["score"], rows[3]["pv"]) == (None, None)


@both_kinds
def test_csv_is_read_back(rows: Rows) -> None:
    """With quotes, line breaks and all; null is empty and a flag true or false."""
    file = io.BytesIO()
    write_csv(file, COLUMNS[rows], table_rows([WON, VOID], rows))
    read = list(csv.DictReader(io.StringIO(file.getvalue().decode(), newline="")))
    assert [row["game_id"] for row in read] == [
        str(row["game_id"]) for row in named(WON, VOID, rows=rows)
    ]
    if rows is Rows.GAMES:
        assert (read[0]["white"], read[1]["detail"]) == ('b"o,b', "a\nline, =1+1")
        assert (read[0]["is_repeat"], read[0]["start_time"]) == ("false", NOON.isoformat())
    else:
        assert (read[0]["time_us"], read[0]["is_opening"], read[2]["score"]) == ("", "true", "-7")


@both_kinds
def test_pyarrow_reads_parquet(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every value comes back with its type, over the bounds of row groups."""
    monkeypatch.setattr(game_tables, "ROWS_AT_ONCE", 2)
    file = io.BytesIO()
    write_parquet(file, COLUMNS[rows], table_rows([WON, VOID], rows))
    table = pq.read_table(file)
    assert table.to_pylist() == named(WON, VOID, rows=rows)
    assert pq.ParquetFile(file).num_row_groups == -(-table.num_rows // 2)
    for column in COLUMNS[rows]:
        assert table.schema.field(column.name).metadata[b"description"].decode() == column.text


def test_a_table_without_games_has_its_columns() -> None:
    names, files = [column.name for column in GAME_COLUMNS], (io.BytesIO(), io.BytesIO())
    write_parquet(files[0], GAME_COLUMNS, ())
    assert pq.read_table(files[0]).column_names == names
    write_csv(files[1], GAME_COLUMNS, ())
    assert files[1].getvalue().decode() == ",".join(names) + "\n"


class Nowhere(io.RawIOBase):
    """A file that keeps nothing."""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        return len(data)  # type: ignore[arg-type]


@both_writers
def test_rows_are_written_as_they_come(
    write: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any number of games takes the memory of a row group, be it Python's or Arrow's."""
    monkeypatch.setattr(game_tables, "ROWS_AT_ONCE", 500)
    row = game_row(WON)

    def peak(count: int) -> int:
        tracemalloc.start()
        write(Nowhere(), GAME_COLUMNS, repeat(row, count))
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    before = pa.total_allocated_bytes()
    peak(1)
    assert peak(MANY) < 2 * peak(game_tables.ROWS_AT_ONCE) + 100_000
    assert pa.total_allocated_bytes() - before < 1_000_000


def test_parquet_without_pyarrow_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ArenaError, match=r"pip install 'meijin\[parquet\]'"):
        write_parquet(io.BytesIO(), GAME_COLUMNS, ())


@both_writers
def test_an_error_between_rows_is_passed_on(write: Callable[..., None]) -> None:
    def failing() -> Iterator[tuple[Value, ...]]:
        yield game_row(WON)
        raise ArenaError("the server has gone")

    with pytest.raises(ArenaError, match="the server has gone"):
        write(io.BytesIO(), GAME_COLUMNS, failing())
