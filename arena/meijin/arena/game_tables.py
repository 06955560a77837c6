"""Games as tables for statistics: a row a game, or a row a move; docs/records.md has the columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, StrEnum
from itertools import islice
from typing import IO, TYPE_CHECKING, TypeAlias

from google.protobuf.duration_pb2 import Duration

from meijin.arena.errors import ArenaError
from meijin.game import cell_name, decode_moves
from meijin.game.records.analysis import cells_on_board
from meijin.game.records.position_string import format_position
from meijin.v1 import game_pb2
from meijin.wire import outcome_from_proto, time_control_from_proto, variant_from_proto

if TYPE_CHECKING:
    import pyarrow as pa

Value: TypeAlias = int | str | bool | datetime | None

ROWS_AT_ONCE = 10_000
"""Rows that are kept in memory, and that a row group of Parquet has."""
SIDES = ("black", "white")


class Rows(StrEnum):
    """What a row is."""

    GAMES = "games"
    MOVES = "moves"


class Kind(Enum):
    """The type of a column's values."""

    INTEGER = "int64"
    TEXT = "string"
    FLAG = "bool"
    TIME = "timestamp"
    """An instant in UTC, to the microsecond."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    kind: Kind
    text: str
    """What it says, in a line."""


_TIME_US = "Microseconds that {} took, as charged"
GAME_COLUMNS = (
    Column("game_id", Kind.INTEGER, "The game's number on its server"),
    Column("tournament_id", Kind.INTEGER, "The number of its tournament"),
    Column("black", Kind.TEXT, "The bot that began"),
    Column("black_version", Kind.TEXT, "The label of its version; may be empty"),
    Column("white", Kind.TEXT, "The other bot"),
    Column("white_version", Kind.TEXT, "The label of its version; may be empty"),
    Column("rule", Kind.TEXT, "The rule's name, such as freestyle"),
    Column("width", Kind.INTEGER, "Columns of the board"),
    Column("height", Kind.INTEGER, "Rows of the board"),
    Column("line", Kind.INTEGER, "Stones in a row that win"),
    Column("time_control", Kind.TEXT, "In seconds, such as 60+0.5; black's where they differ"),
    Column("white_time_control", Kind.TEXT, "White's"),
    Column("winner", Kind.TEXT, "black, white or draw; empty for a void game"),
    Column("ending", Kind.TEXT, "Why it ended, such as five, time or void"),
    Column("at_fault", Kind.TEXT, "Whose fault that was; nobody where there is none"),
    Column("detail", Kind.TEXT, "A sentence of the server's or the bot's; may be empty"),
    Column(
        "is_repeat",
        Kind.FLAG,
        "Whether it is not rated, being an earlier game again; its ladder marks it soon after its end",
    ),
    Column("opening_plies", Kind.INTEGER, "Moves that were given to both sides"),
    Column("plies", Kind.INTEGER, "Moves in all"),
    Column("black_time_us", Kind.INTEGER, _TIME_US.format("black's moves")),
    Column("white_time_us", Kind.INTEGER, _TIME_US.format("white's moves")),
    Column("start_time", Kind.TIME, "When it started, in UTC"),
    Column("end_time", Kind.TIME, "When it ended, in UTC"),
    Column("moves", Kind.TEXT, "All moves as a position string, such as h8i9"),
)
MOVE_COLUMNS = (
    Column("game_id", Kind.INTEGER, "The game's number on its server"),
    Column("ply", Kind.INTEGER, "From 0 on; black's are even"),
    Column("side", Kind.TEXT, "black or white"),
    Column("cell", Kind.INTEGER, "row * width + column, row 0 on top"),
    Column("cell_name", Kind.TEXT, "Such as h8, row 1 at the bottom"),
    Column("is_opening", Kind.FLAG, "Whether it was given to both sides"),
    Column("time_us", Kind.INTEGER, _TIME_US.format("it") + "; null in the opening"),
    Column("raw_time_us", Kind.INTEGER, "Microseconds from request to answer; null in the opening"),
    Column("score", Kind.INTEGER, "The bot's, in its own unit; null where it said nothing"),
    Column("depth", Kind.INTEGER, "Plies that it searched; likewise"),
    Column("nodes", Kind.INTEGER, "Positions that it visited; likewise"),
    Column("pv", Kind.TEXT, "Its principal variation as a position string; likewise"),
)
COLUMNS = {Rows.GAMES: GAME_COLUMNS, Rows.MOVES: MOVE_COLUMNS}


def table_rows(games: Iterable[game_pb2.Game], rows: Rows) -> Iterator[tuple[Value, ...]]:
    """The rows of ended games, in the order of their columns."""
    for game in games:
        if rows is Rows.GAMES:
            yield game_row(game)
        else:
            yield from move_rows(game)


def game_row(game: game_pb2.Game) -> tuple[Value, ...]:
    """The row of one game."""
    variant = variant_from_proto(game.variant)
    outcome = outcome_from_proto(game.outcome)
    winner = outcome.result.winner
    is_draw = winner is None and game.state == game_pb2.GAME_STATE_FINISHED
    return (
        int(game.game_id),
        int(game.tournament_id),
        game.black,
        game.black_version,
        game.white,
        game.white_version,
        variant.rule.name,
        variant.width,
        variant.height,
        variant.line,
        str(time_control_from_proto(game.time_control)),
        str(time_control_from_proto(_white_control(game))),
        "draw" if is_draw else "" if winner is None else winner.name.lower(),
        outcome.ending.value,
        outcome.at_fault.value,
        outcome.detail,
        game.repeat,
        game.opening_plies,
        len(game.moves),
        *(sum(_us(move.charged_time) for move in game.moves[side::2]) for side in (0, 1)),
        game.start_time.ToDatetime(UTC),
        game.end_time.ToDatetime(UTC),
        format_position((move.cell for move in game.moves), variant),
    )


def _white_control(game: game_pb2.Game) -> game_pb2.TimeControl:
    if game.HasField("white_time_control"):
        return game.white_time_control
    return game.time_control


def move_rows(game: game_pb2.Game) -> Iterator[tuple[Value, ...]]:
    """The rows of a game's moves."""
    variant = variant_from_proto(game.variant)
    key = int(game.game_id)
    for ply, move in enumerate(game.moves):
        is_opening = ply < game.opening_plies
        times = (None, None) if is_opening else (_us(move.charged_time), _us(move.raw_time))
        said: tuple[Value, ...] = (None,) * 4
        if move.HasField("analysis"):
            analysis = move.analysis
            pv = format_position(cells_on_board(decode_moves(analysis.pv), variant), variant)
            said = (analysis.score, analysis.depth, _int64(analysis.nodes), pv)
        name = cell_name(move.cell, variant)
        yield (key, ply, SIDES[ply % 2], move.cell, name, is_opening, *times, *said)


def _us(time: Duration) -> int:
    return time.ToNanoseconds() // 1000


def _int64(number: int) -> int:
    """The largest of what a column holds, where a bot claims more."""
    return min(number, 2**63 - 1)


def write_csv(
    file: IO[bytes], columns: Sequence[Column], rows: Iterable[tuple[Value, ...]]
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
    file: IO[bytes], columns: Sequence[Column], rows: Iterable[tuple[Value, ...]]
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
    types: dict[Kind, Callable[[], pa.DataType]] = {
        Kind.INTEGER: pa.int64,
        Kind.TEXT: pa.string,
        Kind.FLAG: pa.bool_,
        Kind.TIME: lambda: pa.timestamp("us", tz="UTC"),
    }
    schema = pa.schema(
        [
            pa.field(each.name, types[each.kind](), metadata={"description": each.text})
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
