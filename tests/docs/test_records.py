"""The tables of docs/records.md are those of the code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.cli.made_games import WON

from meijin.arena.game_tables import COLUMNS, Rows
from meijin.cli.record_files import OutputFormat
from meijin.game import Ending, Party, TimeControl
from meijin.game.records.file import FileFormat
from meijin.game.records.json import json_object
from meijin.wire import record_from_proto

if TYPE_CHECKING:
    from tests.docs.conftest import Page

NAME = "docs/records.md"


@pytest.mark.parametrize(
    ("heading", "rows"), [("### A row a game", "games"), ("### A row a move", "moves")]
)
def test_columns(pages: Callable[[str], Page], heading: str, rows: str) -> None:
    """Name, type and meaning of each, in their order."""
    assert pages(NAME).table(heading) == [
        [f"`{column.name}`", column.kind.value, column.text] for column in COLUMNS[Rows(rows)]
    ]


def test_fields_of_a_game(pages: Callable[[str], Page]) -> None:
    """Every field that is written is in the table, and no other."""
    told = {
        name.strip("` ")
        for cell, *_ in pages(NAME).table("## The JSON of a game")
        for name in cell.split(",")
    }
    handicap = TimeControl.parse("10")
    written = json_object(replace(record_from_proto(WON), white_time_control=handicap))
    moves = {f"moves[].{name}" for move in written["moves"] for name in move}
    assert told == {*written, *moves, *(f"outcome.{name}" for name in written["outcome"])}


def test_words_of_an_outcome(pages: Callable[[str], Page]) -> None:
    """Endings and parties are listed."""
    rows = {row[0]: row[2] for row in pages(NAME).table("## The JSON of a game")}
    assert all(f"`{ending.value}`" in rows["`outcome.ending`"] for ending in Ending)
    assert all(f"`{party.value}`" in rows["`outcome.at_fault`"] for party in Party)


def test_formats(pages: Callable[[str], Page]) -> None:
    """What is read and what is written."""
    told = {
        name.strip("` ") for cell, *_ in pages(NAME).table("## Formats") for name in cell.split(",")
    }
    assert told == {each.value for each in (*OutputFormat, *FileFormat)}
