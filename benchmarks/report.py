"""What benchmarks are told and print: a table, and with ``--json`` one JSON object on the last line."""

import json
import multiprocessing
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor

from rich.console import Console
from rich.table import Table

Row = Mapping[str, str | int | float]


def parser_of(doc: str | None) -> ArgumentParser:
    """A parser of a benchmark's command line: it shows the benchmark's words, and knows ``--json``."""
    parser = ArgumentParser(description=doc, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object on the last line")
    return parser


def pool_of(processes: int, tasks: int | None = None) -> ProcessPoolExecutor:
    """Processes for this many tasks each; none is a copy of this one with its threads."""
    spawn = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(processes, mp_context=spawn, max_tasks_per_child=tasks)


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


def show_markdown(rows: Sequence[Row]) -> None:
    """Print the rows as a table of a page."""
    print(f"| {' | '.join(rows[0])} |")
    print("|---:" * len(rows[0]) + "|")
    for row in rows:
        print(f"| {' | '.join(map(_text, row.values()))} |")


def print_json(rows: Sequence[Row]) -> None:
    """Print the rows, which may be of several tables, as one line."""
    print(json.dumps({"results": list(rows)}))


def _text(value: str | float) -> str:
    if isinstance(value, float):
        digits = 0 if value >= 1000 else 2 if value >= 0.1 else 4
        return f"{value:,.{digits}f}"
    return f"{value:,}" if isinstance(value, int) else value
