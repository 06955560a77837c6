"""A round robin: everybody meets everybody."""

import numpy as np

from meijin.server.tournaments.formats.schedule import Places, ScheduledFormat


class RoundRobin(ScheduledFormat):
    """Everybody meets everybody."""

    @classmethod
    def count_pairs(cls, bots: int) -> int:
        """Each two of them."""
        return bots * (bots - 1) // 2

    @classmethod
    def pairs(cls, bots: int) -> tuple[Places, Places]:
        """Each two of them, in the order of entry."""
        first, second = np.triu_indices(bots, k=1)
        return first.astype(np.int32), second.astype(np.int32)
