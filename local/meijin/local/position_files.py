"""Files of positions: position strings, JSON lines, or games with all of their positions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO, TypeAlias

from meijin.game import Board, GameRecord, Variant
from meijin.game.records.file import FileFormat, format_of_name, format_of_start, read_games
from meijin.game.records.json import FORMAT, from_json
from meijin.game.records.record import parse_position

Label: TypeAlias = "str | int | None"

CHUNK = 1 << 16
MAX_LINE = 1 << 20
"""Bytes of one; the longest game takes a third of them."""


@dataclass(frozen=True, slots=True)
class FilePosition:
    """A position of a file, or the reason why a part of the file is none."""

    place: str
    """Such as ``line 3`` or ``game 2, ply 7``."""
    board: Board | None
    error: str = ""
    label: Label = None
    """The ``id`` of a JSON line."""


def read_positions(file: BinaryIO, name: str, variant: Variant) -> Iterator[FilePosition]:
    """The positions of a file, those of lines as soon as each line is there.

    A position string is the position after its moves; of a game every position in which a move
    was chosen is taken.

    Args:
        file: Read to its end.
        name: Its ending tells the format, else its first line does.
        variant: What is played where the file doesn't say so.

    Raises:
        ValueError: the file itself can't be read.
    """
    start = [file.readline(MAX_LINE)]
    while start[-1] and not start[-1].strip():
        start.append(file.readline(MAX_LINE))
    form = format_of_name(name) or format_of_start(start[-1])
    has_lines = form is FileFormat.JSON and start[-1].rstrip().endswith(b"}")
    if form is FileFormat.POSITIONS or has_lines:
        yield from _of_lines(chain(start, iter(lambda: file.readline(MAX_LINE), b"")), variant)
        return
    chunks = chain(start, iter(lambda: file.read(CHUNK), b""))
    for game in read_games(chunks, form, variant):
        if game.record is None:
            yield FilePosition(game.place, None, game.error)
        else:
            yield from _of_game(game.place, game.record)


def _of_lines(lines: Iterable[bytes], variant: Variant) -> Iterator[FilePosition]:
    for number, line in enumerate(lines, start=1):
        place = f"line {number}"
        try:
            text = line.decode("utf-8-sig").strip()
            if not text or text.startswith("#"):
                continue
            if not text.startswith("{"):
                yield FilePosition(place, _board(text, variant))
                continue
            found = _object(text)
            if found.get("format") == FORMAT:
                yield from _of_game(place, from_json(text))
            else:
                yield _of_object(place, found, variant)
        except ValueError as error:
            yield FilePosition(place, None, str(error))


def _object(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON: {error}") from None
    assert isinstance(found, dict)  # it begins with a brace
    return found


def _of_object(place: str, found: dict[str, object], variant: Variant) -> FilePosition:
    position, label = found.get("position"), found.get("id")
    if not isinstance(position, str):
        raise ValueError('a line needs a field "position" with a text such as h8i9')  # noqa: TRY004 - a file is wrong
    if label is not None and not isinstance(label, str | int):
        raise ValueError('"id" is neither a text nor an integer')
    if "variant" in found:
        variant = Variant.parse(str(found["variant"]))
    return FilePosition(place, _board(position, variant), label=label)


def _board(text: str, variant: Variant) -> Board:
    board = Board.from_moves(parse_position(text, variant), variant)
    if board.is_over:
        raise ValueError("the game is over")
    return board


def _of_game(place: str, record: GameRecord) -> Iterator[FilePosition]:
    board = Board(record.variant)
    for ply, cell in enumerate(record.moves):
        if ply >= record.opening_plies:
            yield FilePosition(f"{place}, ply {ply}", board.copy())
        board.play(cell)
