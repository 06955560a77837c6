"""Departures: whether bots lose their streams one by one, or the network lost them together."""

from collections import Counter, deque

from meijin.server.match.arbiter.stalls import NS_PER_SECOND
from meijin.store.schema import BotId

WINDOW_NS = 5 * NS_PER_SECOND
"""Departures within this time may have one cause."""

LEAST_DEPARTURES = 4
"""Fewer are no mass disconnect, however few bots are connected."""


class Departures:
    """Counts the bots that lost their streams lately.

    Half of those that were connected, within `WINDOW_NS`, is a mass disconnect: the network's
    doing, not theirs.
    """

    def __init__(self) -> None:
        self.is_mass = False
        """Bots are being lost together."""
        self._recent: deque[tuple[int, BotId]] = deque()
        self._lost: Counter[BotId] = Counter()  # in `_recent`, how often each

    def add(self, bot_id: BotId, now_ns: int, connected: int) -> list[BotId]:
        """A bot has lost its stream.

        Args:
            connected: How many bots still have one.

        Returns:
            The bots that were lost together and not returned before; empty where it is no mass
            disconnect.
        """
        lost, was_mass = self._lost, self.is_mass
        self._recent.append((now_ns, bot_id))
        lost[bot_id] += 1
        self._forget_before(now_ns - WINDOW_NS)
        self.is_mass = len(lost) >= LEAST_DEPARTURES and len(lost) >= connected
        if not self.is_mass:
            return []
        return [bot_id] if was_mass else list(lost)

    def _forget_before(self, time_ns: int) -> None:
        while self._recent[0][0] < time_ns:
            _, bot_id = self._recent.popleft()
            self._lost[bot_id] -= 1
            if not self._lost[bot_id]:
                del self._lost[bot_id]
