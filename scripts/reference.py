"""The pages of reference that are made from the code: settings, commands, columns of tables."""

import re
from collections.abc import Iterator
from datetime import timedelta
from enum import Enum
from textwrap import fill
from typing import TypeAlias

import typer
from pydantic.fields import FieldInfo
from typer.core import TyperCommand, TyperGroup

from meijin.cli.lazy_group import LazyGroup
from meijin.cli.main import EPILOG, app
from meijin.local.game_tables import COLUMNS
from meijin.server.settings import Settings

Command: TypeAlias = TyperCommand | TyperGroup

MADE = "<!-- Made by `make generate` from the code. -->\n"

WIDTH = 100
ESCAPED = r"\|"
PUNCTUATION, PLAIN = r"\\?([|\[<])", r"\\\1"
"""What would be markup in a cell of a table, some of it escaped already for the terminal."""

SETTINGS = """\
# Settings

What `meijin serve` can be given. An option wins over the environment, and that over the file; the
[manual](operating.md#settings) says where the file is. Durations are in seconds, such as `30` or
`0.5`.

| setting, as in `MEIJIN_GRACE` | option | default | meaning |
|---|---|---|---|
"""

TABLES = """\
# Columns

The columns of `meijin game export --format csv` and `--format parquet`;
[records](records.md#tables) says how they are written.
"""

COLUMN_HEADS = """
## A row for each of the {rows}

| column | type | what it says |
|---|---|---|
"""

COMMANDS = """\
# Commands

What each command's `--help` says.

{epilog}
"""


def settings_page() -> str:
    """Every setting with its option, its default and its meaning."""
    options = {name for part in _serve().params for name in part.opts}
    rows = [_setting(name, field, options) for name, field in Settings.model_fields.items()]
    return MADE + SETTINGS + "".join(rows)


def _serve() -> Command:
    group = _top()
    assert isinstance(group, LazyGroup)
    return group.load("serve")


def _setting(name: str, field: FieldInfo, options: set[str]) -> str:
    long = f"--{name.replace('_', '-')}"
    option = next((word for word in (long, long.removesuffix("-url")) if word in options), "")
    default = "none" if field.default is None else f"`{written(field.default)}`"
    meaning = " ".join((field.description or "").split()).removesuffix(".")
    cells = (f"`{name}`", option and f"`{option}`", default, meaning.replace("``", "`"))
    return f"| {' | '.join(cells)} |\n"


def written(value: object) -> str:
    """A setting's value as the environment has it."""
    if isinstance(value, timedelta):
        return f"{value.total_seconds():g}"
    if isinstance(value, Enum):
        return str(value.value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def columns_page() -> str:
    """Every column of the tables of games and of moves."""
    parts = [MADE, TABLES]
    for rows, columns in COLUMNS.items():
        parts.append(COLUMN_HEADS.format(rows=rows.value))
        parts += (f"| `{one.name}` | {one.kind} | {one.text} |\n" for one in columns)
    return "".join(parts)


def commands_page() -> str:
    """Every command with its help, its arguments and its options."""
    parts = [_section(name, command) for name, command in _walk("meijin", _top())]
    return MADE + "\n".join((COMMANDS.format(epilog=_wrapped(EPILOG)), *parts))


def _top() -> TyperGroup:
    return typer.main.get_group(app)


def _walk(name: str, group: TyperGroup) -> Iterator[tuple[str, Command]]:
    for word in group.commands:
        command = group.load(word) if isinstance(group, LazyGroup) else group.commands[word]
        assert isinstance(command, TyperCommand | TyperGroup)
        if isinstance(command, TyperGroup):
            yield from _walk(f"{name} {word}", command)
        else:
            yield f"{name} {word}", command


def _section(name: str, command: Command) -> str:
    context = typer.Context(command, info_name=name)
    records = [part.get_help_record(context) for part in command.params]
    rows = [_row(names, text) for names, text in filter(None, records)]
    table = "| | |\n|---|---|\n" + "".join(rows) if rows else ""
    return f"## {name}\n\n{_plain(command.help or '')}\n\n{table}"


def _row(names: str, text: str) -> str:
    return f"| `{names.replace('|', ESCAPED)}` | {re.sub(PUNCTUATION, PLAIN, text)} |\n"


def _plain(text: str) -> str:
    """A help's paragraphs, but for the one that says where options are told that all have."""
    paragraphs = [_wrapped(each) for each in text.split("\n\n")]
    return "\n\n".join(each for each in paragraphs if "are in `meijin --help`" not in each)


def _wrapped(text: str) -> str:
    return fill(re.sub(PUNCTUATION, PLAIN, text), WIDTH, break_on_hyphens=False)
