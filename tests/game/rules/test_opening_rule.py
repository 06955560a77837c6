"""Opening rules: the phases of a game, against a small model of them."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import (
    FREE,
    OPENING_RULES,
    SWAP2,
    Board,
    Choose,
    Color,
    GamePosition,
    IllegalActionError,
    OpeningRule,
    Placement,
    Seat,
    SideChoice,
    Task,
    Variant,
    chosen_color,
    encode_action,
    opening_rule_named,
)

FIRST, SECOND = Seat.FIRST, Seat.SECOND
rules = st.sampled_from(list(OPENING_RULES.values()))


class Turn(NamedTuple):
    """What the model expects: who is asked for how many stones, or also for a side."""

    seat: Seat
    stones: int
    may_choose: bool


def expected(rule: str, actions: list[int | Color]) -> Turn | None:
    """The opening's next turn after stone counts and choices; ``None`` when it is over.

    Written out for each rule, as their texts have it, and not computed from numbers.
    """
    chosen = any(isinstance(action, Color) for action in actions)
    match rule, len(actions):
        case "free", _:
            return None
        case _, 0:
            return Turn(FIRST, 1 if rule == "swap1" else 3, may_choose=False)
        case _, 1:
            return Turn(SECOND, 2 if rule == "swap2" else 0, may_choose=True)
        case "swap2", 2 if not chosen:
            return Turn(FIRST, 0, may_choose=True)
    return None


def position_of(rule: OpeningRule) -> GamePosition:
    return GamePosition(Board(Variant(width=9, height=9, opening_rule=rule)))


@given(rules, st.data())
def test_phases(rule: OpeningRule, data: st.DataObject) -> None:
    """Every course of an opening asks whom the rule asks, for what it asks."""
    position = position_of(rule)
    done: list[int | Color] = []
    chooser: Seat | None = None
    while (turn := expected(rule.name, done)) is not None:
        assert position.task == Task(*turn)
        assert position.seat_to_act is turn.seat
        assert [position.color_of(seat) for seat in Seat] == list(Color)
        if turn.may_choose and (not turn.stones or data.draw(st.booleans())):
            color = data.draw(st.sampled_from(Color))
            position.act(Choose(color))
            chooser = turn.seat
            done.append(color)
        else:
            cells = data.draw(st.permutations(position.board.legal_cells()))[: turn.stones]
            position.act(Placement(tuple(cells)))
            done.append(turn.stones)
    assert position.task is None
    assert position.seat_to_act is position.seat_of(position.board.side_to_move)
    if chooser is None:
        assert position.color_of(FIRST) is Color.BLACK
    else:
        assert position.color_of(chooser) is done[-1]
    assert position.is_swapped == (position.color_of(FIRST) is Color.WHITE)


@given(rules, st.lists(st.integers(0, 4) | st.sampled_from(Color), max_size=4))
def test_anything_else_is_refused(rule: OpeningRule, wanted: list[int | Color]) -> None:
    """Another number of stones, and a choice that isn't asked for, change nothing."""
    position, done = position_of(rule), list[int | Color]()
    for action in wanted:
        turn = expected(rule.name, done) or Turn(position.seat_to_act, 1, may_choose=False)
        before = (list(position.board.moves), position.choice, position.task)
        if isinstance(action, Color):
            is_asked = turn.may_choose
            act: Choose | Placement = Choose(action)
        else:
            is_asked = action > 0 and action == turn.stones
            act = Placement(tuple(position.board.legal_cells()[:action]))
        if is_asked:
            position.act(act)
            done.append(action)
        else:
            with pytest.raises(IllegalActionError):
                position.act(act)
            assert (list(position.board.moves), position.choice, position.task) == before


def test_stones_that_cant_be_placed_leave_none() -> None:
    """The stones before an occupied cell are taken back."""
    position = position_of(SWAP2)
    with pytest.raises(IllegalActionError, match="occupied"):
        position.act(Placement((1, 2, 1)))
    assert not position.board.moves
    assert position.task == Task(FIRST, 3, may_choose=False)


@given(rules, st.data())
def test_codes_lead_to_the_same_position(rule: OpeningRule, data: st.DataObject) -> None:
    """What is stored of an opening, code by code, asks the same seat for the same."""
    position, codes, cells = position_of(rule), list[int](), iter(range(50))
    while position.task is not None:
        task = position.task
        if task.may_choose and (not task.stones or data.draw(st.booleans())):
            action: Choose | Placement = Choose(data.draw(st.sampled_from(Color)))
        else:
            action = Placement(tuple(next(cells) for _ in range(task.stones)))
        position.act(action)
        codes += encode_action(action)
        again = position_of(rule)
        for code in codes:
            color = chosen_color(code)
            if color is None:
                again.board.play(code)
                again.look()
            else:
                again.choose(color)
        assert (again.board, again.choice, again.task, again.turns) == (
            position.board,
            position.choice,
            position.task,
            position.turns,
        )


def test_single_stones_and_choices() -> None:
    """A stone is a placement where one is asked for; a choice is kept with its ply."""
    position = position_of(OPENING_RULES["swap1"])
    position.act(40)
    assert position.task == Task(SECOND, 0, may_choose=True)
    position.act(Choose(Color.WHITE))
    assert position.choice == SideChoice(1, Color.WHITE)
    assert position.seat_to_act is SECOND


def test_without_an_opening_seats_take_turns() -> None:
    """The first player has black and moves at even plies."""
    position = position_of(FREE)
    assert position.task is None
    assert [position.color_of(seat) for seat in Seat] == list(Color)
    assert [position.seat_of(color) for color in Color] == list(Seat)
    for cell in range(5):
        assert position.seat_to_act is position.turns[cell % 2]
        assert position.color_of(position.seat_to_act) is position.board.side_to_move
        position.board.play(cell)


def test_names() -> None:
    """Each is found by its name; an error lists them."""
    assert [opening_rule_named(name).name for name in OPENING_RULES] == list(OPENING_RULES)
    with pytest.raises(ValueError, match="the opening rules are free, swap1, swap, swap2"):
        opening_rule_named("swap3")


def test_in_words() -> None:
    """A task reads as what is to be done."""
    assert str(Task(FIRST, 3, may_choose=False)) == "place 3 stones"
    assert str(Task(FIRST, 1, may_choose=False)) == "place a stone"
    assert str(Task(SECOND, 2, may_choose=True)) == "choose a side, or place 2 stones"
    assert str(Task(FIRST, 0, may_choose=True)) == "choose a side"
