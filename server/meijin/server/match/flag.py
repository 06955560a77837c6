"""The flag of the side to move: down, or up until a ping that was sent afterwards is answered."""

from meijin.server.match.stalls import NS_PER_SECOND
from meijin.server.match.timing import HeldMove

PING_PATIENCE_NS = NS_PER_SECOND
"""How long a flag that is up waits for a ping's answer; lag takes no more than that off a move."""


class Flag:
    """The flag of one game, which is up at one turn at most.

    A turn has one patience, over however many streams it is asked.
    """

    __slots__ = ("_at_ns", "_lag_ns", "_late_turn", "_turn", "held")

    def __init__(self) -> None:
        self.held: HeldMove | None = None
        """The move that seems late and waits for its verdict."""
        self._turn = -1
        self._late_turn = -1
        self._at_ns = 0
        self._lag_ns = 0

    def is_up(self, turn: int) -> bool:
        """Whether it is up at this turn."""
        return self._turn == turn

    def go_up(self, turn: int, now_ns: int, lag_ns: int) -> None:
        """The turn seems overstepped, by what is known of the way; `now_ns` as served."""
        self._turn = turn
        self._lag_ns = lag_ns
        if self._late_turn != turn:
            self._late_turn = turn
            self._at_ns = now_ns

    def is_patience_over(self, now_ns: int, since_ns: int) -> bool:
        """Whether the ping's answer, awaited since `since_ns` at the earliest, is not in time now."""
        return now_ns - max(self._at_ns, since_ns) > PING_PATIENCE_NS

    def take_down(self) -> tuple[HeldMove | None, int]:
        """Go down: the move that was held, and the way as it was known when it went up."""
        held, self.held = self.held, None
        self._turn = -1
        return held, self._lag_ns

    def excuse(self) -> None:
        """The turn was in time after all: the next time it has its patience anew."""
        self._late_turn = -1


DOWN = Flag()
"""Of every game whose flag has never been up; never raised itself."""
