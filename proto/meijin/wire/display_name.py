"""Display names: what people call a bot, in any script."""

import re
import unicodedata

from meijin.wire.contract import MAX_DISPLAY_NAME

MAX_MARKS = 4
"""Combining marks on one letter: more of them run over the lines above and below."""

_JOINERS = re.compile("[\u200c\u200d\ufeff]")
"""Without width: names are read, and compared, without them."""


def check_display_name(text: str) -> str:
    """A display name as it is kept: composed (NFC), with single blanks and none around it.

    Raises:
        ValueError: it is empty or too long, or holds what can't be printed, such as control
            characters and those that turn the direction of what follows.
    """
    name = re.sub(" +", " ", unicodedata.normalize("NFC", _JOINERS.sub("", text))).strip(" ")
    for place, each in enumerate(name, start=1):
        if not each.isprintable():
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
