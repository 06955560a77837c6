"""What commands print: text for people, JSON for scripts."""

import json
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import typer
from google.protobuf.message import Message
from rich.console import Console, ConsoleDimensions
from rich.text import Text


def printable(text: str) -> str:
    """Text in one line without control characters, which could rewrite the screen.

    White space becomes a blank, and what else can't be printed a replacement character.
    """
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else " " if each.isspace() else "\N{REPLACEMENT CHARACTER}"
        for each in text
    )


class Styled(NamedTuple):
    """A line with a style of rich's."""

    text: str
    style: str = "dim"


PIPE_WIDTH = 1 << 14
"""Columns of what is no screen: tables are as wide as they need."""


class PlainConsole(Console):
    """A console that shows text as it was written, be it by others: no markup, printable alone.

    Each string is one line or one cell, so several lines are several strings. Where it is no
    screen nothing is folded, and no column is left out.
    """

    def __init__(self, *, stderr: bool = False, quiet: bool = False) -> None:
        super().__init__(stderr=stderr, quiet=quiet, markup=False, emoji=False, highlight=False)

    @property
    def size(self) -> ConsoleDimensions:
        found = super().size
        return found if self.is_terminal else ConsoleDimensions(PIPE_WIDTH, found.height)

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size

    def render_str(self, text: str, **options: Any) -> Text:  # noqa: ANN401 - rich's own
        return super().render_str(printable(text), **options)


console = PlainConsole()
"""Where results go; progress and errors go to standard error."""


def print_note(line: str) -> None:
    typer.echo(printable(line), err=True)


def print_file(text: str) -> None:
    """Print what is to be kept in a file: as it is, but on a screen what is printable."""
    if sys.stdout.isatty():
        text = "\n".join(map(printable, text.split("\n")))
    typer.echo(text, nl=False, color=True)  # else control characters are left out of pipes


def print_secret(secret: str, note: str) -> None:
    """Print a secret alone on standard output, so that it can go into a file."""
    typer.echo(printable(secret))
    print_note(note)


def print_json(value: Message | Mapping[str, object]) -> None:
    """Print one JSON object.

    What can't be printed is escaped, which JSON reads as the same.
    """
    from meijin.wire.json import json_object  # noqa: PLC0415 - takes 10 ms, for --json

    fields = json_object(value) if isinstance(value, Message) else value
    text = json.dumps(fields, ensure_ascii=False)
    typer.echo("".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text))
