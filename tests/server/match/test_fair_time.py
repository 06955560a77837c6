"""Fair time: who was in time by its own clock does not lose, and time can't be bought."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import Board, Clock, Ending, Seat, TimeControl, Variant
from meijin.server.match.arbiter.allowance import Allowance, allowance_of
from meijin.server.match.arbiter.arbiter import ActionResult, Arbiter
from meijin.server.match.arbiter.stalls import NS_PER_SECOND, Moment

LARGE = Variant(width=22, height=22)
DRAWISH = [
    22 * row + column for row in range(0, 22, 2) for column in (*range(0, 22, 2), *range(1, 22, 2))
]
"""Cells of the large board that make no line when they are played in turn."""
MILLISECOND = NS_PER_SECOND // 1000
GRACE = 30 * NS_PER_SECOND
MARGIN = 50 * MILLISECOND
CONTROLS = ("0.5+0.01", "0.2/move", "60+0.5", "5+0.1,1/move", "0.1", "600")

controls = st.sampled_from(CONTROLS)
shares = st.floats(0, 1)


class Game:
    """A game that black plays against a bot that takes no time."""

    def __init__(self, control: str) -> None:
        self.control = TimeControl.parse(control)
        self.allowance: Allowance = allowance_of(self.control, grace_ns=GRACE, margin_ns=MARGIN)
        clock = Clock(self.control)
        self.arbiter = Arbiter(Board(LARGE), clock, grace_ns=GRACE, margin_ns=MARGIN)
        self.now = self.stall = 0
        self.moves = 0

    @property
    def moment(self) -> Moment:
        """Now."""
        return Moment(self.now, self.stall)

    @property
    def is_running(self) -> bool:
        """Whether nobody has won or lost yet."""
        return self.arbiter.outcome is None

    def look(self) -> None:
        """The watchdog looks at the clocks; a ping is answered at once."""
        if self.arbiter.expire(self.moment, 0):
            self.arbiter.decide(self.moment, 0)

    def answer(self, *, lag_ns: int = 0, thinking_us: int = 0, ping_ns: int = 0) -> None:
        """Black's move is read."""
        arbiter, ply = self.arbiter, self.arbiter.board.ply
        result = arbiter.play(
            Seat.FIRST, ply, DRAWISH[ply], self.moment, lag_ns, thinking_us=thinking_us
        )
        if result is ActionResult.HELD:
            self.now += ping_ns
            arbiter.decide(self.moment, ping_ns)
        if self.is_running:
            self.moves += 1
            arbiter.ask(self.moment)
            arbiter.play(Seat.SECOND, ply + 1, DRAWISH[ply + 1], self.moment, 0)


class HonestMove(NamedTuple):
    """A move of a bot that keeps within the clock that it is told."""

    thinking: float
    """As a share of the clock told."""
    way: float
    """There and back, as a share of what is allowed."""
    stall: float
    """Of the server, in seconds, while the answer waits."""
    looks: list[float]
    """When the watchdog looks, as shares of the time until the answer is read."""


honest_moves = st.builds(
    HonestMove, shares, shares, st.sampled_from((0.0, 0.02, 3.0)), st.lists(shares, max_size=3)
)


@given(controls, st.lists(honest_moves, max_size=30))
def test_nobody_who_was_in_time_loses_on_time(control: str, moves: list[HonestMove]) -> None:
    """However long the ways are, as long as they keep within the bounds that are documented."""
    game, ways = Game(control), 0
    allowed = game.allowance
    for move in moves:
        told = game.arbiter.ask(game.moment) // MILLISECOND * MILLISECOND
        told = min(told, game.arbiter.clock.budget_ns(Seat.FIRST))
        thinking = round(move.thinking * told) // 1000 * 1000
        left = allowed.lag_at_start_ns + allowed.lag_gain_ns * game.moves - ways
        way = round(move.way * min(left, allowed.lag_per_move_ns))
        ways += way
        start = game.now
        for look in sorted(move.looks):
            game.now = start + round(look * (thinking + way))
            game.look()
        game.now = start + thinking + way
        game.look()
        game.now += round(move.stall * NS_PER_SECOND)
        game.stall += round(move.stall * NS_PER_SECOND)
        game.answer(thinking_us=max(thinking // 1000, 1))
        assert game.is_running, game.arbiter.evidence


class DishonestMove(NamedTuple):
    """A move of a bot that does everything to gain time."""

    thinking: float
    """What it really takes, as a share of what it might get away with."""
    lag: float
    """The least round trip that its held pongs show, in seconds."""
    ping: float
    """How long it holds the last one before a verdict, in seconds."""
    told_us: int
    """What it says that it took."""
    absences: list[float]
    """Seconds for which it leaves on its turn to think."""


dishonest_moves = st.builds(
    DishonestMove,
    st.floats(0, 1.2),
    st.sampled_from((0.0, 0.49, 60.0)),
    st.sampled_from((0.0, 0.5, 60.0)),
    st.sampled_from((0, 1, 2**64 - 1)),
    st.lists(st.sampled_from((0.1, 1.0, 5.0)), max_size=2),
)


def leave(game: Game, seconds: float) -> int:
    """Leave on the own turn, and come back unless the game is over by then."""
    start = game.now
    game.arbiter.leave(Seat.FIRST, game.moment)
    while game.is_running and game.now < start + round(seconds * NS_PER_SECOND):
        game.now += 40 * MILLISECOND
        game.look()
    if game.is_running:
        game.arbiter.come_back(Seat.FIRST, game.moment)
        game.arbiter.ask(game.moment)
    return game.now - start


@given(controls, st.lists(dishonest_moves, max_size=30))
def test_time_can_not_be_bought(control: str, moves: list[DishonestMove]) -> None:
    """Held pongs, understated times and absences together gain what is documented, and no more."""
    game = Game(control)
    allowed, credit, used = game.allowance, game.arbiter.credits[Seat.FIRST], 0
    for move in moves:
        left = game.arbiter.ask(game.moment)
        away = sum(leave(game, seconds) for seconds in move.absences if game.is_running)
        if not game.is_running:
            break
        most = min(left, game.arbiter.clock.budget_ns(Seat.FIRST)) + allowed.lag_per_move_ns
        thinking = round(move.thinking * (most + MARGIN))
        game.now += thinking
        game.answer(
            lag_ns=round(move.lag * NS_PER_SECOND),
            thinking_us=move.told_us,
            ping_ns=round(move.ping * NS_PER_SECOND),
        )
        if not game.is_running:
            break
        used += away + thinking
    charged = sum(game.arbiter.charged_ns[0 : 2 * game.moves : 2])
    gained = used - charged
    bank = allowed.lag_at_start_ns + allowed.lag_gain_ns * max(game.moves - 1, 0)
    assert gained <= min(bank, GRACE) + 10 * MARGIN + allowed.absence_ns
    assert credit.lag_ns <= min(bank, GRACE)
    assert credit.margin_ns <= 10 * MARGIN
    assert credit.absence_ns <= allowed.absence_ns
    assert charged <= clock_in_all(game)


def clock_in_all(game: Game) -> int:
    """All that the clock gives for so many moves and the pending one, in nanoseconds."""
    control, moves = game.control, game.moves
    if control.initial is None:
        assert control.per_move is not None
        return round(control.per_move.total_seconds() * NS_PER_SECOND) * moves
    return round((control.initial + control.increment * moves).total_seconds() * NS_PER_SECOND)


def test_the_bounds_of_a_fast_game() -> None:
    """At 0.2 s a move, pongs held back for half a second gained a move thrice its time."""
    allowed = allowance_of(TimeControl.parse("0.2/move"), grace_ns=GRACE, margin_ns=MARGIN)
    assert (allowed.lag_at_start_ns, allowed.lag_gain_ns) == (500 * MILLISECOND, 70 * MILLISECOND)
    assert allowed.lag_per_move_ns == 250 * MILLISECOND
    assert allowed.absence_ns == 800 * MILLISECOND


@pytest.mark.parametrize(
    ("control", "seconds"),
    [
        ("0.1", 0.5),
        ("0.1/move", 0.5),
        ("0.5+0.05", 0.5),
        ("60,0.2/move", 6),
        ("5,0.2/move", 0.5),
        ("1+0.01", 1),
        ("3", 3),
        ("10+0.1", 3),
        ("60+0", 6),
    ],
)
def test_an_absence_is_free_for_what_the_clock_has(control: str, seconds: float) -> None:
    """Not for 3 s where that is several clocks; a client needs half a second to come back."""
    allowed = allowance_of(TimeControl.parse(control), grace_ns=GRACE, margin_ns=MARGIN)
    assert allowed.absence_ns == round(seconds * NS_PER_SECOND)


def test_no_bound_is_above_that_of_any_game() -> None:
    """A long game is allowed half a second a move, 30 s in all, and the grace."""
    allowed = allowance_of(TimeControl.parse("3600+60"), grace_ns=GRACE, margin_ns=MARGIN)
    assert allowed.lag_per_move_ns == 500 * MILLISECOND
    assert allowed.absence_ns == GRACE
    game = Game("3600+60")
    for _ in range(80):
        game.arbiter.ask(game.moment)
        game.now += NS_PER_SECOND
        game.answer(lag_ns=NS_PER_SECOND)
    assert game.arbiter.credits[Seat.FIRST].lag_ns == 30 * NS_PER_SECOND


def test_pongs_held_back_gain_little() -> None:
    """At 0.2 s a move, moves of 0.6 s lose as soon as the game's allowance is used up."""
    game = Game("0.2/move")
    while game.is_running:
        game.arbiter.ask(game.moment)
        game.now += 400 * MILLISECOND
        game.answer(lag_ns=490 * MILLISECOND, ping_ns=490 * MILLISECOND)
    assert game.moves <= 8
    assert game.arbiter.outcome is not None
    assert game.arbiter.outcome.ending is Ending.TIME
