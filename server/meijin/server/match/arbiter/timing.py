"""The timing of one move, where its flag is about to fall, and the evidence of it."""

from typing import NamedTuple

from meijin.game import Action


class Timing(NamedTuple):
    """The time that a move took, and what is known of its way. In nanoseconds."""

    raw_ns: int
    """From request to answer."""
    spent_ns: int
    """The same less the server's stalls."""
    lag_ns: int
    """The longest that the way there and back can have taken."""
    thinking_us: int = 0
    """What the bot says that it took; 0 when it says nothing. Microseconds, as on the wire."""


class HeldMove(NamedTuple):
    """An action that seems late, and waits for its verdict."""

    action: Action
    timing: Timing


def told_action(action: Action) -> int | str:
    """An action as evidence tells it: a cell, or words for one of an opening."""
    return action if isinstance(action, int) else str(action)


class FlagFall(NamedTuple):
    """Everything that a time forfeit was decided by. In nanoseconds."""

    ply: int
    held: HeldMove | None
    """The move that was late; ``None`` when there was no answer."""
    timing: Timing
    used_ns: int
    """What of it the move had used before an absence: the clock told was less by that."""
    lag_credit_ns: int
    """What was taken off for lag."""
    lag_bound_ns: int
    """The most that could have been taken off, by what is left in the game."""
    margin_ns: int
    budget_ns: int
    """What the side had for its move."""
    round_trip_ns: int | None
    """Of the ping that was sent when the flag went up; ``None`` when it was not answered."""

    @property
    def charged_ns(self) -> int:
        """What the move was charged."""
        return self.timing.spent_ns - self.lag_credit_ns

    def to_evidence(self) -> dict[str, object]:
        """The evidence as it is stored, in microseconds."""
        timing = self.timing
        return {
            "ply": self.ply,
            "cell": None if self.held is None else told_action(self.held.action),
            "raw_us": timing.raw_ns // 1000,
            "stall_us": (timing.raw_ns - timing.spent_ns) // 1000,
            "lag_us": timing.lag_ns // 1000,
            "lag_credit_us": self.lag_credit_ns // 1000,
            "lag_bound_us": self.lag_bound_ns // 1000,
            "charged_us": self.charged_ns // 1000,
            "budget_us": self.budget_ns // 1000,
            "used_us": self.used_ns // 1000,
            "margin_us": self.margin_ns // 1000,
            "thinking_us": timing.thinking_us or None,
            "ping_us": None if self.round_trip_ns is None else self.round_trip_ns // 1000,
        }
