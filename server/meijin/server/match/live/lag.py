"""The lag of a stream: its round trip, measured by pings."""

import enum
from dataclasses import dataclass, field

LAG_SAMPLES = 8
"""The lag is the least of this many round trips: queueing only ever adds."""


class PingState(enum.Enum):
    """Of the one ping of a stream: none is under way, it waits to be sent, or for its answer."""

    IDLE = enum.auto()
    DUE = enum.auto()
    SENT = enum.auto()


@dataclass(slots=True, eq=False)
class LagMeter:
    """Measures a stream's round trip; one ping is under way at a time.

    Instants are those of a clock that stands whenever the server does: what the server itself
    is late by is no part of the way.
    """

    samples_ns: list[int] = field(default_factory=list)
    """The last round trips, the newest last. An empty deque takes 0.8 KB, of each connected bot."""
    _state: PingState = PingState.IDLE
    _is_next_due: bool = False
    _sequence: int = 0
    _sent_ns: int = 0

    @property
    def is_due(self) -> bool:
        return self._state is PingState.DUE

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
        """Ask for a ping that is sent after the one that may be under way; the number it will have."""
        if self._state is PingState.SENT:
            self._is_next_due = True
        else:
            self._state = PingState.DUE
        return self._sequence + 1

    def send(self, now_ns: int) -> int:
        """The sequence number of the ping that is due, and sent now."""
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
        self.samples_ns.append(round_trip_ns)
        del self.samples_ns[:-LAG_SAMPLES]
        return round_trip_ns
