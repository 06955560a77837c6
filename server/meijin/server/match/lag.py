"""The lag of a stream: its round trip, measured by pings."""

import enum
from collections import deque

from meijin.server.match.arbiter import LAG_PER_MOVE_NS

LAG_SAMPLES = 8
"""The lag is the least of so many round trips: queueing only ever adds."""


class PingState(enum.Enum):
    """Where the one ping of a stream is."""

    IDLE = enum.auto()
    """None is under way."""
    DUE = enum.auto()
    """It waits to be sent."""
    SENT = enum.auto()
    """Its answer is awaited."""


class LagMeter:
    """Measures a stream's round trip; one ping is under way at a time."""

    __slots__ = ("_lag_ns", "_samples_ns", "_sent_ns", "_sequence", "_state")

    def __init__(self) -> None:
        self._lag_ns = 0
        self._state = PingState.IDLE
        self._sequence = 0
        self._sent_ns = 0
        self._samples_ns: deque[int] = deque(maxlen=LAG_SAMPLES)

    def request(self) -> bool:
        """Ask for a ping; whether one is due now that was not before."""
        if self._state is not PingState.IDLE:
            return False
        self._state = PingState.DUE
        return True

    def send(self, now_ns: int) -> int:
        """The sequence number of the ping that is sent now; 0 when none is due."""
        if self._state is not PingState.DUE:
            return 0
        self._state = PingState.SENT
        self._sequence += 1
        self._sent_ns = now_ns
        return self._sequence

    def answer(self, sequence: int, now_ns: int) -> int:
        """The lag after the answer to a ping; an answer to anything else is ignored.

        It is the least of the last round trips, bounded by what a move is credited.
        """
        if self._state is PingState.SENT and sequence == self._sequence:
            self._state = PingState.IDLE
            self._samples_ns.append(now_ns - self._sent_ns)
            self._lag_ns = min(*self._samples_ns, LAG_PER_MOVE_NS)
        return self._lag_ns
