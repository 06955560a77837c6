"""The lag of a stream: its round trip, measured by pings."""

import enum
from collections.abc import Sequence

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
    """Measures a stream's round trip; one ping is under way at a time.

    Instants are those of a clock that stands whenever the server does: what the server itself
    is late by is no part of the way.
    """

    __slots__ = ("_is_next_due", "_samples_ns", "_sent_ns", "_sequence", "_state")

    def __init__(self) -> None:
        self._state = PingState.IDLE
        self._is_next_due = False
        self._sequence = 0
        self._sent_ns = 0
        # A list: an empty deque takes 0.8 KB, of each bot that is connected.
        self._samples_ns: list[int] = []

    @property
    def is_due(self) -> bool:
        """Whether a ping waits to be sent."""
        return self._state is PingState.DUE

    @property
    def samples_ns(self) -> Sequence[int]:
        """The last round trips, the newest last."""
        return self._samples_ns

    def waiting_ns(self, now_ns: int) -> int | None:
        """How long the ping that is under way has not been answered; ``None`` without one."""
        return now_ns - self._sent_ns if self._state is PingState.SENT else None

    def request(self) -> bool:
        """Ask for a ping; whether one is due now that was not before."""
        if self._state is not PingState.IDLE:
            return False
        self._state = PingState.DUE
        return True

    def request_fresh(self) -> int:
        """Ask for a ping that is sent from now on, after the one that may be under way.

        Returns:
            The sequence number that it will have.
        """
        if self._state is PingState.SENT:
            self._is_next_due = True
        else:
            self._state = PingState.DUE
        return self._sequence + 1

    def send(self, now_ns: int) -> int:
        """The sequence number of the ping that is sent now; 0 when none is due."""
        if self._state is not PingState.DUE:
            return 0
        self._state = PingState.SENT
        self._sequence += 1
        self._sent_ns = now_ns
        return self._sequence

    def answer(self, sequence: int, now_ns: int) -> int | None:
        """The round trip of the ping that is answered; ``None`` for an answer to anything else.

        A stall is counted when it is over: of one that began before the ping was sent, that clock
        may stand for longer than the way took.
        """
        if self._state is not PingState.SENT or sequence != self._sequence:
            return None
        self._state = PingState.DUE if self._is_next_due else PingState.IDLE
        self._is_next_due = False
        round_trip_ns = max(now_ns - self._sent_ns, 0)
        self._samples_ns.append(round_trip_ns)
        del self._samples_ns[:-LAG_SAMPLES]
        return round_trip_ns
