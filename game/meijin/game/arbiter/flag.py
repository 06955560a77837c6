"""The flag of the side to move: down, or up until a ping that was sent afterwards is answered."""

from dataclasses import dataclass
from typing import NamedTuple

from meijin.game.arbiter.moment import NS_PER_SECOND, Moment
from meijin.game.position import Action


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


PING_PATIENCE_NS = NS_PER_SECOND
"""How long a flag that is up waits for a ping's answer; lag takes no more than that off a move."""


@dataclass(slots=True)
class Flag:
    """The flag of one game, which is up at one turn at most.

    A turn has one patience, over however many streams it is asked.
    """

    held: HeldMove | None = None
    """The move that seems late and waits for its verdict."""
    lag_ns: int = 0
    """The way as it was known when it went up."""
    answer_ns: int | None = None
    """The round trip of the ping that was answered, where the flag could not fall yet."""
    _turn: int = -1
    _late_turn: int = -1
    _at_ns: int = 0
    _raised_ns: int = 0

    def is_up(self, turn: int) -> bool:
        """Whether it is up at this turn."""
        return self._turn == turn

    def go_up(self, turn: int, moment: Moment, lag_ns: int) -> None:
        """The turn seems overstepped, by what is known of the way."""
        self._turn = turn
        self.lag_ns = lag_ns
        self._raised_ns = moment.now_ns
        self.answer_ns = None
        if self._late_turn != turn:
            self._late_turn = turn
            self._at_ns = moment.served_ns

    def may_fall(self, carried_ns: int) -> bool:
        """Whether what was sent after it went up has been carried, by our own threads too."""
        return carried_ns > self._raised_ns

    def is_patience_over(self, now_ns: int, since_ns: int) -> bool:
        """Whether the ping's answer, awaited since `since_ns` at the earliest, is not in time now."""
        return now_ns - max(self._at_ns, since_ns) > PING_PATIENCE_NS

    def take_down(self) -> HeldMove | None:
        """Go down; the move that was held."""
        held, self.held = self.held, None
        self._turn = -1
        return held

    def excuse(self) -> None:
        """The turn was in time after all: the next time it has its patience anew."""
        self._late_turn = -1


DOWN = Flag()
"""Of every game whose flag has never been up; never raised itself."""
