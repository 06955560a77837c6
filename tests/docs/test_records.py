"""The tables of docs/records.md are those of the code."""

from dataclasses import replace

from tests.cli.made_games import WON
from tests.docs.pages import page

from meijin.cli.game.files import OutputFormat
from meijin.game import Ending, Party, TimeControl
from meijin.game.records.file import FileFormat
from meijin.game.records.json import json_object
from meijin.wire.records import record_from_proto

RECORDS = page("docs/records.md")


def names_in(heading: str) -> set[str]:
    """What the first column of a table names, apart by commas."""
    return {name.strip("` ") for cell, *_ in RECORDS.table(heading) for name in cell.split(",")}


AT_FAULT = set(Party) - {Party.NOBODY}


def test_fields_of_a_game() -> None:
    """Every field that is written is in the table, and no other; and so are its words."""
    handicap = TimeControl.parse("10")
    written = json_object(replace(record_from_proto(WON), white_time_control=handicap))
    moves = {f"moves[].{name}" for move in written["moves"] for name in move}
    told = names_in("## The JSON of a game")
    assert told == {*written, *moves, *(f"outcome.{name}" for name in written["outcome"])}
    rows = {row[0]: row[2] for row in RECORDS.table("## The JSON of a game")}
    assert all(f"`{ending.value}`" in rows["`outcome.ending`"] for ending in Ending)
    assert all(f"`{party.value}`" in rows["`outcome.at_fault`"] for party in AT_FAULT)


def test_formats() -> None:
    """What is read and what is written."""
    assert names_in("## Formats") == {each.value for each in (*OutputFormat, *FileFormat)}
