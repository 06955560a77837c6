"""Fair time: who was in time by its own clock does not lose, and time can't be bought."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.game.arbiter.match import DRAWISH, GRACE, HELD, Match, ns

from meijin.game import Seat, TimeControl
from meijin.game.arbiter.allowance import allowance_of
from meijin.game.arbiter.moment import NS_PER_SECOND

MILLISECOND = NS_PER_SECOND // 1000
MARGIN = 50 * MILLISECOND
CONTROLS = ("0.5+0.01", "0.2/move", "60+0.5", "5+0.1,1/move", "0.1", "600")

controls = st.sampled_from(CONTROLS)
shares = st.floats(0, 1)
allowed_by = partial(allowance_of, grace_ns=GRACE, margin_ns=MARGIN)


class Game(Match):
    """A game that black plays against a bot that takes no time."""

    def __init__(self, control: str) -> None:
        super().__init__(f"{control} 22x22 margin=.05")
        self.control = TimeControl.parse(control)
        self.allowance = allowed_by(self.control)
        self.moves = 0

    @property
    def is_running(self) -> bool:
        return self.outcome is None

    def move(self, *, lag: float = 0, thinking: float = 0, ping: float = 0) -> None:
        ply = self.arbiter.board.ply
        if self.answer(DRAWISH[ply], lag=lag, thinking=thinking) is HELD:
            self.now += ns(ping)
            self.decide(ping)
        if self.is_running:
            self.moves += 1
            self.do_ask()
            self.answer(DRAWISH[ply + 1])


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
            game.do_look()
        game.now = start + thinking + way
        game.do_look()
        game.do_wait(str(move.stall), move.stall)
        game.move(thinking=max(thinking // 1000, 1) / 1_000_000)
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
    game.do_leave("A")
    while game.is_running and game.now < start + ns(seconds):
        game.now += 40 * MILLISECOND
        game.do_look()
    if game.is_running:
        game.carry_out("back A; ask")
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
        game.move(lag=move.lag, thinking=move.told_us / 1_000_000, ping=move.ping)
        if not game.is_running:
            break
        used += away + thinking
    charged = sum(game.arbiter.charged_ns[0 : 2 * game.moves : 2])
    bank = allowed.lag_at_start_ns + allowed.lag_gain_ns * max(game.moves - 1, 0)
    assert used - charged <= min(bank, GRACE) + 10 * MARGIN + allowed.absence_ns
    assert credit.lag_ns <= min(bank, GRACE)
    assert credit.margin_ns <= 10 * MARGIN
    assert credit.absence_ns <= allowed.absence_ns
    assert charged <= clock_in_all(game)


def clock_in_all(game: Game) -> int:
    """All that the clock gives for this many moves and the pending one, in nanoseconds."""
    control, moves = game.control, game.moves
    if control.initial is None:
        assert control.per_move is not None
        return ns(control.per_move.total_seconds()) * moves
    return ns((control.initial + control.increment * moves).total_seconds())


def test_the_bounds_of_a_fast_game() -> None:
    """At 0.2 s a move, pongs held back for half a second gained a move thrice its time."""
    allowed = allowed_by(TimeControl.parse("0.2/move"))
    assert (allowed.lag_at_start_ns, allowed.lag_gain_ns) == (500 * MILLISECOND, 70 * MILLISECOND)
    assert allowed.lag_per_move_ns == 250 * MILLISECOND
    assert allowed.absence_ns == 800 * MILLISECOND


@pytest.mark.parametrize(
    ("control", "seconds"),
    [
        *(("0.1", 0.5), ("0.1/move", 0.5), ("0.5+0.05", 0.5), ("5,0.2/move", 0.5), ("1+0.01", 1)),
        *(("3", 3), ("10+0.1", 3), ("60+0", 6), ("60,0.2/move", 6)),
    ],
)
def test_an_absence_is_free_for_what_the_clock_has(control: str, seconds: float) -> None:
    """Not for 3 s where that is several clocks; a client needs half a second to come back."""
    allowed = allowed_by(TimeControl.parse(control))
    assert allowed.absence_ns == ns(seconds)


def test_no_bound_is_above_that_of_any_game() -> None:
    """A long game is allowed half a second a move, 30 s in all, and the grace."""
    allowed = allowed_by(TimeControl.parse("3600+60"))
    assert allowed.lag_per_move_ns == 500 * MILLISECOND
    assert allowed.absence_ns == GRACE
    game = Game("3600+60")
    for _ in range(80):
        game.carry_out("ask; wait 1")
        game.move(lag=1)
    assert game.arbiter.credits[Seat.FIRST].lag_ns == 30 * NS_PER_SECOND
