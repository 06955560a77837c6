"""Departures: whether bots lose their streams one by one, or the network lost them together."""

from collections import deque

from meijin.server.match.stalls import NS_PER_SECOND
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

    def add(self, bot_id: BotId, now_ns: int, connected: int) -> list[BotId]:
        """A bot has lost its stream.

        Args:
            connected: How many bots still have one.

        Returns:
            The bots that were lost together and not returned before; empty where it is no mass
            disconnect.
        """
        recent, was_mass = self._recent, self.is_mass
        recent.append((now_ns, bot_id))
        while now_ns - recent[0][0] > WINDOW_NS:
            recent.popleft()
        lost = list(dict.fromkeys(bot_id for _, bot_id in recent))
        self.is_mass = len(lost) >= LEAST_DEPARTURES and len(lost) >= connected
        if not self.is_mass:
            return []
        return [bot_id] if was_mass else lost
