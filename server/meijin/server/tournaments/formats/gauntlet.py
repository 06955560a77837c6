"""A gauntlet: the first bot meets each of the others."""

from collections.abc import Sequence

from meijin.server.tournaments.formats.schedule import Pair, ScheduledFormat
from meijin.store.schema import BotId


class Gauntlet(ScheduledFormat):
    """The first bot meets each of the others."""

    @classmethod
    def pairs(cls, bots: Sequence[BotId]) -> list[Pair]:
        """The first with each of the others."""
        return [(bots[0], other) for other in bots[1:]]
