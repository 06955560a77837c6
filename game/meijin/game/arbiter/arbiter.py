"""The judge of one game: a state machine that opens no socket and reads no clock."""

from meijin.game.arbiter.moment import NS_PER_SECOND, Moment
from meijin.game.arbiter.turns import ActionResult, Turns
from meijin.game.color import Seat
from meijin.game.outcome import Ending, Outcome, Party

_OUTAGES = {Party.SERVER: "an outage", Party.NETWORK: "an outage of the network"}


class Arbiter(Turns):
    """One game from its opening to its outcome."""

    __slots__ = ()

    # -- presence ---------------------------------------------------------------

    def is_away(self, seat: Seat) -> bool:
        return self._presence.is_away(seat)

    @property
    def is_anyone_away(self) -> bool:
        return self._presence.count > 0

    def absence_left_ns(self, moment: Moment) -> int:
        """How long no absence can end the game as of a moment, unless anybody leaves or returns."""
        left_ns = self.clock.budget_ns(self.seat_to_act) - self._used_ns
        return self._presence.left_ns(moment.served_ns, left_ns)

    def settle_absences(self, now_ns: int) -> None:
        """Count the absence from a turn up to an instant that absences were judged by."""
        self._presence.settle(now_ns)

    def leave(
        self,
        seat: Seat,
        moment: Moment,
        *,
        heard: Moment | None = None,
        excused: bool = False,
    ) -> None:
        """`seat` lost its stream; excused when the server itself was gone.

        What it had used of the pending turn stays used, and the turn must be answered anew.

        Args:
            heard: When something was heard of it last. Where the network turns out to have
                been cut, what it used since is given back.
        """
        if self.is_away(seat):
            return
        if seat is self.seat_to_act:
            self._suspend_turn(moment, heard or moment)
        from_turn = seat is self.seat_to_act and self._left_turn == self.turn
        self._presence = self._presence.own(self.credits)
        self._presence.leave(seat, moment.served_ns, from_turn=from_turn, excused=excused)

    def _suspend_turn(self, moment: Moment, heard: Moment) -> None:
        """No answer to what has been asked can come any more; a late one is forgotten."""
        held = self._flag.take_down()
        if held is not None:
            self._used_ns = held.timing.spent_ns
        elif self._asked_at_ns >= 0:
            self._unheard_ns = self._unheard_since_ns(heard, moment)
            self._used_ns = max(self._timing(moment, 0).spent_ns, 0)
        else:
            return
        self._asked_at_ns = -1
        self._left_turn = self.turn

    def _unheard_since_ns(self, heard: Moment, moment: Moment) -> int:
        """How long the pending turn has run since its bot was heard last."""
        asked_ns = self._asked_at_ns - self._stall_at_ask_ns
        return max(moment.served_ns - max(heard.served_ns, asked_ns), 0)

    def credit_silence(self, seat: Seat, heard: Moment, moment: Moment) -> bool:
        """`seat` is heard again, for the first time since `heard`; whether its own turn goes on.

        It does as if the silence had been a stall: the network carried nothing.
        """
        if seat is not self.seat_to_act or self._asked_at_ns < 0:
            return False
        self._stall_at_ask_ns -= self._unheard_since_ns(heard, moment)
        self._flag.take_down()
        self._flag.excuse()
        return True

    def come_back(self, seat: Seat, moment: Moment) -> None:
        """`seat` has had a stream again since `moment`; its turn, if any, must be asked anew."""
        self._presence = self._presence.own(self.credits)
        self._presence.come_back(seat, moment.served_ns)
        if seat is self.seat_to_act:
            self._used_ns += self._presence.overrun_ns
            self._presence.overrun_ns = 0
            self._unheard_ns = 0

    def excuse(self, moment: Moment, party: Party = Party.SERVER) -> None:
        """Whoever is away is so through the fault of `party`: grace begins anew."""
        if self._presence.count:
            self._presence.excuse(moment.served_ns, party)
        if party is Party.NETWORK and self.is_away(self.seat_to_act):
            self._used_ns -= self._unheard_ns
            self._unheard_ns = 0
            self._flag.excuse()

    def is_excused(self, seat: Seat) -> bool:
        """Whether `seat` is away through no fault of its own."""
        return self._presence.excuse_of(seat) is not None

    def expire_absences(self, now_ns: int) -> None:
        """End the game when a grace has run out, or the clock of a bot that left on its turn.

        As of an instant of the server's time served: while a bot waits at the door for us, that
        is before it came.
        """
        presence = self._presence
        if self.outcome is not None or not presence.count:
            return
        for seat in Seat:
            if presence.is_overdue(seat, now_ns):
                self._end_absence(seat, now_ns)
                return
        presence.settle(now_ns)
        seat = self.seat_to_act
        charged_ns = self._used_ns + presence.overrun_ns
        if presence.overrun_ns and self._excess_ns(seat, charged_ns) > self._margin_left_ns(seat):
            away, spent = presence.away_ns(seat, now_ns), charged_ns / NS_PER_SECOND
            detail = f"away for {away / NS_PER_SECOND:.1f} s on its turn"
            self._forfeit(seat, Ending.DISCONNECT, f"{detail}: {spent:.3f} s are on its clock")
            self.evidence = presence.evidence(seat, now_ns) | {
                "ply": self.board.ply,
                "charged_us": charged_ns // 1000,
                "budget_us": self.clock.budget_ns(seat) // 1000,
            }

    def _end_absence(self, seat: Seat, now_ns: int) -> None:
        away = self._presence.away_ns(seat, now_ns) / NS_PER_SECOND
        excuse = self._presence.excuse_of(seat)
        if excuse is not None:
            name = self.position.color_of(seat).name.lower()
            self.void(excuse, f"{name} did not return after {_OUTAGES[excuse]}")
        elif self.is_away(seat.other):
            self.void(Party.NETWORK, "both bots were away")
        else:
            self._forfeit(seat, Ending.DISCONNECT, f"away for {away:.1f} s")
        evidence = self._presence.evidence(seat, now_ns)
        self.add_evidence(ply=self.board.ply, **evidence)

    # -- other actions ----------------------------------------------------------

    def resign(self, seat: Seat) -> ActionResult:
        if self.outcome is not None:
            return ActionResult.STALE_PLY
        self.outcome = Outcome(Ending.RESIGN, self.position.color_of(seat.other))
        return ActionResult.ACCEPTED

    def fail(self, seat: Seat, message: str) -> ActionResult:
        """`seat` reports that it can't go on."""
        if self.outcome is not None:
            return ActionResult.STALE_PLY
        self._forfeit(seat, Ending.CRASH, message)
        self.evidence = {"message": message, "ply": self.board.ply}
        return ActionResult.ACCEPTED

    def adjudicate(self, outcome: Outcome) -> None:
        """End the game as its rules of adjudication say. Does nothing once it has ended."""
        if self.outcome is None:
            self.outcome = outcome

    def void(self, party: Party, detail: str) -> None:
        """Stop the game: it counts for nothing. Does nothing once it has ended."""
        if self.outcome is None:
            self.outcome = Outcome(Ending.VOID, None, party, detail)
            self.evidence = {"ply": self.board.ply, "detail": detail}
