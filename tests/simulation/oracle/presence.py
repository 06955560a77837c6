"""Presence: who is there, who is away through no fault of the server, and since when."""

from __future__ import annotations

from tests.simulation.network import Stream
from tests.simulation.oracle.books import MS, Books

UNNOTICED_NS = 600 * MS
"""Half a second of the store's silence is no outage yet, and some time passes until it is seen."""


class Presence:
    """Counts absences, without the outages of the server and its disk."""

    def __init__(self, books: Books) -> None:
        self._books = books
        self._present: dict[str, Stream] = {}
        """The bots that have come, and on which stream."""
        self._away_since: dict[str, tuple[int, int]] = {}
        """When a bot left, and what the outages had lasted by then."""
        self._outage_ns = 0
        self._outage_since_ns: int | None = None
        self.hostile: set[str] = set()
        """The names of hostile bots that have come."""

    def came(self, stream: Stream) -> None:
        name = stream.client.name
        if stream.client.is_hostile:
            self.hostile.add(name)
        absence_ns = self.absence_ns(name)
        self._away_since.pop(name, None)
        self._present[name] = stream
        for game in self._books.running(name):
            game.away_ns[game.seat(name)] += absence_ns

    def left(self, stream: Stream) -> None:
        name, now_ns = stream.client.name, self._books.now_ns()
        for game in self._books.running(name):
            for ask in game.asks[game.turn]:
                if ask.stream is stream and ask.left_ns is None:
                    ask.left_ns = now_ns
        if self._present.get(name, stream) is stream:
            self._present.pop(name, None)
            self._away_since.setdefault(name, (now_ns, self.outage_ns))

    def absence_ns(self, name: str) -> int:
        """How long a bot has been away by now; 0 where it is there."""
        if name not in self._away_since:
            return 0
        since_ns, outage_ns = self._away_since[name]
        return self._books.now_ns() - since_ns - (self.outage_ns - outage_ns)

    def now_ns(self) -> int:
        return self._books.now_ns()

    @property
    def outage_ns(self) -> int:
        """How long the server or its disk has been away so far, as it may be noticed."""
        if self._outage_since_ns is None:
            return self._outage_ns
        lasted_ns = self._books.now_ns() - self._outage_since_ns
        return self._outage_ns + max(lasted_ns - UNNOTICED_NS, 0)

    def begin_outage(self) -> None:
        """The server or its disk is away, if it was not."""
        if self._outage_since_ns is None:
            self._outage_since_ns = self._books.now_ns()

    def end_outage(self) -> None:
        self._outage_ns, self._outage_since_ns = self.outage_ns, None

    def server_died(self) -> None:
        self._present.clear()
        self._away_since.clear()
