"""Winning lines, against an independent search of the whole board."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.game import oracle

from meijin.game import (
    CARO,
    CARO_EXACT,
    FREESTYLE,
    RENJU,
    RULES,
    STANDARD,
    Board,
    Color,
    Rule,
    Variant,
)

SIZES = ((5, 5), (15, 15), (22, 22), (7, 12), (12, 7), (22, 5))


LINE_RULES = (FREESTYLE, STANDARD, CARO, CARO_EXACT)


def diagram(black: set[int], variant: Variant, white: set[int] | None = None) -> Board:
    """A board with these stones."""
    symbols = ["x" if cell in black else "." for cell in range(variant.cells)]
    for cell in white or ():
        symbols[cell] = "o"
    rows = [symbols[at : at + variant.width] for at in range(0, variant.cells, variant.width)]
    return Board.parse("\n".join("".join(row) for row in rows), variant)


def has_won(board: Board, color: Color) -> bool:
    """What the slow judge says."""
    return oracle.has_won(oracle.Position.of(board), color, board.variant)


@st.composite
def variants(draw: st.DrawFn) -> Variant:
    """Any variant."""
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
    board = diagram(stones - white, variant, white)
    for color in Color:
        assert board.has_won(color) is has_won(board, color)


@pytest.mark.parametrize("rule", RULES.values())
@pytest.mark.parametrize("size", SIZES)
@given(data=st.data(), seed=st.integers())
def test_each_move(rule: Rule, size: tuple[int, int], data: st.DataObject, seed: int) -> None:
    """The winner appears with the very move that completes a winning line."""
    variant = Variant(rule, *size)
    left = data.draw(st.integers(0, variant.width - 5))
    top = data.draw(st.integers(0, variant.height - 5))
    crowd = [
        row * variant.width + column
        for row in range(top, min(top + 7, variant.height))
        for column in range(left, min(left + 7, variant.width))
    ]
    random.Random(seed).shuffle(crowd)
    board = Board(variant)
    for cell in crowd:
        mover = board.side_to_move
        if not board.is_legal(cell):
            continue  # forbidden, as renju has it
        board.play(cell)
        assert board.winner is (mover if has_won(board, mover) else None)
        if board.is_over:
            break


@pytest.mark.parametrize("size", SIZES)
def test_no_wrapping(size: tuple[int, int]) -> None:
    """Five cells at equal distances win only if they lie on one line of the board."""
    variant = Variant(FREESTYLE, *size)
    for step in (1, variant.width - 1, variant.width, variant.width + 1):
        for start in range(variant.cells - 4 * step):
            cells = {start + step * number for number in range(5)}
            board = diagram(cells, variant)
            expected = has_won(board, Color.BLACK)
            assert all(FREESTYLE.wins(board, cell) is expected for cell in cells)


@pytest.mark.parametrize(
    ("rule", "wins"),
    [(FREESTYLE, True), (STANDARD, False), (RENJU, False), (CARO, True), (CARO_EXACT, False)],
)
@pytest.mark.parametrize("length", [6, 9, 15])
def test_overline(rule: Rule, length: int, wins: bool) -> None:  # noqa: FBT001 - a table
    """Six in a row or more wins where the rule has it so, be it blocked at both ends."""
    assert Board.parse("x" * length, rule=rule).has_won(Color.BLACK) is wins


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
    board = Board.parse(row, Variant(rule, 9, 9))
    assert board.has_won(Color.BLACK) is wins
    other = row.translate(str.maketrans("xo", "ox"))
    assert Board.parse(other, Variant(rule, 9, 9)).has_won(Color.WHITE) is wins


@pytest.mark.parametrize("rule", [FREESTYLE, STANDARD, RENJU, CARO])
def test_overline_beside_five(rule: Rule) -> None:
    """A five wins under any rule although its last stone makes an overline too."""
    board = Board.parse("xxx.xxx/...x/...x/...x/...x", rule=rule)
    assert not board.has_won(Color.BLACK)
    board = Board.parse("xxxxxxx/...x/...x/...x/...x", rule=rule)
    assert rule.wins(board, 3)


def test_wins_looks_through_the_cell_alone() -> None:
    """A stone away from the winning line stands in none."""
    board = Board.parse("xxxxx/.......x")
    assert FREESTYLE.wins(board, 2)
    assert not FREESTYLE.wins(board, 22)


@pytest.mark.parametrize("rule", LINE_RULES)
def test_nothing_is_forbidden(rule: Rule) -> None:
    """No rule of lines forbids a cell, be it the double three of renju or an overline."""
    board = Board.parse(".xx.x/..x/..x", rule=rule)
    assert not any(rule.forbids(board, cell, color) for cell in range(225) for color in Color)
    assert rule.foul(board, 0) == ""
    assert not rule.has_forbidden_cells
