"""Variants, their limits and their written form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import (
    FREESTYLE,
    GOMOKU,
    OPENING_RULES,
    STANDARD,
    SWAP1,
    SWAP2,
    TIC_TAC_TOE,
    Rule,
    Variant,
)


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        (GOMOKU, "freestyle 15x15"),
        (TIC_TAC_TOE, "freestyle 3x3 line 3"),
        (Variant(STANDARD, 20, 22), "standard 20x22"),
        (Variant(STANDARD, 7, 6, 4), "standard 7x6 line 4"),
        (Variant(opening_rule=SWAP2), "freestyle 15x15 swap2"),
        (Variant(STANDARD, 7, 6, 4, SWAP1), "standard 7x6 line 4 swap1"),
        (Variant(draw_at=200), "freestyle 15x15 draw at 200"),
        (Variant(STANDARD, 7, 6, 4, SWAP1, 40), "standard 7x6 line 4 swap1 draw at 40"),
    ],
)
def test_written_form(variant: Variant, text: str) -> None:
    """A variant is written as rule, columns and rows, and the line if it isn't 5."""
    assert str(variant) == text


@given(st.sampled_from((FREESTYLE, STANDARD)), st.integers(5, 22), st.integers(5, 22), st.data())
def test_parse_reads_what_str_writes(
    rule: Rule, width: int, height: int, data: st.DataObject
) -> None:
    """`Variant.parse` is the inverse of `str`."""
    line = data.draw(st.integers(3, max(width, height)))
    opening_rules = [each for each in OPENING_RULES.values() if each.most_stones <= 2 * line - 2]
    opening_rule = data.draw(st.sampled_from(opening_rules))
    fewest = max(2 * line, opening_rule.most_stones + 1)
    limits = st.integers(fewest, width * height - 1) if fewest < width * height else st.nothing()
    variant = Variant(rule, width, height, line, opening_rule, data.draw(st.none() | limits))
    assert Variant.parse(str(variant)) == variant


@pytest.mark.parametrize(
    ("text", "variant"),
    [
        ("15", GOMOKU),
        (" 15x15\n", GOMOKU),
        ("15 x 15", GOMOKU),
        ("Freestyle 15X15", GOMOKU),
        ("3x3, 3 in a row", TIC_TAC_TOE),
        ("3 line 3", TIC_TAC_TOE),
        ("standard 19x19", Variant(STANDARD, 19, 19)),
        ("standard 7x6, 4 in a row", Variant(STANDARD, 7, 6, 4)),
        ("15 swap2", Variant(opening_rule=SWAP2)),
        ("15x15 free", GOMOKU),
        ("15 Draw at 200", Variant(draw_at=200)),
    ],
)
def test_short_forms(text: str, variant: Variant) -> None:
    """Rule, height and line may be left out, and the line may be put in words."""
    assert Variant.parse(text) == variant


@pytest.mark.parametrize("text", ["", "x", "15x", "freestyle", "15x15x15", "15 5", "٣x٣ line 3"])
def test_unknown_form(text: str) -> None:
    """The error for another form shows forms that are read."""
    with pytest.raises(ValueError, match='is no variant; write it like "15x15"'):
        Variant.parse(text)


def test_unknown_rule() -> None:
    """A variant with an unknown rule is refused."""
    with pytest.raises(ValueError, match='no rule "gomoku"'):
        Variant.parse("gomoku 15x15")


@pytest.mark.parametrize(
    ("width", "height", "line", "message"),
    [
        (23, 15, 5, "width 23 is out of range for a line of 5: 5 to 22"),
        (15, 4, 5, "height 4 is out of range for a line of 5: 5 to 22"),
        (2, 3, 3, "width 2 is out of range for a line of 3: 3 to 22"),
        (3, 3, 4, "line 4 is out of range for 3x3: 3 to 3"),
        (5, 7, 8, "line 8 is out of range for 5x7: 3 to 7"),
        (5, 5, 2, "line 2 is out of range for 5x5: 3 to 5"),
    ],
)
def test_limits(width: int, height: int, line: int, message: str) -> None:
    """A side or line out of range is refused with the value and the range."""
    with pytest.raises(ValueError, match=message):
        Variant(FREESTYLE, width, height, line)


@pytest.mark.parametrize(
    ("width", "height", "line"), [(3, 3, 3), (3, 4, 4), (5, 5, 5), (22, 22, 22), (5, 22, 22)]
)
def test_extremes(width: int, height: int, line: int) -> None:
    """The smallest and largest values are variants."""
    assert Variant(FREESTYLE, width, height, line).cells == width * height


@pytest.mark.parametrize(
    ("text", "range_"),
    [("15x15 draw at 225", "10 to 224"), ("5x5 line 4 swap2 draw at 7", "8 to 24")],
)
def test_draws_out_of_range(text: str, range_: str) -> None:
    """A game is drawn before its board is full, and after both sides could have won."""
    with pytest.raises(ValueError, match=f"is out of range for .*: {range_}"):
        Variant.parse(text)


def test_an_opening_ends_no_game() -> None:
    """Where its stones could make a line, the rule isn't played."""
    with pytest.raises(ValueError, match="swap2 needs a longer line than 3"):
        Variant.parse("3x3 line 3 swap2")
