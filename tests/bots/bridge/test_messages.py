"""Analysis in the messages of engines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.bots import Analysis
from meijin.bots.bridge.messages import read_analysis
from meijin.game import Variant

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
            Analysis(30, 9, 0, (112, 98, 129)),
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
    assert (found is None) is (analysis is None)
    if found is not None and analysis is not None:
        assert (found.score, found.depth, found.nodes) == (
            analysis.score,
            analysis.depth,
            analysis.nodes,
        )
        assert list(found.pv) == list(analysis.pv)


def test_rows_are_counted_from_either_side() -> None:
    """The side from which the first cell is the move that was played is the engine's."""
    found = read_analysis(["pv A1 B1"], Variant(), 0)
    assert found is not None
    assert list(found.pv) == [0, 1]
    found = read_analysis(["pv A1 B1"], Variant(), 210)
    assert found is not None
    assert list(found.pv) == [210, 211]


def test_line_of_another_move() -> None:
    """A line that doesn't begin with the move is left out; it ends where it leaves the board."""
    assert read_analysis(["pv 1,1 2,2"], Variant(), CELL) is None
    found = read_analysis(["pv 7,7 15,3 2,2"], Variant(), CELL)
    assert found is not None
    assert list(found.pv) == [CELL]


@given(st.lists(st.text(max_size=200)))
def test_anything_may_be_said(messages: list[str]) -> None:
    """No message is an error."""
    read_analysis([*messages, *(f"pv {text} n {text}" for text in messages)], Variant(), CELL)
