"""Game records as JSON."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from tests.game.made_records import records, swapped_records

from meijin.game import (
    SWAP1,
    Analysis,
    Choose,
    Color,
    Decision,
    Ending,
    GameEngine,
    GameRecord,
    Outcome,
    Party,
    TimeControl,
    Variant,
)
from meijin.game.records.json import from_json, to_json

RECORD = GameRecord(
    variant=Variant(opening_rule=SWAP1),
    black="ann",
    white="bob",
    moves=(112, 98),
    times=(timedelta(0), timedelta(milliseconds=125)),
    raw_times=(timedelta(0), timedelta(milliseconds=130)),
    cpu_times=(None, timedelta(milliseconds=90)),
    analysis=(None, Analysis(-30, 9, 4000, (98, 113))),
    opening_plies=1,
    decisions=(Decision(1, Choose(Color.WHITE)),),
    time_control=TimeControl.parse("60+0.5"),
    outcome=Outcome(Ending.CRASH, Color.WHITE, Party.BLACK, "exit status 3"),
    start_time=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    game_id="17",
    event="spring cup",
    black_version="2.0",
    black_engine=GameEngine("ab12", ("nodes=3000", "depth=4"), "EPYC, 2 cores", 2, 2**28),
    pair=3,
    round=5,
    seed=7,
    release="0.1.0",
)
NO_ENGINE: dict[str, object] = {
    "digest": "",
    "options": [],
    "hardware": "",
    "threads": None,
    "memory_bytes": None,
}
OBJECT = {
    "format": "meijin-game",
    "version": 2,
    "game_id": "17",
    "event": "spring cup",
    "variant": "freestyle 15x15 swap1",
    "time_control": "60+0.5",
    "round": 5,
    "pair": 3,
    "seed": 7,
    "release": "0.1.0",
    "black": {
        "name": "ann",
        "version": "2.0",
        "digest": "ab12",
        "options": ["nodes=3000", "depth=4"],
        "hardware": "EPYC, 2 cores",
        "threads": 2,
        "memory_bytes": 2**28,
    },
    "white": {"name": "bob", "version": ""} | NO_ENGINE,
    "start_time": "2026-01-02T03:04:05+00:00",
    "end_time": None,
    "opening_plies": 1,
    "decisions": [{"ply": 1, "chosen": "white"}],
    "moves": [
        {"cell": "h8", "charged_time_seconds": 0, "raw_time_seconds": 0},
        {
            "cell": "i9",
            "charged_time_seconds": 0.125,
            "raw_time_seconds": 0.13,
            "cpu_time_seconds": 0.09,
            "analysis": {"score": -30, "depth": 9, "nodes": 4000, "pv": ["i9", "i8"]},
        },
    ],
    "outcome": {
        "winner": "white",
        "ending": "crash",
        "at_fault": "black",
        "detail": "exit status 3",
    },
}


def test_written_record() -> None:
    """Every field of a record has its place in the object."""
    assert json.loads(to_json(RECORD)) == OBJECT


@given(records() | swapped_records())
def test_import_reads_what_export_writes(record: GameRecord) -> None:
    """Nothing of a record is lost in its JSON, which is one line."""
    text = to_json(record)
    assert "\n" not in text
    assert from_json(text) == record


def changed(**fields: Any) -> str:
    return json.dumps(OBJECT | fields)


def test_unknown_fields_are_passed_over() -> None:
    """Newer programs may write more."""
    assert from_json(changed(hash="abc")) == RECORD


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ("[]", "the game is no JSON object"),
        ("{}", 'needs a field "format"'),
        ("[" * 100_000, "nested too deeply"),
        (changed(version=1), "no game in the format"),
        (changed(version=True), 'needs a field "version" .int.'),
        (changed(variant="freestyle 99x99"), "out of range"),
        (changed(moves=[{"cell": "h8"}] * 226), "226 moves are too many"),
        (changed(moves=[{"cell": "h8"}, {"cell": "h8"}]), "move 1: h8 is occupied"),
        (changed(moves=[{"cell": 7}]), 'move 0: move 0 needs a field "cell"'),
        (changed(moves=["h8"]), "move 0 is no JSON object"),
        (changed(moves=[{"cell": "h8", "charged_time_seconds": -1}]), "can't take -1.0 seconds"),
        (changed(moves=[{"cell": "h8", "charged_time_seconds": 1e30}]), "can't take"),
        (changed(moves=[{"cell": "h8", "charged_time_seconds": 10**400}]), "needs a field"),
        (
            changed(moves=[{"cell": "h8", "charged_time_seconds": 1}, {"cell": "h9"}]),
            "some of the moves",
        ),
        (changed(opening_plies=9), "an opening of 9 plies"),
        (changed(outcome={"ending": "boredom"}), "boredom"),
        (changed(outcome=OBJECT["outcome"] | {"winner": "red"}), '"red" is no side'),  # type: ignore[operator]
        (changed(start_time="2026-01-02T03:04:05"), "needs a time zone"),
        (changed(event="\ud800"), "surrogates not allowed"),
        ('{"format": NaN}', "NaN is no number"),
    ],
)
def test_refused(text: str, message: str) -> None:
    """The error says what is wrong."""
    with pytest.raises(ValueError, match=message):
        from_json(text)
