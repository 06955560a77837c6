"""Opening rules: the phases of a game, as the rules' texts have them."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.game.drawn_actions import any_action

from meijin.game import (
    FREE,
    OPENING_RULES,
    SOOSYRV8,
    SWAP2,
    TARAGUCHI10,
    Action,
    Board,
    Choose,
    Color,
    Decision,
    Declare,
    GamePosition,
    IllegalActionError,
    Offer,
    OpeningRule,
    Placement,
    Seat,
    Task,
    Variant,
    encode_action,
    opening_rule_named,
    parse_cell,
)

FIRST, SECOND = Seat.FIRST, Seat.SECOND
PLAYED = {name: rule for name, rule in OPENING_RULES.items() if rule != FREE}
rules = st.sampled_from(list(PLAYED.values()))
randoms = st.randoms(use_true_random=False)

BLACK, WHITE = Color
SQUARES = "within the central"

COURSES = {
    "swap1": """
        1 place a stone: h8
        2 choose a side: white
    """,
    "swap": """
        1 place 3 stones: h8 i9 a1
        2 choose a side: black
    """,
    "swap2": """
        1 place 3 stones: h8 i9 a1
        2 choose a side, or place 2 stones: b1 c1
        1 choose a side: white
    """,
    "soosyrv8": f"""
        1 place 3 stones {SQUARES} 1x1, 3x3, 5x5: h8 i9 j8
        2 choose a side: black
        1 place a stone: a1
        1 declare from 1 to 8 offers: declare 2
        2 choose a side: white
        1 offer 2 cells: offer g7 a2
        2 take one of the offered cells: a2
    """,
    "yamaguchi": f"""
        1 place 3 stones {SQUARES} 1x1, 3x3, 5x5: h8 i9 j8
        1 declare from 1 to 12 offers: declare 1
        2 choose a side: white
        2 place a stone: a1
        1 offer 1 cells: offer o15
        2 take one of the offered cells: o15
    """,
    "taraguchi10": f"""
        1 place a stone {SQUARES} 1x1: h8
        2 choose a side: black
        1 place a stone {SQUARES} 3x3: i9
        2 choose a side: black
        2 place a stone {SQUARES} 5x5: j8
        1 choose a side: white
        1 place a stone {SQUARES} 7x7: k8
        2 choose a side, or offer 10 cells: white
        1 place a stone {SQUARES} 9x9: l8
        2 choose a side: white
    """,
}
"""Who is asked for what, and what it does, as the texts of the rules have it."""

OFFERED = f"""
        1 place a stone {SQUARES} 1x1: h8
        2 choose a side: white
        2 place a stone {SQUARES} 3x3: i9
        1 choose a side: black
        1 place a stone {SQUARES} 5x5: j8
        2 choose a side: white
        2 place a stone {SQUARES} 7x7: k8
        1 choose a side, or offer 10 cells: offer a1 a2 a3 a4 a5 a6 a7 a8 a9 b1
        2 take one of the offered cells: b1
"""


def position_of(rule: OpeningRule, side: int = 9) -> GamePosition:
    return GamePosition(Board(Variant(width=side, height=side, opening_rule=rule)))


def action_of(words: str, variant: Variant) -> Action:
    """An action in the words of the courses."""
    first, *others = words.split()
    if first.upper() in Color.__members__:
        return Choose(Color[first.upper()])
    if first == "declare":
        return Declare(int(others[0]))
    if first == "offer":
        return Offer(tuple(parse_cell(name, variant) for name in others))
    return Placement(tuple(parse_cell(name, variant) for name in words.split()))


@pytest.mark.parametrize(("name", "course"), [*COURSES.items(), ("taraguchi10", OFFERED)], ids=str)
def test_courses(name: str, course: str) -> None:
    """Each player is asked for what the rule's text says, and then stones go one by one."""
    position = position_of(PLAYED[name], 15)
    for line in course.strip().splitlines():
        asked, _, done = line.strip().partition(": ")
        seat, _, task = asked.partition(" ")
        assert (str(position.seat_to_act.value), str(position.task)) == (seat, task)
        position.act(action_of(done, position.board.variant))
    assert position.task is None
    assert position.seat_to_act is position.seat_of(position.board.side_to_move)


def test_every_rule_has_a_course() -> None:
    assert COURSES.keys() == PLAYED.keys()


@given(rules, randoms)
def test_a_choice_gives_its_player_the_side(rule: OpeningRule, rng: random.Random) -> None:
    """The first player has black until somebody chooses otherwise, however often that is."""
    position = position_of(rule)
    black = FIRST
    while position.task is not None:
        seat, action = position.seat_to_act, any_action(position, rng)
        before = position.black
        position.act(action)
        if isinstance(action, Choose):
            black = seat if action.color is BLACK else seat.other
            assert position.black_before is before
        assert position.black is black
        assert [position.seat_of(color) for color in Color] == [black, black.other]
        assert position.is_swapped == (black is SECOND)
    assert position.board.ply <= rule.most_stones


@given(rules, randoms, st.data())
def test_anything_else_is_refused(
    rule: OpeningRule, rng: random.Random, data: st.DataObject
) -> None:
    """What isn't asked for changes nothing, at any point of an opening."""
    position = position_of(rule)
    for _ in range(data.draw(st.integers(0, 12))):
        if position.task is not None:
            position.act(any_action(position, rng))
    task = position.task or Task(1)
    legal = position.board.legal_cells()
    wrong: list[Action] = [Placement(tuple(legal[: (task.stones or 5) + 1])), Placement(())]
    wrong += [] if task.may_choose else [Choose(WHITE)]
    wrong += [Declare(0), Declare(task.most_offers + 1)]
    wrong += [Offer(tuple(legal[: task.offers + 1])), Offer(tuple(legal[:1] * max(task.offers, 2)))]
    state = (list(position.board.moves), list(position.decisions), position.task, position.turns)
    for action in wrong:
        with pytest.raises(IllegalActionError):
            position.act(action)
        assert (
            list(position.board.moves),
            position.decisions,
            position.task,
            position.turns,
        ) == state


@pytest.mark.parametrize(
    ("rule", "course", "message"),
    [
        (SWAP2, "h8 h9 h8", "h8 is occupied"),
        (SOOSYRV8, "h8 h9 a1", "where the task is to place 3 stones within"),
        (SOOSYRV8, "h8 i9 j8; black; a1; declare 2; black; offer g7 g7", "up to symmetry"),
        (SOOSYRV8, "h8 i9 j8; black; a1; declare 1; black; offer h8", "no stone can be placed"),
        (
            SOOSYRV8,
            "h8 i9 j8; black; a1; declare 1; black; offer b1; c1",
            "take one of the offered",
        ),
        (SOOSYRV8, "h8 h9 h7; black; h6; declare 2; black; offer g7 i7", "up to symmetry"),
        (TARAGUCHI10, "h9", "within the central 1x1"),
        (TARAGUCHI10, "h8; black; h10", "within the central 3x3"),
    ],
)
def test_what_a_rule_refuses(rule: OpeningRule, course: str, message: str) -> None:
    """A stone outside of its square, an offer of the same thing twice, a cell nobody offered."""
    position = position_of(rule, 15)
    *before, last = (action_of(words, position.board.variant) for words in course.split("; "))
    for action in before:
        position.act(action)
    moves = list(position.board.moves)
    with pytest.raises(IllegalActionError, match=message):
        position.act(last)
    assert list(position.board.moves) == moves


@given(rules, randoms)
def test_codes_lead_to_the_same_position(rule: OpeningRule, rng: random.Random) -> None:
    """Those that are stored of an opening, and the stones and decisions of a record."""
    position, codes = position_of(rule), list[int]()
    while position.task is not None:
        action = any_action(position, rng)
        position.act(action)
        codes += encode_action(action)
        again = position_of(rule)
        for code in codes:
            again.replay(code)
        recorded = GamePosition(position.board.copy(), tuple(position.decisions))
        for other in (again, recorded):
            assert not other.is_partway
            assert (other.board, other.decisions, other.task, other.turns, other.black) == (
                position.board,
                position.decisions,
                position.task,
                position.turns,
                position.black,
            )


def test_a_part_of_an_action_is_told() -> None:
    """After some codes of it, and until the last one."""
    position = position_of(SOOSYRV8, 15)
    codes = encode_action(action_of("h8 i9 j8", position.board.variant))
    seen = []
    for code in codes:
        position.replay(code)
        seen.append(position.is_partway)
    assert seen == [True, True, False]


def test_an_offer_has_to_be_whole() -> None:
    """Nothing else comes between the codes of its cells."""
    position = position_of(TARAGUCHI10, 15)
    for words in ("h8", "black", "i9", "white", "j8", "black", "k8"):
        position.act(action_of(words, position.board.variant))
    position.replay(encode_action(Offer((0,)))[0])
    assert position.is_partway
    for other in (Choose(WHITE), Placement((1,))):
        with pytest.raises(IllegalActionError, match="a part of an offer"):
            position.replay(encode_action(other)[0])


def test_decisions_that_follow_no_rule_are_refused() -> None:
    """Such as a side that is chosen where stones are asked for."""
    board = Board(Variant(opening_rule=SWAP2))
    with pytest.raises(IllegalActionError, match="a choice of a side where the task is to place"):
        GamePosition(board, [Decision(0, Choose(WHITE))])
    with pytest.raises(IllegalActionError, match="declare 3 where the task is to place a stone"):
        GamePosition(Board(), [Decision(0, Declare(3))])


def test_single_stones_and_choices() -> None:
    """A stone is a placement where one is asked for; a choice is kept with its ply."""
    position = position_of(OPENING_RULES["swap1"])
    position.act(40)
    assert position.task == Task(may_choose=True)
    position.act(Choose(WHITE))
    assert position.decisions == [Decision(1, Choose(WHITE))]
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
    with pytest.raises(ValueError, match="the opening rules are free, swap1, swap, swap2, soos"):
        opening_rule_named("swap3")


def test_a_board_has_room_for_the_squares() -> None:
    """And for ten cells that no symmetry makes the same."""
    with pytest.raises(ValueError, match="taraguchi10 needs boards of at least 9x9"):
        Variant(width=8, height=9, opening_rule=TARAGUCHI10)
    assert str(Variant(opening_rule=TARAGUCHI10)) == "freestyle 15x15 taraguchi10"
