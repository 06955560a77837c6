"""Files of games: which format they have, each of their games, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import PurePath

from meijin.game.records.json import from_json, to_json
from meijin.game.records.psq import from_psq, to_psq
from meijin.game.records.record import GameRecord, format_position, from_position
from meijin.game.records.rif import RIF_VARIANT, read_rif
from meijin.game.records.sgf import from_sgf, to_sgf
from meijin.game.records.sgf_tree import split_games
from meijin.game.rules.variant import Variant

MAX_TEXT_BYTES = 64 << 20
"""Of a file that is read whole, which all but RIF are."""
MAX_GAMES = 1_000_000
"""Of such a file."""
MAX_GAME_CHARS = 1 << 20
"""Of one game in a text: with whole analyses the longest take a third of it."""


class FileFormat(Enum):
    """A format that games are written in, by the ending of its files' names."""

    SGF = "sgf"
    """Smart Game Format, FF[4] GM[4]; a file may hold many games."""
    PSQ = "psq"
    """Piskvork's; one game a file."""
    POSITIONS = "pos"
    """Position strings; a game a line."""
    JSON = "json"
    """Our own, which holds everything; a game a line, or one in any number of lines."""
    RIF = "rif"
    """RenjuNet's XML; read alone."""

    @property
    def holds_many(self) -> bool:
        """Whether a file may hold more than one game."""
        return self is not FileFormat.PSQ


_ENDINGS = {f".{each.value}": each for each in FileFormat} | {
    ".jsonl": FileFormat.JSON,
    ".xml": FileFormat.RIF,
    ".txt": FileFormat.POSITIONS,
}


_LINE_BREAK = re.compile(r"\r\n?|\n")
"""What `str.splitlines` takes for one beside these may stand in a name."""


def format_of_name(name: str) -> FileFormat | None:
    """The format that a file's name tells; ``None`` where it tells none."""
    return _ENDINGS.get(PurePath(name).suffix.lower())


def format_of_start(start: bytes) -> FileFormat:
    """The format of a file that begins so; position strings are what is nothing else."""
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    signs = {b"Piskvorky": FileFormat.PSQ, b"<": FileFormat.RIF, b"{": FileFormat.JSON}
    for sign, found in signs.items():
        if text.startswith(sign):
            return found
    return FileFormat.SGF if b"(;" in text else FileFormat.POSITIONS


@dataclass(frozen=True, slots=True)
class ReadGame:
    """One game of a file: a record, or the reason why it is none."""

    place: str
    """Where it stands in the file, such as ``game 2`` or ``line 5``."""
    record: GameRecord | None
    error: str = ""


def read_games(
    chunks: Iterable[bytes], form: FileFormat, variant: Variant | None = None
) -> Iterator[ReadGame]:
    """The games of a file, one after another, from its bytes.

    Args:
        variant: What is played, where the format does not tell it.

    Raises:
        ValueError: the file itself can't be read; games before the place have been given out.
    """
    if form is FileFormat.RIF:
        for number, game in enumerate(read_rif(chunks), start=1):
            read = partial(game.record, variant or RIF_VARIANT)
            yield _read(f"game {game.game_id or number}", read)
        return
    text = _text(chunks)
    if form is FileFormat.POSITIONS and "\0" in text:
        raise ValueError("the file is no text, which files of games are")  # else a line each
    for number, (place, part) in enumerate(_split(text, form)):
        if number == MAX_GAMES:
            raise ValueError(f"the file holds more than {MAX_GAMES} games")
        yield _read(place, partial(_parse, part, form, variant or Variant()))


def _text(chunks: Iterable[bytes]) -> str:
    """All of a text, within its limits; bytes that are not UTF-8 are read as Latin-1."""
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > MAX_TEXT_BYTES:
            raise ValueError(f"the file is larger than {MAX_TEXT_BYTES >> 20} MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")  # of old Windows programs, which say nothing of it


def _split(text: str, form: FileFormat) -> Iterator[tuple[str, str]]:
    if form is FileFormat.SGF:
        for number, part in enumerate(split_games(text, MAX_GAME_CHARS), start=1):
            yield f"game {number}", part
    elif form is FileFormat.PSQ or (form is FileFormat.JSON and _is_one_object(text)):
        yield "game 1", text
    else:
        for number, line in enumerate(_LINE_BREAK.split(text), start=1):
            if line.strip() and not line.startswith("#"):
                yield f"line {number}", line


def _is_one_object(text: str) -> bool:
    """Whether a JSON text is laid out over several lines."""
    first, _, _ = text.strip().partition("\n")
    return not first.rstrip().endswith("}")


def _read(place: str, read: Callable[[], GameRecord]) -> ReadGame:
    try:
        return ReadGame(place, read())
    except ValueError as error:
        return ReadGame(place, None, str(error))


def _parse(text: str, form: FileFormat, variant: Variant) -> GameRecord:
    if len(text) > MAX_GAME_CHARS:
        raise ValueError(f"the game is longer than {MAX_GAME_CHARS} characters")
    match form:
        case FileFormat.SGF:
            return from_sgf(text)
        case FileFormat.PSQ:
            return from_psq(text)
        case FileFormat.JSON:
            return from_json(text)
    return from_position(text, variant)


def write_game(record: GameRecord, form: FileFormat) -> str:
    """A record as a text that ends with a line break.

    Where the format holds many games, such texts one behind the other are a file.

    Raises:
        ValueError: the format can't hold it, or is read alone.
    """
    match form:
        case FileFormat.SGF:
            return to_sgf(record)
        case FileFormat.PSQ:
            return to_psq(record)
        case FileFormat.POSITIONS:
            return format_position(record.moves, record.variant) + "\n"
        case FileFormat.JSON:
            return to_json(record) + "\n"
    raise ValueError(f"games are not written as {form.value}; write sgf, psq, pos or json")
