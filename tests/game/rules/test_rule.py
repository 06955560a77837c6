"""Winning lines, against an independent search of the whole board."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.game import oracle
from tests.game.boards import has_won, place, set_up
from tests.game.games import play_and_judge

from meijin.game import (
    CARO,
    CARO_EXACT,
    FREESTYLE,
    RENJU,
    RULES,
    STANDARD,
    Color,
    Rule,
    Variant,
)

LINE_RULES = (FREESTYLE, STANDARD, CARO, CARO_EXACT)


@st.composite
def variants(draw: st.DrawFn) -> Variant:
    width = draw(st.integers(3, 22))
    height = draw(st.integers(3, 22))
    rule = draw(st.sampled_from(tuple(RULES.values())))
    longest = max(width, height)
    line = draw(st.integers(3, longest if min(width, height) >= 5 else min(4, longest)))
    return Variant(rule if line == 5 else draw(st.sampled_from(LINE_RULES)), width, height, line)


@given(variants(), st.integers(), st.floats(0.2, 0.95), st.floats(0, 0.3))
def test_whole_board(variant: Variant, seed: int, density: float, share: float) -> None:
    """A side has won exactly when some run of its stones has a winning length and ends."""
    rng = random.Random(seed)
    stones = {cell for cell in range(variant.cells) if rng.random() < density}
    white = {cell for cell in stones if rng.random() < share}
    board = place(stones - white, white, variant)
    position = oracle.Position.of(board)
    for color in Color:
        assert has_won(board, color) is oracle.has_won(position, color, variant)


@pytest.mark.parametrize("name", RULES)
@given(st.integers(5, 22), st.integers(5, 22), st.integers())
@settings(max_examples=60)
def test_random_games(name: str, width: int, height: int, seed: int) -> None:
    """In games of random moves the same are legal, and the same wins, as by the slow judge."""
    play_and_judge(Variant(RULES[name], width, height), seed)


@pytest.mark.parametrize(
    ("rule", "wins"),
    [(FREESTYLE, True), (STANDARD, False), (RENJU, False), (CARO, True), (CARO_EXACT, False)],
)
@pytest.mark.parametrize("length", [6, 9, 15])
def test_overline(rule: Rule, length: int, wins: bool) -> None:  # noqa: FBT001 - a table
    """Six in a row or more wins where the rule has it so, be it blocked at both ends."""
    assert has_won(set_up("x" * length, Variant(rule)), Color.BLACK) is wins


@pytest.mark.parametrize("rule", [CARO, CARO_EXACT])
@pytest.mark.parametrize(
    ("row", "wins"),
    [
        ("..xxxxx..", True),
        (".oxxxxx..", True),
        (".xxxxxo..", True),
        (".oxxxxxo.", False),
        ("xxxxx....", True),
        ("xxxxxo...", False),
        ("...oxxxxx", False),
    ],
)
def test_blocked_ends(rule: Rule, row: str, wins: bool) -> None:  # noqa: FBT001 - a table
    """In caro a five needs an empty cell at either end; the edge blocks as a stone does."""
    variant = Variant(rule, 9, 9)
    assert has_won(set_up(row, variant), Color.BLACK) is wins
    other = row.translate(str.maketrans("xo", "ox"))
    assert has_won(set_up(other, variant), Color.WHITE) is wins


@pytest.mark.parametrize("rule", [FREESTYLE, STANDARD, RENJU, CARO])
def test_overline_beside_five(rule: Rule) -> None:
    """A five wins under any rule although its last stone makes an overline too."""
    board = set_up("xxx.xxx/...x/...x/...x/...x", Variant(rule))
    assert not has_won(board, Color.BLACK)
    board = set_up("xxxxxxx/...x/...x/...x/...x", Variant(rule))
    assert rule.wins(board, 3)


def test_wins_looks_through_the_cell_alone() -> None:
    """A stone away from the winning line stands in none."""
    board = set_up("xxxxx/.......x")
    assert FREESTYLE.wins(board, 2)
    assert not FREESTYLE.wins(board, 22)


@pytest.mark.parametrize("rule", LINE_RULES)
def test_nothing_is_forbidden(rule: Rule) -> None:
    """No rule of lines forbids a cell, be it the double three of renju or an overline."""
    board = set_up(".xx.x/..x/..x", Variant(rule))
    assert not any(rule.forbids(board, cell, color) for cell in range(225) for color in Color)
    assert rule.foul(board, 0) == ""
    assert not rule.has_forbidden_cells
