"""The judge of one game, with a clock that only the tests move."""

import random
from array import array
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from meijin.game import (
    RENJU,
    TIC_TAC_TOE,
    Board,
    Clock,
    Color,
    Ending,
    Outcome,
    Party,
    Result,
    Seat,
    TimeControl,
    Variant,
)
from meijin.server.match.arbiter.arbiter import ActionResult, Arbiter
from meijin.server.match.arbiter.flag import PING_PATIENCE_NS
from meijin.server.match.arbiter.stalls import NS_PER_SECOND, Moment
from meijin.store.games import decode_times, encode_times

SMALL = Variant(width=5, height=5)
LARGE = Variant(width=22, height=22)
DRAWISH = [
    22 * row + column for row in range(0, 22, 2) for column in (*range(0, 22, 2), *range(1, 22, 2))
]
"""Cells of the large board that make no line when they are played in turn."""
BLOCKED = [
    *(20, 0, 42, 41, 6, 26, 22, 1, 3, 39, 25, 18, 46, 33, 23, 13, 21, 29, 4, 10, 40, 27, 47, 5),
    *(16, 48, 12, 7, 15, 35, 45, 9, 36, 24, 44, 17, 38, 34, 2, 28, 11, 19, 8, 14, 31, 30, 37, 32),
]
"""A game of renju on 7x7 that leaves black one cell, which would make six in a row."""
GRACE = 30 * NS_PER_SECOND
FIRST, SECOND = Seat.FIRST, Seat.SECOND


class Match:
    """An arbiter and its time, in seconds."""

    def __init__(
        self,
        control: str = "60+1",
        second: str = "",
        *,
        variant: Variant = SMALL,
        margin: float = 0,
    ) -> None:
        first, other = TimeControl.parse(control), TimeControl.parse(second or control)
        board, clock = Board(variant), Clock.of(first, other)
        margin_ns = round(margin * NS_PER_SECOND)
        self.arbiter = Arbiter(board, clock, grace_ns=GRACE, margin_ns=margin_ns)
        self.now = 1_000 * NS_PER_SECOND
        self.stall = 0

    @property
    def moment(self) -> Moment:
        """Now."""
        return Moment(self.now, self.stall)

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended."""
        return self.arbiter.outcome

    def wait(self, seconds: float, *, stalled: float = 0) -> None:
        """Let time pass, during a part of which the server stands still."""
        self.now += round(seconds * NS_PER_SECOND)
        self.stall += round(stalled * NS_PER_SECOND)

    def ask(self) -> float:
        """Request the pending turn; what is left for it, in seconds."""
        return self.arbiter.ask(self.moment) / NS_PER_SECOND

    def play(self, cell: int, *, ply: int | None = None, seat: Seat | None = None) -> ActionResult:
        """Play for the side to move, or as told, without lag."""
        board = self.arbiter.board
        result = self.arbiter.play(
            self.arbiter.seat_to_act if seat is None else seat,
            board.ply if ply is None else ply,
            cell,
            self.moment,
            0,
        )
        return self._decided(result)

    def turn(
        self,
        cell: int,
        seconds: float = 0,
        *,
        stalled: float = 0,
        lag: float = 0,
        thinking: float = 0,
        ping: float = 0,
    ) -> ActionResult:
        """Ask, think and play; a ping that a verdict needs is answered after `ping` seconds."""
        self.ask()
        self.wait(seconds, stalled=stalled)
        board = self.arbiter.board
        result = self.arbiter.play(
            self.arbiter.seat_to_act,
            board.ply,
            cell,
            self.moment,
            round(lag * NS_PER_SECOND),
            thinking_us=round(thinking * 1_000_000),
        )
        return self._decided(result, ping)

    def expire(self, *, lag: float = 0) -> None:
        """Look at the clocks; a ping that a verdict needs is answered at once."""
        self.arbiter.expire_absences(self.moment.served_ns)
        if self.arbiter.expire(self.moment, round(lag * NS_PER_SECOND)):
            self.decide()

    def decide(self, ping: float | None = 0) -> None:
        """The ping is answered after so many seconds, or not at all."""
        round_trip = None if ping is None else round(ping * NS_PER_SECOND)
        self.arbiter.decide(self.moment, round_trip)

    def _decided(self, result: ActionResult, ping: float = 0) -> ActionResult:
        if result is not ActionResult.HELD:
            return result
        self.decide(ping)
        return ActionResult.ACCEPTED

    def left(self, seat: Seat) -> float:
        """Seconds on a clock."""
        return self.arbiter.clock.left_ns(seat) / NS_PER_SECOND


# -- endings on the board ---------------------------------------------------------


def test_five_in_a_row_wins() -> None:
    """The winning move ends the game with no fault and no evidence."""
    match = Match()
    for cell in (0, 5, 1, 6, 2, 7, 3, 8):
        assert match.turn(cell) is ActionResult.ACCEPTED
        assert match.outcome is None
    assert match.turn(4) is ActionResult.ACCEPTED
    assert match.outcome == Outcome(Ending.FIVE, Color.BLACK)
    assert match.arbiter.evidence == {}
    assert len(match.arbiter.raw_ns) == len(match.arbiter.charged_ns) == 9


def test_a_full_board_is_a_draw() -> None:
    """The last free cell is played without a winning line."""
    match = Match(variant=TIC_TAC_TOE)
    for cell in (0, 1, 2, 4, 3, 5, 7, 6, 8):
        assert match.outcome is None
        match.turn(cell)
    assert match.outcome == Outcome(Ending.DRAW)
    assert match.arbiter.evidence == {}


def test_the_last_cell_can_win() -> None:
    """A line on a full board is a win, not a draw."""
    match = Match(variant=TIC_TAC_TOE)
    for cell in (0, 1, 2, 3, 4, 5, 7, 6, 8):
        match.turn(cell)
    assert match.outcome == Outcome(Ending.FIVE, Color.BLACK)


@pytest.mark.parametrize("seat", Seat)
def test_either_side_may_resign_at_any_time(seat: Seat) -> None:
    """Resigning needs no turn and is nobody's fault."""
    match = Match()
    match.turn(12)
    assert match.arbiter.resign(seat) is ActionResult.ACCEPTED
    assert match.outcome == Outcome(Ending.RESIGN, match.arbiter.position.color_of(seat.other))
    assert match.arbiter.evidence == {}


# -- moves that are none ----------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "detail"), [(12, "c3 is occupied"), (25, "off the 5x5 board"), (2**32 - 1, "off the")]
)
def test_an_illegal_move_forfeits(cell: int, detail: str) -> None:
    """The evidence is the move and the position it was made in."""
    match = Match()
    match.turn(12)
    assert match.turn(cell) is ActionResult.ACCEPTED
    assert match.outcome is not None
    assert (match.outcome.result, match.outcome.ending) == (Result.BLACK_WINS, Ending.ILLEGAL)
    assert match.outcome.at_fault is Party.WHITE
    assert detail in match.outcome.detail
    assert match.arbiter.evidence == {"cell": cell, "ply": 1, "moves": [12]}
    assert list(match.arbiter.board.moves) == [12]
    assert len(match.arbiter.raw_ns) == 1


def test_a_forbidden_move_forfeits() -> None:
    """Black loses at once by a foul, with an ending of its own and the foul by its name."""
    match = Match(variant=Variant(RENJU, 7, 7))
    for cell in (8, 42, 9, 43, 17, 45, 24, 46):
        match.turn(cell)
    assert match.turn(10) is ActionResult.ACCEPTED
    assert match.outcome is not None
    assert (match.outcome.result, match.outcome.ending) == (Result.WHITE_WINS, Ending.FORBIDDEN)
    assert match.outcome.at_fault is Party.BLACK
    assert match.outcome.detail == "d6 is forbidden to black by the renju rule: double-three"
    assert match.arbiter.evidence["cell"] == 10
    assert len(match.arbiter.board.moves) == 8


def test_white_may_do_what_black_may_not() -> None:
    """The same cell with the colours exchanged is a move like any other."""
    match = Match(variant=Variant(RENJU, 7, 7))
    for cell in (42, 8, 43, 9, 45, 17, 46, 24, 48, 10):
        match.turn(cell)
    assert match.outcome is None
    assert match.arbiter.board.ply == 10


def test_a_draw_at_a_limit_of_stones() -> None:
    """The game ends with so many, though cells are free."""
    match = Match(variant=replace(TIC_TAC_TOE, draw_at=8))
    for cell in (0, 1, 2, 4, 3, 5, 7, 6):
        assert match.outcome is None
        match.turn(cell)
    assert match.outcome == Outcome(Ending.DRAW)


def test_no_move_left_but_fouls_is_a_draw() -> None:
    """Where every empty cell is forbidden to the side to move, nobody can lose any more."""
    match = Match(variant=Variant(RENJU, 7, 7))
    for cell in BLOCKED[:-1]:
        match.turn(cell)
    assert match.outcome is None
    match.turn(BLOCKED[-1])
    assert match.arbiter.board.ply == 48
    assert match.outcome == Outcome(Ending.DRAW)


@pytest.mark.parametrize("ply", [0, 2, 99])
def test_a_move_for_another_ply_does_nothing(ply: int) -> None:
    """Sent twice, too early or too late: the pending turn still waits."""
    match = Match()
    match.turn(12)
    match.ask()
    assert match.play(12, ply=ply) is ActionResult.STALE_PLY
    assert match.outcome is None
    assert match.play(13) is ActionResult.ACCEPTED


def test_a_move_before_its_turn_was_requested_does_nothing() -> None:
    """What nobody asked for is no answer, though it names the right ply."""
    match = Match()
    assert match.play(12) is ActionResult.STALE_PLY
    match.turn(12)
    assert match.play(13) is ActionResult.STALE_PLY
    assert match.arbiter.board.ply == 1


def test_a_move_that_was_read_before_its_turn_was_requested_does_nothing() -> None:
    """Its message was read, and the turn requested while others of the message were judged."""
    match = Match()
    read = match.moment
    match.wait(0.001)
    match.ask()
    result = match.arbiter.play(FIRST, 0, 12, read, 0)
    assert result is ActionResult.STALE_PLY
    assert match.arbiter.board.ply == 0
    assert match.play(12) is ActionResult.ACCEPTED


def test_a_move_for_the_opponent_does_nothing() -> None:
    """The pending turn can be answered by its own side alone."""
    match = Match()
    match.ask()
    assert match.play(12, seat=SECOND) is ActionResult.NOT_YOUR_TURN
    assert match.arbiter.board.ply == 0
    assert match.play(12, seat=FIRST) is ActionResult.ACCEPTED


def test_nothing_changes_an_outcome() -> None:
    """An ended game takes no action and no passing of time."""
    match = Match("5/move")
    match.ask()
    match.arbiter.resign(FIRST)
    outcome = match.outcome
    assert match.play(12) is ActionResult.STALE_PLY
    assert match.arbiter.resign(SECOND) is ActionResult.STALE_PLY
    assert match.arbiter.fail(SECOND, "late") is ActionResult.STALE_PLY
    match.arbiter.void(Party.OPERATOR, "late")
    match.arbiter.leave(SECOND, match.moment)
    match.wait(1_000)
    match.expire()
    assert match.outcome is outcome
    assert match.arbiter.evidence == {}


def test_a_reported_failure_forfeits() -> None:
    """The evidence is what the bot said."""
    match = Match()
    match.turn(12)
    assert match.arbiter.fail(FIRST, "out of memory") is ActionResult.ACCEPTED
    assert match.outcome == Outcome(Ending.CRASH, Color.WHITE, Party.BLACK, "out of memory")
    assert match.arbiter.evidence == {"message": "out of memory", "ply": 1}


def test_a_void_game_counts_for_nothing() -> None:
    """It names who stopped it, and keeps why as its evidence."""
    match = Match()
    match.turn(12)
    match.arbiter.void(Party.OPERATOR, "cancelled")
    assert match.outcome == Outcome(Ending.VOID, None, Party.OPERATOR, "cancelled")
    assert match.arbiter.evidence == {"ply": 1, "detail": "cancelled"}


# -- the clocks -------------------------------------------------------------------


def test_a_move_is_charged_from_its_request_and_earns_the_increment() -> None:
    """Waiting for the request costs nothing."""
    match = Match("60+1")
    match.wait(500)
    match.turn(12, 10)
    match.wait(500)
    match.turn(13, 2.5)
    assert match.left(FIRST) == 51
    assert match.left(SECOND) == 58.5
    assert list(match.arbiter.raw_ns) == [10 * NS_PER_SECOND, 2.5 * NS_PER_SECOND]
    assert list(match.arbiter.charged_ns) == list(match.arbiter.raw_ns)


def test_a_clock_runs_down_while_its_side_thinks() -> None:
    """The opponent's stands, and so does the clock itself while the server does or nobody is asked."""
    match = Match("60+1")
    first, second = (partial(match.arbiter.left_ns, seat) for seat in (FIRST, SECOND))
    assert first(match.moment) == 60 * NS_PER_SECOND
    match.ask()
    match.wait(7, stalled=2)
    assert first(match.moment) == 55 * NS_PER_SECOND
    assert second(match.moment) == 60 * NS_PER_SECOND
    match.wait(100)
    assert first(match.moment) == 0
    match.arbiter.leave(FIRST, match.moment)
    match.wait(100)
    assert first(match.moment) == 0


def test_a_move_that_is_held_has_used_its_time() -> None:
    """Until it is judged."""
    match = Match("10")
    match.ask()
    match.wait(11)
    assert match.arbiter.play(FIRST, 0, 0, match.moment, 0) is ActionResult.HELD
    assert match.arbiter.left_ns(FIRST, match.moment) == 0


def test_the_whole_clock_may_be_used() -> None:
    """A move that takes the budget to the last nanosecond is in time."""
    match = Match("60")
    match.turn(12, 60)
    assert match.outcome is None
    assert match.left(FIRST) == 0


@pytest.mark.parametrize("control", ["60", "5/move", "600,5/move"])
@pytest.mark.parametrize("seen_by", ["play", "expire"])
def test_a_late_move_forfeits(control: str, seen_by: str) -> None:
    """One nanosecond is too late, whether the answer or the sweep comes first."""
    budget = 60 if control == "60" else 5
    match = Match(control)
    match.ask()
    match.wait(budget)
    match.expire()
    assert match.outcome is None
    match.now += 1
    match.now += NS_PER_SECOND
    if seen_by == "play":
        assert match.play(12) is ActionResult.ACCEPTED
    else:
        match.expire()
    detail = f"{budget + 1}.000 s for a move that had {budget}.000 s"
    assert match.outcome == Outcome(Ending.TIME, Color.WHITE, Party.BLACK, detail)
    assert match.left(FIRST) == 0
    assert match.arbiter.evidence == {
        "ply": 0,
        "cell": 12 if seen_by == "play" else None,
        "raw_us": (budget + 1) * 1_000_000,
        "stall_us": 0,
        "lag_us": 0,
        "lag_credit_us": 0,
        "lag_bound_us": 500_000,
        "charged_us": (budget + 1) * 1_000_000,
        "budget_us": budget * 1_000_000,
        "used_us": 0,
        "margin_us": 0,
        "thinking_us": None,
        "ping_us": 0,
    }
    assert match.arbiter.board.ply == 0
    assert len(match.arbiter.raw_ns) == 0


def test_one_nanosecond_is_too_late() -> None:
    """An answer to the last nanosecond is in time, and the next one is too late."""
    match = Match("60")
    match.ask()
    match.wait(60)
    match.now += 1
    match.play(12)
    assert match.outcome is not None
    assert match.outcome.ending is Ending.TIME


def test_the_sweep_waits_for_the_longest_way() -> None:
    """Without an answer nobody knows how long its way takes: half a second at most."""
    match = Match("60")
    match.ask()
    match.wait(60.5)
    match.expire()
    assert match.outcome is None
    match.now += 1
    match.expire()
    assert match.outcome is not None
    assert match.outcome.ending is Ending.TIME


def test_each_move_has_its_cap() -> None:
    """A cap limits every move, however much is on the clock."""
    match = Match("60,5/move")
    match.turn(12, 5)
    match.turn(13, 1)
    assert match.left(FIRST) == 55
    match.turn(14, 5.001)
    assert match.outcome is not None
    assert (match.outcome.ending, match.outcome.at_fault) == (Ending.TIME, Party.BLACK)


def test_the_servers_stalls_are_nobodys_time() -> None:
    """What the server itself stood still is taken off the move it happened in."""
    match = Match("60")
    match.stall = 7 * NS_PER_SECOND
    match.turn(12, 10, stalled=4)
    assert match.left(FIRST) == 54
    assert (match.arbiter.raw_ns[0], match.arbiter.charged_ns[0]) == (
        10 * NS_PER_SECOND,
        6 * NS_PER_SECOND,
    )
    match.turn(13, 10)
    assert match.left(SECOND) == 50


def test_a_stall_saves_a_move_from_the_sweep() -> None:
    """A server that slept over a deadline gives the time back before it looks."""
    match = Match("5/move")
    match.ask()
    match.wait(8, stalled=4)
    match.expire()
    assert match.outcome is None
    match.wait(2)
    match.expire()
    assert match.outcome is not None


def test_a_stall_longer_than_the_move_is_not_given_as_a_present() -> None:
    """Nobody's clock ever gains by a stall."""
    match = Match("60")
    match.turn(12, 1, stalled=3)
    assert match.left(FIRST) == 60
    assert match.arbiter.charged_ns[0] == 0


def test_lag_is_credited_up_to_a_bound_for_each_move() -> None:
    """The round trip is taken off, but no more than half a second."""
    match = Match("60")
    match.turn(12, 10, lag=0.2)
    assert match.left(FIRST) == pytest.approx(50.2)
    match.turn(13, 10, lag=7)
    assert match.left(SECOND) == pytest.approx(50.5)


def test_lag_is_never_credited_beyond_the_time_taken() -> None:
    """An instant answer over a slow line costs nothing and earns nothing."""
    match = Match("60")
    match.turn(12, 0.1, lag=0.4)
    assert match.left(FIRST) == 60
    assert match.arbiter.charged_ns[0] == 0


def test_lag_is_credited_up_to_a_share_of_the_time_control() -> None:
    """Beyond it a side gets no more; the other's is its own."""
    match = Match("4", variant=LARGE)
    for ply in range(12):
        match.turn(DRAWISH[ply], 0.3, lag=0.3 if ply % 2 == 0 else 0)
    bank = 4 / 4 + 0.5 + 5 * 0.02
    assert match.left(FIRST) == pytest.approx(4 - 6 * 0.3 + bank)
    assert match.left(SECOND) == pytest.approx(4 - 6 * 0.3)
    assert match.arbiter.credits[FIRST].lag_ns == round(bank * NS_PER_SECOND)
    assert match.arbiter.credits[SECOND].lag_ns == 0


def test_the_way_is_what_the_bot_did_not_think() -> None:
    """A bot that says what it took is charged that, whatever its pings took."""
    match = Match("60")
    match.turn(12, 10, lag=0.01, thinking=9.8)
    assert match.left(FIRST) == pytest.approx(60 - 9.8)
    match.turn(13, 10, lag=0.2, thinking=12)
    assert match.left(SECOND) == pytest.approx(60 - 9.8)


def test_the_way_of_a_turn_asked_anew_is_that_of_the_last_stream() -> None:
    """What was used before an absence is no way, since no bot tells of it."""
    match = Match("60")
    match.ask()
    match.wait(5)
    match.arbiter.leave(FIRST, match.moment)
    match.arbiter.come_back(FIRST, match.moment)
    match.turn(12, 2, thinking=1.9)
    assert match.left(FIRST) == pytest.approx(60 - 6.9)


def test_the_sweep_gives_the_same_credit() -> None:
    """A move that could still be answered in time is not swept away."""
    match = Match("5/move")
    match.ask()
    match.wait(5.4)
    match.expire(lag=0.5)
    assert match.outcome is None
    match.wait(0.2)
    match.expire(lag=0.5)
    assert match.outcome is not None


# -- the margin -------------------------------------------------------------------


def test_a_move_may_overstep_its_time_by_the_margin() -> None:
    """It is charged what the clock has, and earns the increment."""
    match = Match("60+1", margin=0.05)
    match.turn(12, 60.05)
    assert match.outcome is None
    assert match.left(FIRST) == 1
    assert match.arbiter.charged_ns[0] == 60 * NS_PER_SECOND
    assert match.arbiter.credits[FIRST].margin_ns == NS_PER_SECOND // 20


@pytest.mark.parametrize("seen_by", ["play", "expire"])
def test_beyond_the_margin_the_flag_falls(seen_by: str) -> None:
    """One nanosecond more is too late."""
    match = Match("5/move", margin=0.05)
    match.ask()
    match.wait(5.05 if seen_by == "play" else 5.55)
    match.now += 1
    if seen_by == "play":
        match.play(12)
    else:
        match.expire()
    assert match.outcome is not None
    assert match.outcome.ending is Ending.TIME
    assert match.arbiter.evidence["margin_us"] == 50_000


def test_the_margins_of_a_game_come_to_an_end() -> None:
    """Moves that are always late are no accident: ten whole margins, and no more."""
    match = Match("1/move", variant=LARGE, margin=0.05)
    for ply in range(20):
        match.turn(DRAWISH[ply], 1.05 if ply % 2 == 0 else 0)
    assert match.outcome is None
    match.turn(DRAWISH[20], 1.001)
    assert match.outcome is not None
    assert match.outcome.at_fault is Party.BLACK


# -- the ping before a flag falls ---------------------------------------------------


def test_a_late_move_is_held_until_a_ping_is_answered() -> None:
    """Nothing is decided before; and it is judged once, whatever else is sent."""
    match = Match("5/move")
    match.ask()
    match.wait(5.2)
    arbiter = match.arbiter
    assert arbiter.play(FIRST, 0, 12, match.moment, 0) is ActionResult.HELD
    assert arbiter.is_flag_up
    assert match.outcome is None
    assert arbiter.board.ply == 0
    assert arbiter.play(FIRST, 0, 13, match.moment, 0) is ActionResult.STALE_PLY
    match.decide(0.01)
    assert match.outcome is not None
    assert match.outcome.ending is Ending.TIME
    evidence = match.arbiter.evidence
    assert (evidence["cell"], evidence["ping_us"], evidence["lag_credit_us"]) == (
        12,
        10_000,
        10_000,
    )


def test_a_fresh_round_trip_can_save_a_held_move() -> None:
    """The way has become longer than the last pings knew."""
    match = Match("5/move")
    assert match.turn(12, 5.2, lag=0.01, ping=0.2) is ActionResult.ACCEPTED
    assert match.outcome is None
    assert list(match.arbiter.board.moves) == [12]
    assert match.arbiter.charged_ns[0] == 5 * NS_PER_SECOND
    assert not match.arbiter.is_flag_up


def test_a_ping_that_is_not_answered_has_its_time() -> None:
    """Then the flag falls, and the evidence says so."""
    match = Match("5/move")
    match.ask()
    match.wait(6)
    arbiter = match.arbiter
    assert arbiter.expire(match.moment, 0)
    match.now += PING_PATIENCE_NS
    assert not arbiter.expire(match.moment, 0)
    assert match.outcome is None
    match.wait(3, stalled=3)
    assert not arbiter.expire(match.moment, 0)
    assert match.outcome is None
    match.now += 1
    assert not arbiter.expire(match.moment, 0)
    assert match.outcome is not None
    assert match.outcome.ending is Ending.TIME
    assert arbiter.evidence["ping_us"] is None


def test_a_stall_found_since_lowers_the_flag() -> None:
    """The turn is pending as before, and the next flag needs a ping of its own."""
    match = Match("5/move")
    match.ask()
    match.wait(6)
    assert match.arbiter.expire(match.moment, 0)
    match.stall += 2 * NS_PER_SECOND
    match.decide()
    assert match.outcome is None
    assert not match.arbiter.is_flag_up
    match.wait(2)
    assert match.arbiter.expire(match.moment, 0)
    match.decide()
    assert match.outcome is not None


def test_leaving_while_the_flag_is_up_saves_nothing() -> None:
    """No ping is answered on a stream that is gone; the turn has nothing left on the next one."""
    match = Match("5/move")
    match.ask()
    match.wait(6)
    arbiter = match.arbiter
    assert arbiter.play(FIRST, 0, 12, match.moment, 0) is ActionResult.HELD
    arbiter.leave(FIRST, match.moment)
    assert not arbiter.is_flag_up
    match.decide()
    assert match.outcome is None
    arbiter.come_back(FIRST, match.moment)
    assert match.ask() == 0
    match.play(12)
    assert match.outcome is not None
    assert match.outcome.ending is Ending.TIME


def test_a_flag_is_not_held_up_by_one_stream_after_the_other() -> None:
    """A bot that replaces its stream whenever a ping is under way loses all the same."""
    match = Match("5/move")
    match.ask()
    match.wait(5.6)
    arbiter = match.arbiter
    for _ in range(30):
        match.wait(0.04)
        arbiter.expire(match.moment, 0)
        arbiter.leave(FIRST, match.moment)
        arbiter.come_back(FIRST, match.moment)
        match.ask()
    assert match.outcome is not None
    assert match.outcome.ending is Ending.TIME
    assert arbiter.evidence["ping_us"] is None


def test_a_flag_that_is_up_falls_for_no_later_turn() -> None:
    """A stall that is seen late lets the answer in, and the ping's answer finds nothing to do."""
    match = Match("5/move")
    match.ask()
    match.wait(6)
    assert match.arbiter.expire(match.moment, 0)
    match.stall += 2 * NS_PER_SECOND
    assert match.play(12) is ActionResult.ACCEPTED
    match.ask()
    match.wait(4)
    match.decide()
    assert match.outcome is None


# -- charges ----------------------------------------------------------------------


def test_each_seat_is_told_what_its_last_answer_was_charged() -> None:
    """Raw, credited and charged; nothing before its first answer, and not the opponent's."""
    match = Match("60+1")
    assert [match.arbiter.credits[seat].charge for seat in Seat] == [None, None]
    match.turn(12, 3, lag=0.25)
    assert match.arbiter.credits[FIRST].charge == (
        3 * NS_PER_SECOND,
        NS_PER_SECOND // 4,
        11 * NS_PER_SECOND // 4,
    )
    assert match.arbiter.credits[SECOND].charge is None
    match.turn(13, 2, stalled=0.5)
    assert match.arbiter.credits[SECOND].charge == (2 * NS_PER_SECOND, 0, 3 * NS_PER_SECOND // 2)
    match.turn(14, 1)
    assert match.arbiter.credits[FIRST].charge == (NS_PER_SECOND, 0, NS_PER_SECOND)


def test_a_late_answer_is_charged_less_the_margin() -> None:
    """What the margin forgives is no lag."""
    match = Match("1/move", margin=0.5)
    match.turn(12, 1.25)
    assert match.arbiter.credits[FIRST].charge == (5 * NS_PER_SECOND // 4, 0, NS_PER_SECOND)


# -- times ------------------------------------------------------------------------


def test_times_are_kept_to_the_nanosecond_whatever_they_are() -> None:
    """In four bytes each until one takes more than they hold, and then in eight."""
    match = Match("600+1")
    seconds = [1, 4, 5, 1, 400, 2]
    for cell, spent in enumerate(seconds):
        match.turn(cell * 3, spent)
        assert match.arbiter.raw_ns.itemsize == (4 if cell < 2 else 8)
    expected = [spent * NS_PER_SECOND for spent in seconds]
    assert list(match.arbiter.raw_ns) == expected
    assert list(match.arbiter.charged_ns) == expected


def test_times_of_four_bytes_are_stored_as_those_of_eight() -> None:
    """What is read back says nothing of how they were kept."""
    narrow, wide = array("I", [1, 2**32 - 1]), array("Q", [0, 2**32])
    assert decode_times(encode_times(narrow, narrow)) == (narrow, narrow)
    assert decode_times(encode_times(wide, wide)) == (wide, wide)


# -- replay -----------------------------------------------------------------------


def test_replayed_moves_charge_the_clocks_as_they_did() -> None:
    """A restored game has the clocks and times that it had."""
    match, restored = Match("60+1"), Match("60+1")
    for cell, seconds in ((12, 3), (13, 4), (14, 5)):
        match.turn(cell, seconds, lag=0.25)
    old = match.arbiter
    for cell, raw, charged in zip(old.board.moves, old.raw_ns, old.charged_ns, strict=True):
        restored.arbiter.replay(cell, raw, charged)
    assert restored.arbiter.board.moves == old.board.moves
    assert (restored.arbiter.raw_ns, restored.arbiter.charged_ns) == (old.raw_ns, old.charged_ns)
    assert [restored.left(seat) for seat in Seat] == [match.left(seat) for seat in Seat]
    told = [restored.arbiter.credits[seat].charge for seat in Seat]
    assert told == [old.credits[seat].charge for seat in Seat]


# -- presence ---------------------------------------------------------------------


def test_absence_beyond_the_grace_forfeits() -> None:
    """The grace to the last nanosecond is in time."""
    match = Match()
    match.turn(12)
    match.arbiter.leave(FIRST, match.moment)
    assert match.arbiter.is_away(FIRST)
    match.now += GRACE
    match.expire()
    assert match.outcome is None
    match.now += NS_PER_SECOND
    match.expire()
    assert match.outcome == Outcome(Ending.DISCONNECT, Color.WHITE, Party.BLACK, "away for 31.0 s")
    assert match.arbiter.evidence == {
        "ply": 1,
        "away_us": 31_000_000,
        "grace_left_us": 30_000_000,
        "away_on_turn_us": 0,
        "free_left_us": 10_000_000,
    }


def test_the_grace_is_for_all_absences_together() -> None:
    """Returning stops it, and the next absence goes on where it was."""
    match = Match()
    for seconds in (12, 12):
        match.arbiter.leave(SECOND, match.moment)
        match.wait(seconds)
        match.expire()
        match.arbiter.come_back(SECOND, match.moment)
        match.wait(500)
        match.expire()
        assert not match.arbiter.is_away(SECOND)
    match.arbiter.leave(SECOND, match.moment)
    match.wait(6)
    match.expire()
    assert match.outcome is None
    match.wait(0.001)
    match.expire()
    assert match.outcome is not None
    assert match.outcome.ending is Ending.DISCONNECT


def test_leaving_twice_is_one_absence() -> None:
    """A second report of the same absence doesn't begin a new grace."""
    match = Match()
    match.arbiter.leave(SECOND, match.moment)
    match.wait(20)
    match.arbiter.leave(SECOND, match.moment)
    match.wait(20)
    match.expire()
    assert match.outcome is not None
    assert match.outcome.at_fault is Party.WHITE


def test_each_side_has_a_grace_of_its_own() -> None:
    """The absences of one side take nothing from the other's."""
    match = Match()
    for seat in Seat:
        match.arbiter.leave(seat, match.moment)
        match.wait(29)
        match.expire()
        match.arbiter.come_back(seat, match.moment)
    assert match.outcome is None


def test_an_absent_bots_clock_stands() -> None:
    """Its grace runs instead; what it had used before counts when it is asked again."""
    match = Match("10/move")
    match.ask()
    match.wait(6)
    match.arbiter.leave(FIRST, match.moment)
    match.wait(25)
    match.expire()
    assert match.outcome is None
    match.arbiter.come_back(FIRST, match.moment)
    match.wait(100)
    match.expire()
    assert match.turn(12, 3) is ActionResult.ACCEPTED
    assert match.arbiter.raw_ns[0] == 9 * NS_PER_SECOND
    assert match.outcome is None


def test_leaving_on_the_own_turn_is_free_for_a_while() -> None:
    """A cut connection is back within it; what is beyond runs on the clock."""
    match = Match("0.5+0.05")
    match.ask()
    match.arbiter.leave(FIRST, match.moment)
    match.wait(0.5)
    match.expire()
    match.arbiter.come_back(FIRST, match.moment)
    assert match.ask() == 0.5
    match.arbiter.leave(FIRST, match.moment)
    match.wait(0.2)
    match.expire()
    match.arbiter.come_back(FIRST, match.moment)
    assert match.ask() == pytest.approx(0.3)
    assert match.outcome is None
    assert match.arbiter.credits[FIRST].absence_ns == NS_PER_SECOND // 2


def test_leaving_to_think_loses() -> None:
    """A bot of 0.5 s that leaves on every turn, thinks for 5 s and comes back: not once."""
    match = Match("0.5+0.05", margin=0.05)
    match.ask()
    match.arbiter.leave(FIRST, match.moment)
    for _ in range(100):
        match.wait(0.05)
        match.expire()
    assert match.outcome is not None
    assert (match.outcome.ending, match.outcome.at_fault) == (Ending.DISCONNECT, Party.BLACK)
    assert "away for 1.1 s on its turn: 0.600 s are on its clock" in match.outcome.detail
    evidence = match.arbiter.evidence
    assert (evidence["away_on_turn_us"], evidence["budget_us"]) == (500_000, 500_000)


def test_leaving_again_before_the_turn_was_asked_anew_counts() -> None:
    """The bot has seen the turn on the stream before."""
    match = Match("0.5")
    match.ask()
    for _ in range(2):
        match.arbiter.leave(FIRST, match.moment)
        match.wait(0.5)
        match.arbiter.come_back(FIRST, match.moment)
    assert match.outcome is None
    assert match.ask() == 0


def test_an_absence_since_the_opponents_turn_is_the_graces() -> None:
    """A bot can't think about a turn that it has not seen."""
    match = Match("0.5")
    match.arbiter.leave(SECOND, match.moment)
    match.turn(12)
    match.wait(20)
    match.expire()
    assert match.outcome is None
    match.arbiter.come_back(SECOND, match.moment)
    assert match.ask() == 0.5
    assert match.arbiter.credits[SECOND].absence_ns == 0


def test_while_both_are_away_nobodys_clock_runs() -> None:
    """That is the network's doing."""
    match = Match("3")
    match.ask()
    match.arbiter.leave(FIRST, match.moment)
    match.wait(1)
    match.arbiter.leave(SECOND, match.moment)
    match.wait(20)
    match.expire()
    match.arbiter.come_back(SECOND, match.moment)
    match.wait(1)
    match.expire()
    match.arbiter.come_back(FIRST, match.moment)
    assert match.outcome is None
    assert match.arbiter.credits[FIRST].absence_ns == 2 * NS_PER_SECOND
    assert match.ask() == 3


def test_an_outage_of_the_servers_gives_an_absence_from_a_turn_back() -> None:
    """It costs neither the clock nor what is free, up to the return."""
    match = Match("3")
    match.ask()
    match.arbiter.leave(FIRST, match.moment)
    match.wait(3.4)
    match.expire()
    match.arbiter.excuse(match.moment)
    match.wait(20)
    match.expire()
    match.arbiter.come_back(FIRST, match.moment)
    assert match.outcome is None
    assert match.ask() == 3
    assert match.arbiter.credits[FIRST].absence_ns == 0


def test_a_stall_is_no_absence() -> None:
    """Nobody can come back to a server that stands still."""
    match = Match("1")
    match.ask()
    match.arbiter.leave(FIRST, match.moment)
    match.wait(100, stalled=99)
    match.expire()
    assert match.outcome is None
    match.arbiter.come_back(FIRST, match.moment)
    assert match.ask() == 1


def test_time_used_before_an_absence_counts() -> None:
    """Leaving and coming back makes no move longer than it may be."""
    match = Match("10/move")
    match.ask()
    match.wait(6)
    match.arbiter.leave(FIRST, match.moment)
    match.arbiter.come_back(FIRST, match.moment)
    assert match.ask() == 4
    match.wait(5)
    match.expire()
    assert match.outcome is not None
    assert match.arbiter.evidence["raw_us"] == 11_000_000


def test_a_stall_before_an_absence_is_not_used_time() -> None:
    """The credit for a stall is not lost by leaving."""
    match = Match("10/move")
    match.ask()
    match.wait(6, stalled=5)
    match.arbiter.leave(FIRST, match.moment)
    match.arbiter.come_back(FIRST, match.moment)
    assert match.turn(12, 8) is ActionResult.ACCEPTED
    assert match.outcome is None
    assert match.arbiter.raw_ns[0] == 9 * NS_PER_SECOND


def test_the_opponents_clock_runs_on() -> None:
    """A bot that is asked loses on time even while the other is away."""
    match = Match("10/move")
    match.ask()
    match.arbiter.leave(SECOND, match.moment)
    match.wait(11)
    match.expire()
    assert match.outcome is not None
    assert (match.outcome.ending, match.outcome.at_fault) == (Ending.TIME, Party.BLACK)


def test_an_answer_to_a_request_from_before_an_absence_does_nothing() -> None:
    """The turn is asked anew on the new stream, and only then answered."""
    match = Match()
    match.ask()
    match.arbiter.leave(FIRST, match.moment)
    match.arbiter.come_back(FIRST, match.moment)
    assert match.play(12) is ActionResult.STALE_PLY


def test_an_absence_since_a_restart_is_the_servers() -> None:
    """A bot that the server itself lost, and that doesn't return, forfeits nothing."""
    match = Match()
    for seat in Seat:
        match.arbiter.leave(seat, match.moment, excused=True)
    match.wait(10)
    match.arbiter.come_back(SECOND, match.moment)
    match.wait(21)
    match.expire()
    assert match.outcome == Outcome(
        Ending.VOID, None, Party.SERVER, "black did not return after an outage"
    )
    assert match.arbiter.evidence["away_us"] == 31_000_000


def test_an_excused_absence_takes_nothing_from_the_grace() -> None:
    """A bot that returned after a restart has its whole grace, and forfeits when it is over."""
    match = Match()
    match.arbiter.leave(FIRST, match.moment, excused=True)
    match.wait(29)
    match.arbiter.come_back(FIRST, match.moment)
    match.arbiter.leave(FIRST, match.moment)
    match.wait(30)
    match.expire()
    assert match.outcome is None
    match.wait(0.001)
    match.expire()
    assert match.outcome is not None
    assert match.outcome.ending is Ending.DISCONNECT


def test_an_outage_of_the_servers_excuses_absences() -> None:
    """Their grace begins anew, and when it is over nobody forfeits; those who are there stay."""
    match = Match()
    match.arbiter.leave(FIRST, match.moment)
    match.wait(29)
    match.arbiter.excuse(match.moment)
    assert not match.arbiter.is_away(SECOND)
    match.wait(29)
    match.expire()
    assert match.outcome is None
    match.wait(2)
    match.expire()
    assert match.outcome is not None
    assert (match.outcome.ending, match.outcome.at_fault) == (Ending.VOID, Party.SERVER)


def test_a_stall_of_the_server_is_no_absence() -> None:
    """A bot may stand at the door of a server that does not look."""
    match = Match()
    match.arbiter.leave(FIRST, match.moment)
    match.wait(60, stalled=31)
    match.expire()
    assert match.outcome is None
    match.wait(2)
    match.expire()
    assert match.outcome is not None
    assert match.arbiter.evidence["away_us"] == 31_000_000


def test_an_absence_ends_when_the_bot_came() -> None:
    """Not when the server was done with letting it in; a bot may come before its old stream ends."""
    match = Match()
    came = match.moment
    match.arbiter.leave(FIRST, match.moment)
    match.wait(29)
    match.arbiter.come_back(FIRST, came)
    match.arbiter.leave(FIRST, match.moment)
    match.wait(20)
    came = match.moment
    match.wait(20)
    match.arbiter.come_back(FIRST, came)
    match.arbiter.leave(FIRST, match.moment)
    match.wait(10)
    match.expire()
    assert match.outcome is None
    match.wait(0.001)
    match.expire()
    assert match.outcome is not None
    assert match.outcome.ending is Ending.DISCONNECT


@pytest.mark.parametrize("first", Seat)
def test_two_absent_bots_are_the_networks(first: Seat) -> None:
    """When both are away nobody forfeits."""
    match = Match()
    match.arbiter.leave(first, match.moment)
    match.wait(29)
    match.arbiter.leave(first.other, match.moment)
    match.wait(2)
    match.expire()
    assert match.outcome == Outcome(Ending.VOID, None, Party.NETWORK, "both bots were away")
    assert match.arbiter.evidence["away_us"] == 31_000_000


# -- anything at all --------------------------------------------------------------


def party(seat: Seat) -> Party:
    """The party that a seat is, where the first has black."""
    return Party.BLACK if seat is FIRST else Party.WHITE


class Chaos:
    """One random game with random faults, checked after every step."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        variant = self._rng.choice((SMALL, TIC_TAC_TOE, Variant(width=7, height=6, line=4)))
        control = self._rng.choice(("20", "5+0.5", "1/move", "30+1,2/move"))
        self._match = Match(control, variant=variant)
        self._asked = False
        self.causes: set[tuple[Ending, Party]] = set()
        """What happened that may end the game off the board."""

    def play(self) -> Outcome:
        """Play the game to its end."""
        for _ in range(2_000):
            self._step()
            outcome = self._match.outcome
            if outcome is not None:
                self._check_end(outcome)
                return outcome
        raise AssertionError("the game doesn't end")

    def _step(self) -> None:
        steps = (self._answer, self._noise, self._come_and_go, self._pass_time, self._rare)
        self._rng.choices(steps, (60, 10, 8, 10, 0.3))[0]()
        self._check()

    def _answer(self) -> None:
        """The side to move is asked and answers: mostly legal, mostly in time."""
        match, arbiter = self._match, self._match.arbiter
        seat = arbiter.seat_to_act
        if arbiter.is_away(seat):
            return
        left = match.ask()
        thought, stalled = self._rng.expovariate(4), self._rng.choice((0, 0, 0, 0.5, 3))
        lag = self._rng.choice((0, 0.01, 0.3, 2))
        if thought > min(left, arbiter.clock.budget_ns(seat) / NS_PER_SECOND):
            self.causes.add((Ending.TIME, party(seat)))
        match.wait(thought + stalled, stalled=stalled)
        cell = self._rng.choice(arbiter.board.legal_cells())
        if self._rng.random() < 0.01:
            cell = self._rng.choice((*arbiter.board.moves, arbiter.board.variant.cells, 65_535))
            self.causes.add((Ending.ILLEGAL, party(seat)))
        ply, moment = arbiter.board.ply, match.moment
        lag_time = round(lag * NS_PER_SECOND)
        result = arbiter.play(seat, ply, cell, moment, lag_time)
        if result is ActionResult.HELD:
            assert arbiter.outcome is None
            match.decide(self._rng.choice((0.001, 0.4, None)))
        else:
            assert result is ActionResult.ACCEPTED
        if self._rng.random() < 0.2:  # the same answer once more
            assert arbiter.play(seat, ply, cell, moment, lag_time) is ActionResult.STALE_PLY

    def _noise(self) -> None:
        """An action that answers nothing has no effect."""
        board = self._match.arbiter.board
        before = list(board.moves)
        ply = self._rng.choice((board.ply - 1, board.ply + 1, board.ply + 7, 0 if before else 1))
        seat = self._rng.choice(tuple(Seat))
        assert (
            self._match.play(self._rng.randrange(9), ply=ply, seat=seat) is ActionResult.STALE_PLY
        )
        assert list(board.moves) == before
        assert self._match.outcome is None

    def _come_and_go(self) -> None:
        seat = self._rng.choice(tuple(Seat))
        arbiter, moment = self._match.arbiter, self._match.moment
        if arbiter.is_away(seat):
            arbiter.come_back(seat, moment)
        else:
            excused = self._rng.random() < 0.2
            arbiter.leave(seat, moment, excused=excused)
            self.causes.add((Ending.DISCONNECT, party(seat)))
            self.causes.add((Ending.VOID, Party.SERVER if excused else Party.NETWORK))

    def _pass_time(self) -> None:
        """Time passes in which nobody is asked, or the side to move thinks on."""
        match, seat = self._match, self._match.arbiter.seat_to_act
        if not match.arbiter.is_away(seat) and self._rng.random() < 0.3:
            match.ask()
            self.causes.add((Ending.TIME, party(seat)))
        seconds = self._rng.choice((0.001, 0.1, 2, 11))
        match.wait(seconds, stalled=self._rng.choice((0, seconds)))
        match.expire(lag=self._rng.choice((0, 0.3)))

    def _rare(self) -> None:
        arbiter, seat = self._match.arbiter, self._rng.choice(tuple(Seat))
        end = self._rng.randrange(3)
        if end == 0:
            self.causes.add((Ending.RESIGN, Party.NOBODY))
            arbiter.resign(seat)
        elif end == 1:
            self.causes.add((Ending.CRASH, party(seat)))
            arbiter.fail(seat, "boom")
        else:
            self.causes.add((Ending.VOID, Party.OPERATOR))
            arbiter.void(Party.OPERATOR, "stop")

    def _check(self) -> None:
        arbiter = self._match.arbiter
        assert len(arbiter.raw_ns) == len(arbiter.charged_ns) == arbiter.board.ply
        assert all(c <= r for r, c in zip(arbiter.raw_ns, arbiter.charged_ns, strict=True))
        assert all(arbiter.clock.left_ns(seat) >= 0 for seat in Seat)
        assert bool(arbiter.evidence) == (
            arbiter.outcome is not None
            and (arbiter.outcome.ending.is_forfeit or arbiter.outcome.ending is Ending.VOID)
        )

    def _check_end(self, outcome: Outcome) -> None:
        arbiter = self._match.arbiter
        board = Board.from_moves(arbiter.board.moves, arbiter.board.variant)
        assert board.is_over == (outcome.ending in {Ending.FIVE, Ending.DRAW})
        assert board.winner is (outcome.winner if outcome.ending is Ending.FIVE else None)
        if outcome.ending.is_forfeit:
            assert outcome.winner is not None
            assert outcome.at_fault is Party.of(outcome.winner.other)
        if not board.is_over:
            assert (outcome.ending, outcome.at_fault) in self.causes
        self._poke()
        assert arbiter.outcome is outcome

    def _poke(self) -> None:
        """Everything that could change an outcome."""
        match, arbiter = self._match, self._match.arbiter
        evidence = dict(arbiter.evidence)
        for seat in Seat:
            match.play(0, seat=seat)
            arbiter.resign(seat)
            arbiter.fail(seat, "late")
            arbiter.leave(seat, match.moment)
        arbiter.void(Party.SERVER, "late")
        match.wait(1_000)
        match.expire()
        assert arbiter.evidence == evidence


def test_a_thousand_random_games_with_faults() -> None:
    """Every game ends once, by what happened in it, with the fault where it belongs."""
    endings = Counter(Chaos(seed).play().ending for seed in range(1_000))
    assert endings.keys() == set(Ending) - {Ending.ADJUDICATION, Ending.FORBIDDEN}


def test_each_side_has_its_own_clock() -> None:
    """Its time, its increment, and what of its lag and absence is forgiven."""
    match = Match("600+5", "1")
    assert match.ask() == 600
    match.wait(30)
    match.play(0)
    assert match.ask() == 1
    match.wait(0.4)
    match.play(1)
    assert match.ask() == 575
    match.wait(500)
    assert match.play(2) is ActionResult.ACCEPTED
    assert match.ask() == pytest.approx(0.6)
    match.wait(0.7)
    match.play(3)
    assert match.outcome is not None
    assert (match.outcome.ending, match.outcome.winner) == (Ending.TIME, Color.BLACK)
    long, short = (match.arbiter._longest_lag_ns(seat) for seat in Seat)
    assert long > short
    free = [match.arbiter._presence.free_left_ns(seat) for seat in Seat]
    assert free[0] > free[1]


def test_a_game_is_adjudicated_once() -> None:
    """One that has ended stays as it is."""
    match = Match()
    lost = Outcome(Ending.ADJUDICATION, Color.WHITE, detail="both said so")
    match.ask()
    match.play(0)
    match.arbiter.adjudicate(lost)
    match.arbiter.adjudicate(Outcome(Ending.ADJUDICATION))
    match.arbiter.resign(SECOND)
    assert match.outcome == lost
    assert match.play(1) is ActionResult.STALE_PLY


def test_a_clock_is_exact() -> None:
    """Parts of a second down to the microsecond of an increment are not lost."""
    control = TimeControl(timedelta(milliseconds=1500), timedelta(microseconds=1))
    arbiter = Arbiter(Board(SMALL), Clock(control), grace_ns=GRACE)
    arbiter.ask(Moment(0, 0))
    arbiter.play(FIRST, 0, 12, Moment(NS_PER_SECOND, 0), 0)
    assert arbiter.clock.left_ns(FIRST) == NS_PER_SECOND // 2 + 1_000


def test_no_flag_falls_before_our_own_threads_have_answered() -> None:
    """The ping is answered, and a probe that was sent after the flag went up is still on its way."""
    match = Match("1/move")
    match.ask()
    match.wait(2)
    carried_ns = match.now
    assert match.arbiter.expire(match.moment, 0, carried_ns=carried_ns)
    match.wait(0.1)
    match.arbiter.decide(match.moment, 10_000_000, carried_ns=carried_ns)
    match.arbiter.expire(match.moment, 0, carried_ns=carried_ns)
    assert match.arbiter.is_flag_up
    match.arbiter.expire(match.moment, 0, carried_ns=match.now)
    assert match.outcome is not None
    assert match.outcome.ending is Ending.TIME
    assert match.arbiter.evidence["ping_us"] == 10_000


def test_no_patience_ends_while_our_own_threads_stand_still() -> None:
    """A ping that is never answered says nothing as long as no probe comes back either."""
    match = Match("1/move")
    match.ask()
    match.wait(2)
    carried_ns = match.now
    match.arbiter.expire(match.moment, 0, carried_ns=carried_ns)
    match.wait(60)
    match.arbiter.expire(match.moment, 0, carried_ns=carried_ns)
    assert match.outcome is None
    match.arbiter.expire(match.moment, 0, carried_ns=match.now)
    assert match.outcome is not None
    assert match.outcome.ending is Ending.TIME


def test_a_held_move_that_proves_to_be_in_time_waits_for_no_probe() -> None:
    """Its opponent is asked at once."""
    match = Match("1/move")
    match.ask()
    match.wait(1.1)
    arbiter = match.arbiter
    assert arbiter.play(arbiter.seat_to_act, 0, 12, match.moment, 0) is ActionResult.HELD
    arbiter.decide(match.moment, 200_000_000, carried_ns=0)
    assert match.outcome is None
    assert list(arbiter.board.moves) == [12]
