"""Variants, their limits and their written form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import (
    FREESTYLE,
    GOMOKU,
    OPENING_RULES,
    RENJU,
    RULES,
    STANDARD,
    SWAP1,
    SWAP2,
    TIC_TAC_TOE,
    Board,
    Rule,
    Variant,
    openings_for,
    rule_named,
)
from meijin.game.openings.opening import check_opening


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
    line = data.draw(st.integers(3, max(width, height)))
    opening_rules = [
        each
        for each in OPENING_RULES.values()
        if each.most_stones <= 2 * line - 2 and each.least_side <= min(width, height)
    ]
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
        ("Renju", Variant(RENJU)),
        ("renju draw at 200", Variant(RENJU, draw_at=200)),
    ],
)
def test_short_forms(text: str, variant: Variant) -> None:
    """Rule or size, height and line may be left out, and the line may be put in words."""
    assert Variant.parse(text) == variant


@pytest.mark.parametrize(
    "text", ["", "x", "15x", "freestyle 15x", "15x15x15", "15 5", "٣x٣ line 3"]
)
def test_unknown_form(text: str) -> None:
    """The error for another form shows forms that are read."""
    with pytest.raises(ValueError, match='is no variant; write it like "15x15"'):
        Variant.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("23x15", "width 23 is out of range for a line of 5: 5 to 22"),
        ("15x4", "height 4 is out of range for a line of 5: 5 to 22"),
        ("2x3 line 3", "width 2 is out of range for a line of 3: 3 to 22"),
        ("3x3 line 4", "line 4 is out of range for 3x3: 3 to 3"),
        ("5x7 line 8", "line 8 is out of range for 5x7: 3 to 7"),
        ("5x5 line 2", "line 2 is out of range for 5x5: 3 to 5"),
        ("renju 9x9 line 4", "line 4 is out of range for renju: 5 alone"),
        # An opening whose stones could make a line.
        ("3x3 line 3 swap2", "swap2 needs a longer line than 3"),
        # A game is drawn before its board is full, and after both sides could have won.
        ("15x15 draw at 225", "is out of range for 15x15: 10 to 224"),
        ("5x5 line 4 swap2 draw at 7", "is out of range for 5x5: 8 to 24"),
        (
            "gomoku 15x15",
            'no rule "gomoku"; the rules are freestyle, standard, renju, caro, caro-exact',
        ),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Variant.parse(text)


def test_rule_named() -> None:
    """Each rule is found by its name."""
    assert {name: rule_named(name) for name in RULES} == RULES


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("size", [5, 7, 9, 15, 20, 22])
def test_openings_are_legal(name: str, size: int) -> None:
    """A variant of any rule begins with no move forbidden, nor has an opening of ours one."""
    variant = Variant.parse(f"{name} {size}")
    assert variant == Variant(RULES[name], size, size)
    assert len(Board(variant).legal_cells()) == size * size
    for opening in openings_for(variant):
        check_opening(opening, variant)
