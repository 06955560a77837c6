"""Game records as SGF."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from tests.game.made_records import records, swapped_records

from meijin.game import (
    GOMOKU,
    STANDARD,
    SWAP2,
    YAMAGUCHI,
    Analysis,
    Choose,
    Color,
    Decision,
    Declare,
    Ending,
    GameRecord,
    Offer,
    Outcome,
    Party,
    SgfError,
    TimeControl,
    Variant,
    from_sgf,
    to_sgf,
)

RECORD = GameRecord(
    variant=Variant(STANDARD, 15, 12),
    black="ann",
    white="bob [2]",
    moves=(7, 22, 8),
    times=(timedelta(0), timedelta(milliseconds=125), timedelta(seconds=2)),
    opening_plies=1,
    time_control=TimeControl.parse("60+0.5,5/move"),
    outcome=Outcome(Ending.CRASH, Color.BLACK, Party.WHITE, "exit status 3: bug"),
    start_time=datetime(2025, 11, 20, 23, 30, tzinfo=timezone(timedelta(hours=-2))),
    event="spring cup",
    game_id="g-17",
)
WRITTEN = r"""(;FF[4]GM[4]CA[UTF-8]AP[Meijin]SZ[15:12]RU[standard]PB[ann]PW[bob [2\]]EV[spring cup]\
GN[g-17]DT[2025-11-21]TM[60]OT[+0.5,5/move]RE[B+F]MJ[opening:1][start:2025-11-20T23\:30\:00-02\:00]\
[ending:crash][fault:white][detail:exit status 3\: bug]
;B[ha]C[0 s]
;W[hb]C[0.125 s]
;B[ia]C[2 s])
""".replace("\\\n", "")


def test_written_record() -> None:
    """Every field of a record has its place in the text."""
    assert to_sgf(RECORD) == WRITTEN


@given(records() | swapped_records())
def test_import_reads_what_export_writes(record: GameRecord) -> None:
    """Nothing of a record is lost in its SGF."""
    assert from_sgf(to_sgf(record)) == record


def test_analysis_stands_in_the_comment_of_its_move() -> None:
    """Times and analysis are written for people, and read back."""
    record = GameRecord(
        variant=GOMOKU,
        black="ann",
        white="bob",
        moves=(112, 98),
        times=(timedelta(0), timedelta(seconds=2)),
        raw_times=(timedelta(0), timedelta(seconds=2.5)),
        analysis=(None, Analysis(-30, 9, 4000, (98, 113))),
    )
    assert ";W[ig]C[2 s, raw 2.5 s, score -30, depth 9, nodes 4000, pv i9 i8]" in to_sgf(record)
    assert from_sgf(to_sgf(record)) == record


def test_least_record() -> None:
    """What a record doesn't know is not written."""
    record = GameRecord(GOMOKU, "", "", ())
    assert to_sgf(record) == "(;FF[4]GM[4]CA[UTF-8]AP[Meijin]SZ[15]RU[freestyle])\n"
    assert from_sgf("(;)") == record


def test_the_choice_of_a_side_is_written_twice() -> None:
    """For programs in the root, and for people behind the stones that it was about."""
    decisions = (Decision(3, Choose(Color.BLACK)),)
    record = GameRecord(Variant(opening_rule=SWAP2), "a", "b", (7, 22, 8), decisions=decisions)
    text = to_sgf(record)
    assert "MJ[openingrule:swap2][decisions:3 black]" in text
    assert ";B[ia]C[the second player chooses black]" in text


def test_offers_are_written_too() -> None:
    """With what was declared and chosen, in the order of the opening."""
    decisions = (
        Decision(3, Declare(2)),
        Decision(3, Choose(Color.WHITE)),
        Decision(4, Offer((0, 16))),
    )
    variant = Variant(opening_rule=YAMAGUCHI)
    record = GameRecord(variant, "a", "b", (112, 97, 98, 15, 16), decisions=decisions)
    text = to_sgf(record)
    assert "[decisions:3 declares 2, 3 white, 4 offers a15 b14]" in text
    assert "C[the first player declares 2 fifths; the second player chooses white]" in text
    assert "C[the first player offers a15 b14]" in text
    assert from_sgf(text) == record
    with pytest.raises(SgfError, match='"3 green" is no decision'):
        from_sgf(text.replace("3 white", "3 green"))
    with pytest.raises(SgfError, match="up to symmetry"):
        from_sgf(text.replace("offers a15 b14", "offers b14 b14"))


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Outcome(Ending.FIVE, Color.BLACK), "B+"),
        (Outcome(Ending.ADJUDICATION, Color.WHITE), "W+"),
        (Outcome(Ending.RESIGN, Color.WHITE), "W+R"),
        (Outcome(Ending.TIME, Color.BLACK, Party.WHITE), "B+T"),
        (Outcome(Ending.ILLEGAL, Color.WHITE, Party.BLACK), "W+F"),
        (Outcome(Ending.DISCONNECT, Color.WHITE, Party.BLACK), "W+F"),
        (Outcome(Ending.DRAW), "Draw"),
        (Outcome(Ending.VOID, None, Party.SERVER), "Void"),
    ],
)
def test_written_result(outcome: Outcome, text: str) -> None:
    """A result is written with the cause that SGF has a letter for."""
    assert f"RE[{text}]" in to_sgf(replace(RECORD, outcome=outcome))


FIVE = ";B[aa];W[ab];B[ba];W[bb];B[ca];W[cb];B[da];W[db];B[ea]"
DRAWN = ";B[aa];W[ba];B[ca];W[bb];B[ab];W[cb];B[bc];W[ac];B[cc]"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (f"RE[B+]{FIVE}", Outcome(Ending.FIVE, Color.BLACK)),
        ("RE[w+]", Outcome(Ending.ADJUDICATION, Color.WHITE)),
        ("RE[B+12.5]", Outcome(Ending.ADJUDICATION, Color.BLACK)),
        (f"RE[W+]{FIVE}", Outcome(Ending.ADJUDICATION, Color.WHITE)),
        ("RE[B+Resign]", Outcome(Ending.RESIGN, Color.BLACK)),
        ("RE[W+Time]", Outcome(Ending.TIME, Color.WHITE, Party.BLACK)),
        ("RE[B+Forfeit]", Outcome(Ending.ADJUDICATION, Color.BLACK)),
        ("RE[0]", Outcome(Ending.ADJUDICATION)),
        (f"SZ[3]MJ[line:3]RE[Draw]{DRAWN}", Outcome(Ending.DRAW)),
        ("RE[Void]", Outcome(Ending.VOID)),
        ("RE[?]", None),
        ("RE[]", None),
        ("RE[Black wins]", None),
    ],
)
def test_foreign_result(text: str, outcome: Outcome | None) -> None:
    """A result of another program is understood as far as the board confirms it."""
    assert from_sgf(f"(;{text})").outcome == outcome


@pytest.mark.parametrize(
    ("text", "time_control"),
    [
        ("TM[900.0]", "900"),
        ("TM[900]OT[3x30 byo-yomi]", "900"),
        ("TM[60]OT[+1]", "60+1"),
        ("TM[5]OT[5/move]", "5,5/move"),
        ("OT[5/move]", "5/move"),
    ],
)
def test_time_controls(text: str, time_control: str) -> None:
    """The clock stands in TM and the rest in OT, and others' are read as far as they are one of ours."""
    control = TimeControl.parse(time_control)
    assert from_sgf(f"(;{text})").time_control == control
    if "byo" not in text and ".0" not in text:
        assert text in to_sgf(replace(RECORD, time_control=control))


@pytest.mark.parametrize("text", ["TM[0]", "TM[an hour]", "DT[2025-11]", "DT[yesterday]"])
def test_what_is_not_understood_is_unknown(text: str) -> None:
    """A whole date is its midnight in UTC."""
    record = from_sgf(f"(;{text})")
    assert (record.time_control, record.start_time) == (None, None)
    assert from_sgf("(;DT[2025-11-20])").start_time == datetime(2025, 11, 20, tzinfo=UTC)


def test_foreign_game() -> None:
    """A game of another program is read through its unknown properties and variations."""
    text = """(;GM[4]FF[4]VW[]SZ[19] RU[Standard]KO[x];B[jj]N[tengen]
        (;W[jk]BL[3];B[kk]) (;W[aa];B[aa]))"""
    record = from_sgf(text)
    assert record.variant == Variant(STANDARD, 19, 19)
    assert record.moves == (180, 199, 200)
    assert record.times == ()


@pytest.mark.parametrize(
    ("text", "times"),
    [
        (";B[aa]C[0.5 s, depth 3];W[bb]C[1 s]", (0.5, 1)),
        (";B[aa]C[0.5 s];W[bb]", ()),
        (";B[aa]C[0.5 s];W[bb]C[nice]", ()),
        (";B[aa]C[0.5 s];W[bb]C[500 sheep]", ()),
    ],
)
def test_times_in_comments(text: str, times: tuple[float, ...]) -> None:
    """Times are known if the comment of every move starts with one."""
    expected = tuple(timedelta(seconds=seconds) for seconds in times)
    assert from_sgf(f"(;{text})").times == expected


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("no game", 0, "there is no game"),
        ("(;GM[1];B[aa])", 1, r"GM\[1\] is another game"),
        ("(;SZ[23])", 1, "width 23 is out of range"),
        ("(;SZ[big])", 1, "big"),
        ("(;RU[pente])", 1, 'no rule "pente"'),
        ("(;SZ[3]MJ[line:4])", 1, "line 4 is out of range"),
        ("(;MJ[opening:1])", 1, "an opening of 1 plies"),
        ("(;MJ[decisions:x white])", 1, '"x white" is no decision; write it like'),
        ("(;MJ[start:2025-11-20T10\\:00])", 1, "needs a time zone"),
        ("(;RE[B+]MJ[ending:boredom])", 1, "boredom"),
        ("(;RE[B+]MJ[ending:void])", 1, "can't end in"),
        ("(;;B[aa];B[bb])", 8, "the move of ply 1 is not W's"),
        ("(;;W[aa])", 2, "the move of ply 0 is not B's"),
        ("(;;B[aa];W[aa])", 8, "a15 is occupied"),
        ("(;;B[ap])", 2, "column 0, row 15 is off the 15x15 board"),
        ("(;;B[])", 2, "passes"),
        ("(;;B[tt])", 2, "off the 15x15 board"),
        ("(;;B[a])", 2, '"a" is no point'),
        ("(;;B[AA])", 2, '"AA" is no point'),
        ("(;AB[aa])", 1, "AB sets stones up"),
        (f"(;{FIVE};W[hh])", 56, "the game is over"),
        ("(;;B[aa]C[1.2.3 s])", 2, "is no number of seconds"),
    ],
)
def test_refused(text: str, offset: int, message: str) -> None:
    """The error for a text that is no game says why, and where the node stands."""
    with pytest.raises(SgfError, match=message) as error:
        from_sgf(text)
    assert error.value.offset == offset
