"""The turns of one game: asked, answered in time or late, charged and placed."""

import enum
from array import array
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

from meijin.game.arbiter.allowance import LAG_PER_GAME_NS, Allowance, Credits, allowance_of
from meijin.game.arbiter.flag import DOWN, Flag, HeldMove, Timing, told_action
from meijin.game.arbiter.moment import NEVER_NS, NS_PER_SECOND, Moment
from meijin.game.arbiter.presence import Presence
from meijin.game.board.board import Board, ForbiddenMoveError, IllegalMoveError
from meijin.game.clock import Clock, TimeControl
from meijin.game.color import Seat
from meijin.game.outcome import Ending, Outcome, Party
from meijin.game.position import (
    Action,
    GamePosition,
    IllegalActionError,
    OpeningAction,
    Placement,
    asks_for,
    is_stone,
)


class ActionResult(enum.Enum):
    """What became of an action."""

    ACCEPTED = enum.auto()
    """It had its effect; the game may be over."""
    HELD = enum.auto()
    """A move that seems late: it waits for a ping's answer, and is judged then."""
    STALE_PLY = enum.auto()
    """It answers no pending turn."""
    NOT_YOUR_TURN = enum.auto()
    """It is the opponent's turn."""
    NOT_ASKED = enum.auto()
    """An action of an opening that isn't asked for."""


ACCEPTED = ActionResult.ACCEPTED
"""For the hot path: CPython 3.11 takes 0.1 microseconds to find a member in its class."""


_NO_EVIDENCE = MappingProxyType[str, object]({})

_Allowances: TypeAlias = tuple[Allowance, Allowance, Allowance]
"""By the value of a seat."""


@lru_cache(maxsize=256)
def _beginning(
    controls: tuple[TimeControl, TimeControl], grace_ns: int, margin_ns: int
) -> tuple[_Allowances, Presence]:
    """What games by the same time controls share: a game keeps to itself what it changes alone."""
    first, second = (
        allowance_of(control, grace_ns=grace_ns, margin_ns=margin_ns) for control in controls
    )
    allowances = (first, first, second)
    return allowances, Presence(allowances, (Credits(), Credits(), Credits()))


class Turns:
    """The moves and clocks of one game.

    A side's time runs from `ask`, when its turn is handed to the transport, to
    `play`, when the answer has been read, less the server's stalls and a credit
    for lag. A flag that goes up falls only when a ping that was sent afterwards has
    been answered, in `decide`: what the bot had sent before that is then read. And only
    when the server's own threads have carried a probe that was sent afterwards: what they
    were late by is then known.
    What is credited is bounded by the allowances of the side's time control.

    Times are integer nanoseconds, not `timedelta`: this runs once a move, a hundred
    thousand times a second.
    """

    __slots__ = (
        "_allowances",
        "_asked_at_ns",
        "_flag",
        "_left_turn",
        "_may_block",
        "_most_stones",
        "_presence",
        "_stall_at_ask_ns",
        "_unheard_ns",
        "_used_ns",
        "board",
        "charged_ns",
        "clock",
        "credits",
        "decision_ns",
        "evidence",
        "outcome",
        "position",
        "raw_ns",
        "task",
        "turns",
    )

    def __init__(self, board: Board, clock: Clock, *, grace_ns: int, margin_ns: int = 0) -> None:
        self.board = board
        self.position = GamePosition(board)
        self.clock = clock
        self.outcome: Outcome | None = None
        self.evidence: Mapping[str, object] = _NO_EVIDENCE
        """What supports a forfeit or a void game; empty for endings on the board."""
        self.raw_ns = array("I")
        """Nanoseconds from request to answer of every move after the opening.

        Four bytes each until one takes 4.3 s, then eight, as in `charged_ns`.
        """
        self.charged_ns = array("I")
        """Nanoseconds that the clock was charged for them."""
        first = Credits()
        self.credits = (first, first, Credits())
        """By the value of a seat: what it has been charged last, and credited."""
        self.decision_ns: list[tuple[int, int]] = []
        """What each decision of the opening took: as `raw_ns` and `charged_ns`."""
        self.turns = self.position.turns
        """Whose turn it is at an even and at an odd ply."""
        self.task = self.position.task
        """What the opening asks for; ``None`` where a stone is asked for."""
        self._most_stones = board.variant.most_stones
        self._may_block = board.variant.rule.has_forbidden_cells
        self._asked_at_ns = -1
        self._stall_at_ask_ns = 0
        self._used_ns = 0
        self._unheard_ns = 0
        self._left_turn = -1
        self._flag = DOWN
        self._allowances, self._presence = _beginning(clock.controls, grace_ns, margin_ns)

    def add_evidence(self, **facts: object) -> None:
        """Keep what else supports how the game ended."""
        self.evidence = {**self.evidence, **facts}

    @property
    def seat_to_act(self) -> Seat:
        return self.turns[len(self.board.moves) & 1]

    @property
    def turn(self) -> int:
        """The number of the turn that is pending: a decision leaves the ply as it is."""
        return len(self.board.moves) + len(self.position.decisions)

    @property
    def asked_at_ns(self) -> int:
        """When the pending turn was handed to the transport; -1 while its clock stands."""
        return self._asked_at_ns

    def left_ns(self, seat: Seat, moment: Moment) -> int:
        """The nanoseconds on the clock of `seat` as of a moment; those of a pending turn are off it."""
        left = self.clock.left_ns(seat)
        if seat is not self.seat_to_act or self.outcome is not None:
            return left
        return min(max(left - self._used_by_ns(moment), 0), left)

    def budget_left_ns(self, seat: Seat, moment: Moment) -> int:
        """What `seat` has for its next move as of a moment; nothing while its flag is up."""
        budget_ns = self.clock.budget_ns(seat)
        if seat is not self.seat_to_act:
            return budget_ns
        return 0 if self.is_flag_up else budget_ns - self._used_by_ns(moment)

    def _used_by_ns(self, moment: Moment) -> int:
        """What the pending turn has used by a moment; that of a move that is held is known."""
        if self._flag.held is not None:
            return self._flag.held.timing.spent_ns
        return self._used_ns if self._asked_at_ns < 0 else self._timing(moment, 0).spent_ns

    @property
    def held(self) -> Action | None:
        return None if self._flag.held is None else self._flag.held.action

    # -- the turn ---------------------------------------------------------------

    def ask(self, moment: Moment) -> int:
        """The pending turn is handed to the transport, and its time runs: the nanoseconds left.

        What this move has used before an absence is taken off.
        """
        self._asked_at_ns, self._stall_at_ask_ns = moment
        left = self.clock.left_ns(self.turns[len(self.board.moves) & 1])
        return max(left - self._used_ns, 0) if self._used_ns else left

    def play(
        self,
        seat: Seat,
        ply: int,
        action: Action,
        moment: Moment,
        lag_ns: int,
        *,
        thinking_us: int = 0,
    ) -> ActionResult:
        """Judge a move, or hold it for `decide` when it seems late.

        Args:
            action: The stone's cell; `act` is for everything else.
            lag_ns: The round trip that the network takes.
            thinking_us: What the bot says that it took from reading the turn to writing the
                answer; 0 when it says nothing. All beyond that was the way.
        """
        board = self.board
        now_ns, stall_ns = moment
        is_asked = 0 <= self._asked_at_ns <= now_ns  # and not after the answer was read
        if ply != len(board.moves) or not is_asked or self.outcome is not None:
            return ActionResult.STALE_PLY
        if seat is not self.turns[ply & 1]:
            return ActionResult.NOT_YOUR_TURN
        raw_ns = self._used_ns + now_ns - self._asked_at_ns
        spent_ns = raw_ns - (stall_ns - self._stall_at_ask_ns)
        if thinking_us:
            way_ns = spent_ns - self._used_ns - thinking_us * 1000
            lag_ns = max(lag_ns, way_ns)
        credit_ns = 0
        if spent_ns <= 0:
            spent_ns = 0
        elif lag_ns:
            credit_ns = self._lag_credit(seat, spent_ns, lag_ns)
        if not self.clock.charge(seat, spent_ns - credit_ns):
            timing = Timing(raw_ns, spent_ns, lag_ns, thinking_us)
            return self._overstep(seat, action, timing, moment)
        self._place(seat, action, raw_ns, spent_ns, credit_ns)
        return ACCEPTED

    def measure(
        self, seat: Seat, ply: int, moment: Moment, *, wall_ns: int, charged_ns: int
    ) -> bool:
        """Have the pending turn of `seat` have taken what its host has measured, up to now.

        Whatever has passed here beyond that, such as the wait for a core, is on no clock. Tells
        whether that turn is pending.
        """
        is_pending = self.outcome is None and ply == self.board.ply and seat is self.seat_to_act
        if is_pending:
            self._asked_at_ns = moment.now_ns - wall_ns
            self._stall_at_ask_ns = moment.stall_ns - (wall_ns - charged_ns)
        return is_pending

    def act(
        self,
        seat: Seat,
        ply: int,
        action: OpeningAction,
        moment: Moment,
        lag_ns: int,
        *,
        thinking_us: int = 0,
    ) -> ActionResult:
        """Judge an action of an opening, or hold it; `lag_ns` and `thinking_us` as in `play`.

        It has no effect after the opening, nor a decision that isn't asked for.
        """
        task = self.task
        if task is None or not (isinstance(action, Placement) or asks_for(task, action)):
            return ActionResult.NOT_ASKED
        return self.play(seat, ply, action, moment, lag_ns, thinking_us=thinking_us)

    def replay(self, code: int, raw_ns: int, charged_ns: int) -> None:
        """Take a code of an action from the store: it was judged before.

        Raises:
            IllegalActionError: the decision does not fit the position.
            IllegalMoveError: the move does not fit the position.
        """
        seat = self.seat_to_act
        is_first = not self.position.is_partway  # of its action
        if is_first:
            self.clock.charge(seat, charged_ns)
            self.credits[seat].charge = raw_ns, max(raw_ns - charged_ns, 0), charged_ns
        if self.task is None:
            self.board.play(code)
        else:
            self.position.replay(code)
            self._settle()
        if is_stone(code):
            self._note_stones((raw_ns,), (charged_ns,))
        elif is_first:
            self.decision_ns.append((raw_ns, charged_ns))

    def _note_stones(self, raw_ns: Sequence[int], charged_ns: Sequence[int]) -> None:
        """Note the times of several stones, or of one that took too long for four bytes."""
        if max(*raw_ns, *charged_ns) >> 32:
            self.raw_ns, self.charged_ns = array("Q", self.raw_ns), array("Q", self.charged_ns)
        self.raw_ns.extend(raw_ns)
        self.charged_ns.extend(charged_ns)

    def _settle(self) -> None:
        """Look who is to act, and with what, after an action of an opening."""
        self.turns, self.task = self.position.turns, self.position.task

    def _lag_credit(self, seat: Seat, spent_ns: int, lag_ns: int) -> int:
        """What lag takes off a move, out of what it may take off in this game.

        Of the moves so far each side has made half.
        """
        allowance, taken_ns = self._allowances[seat], self.credits[seat].lag_ns
        earned_ns = allowance.lag_at_start_ns + allowance.lag_gain_ns * (len(self.raw_ns) >> 1)
        return min(
            spent_ns,
            lag_ns,
            allowance.lag_per_move_ns,
            earned_ns - taken_ns,
            LAG_PER_GAME_NS - taken_ns,
        )

    def _place(
        self, seat: Seat, action: Action, raw_ns: int, spent_ns: int, credit_ns: int
    ) -> None:
        """Carry out an action that is in time, and charged: mostly a stone for the board."""
        board = self.board
        charged_ns = spent_ns - credit_ns
        try:
            if self.task is not None:
                self._act(action, raw_ns, charged_ns)
            else:
                assert isinstance(action, int)
                board.play(action)
                self.raw_ns.append(raw_ns)
                self.charged_ns.append(charged_ns)
        except OverflowError:  # for four bytes; the charge is no more, so none of the two is noted
            self._note_stones((raw_ns,), (charged_ns,))
        except (IllegalActionError, IllegalMoveError) as error:
            is_foul = isinstance(error, ForbiddenMoveError)
            self._forfeit(seat, Ending.FORBIDDEN if is_foul else Ending.ILLEGAL, str(error))
            moves = list(board.moves)
            self.evidence = {"cell": told_action(action), "ply": board.ply, "moves": moves}
            return
        self._asked_at_ns = -1
        self._used_ns = 0
        credit = self.credits[seat]
        credit.charge = raw_ns, credit_ns, charged_ns
        if credit_ns:
            credit.lag_ns += credit_ns
        self.look_for_end()

    def look_for_end(self) -> None:
        """End the game if the board says that it is over."""
        board = self.board
        if board.winner is not None:
            self.outcome = Outcome(Ending.FIVE, board.winner)
        elif len(board.moves) == self._most_stones or (self._may_block and board.is_blocked):
            self.outcome = Outcome(Ending.DRAW)

    def _act(self, action: Action, raw_ns: int, charged_ns: int) -> None:
        """Carry out what the opening asks for; its first stone has the time of them all."""
        stones = self.board.ply
        self.position.act(action)
        more = self.board.ply - stones - 1
        if more >= 0:
            self._note_stones((raw_ns, *[0] * more), (charged_ns, *[0] * more))
        else:
            self.decision_ns.append((raw_ns, charged_ns))
        self._settle()

    # -- flag fall --------------------------------------------------------------

    @property
    def is_flag_up(self) -> bool:
        """Whether the pending turn seems overstepped, and a ping's answer is awaited."""
        return self._flag.is_up(self.turn) and self.outcome is None

    def expire(
        self, moment: Moment, lag_ns: int, since_ns: int = 0, *, carried_ns: int = NEVER_NS
    ) -> bool:
        """Look at the clock. `lag_ns` as in `play`.

        A clock has run out when no answer could be in time any more, whatever its way took.

        Args:
            since_ns: Before this instant of the time served no ping's answer could be missed.
            carried_ns: When the newest probe was sent that our own threads have carried.

        Returns:
            Whether the flag has gone up, and a ping is to be sent now for `decide`.
        """
        if self.outcome is not None:
            return False
        is_raised = self._is_overdue(moment, lag_ns)
        if is_raised:
            self._own_flag().go_up(self.turn, moment, lag_ns)
        if self.is_flag_up and self._flag.may_fall(carried_ns):
            answer_ns = self._flag.answer_ns
            if answer_ns is not None or self._flag.is_patience_over(moment.served_ns, since_ns):
                self.decide(moment, answer_ns)
                return False
        return is_raised

    def drop_flag(self, moment: Moment) -> None:
        """The pending turn was not answered by a moment, and nothing is on its way: the flag falls."""
        self._forfeit_time(self.seat_to_act, None, self._timing(moment, 0), 0, None)

    def _is_overdue(self, moment: Moment, lag_ns: int) -> bool:
        """Whether a flag that is down is to go up, since no answer could be in time."""
        if self._asked_at_ns < 0 or self.is_flag_up or self.outcome is not None:
            return False
        seat = self.seat_to_act
        charged_ns = self._timing(moment, lag_ns).spent_ns - self._longest_lag_ns(seat)
        return self._excess_ns(seat, charged_ns) > self._margin_left_ns(seat)

    def decide(
        self, moment: Moment, round_trip_ns: int | None, *, carried_ns: int = NEVER_NS
    ) -> None:
        """A ping sent after the flag went up was answered, or with ``None`` was not in time.

        The flag falls, unless the move that is held proves to be in time; where it may not fall
        yet it does at a later look. `carried_ns` as in `expire`.
        """
        if not self.is_flag_up:
            return
        seat, flag = self.seat_to_act, self._flag
        held, lag_ns = flag.held, flag.lag_ns
        timing = self._timing(moment, lag_ns) if held is None else held.timing
        timing = timing._replace(lag_ns=max(timing.lag_ns, round_trip_ns or 0))
        credit_ns = self._lag_credit(seat, timing.spent_ns, timing.lag_ns)
        if self._excess_ns(seat, timing.spent_ns - credit_ns) > self._margin_left_ns(seat):
            if flag.may_fall(carried_ns):
                flag.take_down()
                self._forfeit_time(seat, held, timing, credit_ns, round_trip_ns)
            elif round_trip_ns is not None:
                flag.answer_ns = round_trip_ns
            return
        flag.take_down()
        self._flag.excuse()
        if held is not None:
            self._charge_late(seat, held.action, timing, credit_ns)

    def _own_flag(self) -> Flag:
        if self._flag is DOWN:
            self._flag = Flag()
        return self._flag

    def _timing(self, moment: Moment, lag_ns: int) -> Timing:
        raw_ns = self._used_ns + moment.now_ns - self._asked_at_ns
        return Timing(raw_ns, raw_ns - (moment.stall_ns - self._stall_at_ask_ns), lag_ns)

    def _overstep(self, seat: Seat, action: Action, timing: Timing, moment: Moment) -> ActionResult:
        """Take a move within the margin; hold one beyond it until a ping has been answered."""
        credit_ns = self._lag_credit(seat, timing.spent_ns, timing.lag_ns)
        if self._excess_ns(seat, timing.spent_ns - credit_ns) <= self._margin_left_ns(seat):
            self._charge_late(seat, action, timing, credit_ns)
            return ACCEPTED
        flag = self._own_flag()
        flag.held = HeldMove(action, timing)
        if not self.is_flag_up:
            flag.go_up(self.turn, moment, timing.lag_ns)
        self._asked_at_ns = -1
        return ActionResult.HELD

    def _charge_late(self, seat: Seat, action: Action, timing: Timing, credit_ns: int) -> None:
        """Place a move that overstepped its time by no more than the margin, if at all."""
        excess_ns = max(self._excess_ns(seat, timing.spent_ns - credit_ns), 0)
        self.credits[seat].margin_ns += excess_ns
        spent_ns = timing.spent_ns - excess_ns
        self.clock.charge(seat, spent_ns - credit_ns)
        self._place(seat, action, timing.raw_ns, spent_ns, credit_ns)

    def _longest_lag_ns(self, seat: Seat) -> int:
        """The most that lag may take off the pending move."""
        return self._lag_credit(seat, LAG_PER_GAME_NS, LAG_PER_GAME_NS)

    def _excess_ns(self, seat: Seat, charged_ns: int) -> int:
        """How far a time oversteps what `seat` has for its move; below 0 it doesn't."""
        return charged_ns - self.clock.budget_ns(seat)

    def _margin_left_ns(self, seat: Seat) -> int:
        """How far the pending move may overstep its time."""
        allowance = self._allowances[seat]
        return min(allowance.margin_ns, allowance.margins_ns - self.credits[seat].margin_ns)

    def _forfeit_time(
        self,
        seat: Seat,
        held: HeldMove | None,
        timing: Timing,
        credit_ns: int,
        round_trip_ns: int | None,
    ) -> None:
        """The flag of `seat` falls; the evidence is everything that this was decided by."""
        charged_ns, budget_ns = timing.spent_ns - credit_ns, self.clock.budget_ns(seat)
        evidence = {
            "raw_us": timing.raw_ns,
            "stall_us": timing.raw_ns - timing.spent_ns,
            "lag_us": timing.lag_ns,
            "lag_credit_us": credit_ns,
            "lag_bound_us": self._longest_lag_ns(seat),  # by what is left in the game
            "charged_us": charged_ns,
            "budget_us": budget_ns,
            "used_us": self._used_ns,  # before an absence: the clock told was less by that
            "margin_us": self._margin_left_ns(seat),
        }
        self.clock.drop_flag(seat)
        spent, had = charged_ns / NS_PER_SECOND, budget_ns / NS_PER_SECOND
        self._forfeit(seat, Ending.TIME, f"{spent:.3f} s for a move that had {had:.3f} s")
        self.evidence = {
            "ply": self.board.ply,
            "cell": None if held is None else told_action(held.action),
            **{name: ns // 1000 for name, ns in evidence.items()},
            "thinking_us": timing.thinking_us or None,
            "ping_us": None if round_trip_ns is None else round_trip_ns // 1000,
        }

    def _forfeit(self, seat: Seat, ending: Ending, detail: str) -> None:
        color = self.position.color_of(seat)
        self.outcome = Outcome(ending, color.other, Party.of(color), detail)
