"""Text of others: control characters, which terminals obey and which mirror what is shown.

Names, labels and ids that hold one are refused; of free texts they are taken out.
"""

import re

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
    return _CONTROLS.sub(_replacement, text)


def plain_lines(text: str) -> str:
    """Free text of several lines, each of them as `plain_text` has it."""
    return "\n".join(plain_text(line) for line in text.splitlines())


def spreadsheet_text(text: str) -> str:
    """Text that no spreadsheet takes for a formula: bots choose what their versions are called."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _replacement(found: re.Match[str]) -> str:
    return " " if found[0].isspace() else ""
