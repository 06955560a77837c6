"""A round robin: everybody meets everybody."""

import itertools
from collections.abc import Sequence

from meijin.server.tournaments.formats.schedule import Pair, ScheduledFormat
from meijin.store.schema import BotId


class RoundRobin(ScheduledFormat):
    """Everybody meets everybody."""

    @classmethod
    def pairs(cls, bots: Sequence[BotId]) -> list[Pair]:
        """Each two of them."""
        return list(itertools.combinations(bots, 2))
