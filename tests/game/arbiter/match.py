"""One arbiter on a clock that only the test moves, and the words that its scenarios are written in."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

import pytest

from meijin.game import (
    FREE,
    FREESTYLE,
    OPENING_RULES,
    RENJU,
    Action,
    Board,
    Choose,
    Clock,
    Color,
    Ending,
    Outcome,
    Party,
    Placement,
    Seat,
    TimeControl,
    Variant,
)
from meijin.game.arbiter.arbiter import Arbiter
from meijin.game.arbiter.moment import NEVER_NS, NS_PER_SECOND, Moment
from meijin.game.arbiter.turns import ActionResult

DRAWISH = [
    22 * row + column for row in range(0, 22, 2) for column in (*range(0, 22, 2), *range(1, 22, 2))
]
"""Cells of a board of 22x22 that make no line when they are played in turn."""
GRACE = 30 * NS_PER_SECOND
SIDES = {"A": Seat.FIRST, "B": Seat.SECOND}
ACCEPTED, HELD = ActionResult.ACCEPTED, ActionResult.HELD


def ns(seconds: float | str) -> int:
    return round(float(seconds) * NS_PER_SECOND)


def action_of(word: str) -> Action:
    """A cell such as ``12``, stones such as ``0,7,14`` or ``none``, or a side such as ``white``."""
    if word.isdecimal():
        return int(word)
    if word in {"black", "white"}:
        return Choose(Color[word.upper()])
    return Placement(tuple(map(int, re.findall(r"\d+", word))))


def _credits(kind: str) -> Callable[[Arbiter, Moment], list[int]]:
    return lambda arbiter, _: [getattr(arbiter.credits[seat], f"{kind}_ns") for seat in Seat]


TIMES: dict[str, Callable[[Arbiter, Moment], Sequence[int]]] = {
    "left": lambda arbiter, _: [arbiter.clock.left_ns(seat) for seat in Seat],
    "shown": lambda arbiter, moment: [arbiter.left_ns(seat, moment) for seat in Seat],
    "raw": lambda arbiter, _: [*arbiter.raw_ns],
    "charged": lambda arbiter, _: [*arbiter.charged_ns],
    "chosen": lambda arbiter, _: arbiter.decision_ns[-1],
    "credited-lag": _credits("lag"),
    "credited-margin": _credits("margin"),
    "credited-absence": _credits("absence"),
}
"""Claims: on the clocks of both and as those show them, of each move, of the choice of a side as
raw and charged, and what was credited to both."""

CLAIMS: dict[str, Callable[..., bool]] = {
    "on": lambda match: match.outcome is None,
    "wins": lambda match, color: match.outcome.winner is Color[color.upper()],
    "flag": lambda match: match.glance() and match.arbiter.is_flag_up,
    "quiet": lambda match: not match.glance(),
    "up": lambda match: match.arbiter.is_flag_up,
    "down": lambda match: not match.arbiter.is_flag_up,
    "here": lambda match, side: not match.arbiter.is_away(SIDES[side]),
    "width": lambda match, width: match.arbiter.raw_ns.itemsize == int(width),
}
"""The last one is of the numbers that times are kept in, in bytes."""


class Match:
    """A game by terms such as ``60+1:5/move swap2 9x9 margin=.05``; all times are in seconds.

    The time control is A's, who has the first seat, and after a colon that of B.
    """

    def __init__(self, terms: str = "60+1") -> None:
        controls, *rest = terms.split()
        first, _, second = controls.partition(":")
        clock = Clock.of(TimeControl.parse(first), TimeControl.parse(second or first))
        width, height = re.findall(r"(\d+)x(\d+)", terms)[0] if "x" in terms else (5, 5)
        variant = Variant(
            RENJU if "renju" in rest else FREESTYLE,
            int(width),
            int(height),
            opening_rule=next(
                (OPENING_RULES[each] for each in rest if each in OPENING_RULES), FREE
            ),
        )
        (margin,) = [each[7:] for each in rest if each.startswith("margin=")] or ["0"]
        self.arbiter = Arbiter(Board(variant), clock, grace_ns=GRACE, margin_ns=ns(margin))
        self.now = 1_000 * NS_PER_SECOND
        self.stall = 0
        self.carried_ns = NEVER_NS

    @property
    def moment(self) -> Moment:
        return Moment(self.now, self.stall)

    @property
    def outcome(self) -> Outcome | None:
        return self.arbiter.outcome

    def left(self, seat: Seat) -> float:
        return self.arbiter.clock.left_ns(seat) / NS_PER_SECOND

    def answer(
        self,
        action: Action,
        *,
        ply: int | None = None,
        seat: Seat | None = None,
        ago: float = 0,
        lag: float = 0,
        thinking: float = 0,
    ) -> ActionResult:
        arbiter = self.arbiter
        return (arbiter.play if isinstance(action, int) else arbiter.act)(
            arbiter.seat_to_act if seat is None else seat,
            arbiter.board.ply if ply is None else round(ply),
            action,  # type: ignore[arg-type]  # of the one or the other
            Moment(self.now - ns(ago), self.stall),
            ns(lag),
            thinking_us=round(thinking * 1_000_000),
        )

    def decide(self, ping: float | None = 0) -> None:
        """The ping is answered after this many seconds, or not at all."""
        round_trip_ns = None if ping is None else ns(ping)
        self.arbiter.decide(self.moment, round_trip_ns, carried_ns=self.carried_ns)

    # -- scenarios ----------------------------------------------------------------

    def carry_out(self, scenario: str) -> None:
        """Carry out steps such as ``ask; wait 6 stalled=2; leave A``, and check what others claim."""
        for step in scenario.split(";"):
            word, *rest = step.split()
            named = dict(each.split("=", 1) for each in rest if re.match(r"\w+=", each))
            values = [each for each in rest if each.partition("=")[0] not in named]
            if word in TIMES:
                found = TIMES[word](self.arbiter, self.moment)
                assert [*found] == [*map(ns, values)], word
                continue
            if word in CLAIMS:
                assert CLAIMS[word](self, *values), step
                continue
            given = {name: ast.literal_eval(value) for name, value in named.items()}
            getattr(self, f"do_{word}")(*values, **given)

    def do_ask(self, left: str = "") -> None:
        left_ns = self.arbiter.ask(self.moment)
        assert not left or left_ns == pytest.approx(ns(left))

    def do_wait(self, seconds: str, stalled: float = 0) -> None:
        """Let time pass, during a part of which the server stands still."""
        self.now += ns(seconds)
        self.stall += ns(stalled)

    def do_tick(self) -> None:
        self.now += 1

    def do_unseen(self, stall: str) -> None:
        self.stall += ns(stall)

    def do_carry(self) -> None:
        """A probe that is sent now is the newest one that our own threads carry."""
        self.carried_ns = self.now

    def do_turn(
        self, action: str, seconds: str = "0", *, stalled: float = 0, ping: float = 0, **more: float
    ) -> None:
        """Ask, think and act; a ping that a verdict needs is answered."""
        self.do_ask()
        self.do_wait(seconds, stalled)
        result = self.answer(action_of(action), **more)  # type: ignore[arg-type]
        assert result in {ACCEPTED, HELD}
        if result is HELD:
            self.decide(ping)

    def do_turns(self, *cells: str) -> None:
        for cell in cells:
            assert self.outcome is None
            self.do_turn(cell)

    def do_rally(self, plies: str, first: str, second: str = "0", lag: float = 0) -> None:
        """Play plies on a large board, for which A and B take so long; the lag is A's."""
        for _ in range(int(plies)):
            ply = self.arbiter.board.ply
            seconds, its_lag = (second, 0.0) if ply % 2 else (first, lag)
            self.do_turn(str(DRAWISH[ply]), seconds, lag=its_lag)

    def do_play(self, action: str) -> None:
        """Answer a turn that was asked; a ping that a verdict needs is answered at once."""
        result = self.answer(action_of(action))
        assert result in {ACCEPTED, HELD}
        if result is HELD:
            self.decide()

    def do_held(self, action: str) -> None:
        assert self.answer(action_of(action)) is HELD
        assert self.arbiter.held == action_of(action)

    def do_stale(self, action: str, ply: int | None = None, ago: float = 0) -> None:
        assert self.answer(action_of(action), ply=ply, ago=ago) is ActionResult.STALE_PLY

    def do_wrong(self, action: str) -> None:
        seat = self.arbiter.seat_to_act.other
        assert self.answer(action_of(action), seat=seat) is ActionResult.NOT_YOUR_TURN

    def do_unasked(self, action: str) -> None:
        self.do_ask()
        assert self.answer(action_of(action)) is ActionResult.NOT_ASKED

    def do_look(self, lag: float = 0) -> None:
        """Look at the clocks; a ping that a verdict needs is answered at once."""
        self.arbiter.expire_absences(self.moment.served_ns)
        if self.glance(lag):
            self.decide()

    def glance(self, lag: float = 0) -> bool:
        """Look at the clocks; whether a flag has gone up."""
        return self.arbiter.expire(self.moment, ns(lag), carried_ns=self.carried_ns)

    def do_watch(self, seconds: str) -> None:
        for _ in range(round(float(seconds) / 0.05)):
            self.do_wait("0.05")
            self.do_look()

    def do_ping(self, seconds: str = "0") -> None:
        self.decide(float(seconds))

    def do_leave(self, side: str, *excused: str) -> None:
        self.arbiter.leave(SIDES[side], self.moment, excused=bool(excused))

    def do_back(self, side: str, ago: float = 0) -> None:
        self.arbiter.come_back(SIDES[side], Moment(self.now - ns(ago), self.stall))

    def do_excuse(self) -> None:
        self.arbiter.excuse(self.moment)

    def do_resign(self, side: str) -> None:
        wanted = ACCEPTED if self.outcome is None else ActionResult.STALE_PLY
        assert self.arbiter.resign(SIDES[side]) is wanted

    def do_fail(self, side: str, *message: str) -> None:
        wanted = ACCEPTED if self.outcome is None else ActionResult.STALE_PLY
        assert self.arbiter.fail(SIDES[side], " ".join(message)) is wanted

    def do_void(self, party: str, *detail: str) -> None:
        self.arbiter.void(Party(party), " ".join(detail))

    def do_adjudicate(self, color: str) -> None:
        self.arbiter.adjudicate(Outcome(Ending.ADJUDICATION, Color[color.upper()]))

    # -- claims -------------------------------------------------------------------

    def do_moves(self, *cells: str) -> None:
        assert [*self.arbiter.board.moves] == [*map(int, cells)]
        assert len(self.arbiter.raw_ns) == len(self.arbiter.charged_ns) == len(cells)

    def do_mover(self, side: str, task: str = "") -> None:
        assert self.arbiter.seat_to_act is SIDES[side]
        assert str(self.arbiter.task or "").replace(" ", "-") == task

    def do_charge(self, side: str, *seconds: str) -> None:
        """What a side is told of its last answer: raw, credited and charged."""
        charge = self.arbiter.credits[SIDES[side]].charge
        assert charge == (tuple(map(ns, seconds)) if seconds else None)

    def do_ends(self, ending: str, party: str, *detail: str) -> None:
        outcome = self.outcome
        assert outcome is not None
        assert (outcome.ending.value, outcome.at_fault.value) == (ending, party)
        assert " ".join(detail) in outcome.detail
        if outcome.at_fault.color is not None:
            assert outcome.winner is outcome.at_fault.color.other
        assert bool(self.arbiter.evidence) == (party != "nobody")

    def do_evidence(self, **claims: object) -> None:
        """What is in the evidence, where it is in microseconds in seconds here."""
        found = self.arbiter.evidence
        for name, value in claims.items():
            if f"{name}_us" in found and isinstance(value, (int, float)):
                assert found[f"{name}_us"] == round(value * 1_000_000), name
            else:
                assert found.get(name, found.get(f"{name}_us")) == value, name

    def do_proof(self, **evidence: object) -> None:
        assert self.arbiter.evidence == evidence
