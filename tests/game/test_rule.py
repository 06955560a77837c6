"""Winning lines, against an independent search of the whole board."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import FREESTYLE, RULES, STANDARD, Board, Color, Rule, Variant, rule_named

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (-1, 1))
SIZES = ((5, 5), (15, 15), (22, 22), (7, 12), (12, 7), (22, 5))


def run_lengths(stones: set[tuple[int, int]]) -> Iterator[int]:
    """The length of every unbroken run of stones, each once."""
    for x, y in stones:
        for dx, dy in DIRECTIONS:
            if (x - dx, y - dy) not in stones:
                length = 1
                while (x + length * dx, y + length * dy) in stones:
                    length += 1
                yield length


def oracle(cells: set[int], variant: Variant) -> bool:
    """Whether one side's stones on `cells` hold a winning line."""
    points = {(cell % variant.width, cell // variant.width) for cell in cells}
    if variant.rule is STANDARD:
        return variant.line in run_lengths(points)
    return any(length >= variant.line for length in run_lengths(points))


def diagram(black: set[int], variant: Variant) -> Board:
    """A board with black stones alone."""
    symbols = ["x" if cell in black else "." for cell in range(variant.cells)]
    rows = [symbols[at : at + variant.width] for at in range(0, variant.cells, variant.width)]
    return Board.parse("\n".join("".join(row) for row in rows), variant)


@st.composite
def variants(draw: st.DrawFn) -> Variant:
    """Any variant."""
    width = draw(st.integers(3, 22))
    height = draw(st.integers(3, 22))
    longest = max(width, height)
    line = draw(st.integers(3, longest if min(width, height) >= 5 else min(4, longest)))
    return Variant(draw(st.sampled_from((FREESTYLE, STANDARD))), width, height, line)


@given(variants(), st.integers(), st.floats(0.2, 0.95))
def test_whole_board(variant: Variant, seed: int, density: float) -> None:
    """A side has won exactly when some run of its stones has a winning length."""
    rng = random.Random(seed)
    black = {cell for cell in range(variant.cells) if rng.random() < density}
    assert diagram(black, variant).has_won(Color.BLACK) is oracle(black, variant)


@pytest.mark.parametrize("rule", [FREESTYLE, STANDARD])
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
        board.play(cell)
        own = {c for c in crowd if board.stone(c) is mover}
        assert board.winner is (mover if oracle(own, variant) else None)
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
            expected = oracle(cells, variant)
            assert all(FREESTYLE.wins(board, cell) is expected for cell in cells)


@pytest.mark.parametrize(("rule", "wins"), [(FREESTYLE, True), (STANDARD, False)])
@pytest.mark.parametrize("length", [6, 9, 15])
def test_overline(rule: Rule, length: int, wins: bool) -> None:  # noqa: FBT001 - a table
    """Six in a row or more wins under freestyle and not under the standard rule."""
    assert Board.parse("x" * length, rule=rule).has_won(Color.BLACK) is wins


@pytest.mark.parametrize("rule", [FREESTYLE, STANDARD])
def test_overline_beside_five(rule: Rule) -> None:
    """A five wins under either rule although its last stone makes an overline too."""
    board = Board.parse("xxx.xxx/...x/...x/...x/...x", rule=rule)
    assert not board.has_won(Color.BLACK)
    board = Board.parse("xxxxxxx/...x/...x/...x/...x", rule=rule)
    assert rule.wins(board, 3)


def test_wins_looks_through_the_cell_alone() -> None:
    """A stone away from the winning line stands in none."""
    board = Board.parse("xxxxx/.......x")
    assert FREESTYLE.wins(board, 2)
    assert not FREESTYLE.wins(board, 22)


@pytest.mark.parametrize("rule", RULES.values())
def test_nothing_is_forbidden(rule: Rule) -> None:
    """No rule of lines forbids a cell, be it the double three of renju or an overline."""
    board = Board.parse(".xx.x/..x/..x", rule=rule)
    assert not any(rule.forbids(board, cell, color) for cell in range(225) for color in Color)


def test_rule_named() -> None:
    """Each rule is found by its name."""
    assert {name: rule_named(name) for name in RULES} == RULES
    assert rule_named("standard") is STANDARD


def test_unknown_rule() -> None:
    """The error for an unknown rule lists the known ones."""
    with pytest.raises(ValueError, match='"gomoku"; the rules are freestyle, standard'):
        rule_named("gomoku")
