"""The arbiter in the phases of an opening."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import (
    OPENING_RULES,
    SWAP,
    SWAP1,
    SWAP2,
    Action,
    Board,
    Choose,
    Clock,
    Color,
    Ending,
    OpeningRule,
    Outcome,
    Party,
    Placement,
    Seat,
    Task,
    TimeControl,
    Variant,
    encode_action,
)
from meijin.server.match.arbiter.arbiter import ActionResult, Arbiter
from meijin.server.match.arbiter.stalls import NS_PER_SECOND, Moment

FIRST, SECOND = Seat.FIRST, Seat.SECOND
ACCEPTED, NOT_ASKED = ActionResult.ACCEPTED, ActionResult.NOT_ASKED
THREE = Placement((0, 7, 14))
MINUTE = 60 * NS_PER_SECOND


class Game:
    """A game under an opening rule, and its time in seconds."""

    def __init__(self, rule: OpeningRule = SWAP2, control: str = "60+1") -> None:
        variant = Variant(width=9, height=9, opening_rule=rule)
        clock = Clock(TimeControl.parse(control))
        self.arbiter = Arbiter(Board(variant), clock, grace_ns=MINUTE)
        self.now = 0

    @property
    def moment(self) -> Moment:
        """Now."""
        return Moment(self.now, 0)

    def turn(self, action: Action, seconds: float = 0, *, seat: Seat | None = None) -> ActionResult:
        """Ask, think and act, for the seat that is to act or as told."""
        arbiter = self.arbiter
        arbiter.ask(self.moment)
        self.now += round(seconds * NS_PER_SECOND)
        seat, ply = seat or arbiter.seat_to_act, arbiter.board.ply
        judge = arbiter.play if isinstance(action, int) else arbiter.act
        result = judge(seat, ply, action, self.moment, 0)  # type: ignore[arg-type]
        if result is ActionResult.HELD:
            arbiter.decide(self.moment, 0)
        return result

    def left(self, seat: Seat) -> float:
        """Seconds on a clock."""
        return self.arbiter.clock.left_ns(seat) / NS_PER_SECOND


def test_an_opening_is_charged_to_who_acted() -> None:
    """All its stones together, and a choice; whatever colour that seat then has."""
    game = Game()
    game.turn(THREE, 3)
    game.turn(Choose(Color.WHITE), 2)
    game.turn(40, 1)
    three, one = 3 * NS_PER_SECOND, NS_PER_SECOND
    told = [game.arbiter.credits[seat].charge for seat in Seat]
    assert told == [(three, 0, three), (one, 0, one)]


@pytest.mark.parametrize("color", Color)
def test_the_second_player_chooses(color: Color) -> None:
    """After that the seats take turns, white first, whoever has it."""
    game = Game()
    assert game.turn(THREE) is ACCEPTED
    assert game.turn(Choose(color)) is ACCEPTED
    white = SECOND if color is Color.WHITE else FIRST
    assert game.arbiter.task is None
    assert game.arbiter.seat_to_act is white
    assert game.turn(40) is ACCEPTED
    assert game.arbiter.seat_to_act is white.other


def test_the_first_player_chooses_after_two_more() -> None:
    """The second one has placed them instead of choosing."""
    game = Game()
    game.turn(THREE)
    assert game.turn(Placement((20, 21))) is ACCEPTED
    assert game.arbiter.task == Task(FIRST, 0, may_choose=True)
    assert game.turn(Choose(Color.WHITE)) is ACCEPTED
    assert game.arbiter.seat_to_act is FIRST
    assert game.arbiter.position.is_swapped


@pytest.mark.parametrize(
    "action", [Placement((0, 1)), Placement((0, 1, 2, 3)), Placement(()), 40], ids=str
)
def test_another_number_of_stones_is_illegal(action: Action) -> None:
    """It loses at once, and the evidence tells the action."""
    game = Game()
    assert game.turn(action) is ACCEPTED
    outcome = game.arbiter.outcome
    assert outcome is not None
    assert (outcome.ending, outcome.at_fault) == (Ending.ILLEGAL, Party.BLACK)
    assert "the task is to place 3 stones" in outcome.detail
    assert game.arbiter.evidence["moves"] == []


def test_a_stone_where_a_side_is_asked_for_is_illegal() -> None:
    """By the rule of three stones and a choice."""
    game = Game(SWAP)
    game.turn(THREE)
    game.turn(40)
    outcome = game.arbiter.outcome
    assert outcome is not None
    assert (outcome.ending, outcome.at_fault) == (Ending.ILLEGAL, Party.WHITE)
    assert outcome.detail == "a stone where the task is to choose a side"


def test_an_occupied_cell_of_a_placement_is_illegal() -> None:
    """The board is as it was before."""
    game = Game()
    game.turn(Placement((5, 6, 5)))
    assert game.arbiter.outcome is not None
    assert game.arbiter.outcome.ending is Ending.ILLEGAL
    assert not game.arbiter.board.moves


def test_a_choice_at_the_wrong_time_has_no_effect() -> None:
    """Before three stones lie, and once a side is chosen; the turn goes on."""
    game = Game()
    assert game.turn(Choose(Color.WHITE)) is NOT_ASKED
    assert game.turn(THREE) is ACCEPTED
    assert game.turn(Choose(Color.WHITE)) is ACCEPTED
    assert game.turn(Choose(Color.WHITE)) is NOT_ASKED
    assert game.turn(Placement((30, 31))) is NOT_ASKED
    assert game.arbiter.outcome is None
    assert game.turn(40) is ACCEPTED


def test_an_action_of_the_other_player_is_refused() -> None:
    """In every phase."""
    game = Game()
    assert game.turn(THREE, seat=SECOND) is ActionResult.NOT_YOUR_TURN
    assert game.turn(3, seat=SECOND) is ActionResult.NOT_YOUR_TURN
    game.turn(THREE)
    assert game.turn(Choose(Color.BLACK), seat=FIRST) is ActionResult.NOT_YOUR_TURN


def test_the_same_action_twice_is_stale() -> None:
    """The second one answers no pending turn."""
    game = Game()
    game.turn(THREE)
    assert game.arbiter.act(FIRST, 0, THREE, game.moment, 0) is ActionResult.STALE_PLY


def test_each_action_takes_its_time_and_has_one_increment() -> None:
    """Whatever the number of its stones: the same clocks run in all phases."""
    game = Game()
    game.turn(THREE, 10)
    assert game.left(FIRST) == 51
    game.turn(Choose(Color.BLACK), 20)
    assert game.left(SECOND) == 41
    game.turn(40, 5)
    assert (game.left(FIRST), game.left(SECOND)) == (47, 41)
    assert game.arbiter.choice_ns == (20 * NS_PER_SECOND, 20 * NS_PER_SECOND)
    assert list(game.arbiter.charged_ns) == [10 * NS_PER_SECOND, 0, 0, 5 * NS_PER_SECOND]


@pytest.mark.parametrize(
    ("before", "culprit"),
    [
        ((), Party.BLACK),
        ((THREE,), Party.WHITE),
        ((THREE, Placement((20, 21))), Party.BLACK),
        ((THREE, Choose(Color.BLACK)), Party.WHITE),
    ],
)
def test_a_flag_falls_in_any_phase(before: tuple[Action, ...], culprit: Party) -> None:
    """Until a side is chosen the first player counts as black."""
    game = Game()
    for action in before:
        game.turn(action)
    game.arbiter.ask(game.moment)
    game.now += 2 * MINUTE
    assert game.arbiter.expire(game.moment, 0)
    game.arbiter.decide(game.moment, 0)
    assert game.arbiter.outcome is not None
    assert (game.arbiter.outcome.ending, game.arbiter.outcome.at_fault) == (Ending.TIME, culprit)


def test_a_late_choice_within_the_margin_of_its_ping_counts() -> None:
    """It is held, and takes its place once the way is known."""
    game = Game()
    game.turn(THREE)
    game.arbiter.ask(game.moment)
    game.now += MINUTE + NS_PER_SECOND // 10
    result = game.arbiter.act(SECOND, 3, Choose(Color.BLACK), game.moment, 0)
    assert result is ActionResult.HELD
    assert game.arbiter.held == Choose(Color.BLACK)
    game.arbiter.decide(game.moment, NS_PER_SECOND // 5)
    assert game.arbiter.outcome is None
    assert not game.arbiter.is_flag_up
    assert game.arbiter.seat_to_act is FIRST
    assert game.arbiter.board.ply == 3


@pytest.mark.parametrize("seat", Seat)
def test_a_player_resigns_in_the_opening(seat: Seat) -> None:
    """The other wins, by the colours as they are so far."""
    game = Game()
    game.turn(THREE)
    game.arbiter.resign(seat)
    winner = Color.WHITE if seat is FIRST else Color.BLACK
    assert game.arbiter.outcome == Outcome(Ending.RESIGN, winner)


def test_the_fault_is_that_of_the_colour_after_a_swap() -> None:
    """Who chose black is at fault as black."""
    game = Game(SWAP1)
    game.turn(40)
    game.turn(Choose(Color.BLACK))
    game.arbiter.fail(SECOND, "boom")
    assert game.arbiter.outcome == Outcome(Ending.CRASH, Color.WHITE, Party.BLACK, "boom")


def test_a_chooser_that_is_away_loses_by_its_absence() -> None:
    """Grace runs in an opening as in the game."""
    game = Game(control="600")
    game.turn(THREE)
    game.arbiter.ask(game.moment)
    game.arbiter.leave(SECOND, game.moment)
    game.now += 2 * MINUTE
    game.arbiter.expire_absences(game.now)
    assert game.arbiter.outcome is not None
    assert game.arbiter.outcome.ending is Ending.DISCONNECT
    assert game.arbiter.outcome.at_fault is Party.WHITE


@given(st.sampled_from(list(OPENING_RULES.values())), st.randoms(use_true_random=False))
def test_what_is_stored_leads_to_the_same_game(rule: OpeningRule, rng: random.Random) -> None:
    """After any action: position, clocks and times."""
    game = Game(rule)
    stored: list[tuple[int, int, int]] = []
    cells = rng.sample(range(81), 10)
    while game.arbiter.board.ply < 8 and game.arbiter.outcome is None:
        task, seconds = game.arbiter.task, rng.random()
        ply = game.arbiter.board.ply
        if task is None:
            action: Action = cells[ply]
        elif task.may_choose and (not task.stones or rng.random() < 0.5):
            action = Choose(rng.choice(tuple(Color)))
        else:
            action = Placement(tuple(cells[ply : ply + task.stones]))
        game.turn(action, seconds)
        if isinstance(action, Choose):
            times = [game.arbiter.choice_ns]
        else:
            count = len(encode_action(action))
            arbiter = game.arbiter
            times = list(zip(arbiter.raw_ns[-count:], arbiter.charged_ns[-count:], strict=True))
        stored += [(code, *time) for code, time in zip(encode_action(action), times, strict=True)]
        again = Game(rule)
        for move in stored:
            again.arbiter.replay(*move)
        assert again.arbiter.position.turns == game.arbiter.position.turns
        assert (again.arbiter.task, again.arbiter.turns) == (game.arbiter.task, game.arbiter.turns)
        assert again.arbiter.board == game.arbiter.board
        assert again.arbiter.raw_ns == game.arbiter.raw_ns
        assert again.arbiter.choice_ns == game.arbiter.choice_ns
        assert [again.left(seat) for seat in Seat] == [game.left(seat) for seat in Seat]
        told = [again.arbiter.credits[seat].charge for seat in Seat]
        assert told == [game.arbiter.credits[seat].charge for seat in Seat]
