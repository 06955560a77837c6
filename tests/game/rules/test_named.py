"""Every rule, by its name."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.game.games import play_and_judge

from meijin.game import FREESTYLE, RENJU, RULES, STANDARD, Board, Variant, openings_for, rule_named
from meijin.game.openings.opening import check_opening


def test_rule_named() -> None:
    """Each rule is found by its name."""
    assert {name: rule_named(name) for name in RULES} == RULES
    assert rule_named("standard") is STANDARD


def test_names() -> None:
    """The rules are those that engines are tested under."""
    assert list(RULES) == ["freestyle", "standard", "renju", "caro", "caro-exact"]


def test_unknown_rule() -> None:
    """The error for an unknown rule lists the known ones."""
    message = '"gomoku"; the rules are freestyle, standard, renju, caro, caro-exact'
    with pytest.raises(ValueError, match=message):
        rule_named("gomoku")


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("size", range(5, 23))
def test_every_rule_on_every_size(name: str, size: int) -> None:
    """A variant of any rule is read as it is written, and begins with no move forbidden."""
    variant = Variant.parse(f"{name} {size}")
    assert variant == Variant(RULES[name], size, size)
    assert Variant.parse(str(variant)) == variant
    assert len(Board(variant).legal_cells()) == size * size


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("size", [5, 7, 9, 15, 20, 22])
def test_openings_are_legal(name: str, size: int) -> None:
    """No opening of ours has a move that a rule forbids, or ends a game."""
    variant = Variant(RULES[name], size, size)
    for opening in openings_for(variant):
        check_opening(opening, variant)


@pytest.mark.parametrize("name", RULES)
@given(st.integers(5, 22), st.integers(5, 22), st.integers())
@settings(max_examples=40)
def test_random_games(name: str, width: int, height: int, seed: int) -> None:
    """In games of random moves the same are legal, and the same wins, as by the slow judge."""
    play_and_judge(Variant(RULES[name], width, height), seed)


def test_renju_is_five_in_a_row() -> None:
    """Its fouls are defined by fives, so no other line makes sense."""
    with pytest.raises(ValueError, match="line 4 is out of range for renju: 5 alone"):
        Variant(RENJU, 9, 9, line=4)
    assert Variant(FREESTYLE, 9, 9, line=4).line == 4
