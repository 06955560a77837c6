"""What benchmarks print: a table, and with ``--json`` one JSON object on the last line."""

import json
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

Row = Mapping[str, str | int | float]


def report(title: str, rows: Sequence[Row], *, as_json: bool) -> None:
    """Print the rows, whose keys are the columns."""
    show(title, rows)
    if as_json:
        print_json(rows)


def show(title: str, rows: Sequence[Row]) -> None:
    """Print the rows as a table."""
    table = Table(title=title, title_justify="left", box=None)
    for name in rows[0]:
        table.add_column(name.replace("_", " "), justify="right")
    for row in rows:
        table.add_row(*(_text(value) for value in row.values()))
    Console(width=140).print(table)


def print_json(rows: Sequence[Row]) -> None:
    """Print the rows, which may be of several tables, as one line."""
    print(json.dumps({"results": list(rows)}))


def _text(value: str | float) -> str:
    if isinstance(value, float):
        digits = 0 if value >= 1000 else 2 if value >= 0.1 else 4
        return f"{value:,.{digits}f}"
    return f"{value:,}" if isinstance(value, int) else value
