"""The syntax of SGF."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game.records.sgf_tree import (
    SgfError,
    escape,
    escape_composed,
    format_property,
    parse_main_line,
)

awkward = st.text(alphabet="a\\]:[;()\n\r\t ") | st.text()


def properties(text: str) -> list[dict[str, list[str]]]:
    return [node.properties for node in parse_main_line(text)]


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("(;A[1]B[2][3];C[];)", [{"A": ["1"], "B": ["2", "3"]}, {"C": [""]}, {}]),
        # White space may stand between all the parts, and text before the game.
        (
            "\ufeffHello (you) \n(\n ; A [1]\n\t[2] B\n[3]\n;\nC[4] ) ",
            [{"A": ["1", "2"], "B": ["3"]}, {"C": ["4"]}],
        ),
        # The first variation is followed at each branch, and of many games the first read.
        (
            "(;A[1](;A[2](;A[3];A[4])(;A[5]))(;A[6]))(;A[7])",
            [{"A": ["1"]}, {"A": ["2"]}, {"A": ["3"]}, {"A": ["4"]}],
        ),
        # Lower-case letters in names mean nothing.
        ("(;GaMe[4]SiZe[15])", [{"GM": ["4"], "SZ": ["15"]}]),
        # Values may hold all the marks of the syntax; a backslash hides the next character.
        (r"(;A[(;B[1\]);\\][\:\x])", [{"A": ["(;B[1]);\\", ":x"]}]),
    ],
)
def test_nodes_and_values(text: str, nodes: list[dict[str, list[str]]]) -> None:
    """Nodes hold properties, and properties one value or more."""
    assert properties(text) == nodes


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\n\r"])
def test_soft_line_break(end: str) -> None:
    """An escaped line break is none; others stay."""
    assert properties(f"(;A[one\\{end}word\nline])") == [{"A": ["oneword\nline"]}]


@given(st.lists(awkward, min_size=1), awkward)
def test_escaped_values(values: list[str], composed: str) -> None:
    """Whatever a value holds, it is read back."""
    text = f"(;{format_property('A', map(escape, values))}B[{escape_composed('x', composed)}])"
    assert properties(text) == [{"A": values, "B": [f"x:{composed}"]}]


def test_a_node_has_texts_and_a_place() -> None:
    """The text of a property is its first value, and nothing where it is missing."""
    first, second = parse_main_line("x(;A[1][2] ;B[2])")
    assert (first.text("A"), first.text("B")) == ("1", None)
    assert (first.offset, second.offset) == (2, 11)


@pytest.mark.parametrize(
    ("text", "offset", "reason"),
    [
        ("", 0, "there is no game"),
        ("A[1]", 0, "there is no game"),
        ("(;A[1]", 6, "found the end"),
        ("(;A[1] \n", 8, "found the end"),
        ("(;A[1];B[2", 7, "found 'B'"),
        ("(;A[1]B)", 6, "found 'B'"),
        ("(;A[1] 5[2])", 7, "found '5'"),
        (r"(;A[1\])", 2, "found 'A'"),
    ],
)
def test_broken_text(text: str, offset: int, reason: str) -> None:
    """The error for a broken text names the place where it breaks."""
    with pytest.raises(SgfError, match=rf"{reason}.* \(at offset {offset}\)") as error:
        parse_main_line(text)
    assert error.value.offset == offset


@given(st.text(alphabet="(;)AB[]\\ \n"))
def test_any_text(text: str) -> None:
    """Every text is either read or refused with an `SgfError`."""
    try:
        nodes = parse_main_line(text)
    except SgfError as error:
        assert 0 <= error.offset <= len(text)  # noqa: PT017 - either is right
    else:
        assert nodes
