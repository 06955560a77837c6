"""Pauses: bots that forfeit game after game get no new ones for a while."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic

from meijin.game import Color, Ending
from meijin.server.match.live_game import LiveGame
from meijin.store.schema import BotVersionId

PAUSE = timedelta(minutes=10)
"""How long a bot is paused."""

MOST_REMEMBERED = 10_000
"""Bot versions whose forfeits are counted; the one that forfeited longest ago is forgotten first."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A bot version that is to get no new game for a while."""

    version_id: BotVersionId
    faults: int
    """How many games in a row it has forfeited."""
    duration: timedelta

    @property
    def reason(self) -> str:
        """Why, for the bot's owner."""
        return (
            f"the last {self.faults} games were all forfeited by this bot; mend it, and let it "
            f"come back as a new version, or wait {self.duration.total_seconds():g} s"
        )


class Pauses:
    """Counts forfeits in a row, and says who is paused.

    A version is paused, and not its bot: one that was mended plays at once.

    Args:
        most_faults: So many forfeits in a row pause a version; 0 for never.
        clock: Seconds that never go back.
    """

    def __init__(self, most_faults: int, clock: Callable[[], float] = monotonic) -> None:
        self._most_faults = most_faults
        self._clock = clock
        self._in_a_row: OrderedDict[BotVersionId, int] = OrderedDict()
        self._until: dict[BotVersionId, float] = {}

    def is_paused(self, version_id: BotVersionId) -> bool:
        """Whether a version is to get no new game now."""
        until = self._until.get(version_id)
        if until is None:
            return False
        if self._clock() < until:
            return True
        del self._until[version_id]
        return False

    def count(self, game: LiveGame) -> Pause | None:
        """Count a game that is over; the pause that begins with it, if one does."""
        outcome = game.arbiter.outcome
        assert outcome is not None
        if outcome.ending is Ending.VOID or not self._most_faults:
            return None
        culprit = outcome.at_fault.color
        for color in Color:
            if color is not culprit:
                self._in_a_row.pop(game.version(color), None)
        return None if culprit is None else self._add(game.version(culprit))

    def _add(self, version_id: BotVersionId) -> Pause | None:
        faults = self._in_a_row.pop(version_id, 0) + 1
        if faults < self._most_faults or self.is_paused(version_id):
            self._in_a_row[version_id] = faults
            if len(self._in_a_row) > MOST_REMEMBERED:
                self._in_a_row.popitem(last=False)
            return None
        self._until[version_id] = self._clock() + PAUSE.total_seconds()
        return Pause(version_id, faults, PAUSE)
