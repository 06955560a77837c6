"""Presence: which player of a game has no stream, and what its absences have cost."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from meijin.game.arbiter.allowance import Allowance, Credits
from meijin.game.color import Seat
from meijin.game.outcome import Party


@dataclass(slots=True, eq=False)
class Presence:
    """The absences of both players of one game.

    Each has a grace for all its absences together. One that leaves on its own turn, which
    it has seen, may be thinking: that is free for a while, and then runs on its clock. While both
    are away nobody's clock runs, for that is the network's doing.

    Instants are those of a clock that stands whenever the server does. A bot that waited to be
    let in comes back as of an earlier one.
    """

    _allowances: Sequence[Allowance]
    """By the value of a seat, as all lists here."""
    _credits: Sequence[Credits]
    count: int = 0
    """How many players are away."""
    overrun_ns: int = 0
    """What the absence from the pending turn has taken off the clock, until it is charged."""
    _grace_ns: list[int] = field(init=False)
    _away_since_ns: list[int | None] = field(default_factory=lambda: [None] * 3)
    _excused: list[Party | None] = field(default_factory=lambda: [None] * 3)
    _thinker: Seat | None = None
    _thinking_since_ns: int = -1
    _settled_ns: int = 0
    _credit_before_ns: int = 0

    def __post_init__(self) -> None:
        self._grace_ns = [allowance.grace_ns for allowance in self._allowances]

    def own(self, credit: Sequence[Credits]) -> "Presence":
        """This one, if it is of the game with these credits; else one for that, of no absence yet.

        Games whose players have never been away share one, which is no game's own.
        """
        return self if self._credits is credit else Presence(self._allowances, credit)

    def is_away(self, seat: Seat) -> bool:
        return self._away_since_ns[seat] is not None

    def excuse_of(self, seat: Seat) -> Party | None:
        """Whose fault it is that `seat` is away; ``None`` while it is its own."""
        return self._excused[seat]

    def away_ns(self, seat: Seat, now_ns: int) -> int:
        """How long the present absence of `seat` has lasted; 0 when it is there."""
        since_ns = self._away_since_ns[seat]
        return 0 if since_ns is None else now_ns - since_ns

    def is_overdue(self, seat: Seat, now_ns: int) -> bool:
        since_ns = self._away_since_ns[seat]
        return since_ns is not None and now_ns - since_ns > self._grace_ns[seat]

    def left_ns(self, now_ns: int, clock_ns: int) -> int:
        """How long no absence is overdue, by the grace or by `clock_ns` left for the pending turn.

        Some player is away.
        """
        left = [
            since_ns + self._grace_ns[seat] - now_ns
            for seat in Seat
            if (since_ns := self._away_since_ns[seat]) is not None
        ]
        if self._thinker is not None and self._thinking_since_ns >= 0:
            free_ns = self._thinking_since_ns - now_ns + self.free_left_ns(self._thinker)
            left.append(free_ns + max(clock_ns - self.overrun_ns, 0))
        return min(left)

    def free_left_ns(self, seat: Seat) -> int:
        """How long `seat` may still be away on its own turn before its clock runs."""
        return self._allowances[seat].absence_ns - self._credits[seat].absence_ns

    def evidence(self, seat: Seat, now_ns: int) -> dict[str, object]:
        """What the absences of `seat` were and might have been, as it is stored."""
        return {
            "away_us": self.away_ns(seat, now_ns) // 1000,
            "grace_left_us": self._grace_ns[seat] // 1000,
            "away_on_turn_us": self._credits[seat].absence_ns // 1000,
            "free_left_us": self.free_left_ns(seat) // 1000,
        }

    def leave(self, seat: Seat, now_ns: int, *, from_turn: bool, excused: bool) -> None:
        """`seat` lost its stream, perhaps on a turn that it has seen."""
        self.settle(now_ns)
        self._away_since_ns[seat] = now_ns
        self._excused[seat] = Party.SERVER if excused else None
        self.count += 1
        if from_turn:
            self._thinker = seat
            self._credit_before_ns = self._credits[seat].absence_ns
        self._resume(now_ns)

    def come_back(self, seat: Seat, now_ns: int) -> None:
        self.settle(now_ns)
        since_ns = self._away_since_ns[seat]
        if since_ns is not None:
            self.count -= 1
            if not self._excused[seat]:
                self._grace_ns[seat] -= max(now_ns - since_ns, 0)
        self._away_since_ns[seat] = None
        self._excused[seat] = None
        if self._thinker is seat:
            self._thinker = None
        self._resume(now_ns)

    def excuse(self, now_ns: int, party: Party) -> None:
        """Whoever is away is so through another's fault: that has cost nothing."""
        for seat in Seat:
            if self.is_away(seat):
                self._away_since_ns[seat] = now_ns
                self._excused[seat] = party
        if self._thinker is not None:
            self._credits[self._thinker].absence_ns = self._credit_before_ns
            self.overrun_ns = 0
        self._resume(now_ns)

    def settle(self, now_ns: int) -> None:
        """Count the absence from a turn up to now: first as free, then on the clock."""
        if self._thinking_since_ns < 0 or self._thinker is None:
            return
        spent_ns = max(now_ns - self._thinking_since_ns, 0)
        self._thinking_since_ns += spent_ns
        free_ns = min(spent_ns, self.free_left_ns(self._thinker))
        self._credits[self._thinker].absence_ns += free_ns
        self.overrun_ns += spent_ns - free_ns

    def _resume(self, now_ns: int) -> None:
        """From now on the absence from a turn counts, or does not."""
        thinker = self._thinker
        counts = thinker is not None and self.count == 1 and not self._excused[thinker]
        self._settled_ns = max(self._settled_ns, now_ns)
        self._thinking_since_ns = self._settled_ns if counts else -1
