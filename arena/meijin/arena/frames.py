"""Data frames: a table in memory, of whichever library is installed."""

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from meijin.arena.errors import ArenaError
from meijin.arena.game_tables import Column, Kind, Value

LIBRARIES = ("pandas", "polars")
"""In the order in which they are looked for."""


def data_frame(
    columns: Sequence[Column],
    rows: Sequence[tuple[Value, ...]],
) -> Any:  # noqa: ANN401 - of a library that need not be there
    """A data frame with these columns, each a list of its values.

    Raises:
        ArenaError: no library is installed that has data frames.
    """
    for name in LIBRARIES:
        try:
            library = import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
        else:
            values = {
                column.name: _series(library, column, [row[place] for row in rows])
                for place, column in enumerate(columns)
            }
            return library.DataFrame(values)
    raise ArenaError("a data frame needs pandas or polars; run: pip install pandas")


def _series(library: ModuleType, column: Column, values: Sequence[Value]) -> Any:  # noqa: ANN401 - as above
    """A column's values; pandas alone would make floats of integers some of which are missing."""
    if library.__name__ == "pandas" and column.kind is Kind.INTEGER and None in values:
        return library.array(values, dtype="Int64")
    return values
