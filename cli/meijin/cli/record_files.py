"""Files of games on the disk: read in any format, and written whole or not at all."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import IO

from meijin.cli.errors import CommandError, unusable_file
from meijin.cli.output import print_file, replaced
from meijin.game import GameRecord, Variant
from meijin.game.records.file import (
    FileFormat,
    ReadGame,
    format_of_name,
    format_of_start,
    read_games,
    write_game,
)
from meijin.web.replay.replay_page import replay_page

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
        """Whether it has rows instead of records."""
        return self in {OutputFormat.CSV, OutputFormat.PARQUET}

    @property
    def holds_many(self) -> bool:
        """Whether a file may hold more than one game."""
        return self not in {OutputFormat.PSQ, OutputFormat.HTML}


def written(record: GameRecord, form: OutputFormat) -> str:
    """A record as a text.

    Raises:
        CommandError: the format can't hold it.
    """
    if form is OutputFormat.HTML:
        return replay_page(record)
    try:
        return write_game(record, FileFormat(form.value))
    except ValueError as error:
        raise CommandError(str(error)) from None


def games_in(path: Path, form: FileFormat | None, variant: Variant | None) -> Iterator[ReadGame]:
    """The games of a file, whose format is found out where it is not told.

    Raises:
        CommandError: the file can't be read.
    """
    try:
        with path.open("rb") as file:
            start = file.read(CHUNK)
            found = form or format_of_name(path.name) or format_of_start(start)
            yield from read_games(_chunks(start, file), found, variant)
    except OSError as error:
        raise unusable_file(error) from None
    except ValueError as error:
        raise CommandError(f"{path}: {error}") from None


def _chunks(start: bytes, file: IO[bytes]) -> Iterator[bytes]:
    yield start
    yield from iter(lambda: file.read(CHUNK), b"")


@contextmanager
def new_file(path: Path, *, force: bool) -> Iterator[IO[bytes]]:
    """A file to be written, which is there when all of it is; not in another's place.

    Raises:
        CommandError: there is one already, or it can't be written.
    """
    if path.exists() and not force:
        raise CommandError(f"{path} exists; give another name, or --force to write over it")
    try:
        with replaced(path) as file:
            yield file
    except OSError as error:
        raise unusable_file(error) from None


@contextmanager
def text_output(path: Path | None, *, force: bool) -> Iterator[Callable[[str], None]]:
    """Where texts go, one behind the other: into a new file, or to standard output.

    Raises:
        CommandError: the file is there already, or can't be written.
    """
    if path is None:
        yield print_file
        sys.stdout.flush()
        return
    with new_file(path, force=force) as file:
        yield lambda text: (file.write(text.encode()), None)[1]
