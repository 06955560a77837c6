"""Games as tables for statistics: a row a game, or a row a move; docs/columns.md has the columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from importlib import import_module
from itertools import islice
from types import ModuleType
from typing import IO, Any, TypeAlias

from google.protobuf.duration_pb2 import Duration

from meijin.game import cell_name, decode_moves
from meijin.game.records.analysis import cells_on_board
from meijin.game.records.record import format_position
from meijin.local.errors import ArenaError
from meijin.v1 import game_pb2
from meijin.wire.values import (
    outcome_from_proto,
    time_control_from_proto,
    told_numbers,
    variant_from_proto,
)

Value: TypeAlias = int | str | bool | datetime | None

ROWS_AT_ONCE = 10_000
"""Rows that are kept in memory, and that a row group of Parquet has."""
SIDES = ("black", "white")
MAX_INT64 = 2**63 - 1
"""The largest that a column holds; a bot may claim more."""


class Rows(StrEnum):
    """What a row is."""

    GAMES = "games"
    MOVES = "moves"


INTEGER, TEXT, FLAG, TIME = "int64", "string", "bool", "timestamp"
"""Types of columns; a time is an instant in UTC, to the microsecond."""


@dataclass(frozen=True, slots=True)
class DataColumn:
    """A column of a table."""

    name: str
    kind: str
    text: str
    """What it says, in a line."""


def _side_columns(side: str, text: str) -> tuple[DataColumn, ...]:
    return (
        DataColumn(side, TEXT, text),
        DataColumn(f"{side}_version", TEXT, "The label of its version; may be empty"),
        DataColumn(f"{side}_options", TEXT, "Its options, such as depth=4; nodes=3000"),
        DataColumn(f"{side}_digest", TEXT, "That of its program and options"),
        DataColumn(f"{side}_hardware", TEXT, "What it said that it runs on; may be empty"),
        DataColumn(f"{side}_threads", INTEGER, "Threads that it was told to use; null if unknown"),
        DataColumn(f"{side}_memory_bytes", INTEGER, "Memory that it was told to keep to; likewise"),
    )


_TIME_US = "Microseconds that {} took, as charged"
GAME_COLUMNS = (
    DataColumn("game_id", INTEGER, "The game's number on its server"),
    DataColumn("tournament_id", INTEGER, "The number of its tournament"),
    DataColumn("round", INTEGER, "Its round; its number in a tournament without rounds"),
    DataColumn("pair", INTEGER, "Its pair: one opening with both colours; 0 for none"),
    DataColumn("seed", INTEGER, "The tournament's, by which openings were dealt"),
    DataColumn("release", TEXT, "That of Meijin; empty where it is not known"),
    *_side_columns("black", "The bot that began"),
    *_side_columns("white", "The other bot"),
    DataColumn("rule", TEXT, "The rule's name, such as freestyle"),
    DataColumn("width", INTEGER, "Columns of the board"),
    DataColumn("height", INTEGER, "Rows of the board"),
    DataColumn("line", INTEGER, "Stones in a row that win"),
    DataColumn("time_control", TEXT, "In seconds, such as 60+0.5; black's where they differ"),
    DataColumn("white_time_control", TEXT, "White's"),
    DataColumn("winner", TEXT, "black, white or draw; empty for a void game"),
    DataColumn("ending", TEXT, "Why it ended, such as five, time or void"),
    DataColumn("at_fault", TEXT, "Whose fault that was; nobody where there is none"),
    DataColumn("detail", TEXT, "A sentence of the server's or the bot's; may be empty"),
    DataColumn(
        "is_repeat",
        FLAG,
        "Whether it is not rated, being an earlier game again; its ladder marks it soon after its end",
    ),
    DataColumn("opening", TEXT, "The moves that were given to both sides, such as h8i9"),
    DataColumn("opening_plies", INTEGER, "How many these are"),
    DataColumn("plies", INTEGER, "Moves in all"),
    DataColumn("black_time_us", INTEGER, _TIME_US.format("black's moves")),
    DataColumn("white_time_us", INTEGER, _TIME_US.format("white's moves")),
    DataColumn("start_time", TIME, "When it started, in UTC"),
    DataColumn("end_time", TIME, "When it ended, in UTC"),
    DataColumn("moves", TEXT, "All moves as a position string, such as h8i9"),
)
MOVE_COLUMNS = (
    DataColumn("game_id", INTEGER, "The game's number on its server"),
    DataColumn("ply", INTEGER, "From 0 on; black's are even"),
    DataColumn("side", TEXT, "black or white"),
    DataColumn("cell", INTEGER, "row * width + column, row 0 on top"),
    DataColumn("cell_name", TEXT, "Such as h8, row 1 at the bottom"),
    DataColumn("is_opening", FLAG, "Whether it was given to both sides"),
    DataColumn("time_us", INTEGER, _TIME_US.format("it") + "; null in the opening"),
    DataColumn("raw_time_us", INTEGER, "Microseconds from request to answer; null in the opening"),
    DataColumn(
        "cpu_time_us", INTEGER, "Microseconds of processor time; null where no host measured it"
    ),
    DataColumn("score", INTEGER, "The bot's, in its own unit; null where it said nothing"),
    DataColumn("depth", INTEGER, "Plies that it searched; likewise"),
    DataColumn("nodes", INTEGER, "Positions that it visited; likewise"),
    DataColumn("pv", TEXT, "Its principal variation as a position string; likewise"),
)
COLUMNS = {Rows.GAMES: GAME_COLUMNS, Rows.MOVES: MOVE_COLUMNS}


def table_rows(games: Iterable[game_pb2.Game], rows: Rows) -> Iterator[tuple[Value, ...]]:
    for game in games:
        if rows is Rows.GAMES:
            yield game_row(game)
        else:
            yield from move_rows(game)


def game_row(game: game_pb2.Game) -> tuple[Value, ...]:
    variant = variant_from_proto(game.variant)
    outcome = outcome_from_proto(game.outcome)
    winner = outcome.result.winner
    is_draw = winner is None and game.state == game_pb2.GAME_STATE_FINISHED
    has_two_clocks = game.HasField("white_time_control")
    white_control = game.white_time_control if has_two_clocks else game.time_control
    return (
        int(game.game_id),
        int(game.tournament_id),
        game.round,
        game.pair,
        game.seed,
        game.release,
        game.black,
        game.black_version,
        *_engine(game.black_engine),
        game.white,
        game.white_version,
        *_engine(game.white_engine),
        variant.rule.name,
        variant.width,
        variant.height,
        variant.line,
        str(time_control_from_proto(game.time_control)),
        str(time_control_from_proto(white_control)),
        "draw" if is_draw else "" if winner is None else winner.name.lower(),
        outcome.ending.value,
        outcome.at_fault.value,
        outcome.detail,
        game.repeat,
        format_position((move.cell for move in game.moves[: game.opening_plies]), variant),
        game.opening_plies,
        len(game.moves),
        *(sum(_us(move.charged_time) for move in game.moves[side::2]) for side in (0, 1)),
        game.start_time.ToDatetime(UTC),
        game.end_time.ToDatetime(UTC),
        format_position((move.cell for move in game.moves), variant),
    )


def _engine(engine: game_pb2.GameEngine) -> tuple[Value, ...]:
    return (
        "; ".join(engine.configuration),
        engine.digest,
        engine.hardware,
        engine.threads if engine.HasField("threads") else None,
        engine.memory_bytes if engine.HasField("memory_bytes") else None,
    )


def move_rows(game: game_pb2.Game) -> Iterator[tuple[Value, ...]]:
    variant = variant_from_proto(game.variant)
    key = int(game.game_id)
    for ply, move in enumerate(game.moves):
        is_opening = ply < game.opening_plies
        times = (None, None) if is_opening else (_us(move.charged_time), _us(move.raw_time))
        cpu_us = _us(move.cpu_time) if move.HasField("cpu_time") else None
        said: tuple[Value, ...] = (None,) * 4
        if move.HasField("analysis"):
            analysis = move.analysis
            pv = format_position(cells_on_board(decode_moves(analysis.pv), variant), variant)
            score, depth, nodes = told_numbers(analysis)
            said = (score, depth, None if nodes is None else min(nodes, MAX_INT64), pv)
        name = cell_name(move.cell, variant)
        yield (key, ply, SIDES[ply % 2], move.cell, name, is_opening, *times, cpu_us, *said)


def _us(time: Duration) -> int:
    return time.ToNanoseconds() // 1000


def write_csv(
    file: IO[bytes], columns: Sequence[DataColumn], rows: Iterable[tuple[Value, ...]]
) -> None:
    """Write a table as RFC 4180 has it, in UTF-8; null is empty and a flag true or false."""
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    for row in rows:
        writer.writerow(map(_csv_value, row))
    text.flush()
    text.detach()


def _csv_value(value: Value) -> Value:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, datetime) else value


def write_parquet(
    file: IO[bytes], columns: Sequence[DataColumn], rows: Iterable[tuple[Value, ...]]
) -> None:
    """Write a table in row groups, each of which is in memory and no more.

    Raises:
        ArenaError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - 170 MB that no other command needs
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ModuleNotFoundError:
        raise ArenaError(
            "Parquet needs pyarrow; run: pip install 'meijin[parquet]', or take --format csv"
        ) from None
    types = {
        INTEGER: pa.int64(),
        TEXT: pa.string(),
        FLAG: pa.bool_(),
        TIME: pa.timestamp("us", tz="UTC"),
    }
    schema = pa.schema(
        [
            pa.field(each.name, types[each.kind], metadata={"description": each.text})
            for each in columns
        ]
    )
    source = iter(rows)
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while group := list(islice(source, ROWS_AT_ONCE)):
            values = zip(*group, strict=True)
            arrays = [
                pa.array(each, field.type) for each, field in zip(values, schema, strict=True)
            ]
            writer.write_batch(pa.record_batch(arrays, schema=schema))


LIBRARIES = ("pandas", "polars")
"""In the order in which they are looked for."""


def data_frame(columns: Sequence[DataColumn], rows: Sequence[tuple[Value, ...]]) -> Any:  # noqa: ANN401 - of a library that need not be there
    """A data frame with these columns, each a list of its values.

    Raises:
        ArenaError: no library is installed that has data frames.
    """
    for name in LIBRARIES:
        try:
            library = import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
        else:
            values = {
                column.name: _series(library, column, [row[place] for row in rows])
                for place, column in enumerate(columns)
            }
            return library.DataFrame(values)
    raise ArenaError("a data frame needs pandas or polars; run: pip install pandas")


def _series(library: ModuleType, column: DataColumn, values: Sequence[Value]) -> Any:  # noqa: ANN401 - as above
    """A column's values; pandas alone would make floats of integers some of which are missing."""
    if library.__name__ == "pandas" and column.kind is INTEGER and None in values:
        return library.array(values, dtype="Int64")
    return values
