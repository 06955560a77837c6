"""Analysis in the messages of engines."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.bots import Analysis
from meijin.bots.bridge.answers import move_answer, read_analysis
from meijin.bots.sdk.answer import Answer, Unchecked
from meijin.game import Board, Variant

CELL = 7 * 15 + 7
"""The middle: 7,7 and H8."""


@pytest.mark.parametrize(
    ("messages", "analysis"),
    [
        (
            [
                "Depth 10-19 | Eval 31 | Time 210ms | H8 I9",
                "Speed 532K | Depth 12-24 | Eval -45 | Node 120K | Time 523ms",
                "Bestline H8 I9 J7",
            ],
            Analysis(-45, 12, 120_000, (112, 98, 129)),
        ),
        (
            ["depth 9 value 30 bestline [7,7] [8,6] [9,8]"],
            Analysis(30, 9, None, (112, 98, 129)),
        ),
        (["ev 45 d 12 n 1.5M pv 7,7 8,6"], Analysis(45, 12, 1_500_000, (112, 98))),
        (["Depth: 8, Score: +M7, Nodes: 99"], Analysis(29_993, 8, 99)),
        (["eval -M3"], Analysis(score=-29_997)),
        (["depth 4", "depth 6", "hello"], Analysis(depth=6)),
        (["hello", "time 12 ms", ""], None),
        ([], None),
    ],
)
def test_words_of_common_engines(messages: list[str], analysis: Analysis | None) -> None:
    """The last of each is taken."""
    found = read_analysis(messages, Variant(), CELL)
    assert (found and replace(found, pv=tuple(found.pv))) == analysis


@pytest.mark.parametrize(
    ("line", "cell", "pv"),
    [
        ("pv A1 B1", 0, [0, 1]),
        ("pv A1 B1", 210, [210, 211]),
        ("pv 7,7 15,3 2,2", CELL, [CELL]),
    ],
)
def test_lines(line: str, cell: int, pv: list[int]) -> None:
    """Rows count from the side from which the first is the move; a line ends where it leaves the board.

    One that begins with another move is left out.
    """
    found = read_analysis([line], Variant(), cell)
    assert found is not None
    assert list(found.pv) == pv
    assert read_analysis([line], Variant(), 17) is None


@pytest.mark.parametrize(
    ("point", "answer"),
    [((1, 0), 1), ((0, 0), Unchecked(0)), ((15, 3), Unchecked(225)), ((-1, 3), Unchecked(225))],
)
def test_moves(point: tuple[int, int], answer: Answer) -> None:
    """An illegal one is for all to see."""
    assert move_answer(point, (), Board.from_moves([0])) == answer


@given(st.lists(st.text(max_size=200)))
def test_anything_may_be_said(messages: list[str]) -> None:
    """No message is an error."""
    read_analysis([*messages, *(f"pv {text} n {text}" for text in messages)], Variant(), CELL)
