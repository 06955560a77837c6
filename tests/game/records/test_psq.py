"""Game records as Piskvork's PSQ."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from tests.game.made_records import records

from meijin.game import (
    STANDARD,
    Color,
    Ending,
    GameRecord,
    Outcome,
    Party,
    Variant,
)
from meijin.game.records.psq import from_psq, to_psq
from meijin.game.records.referee import problems

MILLISECOND = timedelta(milliseconds=1)
RECORD = GameRecord(
    variant=Variant(STANDARD, 20, 20),
    black="pbrain-ann",
    white="pbrain-bob",
    moves=(0, 21, 399),
    times=(timedelta(0), 47 * MILLISECOND, 1500 * MILLISECOND),
    opening_plies=1,
    outcome=Outcome(Ending.TIME, Color.BLACK, Party.WHITE),
)
WRITTEN = """Piskvorky 20x20, 0:0, 0
1,1,0
2,2,47
20,20,1500
pbrain-ann
pbrain-bob
2
1,Standard
""".replace("\n", "\r\n")
FIVE = "".join(f"{column},{row},9\n" for column in (1, 2, 3, 4, 5) for row in (1, 2))[
    : -len("5,2,9\n")
]


def test_written_record() -> None:
    """Moves count from 1 and take milliseconds; names, code, winner and rule follow."""
    assert to_psq(RECORD) == WRITTEN
    assert from_psq(WRITTEN) == RECORD
    assert from_psq(WRITTEN.replace("\r\n", "\r")) == RECORD  # as old programs end lines


@given(records())
def test_import_reads_what_export_writes(record: GameRecord) -> None:
    """What the format has room for is read back."""
    if record.variant.line != 5:
        with pytest.raises(ValueError, match="five in a row alone"):
            to_psq(record)
        return
    read = from_psq(to_psq(record))
    assert (read.variant, read.moves) == (record.variant, record.moves)
    assert read.black == " ".join(record.black.split())
    if any(time >= MILLISECOND for time in record.times):
        assert read.times == tuple(time // MILLISECOND * MILLISECOND for time in record.times)
    if record.outcome is not None and record.outcome.ending is not Ending.VOID:
        assert read.outcome is not None
        assert read.outcome.result is record.outcome.result


@pytest.mark.parametrize(
    ("tail", "outcome"),
    [
        (f"{FIVE}a\nb\n0\n1,Freestyle\n", Outcome(Ending.FIVE, Color.BLACK)),
        (f"{FIVE}a\nb\n-1\n", Outcome(Ending.FIVE, Color.BLACK)),
        (f"{FIVE}a\nb\n-1\n2,Freestyle\n", Outcome(Ending.ADJUDICATION, Color.WHITE)),
        (f"{FIVE}", Outcome(Ending.FIVE, Color.BLACK)),
        ("1,1,0\na\nb\n3\n", Outcome(Ending.ILLEGAL, Color.BLACK, Party.WHITE)),
        ("1,1,0\na\nb\n4\n2,Freestyle", Outcome(Ending.CRASH, Color.WHITE, Party.BLACK)),
        ("1,1,0\na\nb\n0\n0,Freestyle", Outcome(Ending.ADJUDICATION)),
        ("1,1,0\na\nb\n-1\n", None),
        ("1,1,0\na\nb\n-1\n-1,Freestyle\n", None),
        ("1,1,0\n-1\n", None),
        ("", None),
    ],
)
def test_foreign_end(tail: str, outcome: Outcome | None) -> None:
    """The end of a game is read as far as the judge or the board tells it."""
    assert from_psq(f"Piskvorky 20x20, 11:11, 0\n{tail}").outcome == outcome


OVERLINE = "1,1,0\n1,3,0\n2,1,0\n2,3,0\n3,1,0\n3,3,0\n5,1,0\n5,3,0\n6,1,0\n9,9,0\n4,1,7\n"
"""Black's last stone makes six."""


def test_a_last_move_that_is_forbidden() -> None:
    """It ended the game, and does not lie on the board."""
    record = from_psq(f"Piskvorky 15x15, 11:11, 0\n{OVERLINE}a\nb\n1\n2,Renju\n")
    assert len(record.moves) == 10
    assert record.outcome == Outcome(Ending.FORBIDDEN, Color.WHITE, Party.BLACK)
    assert problems(record) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: a PSQ file begins"),
        ("Gomoku 15x15\n", "line 1: a PSQ file begins"),
        ("Piskvorky 99x15, 0:0, 0\n", "line 1: width 99 is out of range"),
        ("Piskvorky 15x15, 0:0, 0\n1,1,0\n1,1,0\n", "line 3: a15 is occupied"),
        ("Piskvorky 15x15, 0:0, 0\n16,1,0\n", "line 2: column 15, row 0 is off"),
        ("Piskvorky 15x15, 0:0, 0\n0,1,0\n", "line 2: column -1"),
        ("Piskvorky 15x15, 0:0, 0\na\nb\n0\n1,Go\n", 'line 1: no rule "go"'),
        (
            f"Piskvorky 15x15, 11:11, 0\n{OVERLINE}9,8,0\na\nb\n1\n2,Renju\n",
            "line 12: d15 is forbidden to black",
        ),
    ],
)
def test_refused(text: str, message: str) -> None:
    """The error names the line."""
    with pytest.raises(ValueError, match=message):
        from_psq(text)


def test_names_are_lines() -> None:
    """A name loses its line breaks, and one that reads as a move is refused."""
    assert from_psq(to_psq(replace(RECORD, black="a\r\nb"))).black == "a b"
    with pytest.raises(ValueError, match="reads as a move"):
        to_psq(replace(RECORD, white="3, 4,5"))
