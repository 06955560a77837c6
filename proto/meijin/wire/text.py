"""Text of others: control characters, which terminals obey and which mirror what is shown.

Names, labels and ids that hold one are refused; of free texts they are taken out.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone

from meijin.wire.contract import MAX_DISPLAY_NAME

_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # C0, DELETE and C1
    "\u2028\u2029"  # ends of lines
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"  # marks, embeddings and isolates of direction
)


def check_text(text: str) -> str:
    """Return `text` if it has no control character.

    Raises:
        ValueError: it has one; the message says which, and where.
    """
    found = _CONTROLS.search(text)
    if found is not None:
        place = found.start() + 1
        raise ValueError(f"character {place} is a control character, U+{ord(found[0]):04X}")
    return text


def plain_text(text: str) -> str:
    """Free text of one line: a space for the ends of lines and tabs, nothing for other controls."""
    return _CONTROLS.sub(lambda found: " " if found[0].isspace() else "", text)


def plain_lines(text: str) -> str:
    """Free text of several lines, each of them as `plain_text` has it."""
    return "\n".join(plain_text(line) for line in text.splitlines())


def spreadsheet_text(text: str) -> str:
    """Text that no spreadsheet takes for a formula: bots choose what their versions are called."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def to_csv(rows: Iterable[Iterable[object]], end: str = "\n") -> str:
    """Rows as CSV, each with this end."""
    text = io.StringIO()
    csv.writer(text, lineterminator=end).writerows(rows)
    return text.getvalue()


def minute_text(time: datetime, offset_minutes: int | None = None) -> str:
    """An aware time to the minute with its zone, such as ``2026-12-01 18:00 UTC+01:00``.

    Args:
        time: In any zone.
        offset_minutes: East of UTC, of the zone in which it is told; ``None`` for UTC itself.
    """
    zone = timezone(timedelta(minutes=offset_minutes or 0))
    return f"{time.astimezone(zone):%Y-%m-%d %H:%M %Z}"


def rate_text(per_second: int) -> str:
    """Three digits of a rate, such as ``1.23M``; nothing for 0."""
    for place, unit in enumerate("EPTGMk"):
        size = 1000 ** (6 - place)
        if per_second >= size:
            return f"{per_second / size:#.3g}".rstrip(".") + unit
    return str(per_second or "")


_MEGABYTE = 1 << 20


def memory_text(size: int) -> str:
    """Bytes as engines are told of them, in binary megabytes: ``512 MB``; nothing for 0."""
    if size < _MEGABYTE:
        return f"{size:,} bytes" if size else ""
    return f"{size / _MEGABYTE:,.1f}".removesuffix(".0") + " MB"


MAX_MARKS = 4
"""Combining marks on one letter: more of them run over the lines above and below."""

_INVISIBLE = (
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c\u200d\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)
"""Joiners, fillers, tags and selectors of variants: they tell apart what looks the same."""
_PICTURE = (
    "[\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff]"
)
_INDIC = "[\u0900-\u0dff\u1000-\u109f\u1780-\u17d3]"
_VIRAMA = "[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u1039\u17d2]"
_VOWELS = "[\u064b-\u065f\u0670]*"
"""Of Arabic, written above and below letters."""


def _arabic(form: str) -> str:
    """The letters that have a form, such as the one at the beginning of a word."""
    found = (unicodedata.decomposition(chr(code)) for code in range(0xFB50, 0xFEFD))
    parts = (each.removeprefix(form).split() for each in found if each.startswith(form))
    return "[" + "".join(sorted({chr(int(part[0], 16)) for part in parts if len(part) == 1})) + "]"


_VISIBLE_THERE = re.compile(
    "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f"  # flags by tags
    f"|{_PICTURE}\ufe0f?(?:\u200d{_PICTURE}\ufe0f?)*"  # emoji, and those that are joined
    "|[0-9#*]\ufe0f\u20e3|[\xa9\xae\u203c\u2049\u2122\u2139\u3030\u303d\u3297\u3299]\ufe0f"
    "|[\u3400-\u9fff\U00020000-\U0003ffff][\U000e0100-\U000e01ef]"  # variants of Han
    f"|(?<={_INDIC}){_VIRAMA}(?:\u200d|\u200c(?={_INDIC}))"
    f"|(?<={_arabic('<initial>')}){_VOWELS}\u200c(?={_VOWELS}{_arabic('<final>')}))"
    f"|{_INVISIBLE}"
)
"""Where one of them changes what is seen (UTS 51, UAX 31); or one that does not."""


def check_display_name(text: str) -> str:
    """A display name as it is kept: composed (NFC), with single blanks and none around it.

    Emoji sequences stay whole, and joiners where a script needs them; elsewhere what nobody sees
    is left out.

    Raises:
        ValueError: it is empty or too long, or holds what can't be printed, such as control
            characters and those that turn the direction of what follows.
    """
    seen = _VISIBLE_THERE.sub(lambda found: found[1] or "", text)
    name = re.sub(" +", " ", unicodedata.normalize("NFC", seen)).strip(" ")
    for place, each in enumerate(name, start=1):
        if not (each.isprintable() or re.match(_INVISIBLE, each)):
            raise ValueError(
                f"character {place} of a display name can't be printed, U+{ord(each):04X}; "
                "leave it out"
            )
    if not 1 <= len(name) <= MAX_DISPLAY_NAME:
        raise ValueError(
            f"a display name has 1 to {MAX_DISPLAY_NAME} characters, and this {len(name)}"
        )
    if _most_marks(name) > MAX_MARKS:
        raise ValueError(f"a letter of a display name has more than {MAX_MARKS} marks")
    return name


def _most_marks(name: str) -> int:
    """The most combining marks in a row."""
    most = row = 0
    for each in name:
        row = row + 1 if unicodedata.combining(each) else 0
        most = max(most, row)
    return most
