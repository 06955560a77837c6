"""A gauntlet: the first bot meets each of the others."""

import numpy as np

from meijin.server.tournaments.formats.schedule import Places, ScheduledFormat


class Gauntlet(ScheduledFormat):
    """The first bot meets each of the others."""

    @classmethod
    def count_pairs(cls, bots: int) -> int:
        """One for each of the others."""
        return bots - 1

    @classmethod
    def pairs(cls, bots: int) -> tuple[Places, Places]:
        """The first with each of the others."""
        others = np.arange(1, bots, dtype=np.int32)
        return np.zeros_like(others), others
