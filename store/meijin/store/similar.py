"""Close matches of names, for those that are not found."""

from difflib import get_close_matches
from typing import Any

from sqlalchemy import Connection, select

MAX_NAMES = 1000
"""How many names are compared: a thousand take a few milliseconds."""

MAX_LENGTH = 100
"""Characters of a name that others are compared with; no name is longer."""


def did_you_mean(connection: Connection, column: Any, name: str) -> str:  # noqa: ANN401 - a model's attribute
    """The question after the closest name of a column; empty when none is close."""
    if len(name) > MAX_LENGTH:
        return ""
    names = connection.scalars(select(column).order_by(column).limit(MAX_NAMES)).all()
    close = get_close_matches(name, names, n=1)
    return f'did you mean "{close[0]}"?' if close else ""
