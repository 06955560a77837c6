"""Games as files: read in any format, exported from a server, and converted."""

from collections.abc import Iterator
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.command import option
from meijin.cli.errors import CommandError, unusable_file
from meijin.cli.files import ForceOption, OutputOption, byte_output, text_output
from meijin.cli.game.selection import GameSelection, ended_games, get_game
from meijin.cli.game.source import FolderOption, games_of
from meijin.cli.options import parsed
from meijin.cli.output import console
from meijin.cli.profile import Profile
from meijin.cli.tables import count_text
from meijin.game import GameRecord, Variant
from meijin.game.records.file import (
    FileFormat,
    ReadGame,
    format_of_name,
    format_of_start,
    read_games,
    write_game,
)
from meijin.local.game_tables import COLUMNS, Rows, table_rows, write_csv, write_parquet
from meijin.v1 import game_pb2
from meijin.web.replay.replay_page import replay_page
from meijin.wire.records import record_from_proto

CHUNK = 1 << 16


class OutputFormat(str, Enum):
    """What games are written as."""

    SGF = "sgf"
    """Smart Game Format, which most Go and Gomoku programs open."""
    PSQ = "psq"
    """Piskvork's format, and that of the Gomocup's judge."""
    POS = "pos"
    """The moves alone: ``h8i9j10``."""
    JSON = "json"
    """All that is known, an object a line."""
    HTML = "html"
    """A page that replays the game in a browser."""
    CSV = "csv"
    """Rows of a table as text."""
    PARQUET = "parquet"
    """Rows of a table in columns, for pandas, DuckDB and others."""

    @property
    def is_table(self) -> bool:
        return self in {OutputFormat.CSV, OutputFormat.PARQUET}

    @property
    def holds_many(self) -> bool:
        return self not in {OutputFormat.PSQ, OutputFormat.HTML}


_FORMATS = "|".join(each.value for each in FileFormat)


def _input_format(text: str) -> FileFormat:
    try:
        return FileFormat(text)
    except ValueError:
        raise typer.BadParameter(f'"{text}" is no format; there are {_FORMATS}') from None


InputFormatOption = Annotated[
    FileFormat | None,
    option(
        "What the files are; found out when left out.",
        parser=_input_format,
        metavar=f"[{_FORMATS}]",
        flags=("--from",),
    ),
]
InputVariantOption = Annotated[
    str,
    option(
        "What is played where a format does not tell it: pos, and rif's renju.",
        flags=("--variant",),
    ),
]


def input_variant(text: str) -> Variant | None:
    return parsed(Variant.parse, text) if text else None


def games_in(
    path: Path, form: FileFormat | None = None, variant: Variant | None = None
) -> Iterator[ReadGame]:
    """The games of a file, whose format is found out where it is not told."""
    try:
        with path.open("rb") as file:
            start = file.read(CHUNK)
            found = form or format_of_name(path.name) or format_of_start(start)
            rest = iter(lambda: file.read(CHUNK), b"")
            yield from read_games(chain([start], rest), found, variant)
    except OSError as error:
        raise unusable_file(error) from None
    except ValueError as error:
        raise CommandError(f"{path}: {error}") from None


def record_of(source: Path, found: ReadGame) -> GameRecord:
    if found.record is None:
        raise CommandError(f"{source}, {found.place}: {found.error}")
    return found.record


def export(
    profile: Profile,
    game: Annotated[str, typer.Argument(help="The game's number; else choose by options.")] = "",
    form: Annotated[
        OutputFormat,
        option(
            "sgf, psq (Piskvork), pos (h8i9...), json; html: a page that replays one game; "
            "csv and parquet: tables.",
            flags=("--format", "-f"),
        ),
    ] = OutputFormat.SGF,
    rows: Annotated[Rows, "What a row of a table is."] = Rows.GAMES,
    *,
    selection: GameSelection,
    data: FolderOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Write a game for other programs, or all ended games of a selection or a folder, newest first.

    A file appears when all of it is written. docs/records.md has the formats and the columns.
    """
    if game and not selection.is_empty:
        raise CommandError("name a game or choose by options, not both")
    if not game and selection.is_empty and data is None:
        raise CommandError(
            "name a game, or choose with --tournament, --bot, --ladder, --since or --until"
        )
    if not game and not form.holds_many:
        raise CommandError(f"{form.value} holds one game; name it")
    with games_of(profile, data) as source:
        games = [get_game(source, game)] if game else ended_games(source, selection)
        if form.is_table:
            write_table = write_parquet if form is OutputFormat.PARQUET else write_csv
            ended = (game for game in games if game.state != game_pb2.GAME_STATE_RUNNING)
            is_text = form is OutputFormat.CSV
            with byte_output(output, form.value, force=force, is_text=is_text) as file:
                write_table(file, COLUMNS[rows], table_rows(ended, rows))
            return
        with text_output(output, force=force) as write:
            for each in games:
                write(_written(record_from_proto(each), form))


def _written(record: GameRecord, form: OutputFormat) -> str:
    if form is OutputFormat.HTML:
        return replay_page(record)
    return parsed(lambda _: write_game(record, FileFormat(form.value)), form.value)


def convert(
    source: Annotated[Path, typer.Argument(help="A file of games.")],
    target: Annotated[Path, typer.Argument(help="The file to write.")],
    to: Annotated[OutputFormat | None, "What to write; else by the file's name."] = None,
    form: InputFormatOption = None,
    game: Annotated[int | None, option("Only the game of this place, from 1 on.", 1)] = None,
    variant: InputVariantOption = "",
    force: ForceOption = False,
) -> None:
    """Write the games of a file in another format.

    What a format has no room for is lost: docs/records.md says what. A game whose moves are not
    legal stops it, and nothing is written.
    """
    wanted, board = to or _format_of(target), input_variant(variant)
    count = 0
    with text_output(target, force=force) as write:
        for place, found in enumerate(games_in(source, form, board), start=1):
            if game not in {None, place}:
                continue
            record = record_of(source, found)
            count += 1
            if count > 1 and not wanted.holds_many:
                raise CommandError(
                    f"{wanted.value} holds one game, and {source} has more; choose with --game"
                )
            write(_written(record, wanted))
        if not count:
            raise CommandError(f"{source} has no game{f' {game}' if game else ''}")
    console.print(f"{count_text(count)} written to {target}", soft_wrap=True)


def _format_of(path: Path) -> OutputFormat:
    ending = path.suffix.lower().removeprefix(".")
    ending = {"jsonl": "json", "txt": "pos", "htm": "html"}.get(ending, ending)
    formats = {each.value: each for each in OutputFormat if not each.is_table}
    if ending not in formats:
        raise CommandError(f"{path.name} tells no format; say with --to: {', '.join(formats)}")
    return formats[ending]
