"""Opening files: books of openings in the forms that the field has.

A file is one of

- lines of cells, by names or numbers: ``h8 i9 j7``, ``7,7 8,6``; or position strings: ``h8i9j7``
- lines of offsets from the centre, as the Gomocup publishes them: ``-1,0, 2,-3, 0,1``; columns go
  right and rows down. Numbers that are all set apart by commas, or one below zero, tell that a
  whole file has them
- games in SGF or RIF, of which the first moves are taken

An empty line means nothing, nor does what stands behind a ``#``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from meijin.game.board.coordinates import cell_at
from meijin.game.openings.opening import Opening, check_opening, distinct, parse_opening
from meijin.game.records.file import FileFormat, format_of_start, read_games
from meijin.game.records.record import parse_position
from meijin.game.rules.variant import Variant

MAX_OPENING_PLIES = 16
"""Of an opening; a longer game is cut."""
MAX_FILE_OPENINGS = 100_000

_PAIR = r"-?[0-9]{1,2}\s*,\s*-?[0-9]{1,2}"
_OFFSETS = re.compile(rf"\s*{_PAIR}(?:\s*,\s*{_PAIR})+\s*,?\s*")
_NEGATIVE = re.compile(r"-[0-9]")
_POSITION = re.compile(r"\s*(?:[A-Za-z][0-9]{1,2}){2,}\s*")


def read_openings(data: bytes, variant: Variant, plies: int | None = None) -> list[Opening]:
    """The openings of a file, in its order; of games, each opening once up to symmetry.

    Args:
        plies: Moves that are taken of a game; all of them when it is ``None``, if they are few
            enough to be an opening.

    Raises:
        ValueError: a line is none, or the opening ends the game; the message names the line.
    """
    form = format_of_start(data)
    if form in {FileFormat.SGF, FileFormat.RIF}:
        found = distinct(_of_games(data, form, variant, plies), variant, set())
    else:
        found = _of_lines(data, variant)
    openings: list[Opening] = []
    for opening in found:
        if len(openings) == MAX_FILE_OPENINGS:
            raise ValueError(f"there are more than {MAX_FILE_OPENINGS} openings")
        openings.append(opening)
    if not openings:
        raise ValueError("there is no opening")
    return openings


def _of_lines(data: bytes, variant: Variant) -> Iterator[Opening]:
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ValueError("it is no text; give a file with an opening a line") from None
    lines = [line.partition("#")[0] for line in lines]
    has_offsets = any(_OFFSETS.fullmatch(line) or _NEGATIVE.search(line) for line in lines)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            opening = _offsets(line, variant) if has_offsets else _cells(line, variant)
            _check(opening, variant)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
        yield opening


def _cells(line: str, variant: Variant) -> Opening:
    if _POSITION.fullmatch(line):
        return parse_position(line, variant)
    return parse_opening(line, variant)


def _offsets(line: str, variant: Variant) -> Opening:
    """Read columns and rows from the centre: of an even side, the cell behind the middle."""
    if not _OFFSETS.fullmatch(line) and not re.fullmatch(rf"\s*{_PAIR}\s*,?\s*", line):
        raise ValueError(f'"{line[:40]}" has no offsets; write them like "-1,0, 2,-3"')
    numbers = [int(number) for number in re.findall(r"-?[0-9]+", line)]
    column, row = variant.width // 2, variant.height // 2
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return tuple(cell_at(column + right, row + down, variant) for right, down in pairs)


def _of_games(
    data: bytes, form: FileFormat, variant: Variant, plies: int | None
) -> Iterator[Opening]:
    for found in read_games([data], form, variant):
        record = found.record
        if record is None:
            raise ValueError(f"{found.place}: {found.error}")
        if record.variant.size != variant.size:
            raise ValueError(f"{found.place}: it is of {record.variant.size}, not {variant.size}")
        opening = record.moves[:plies]
        try:
            _check(opening, variant)
        except ValueError as error:
            raise ValueError(f"{found.place}: {error}") from error
        yield opening


def _check(opening: Opening, variant: Variant) -> None:
    if len(opening) > MAX_OPENING_PLIES:
        raise ValueError(
            f"{len(opening)} moves are more than an opening's {MAX_OPENING_PLIES}; say how many "
            "to take"
        )
    check_opening(opening, variant)
