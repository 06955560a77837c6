"""Pauses: bots that forfeit game after game get no new ones for a while."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from time import monotonic

from meijin.game import Ending, Seat
from meijin.server.match.live.live_game import LiveGame
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
    remaining: timedelta
    """How long it lasts from now on."""

    @property
    def reason(self) -> str:
        """Why, for the bot's owner."""
        return (
            f"the last {self.faults} games were all forfeited by this bot; mend it, and let it "
            "come back as a new version, or lift the pause, or wait "
            f"{self.remaining.total_seconds():.0f} s"
        )


class Pauses:
    """Counts forfeits in a row, and says who is paused; people never are.

    A version is paused, and not its bot: one that was mended plays at once. A server that was
    restarted has forgotten all of it, and pauses a bot that still fails again.

    Args:
        most_faults: The forfeits in a row that pause a version; 0 for never.
        clock: Seconds that never go back.
    """

    def __init__(self, most_faults: int, clock: Callable[[], float] = monotonic) -> None:
        self._most_faults = most_faults
        self._clock = clock
        self._in_a_row: OrderedDict[BotVersionId, int] = OrderedDict()
        self._paused: dict[BotVersionId, tuple[Pause, float]] = {}
        """As each began, and when it ends."""

    def is_paused(self, version_id: BotVersionId) -> bool:
        found = self._paused.get(version_id)
        if found is None:
            return False
        if self._clock() < found[1]:
            return True
        del self._paused[version_id]
        return False

    def in_force(self) -> Sequence[Pause]:
        """The pauses that last, in the order in which they began."""
        now = self._clock()
        return [
            replace(pause, remaining=timedelta(seconds=until - now))
            for pause, until in self._paused.values()
            if now < until
        ]

    def lift(self, versions: Iterable[BotVersionId]) -> None:
        """End the pauses of these versions, where they have one."""
        for version_id in versions:
            self._paused.pop(version_id, None)

    def count(self, game: LiveGame) -> Pause | None:
        """Count a game that is over; the pause that begins with it, if one does."""
        outcome = game.arbiter.outcome
        assert outcome is not None
        if outcome.ending is Ending.VOID or not self._most_faults:
            return None
        culprit = game.culprit
        if culprit is not None and game.player(culprit).is_person:
            return None
        for seat in Seat:
            if seat is not culprit:
                self._in_a_row.pop(game.version(seat), None)
        return None if culprit is None else self._add(game.version(culprit))

    def _add(self, version_id: BotVersionId) -> Pause | None:
        if self.is_paused(version_id):
            return None
        faults = self._in_a_row.pop(version_id, 0) + 1
        if faults < self._most_faults:
            self._in_a_row[version_id] = faults
            if len(self._in_a_row) > MOST_REMEMBERED:
                self._in_a_row.popitem(last=False)
            return None
        now, pause = self._clock(), Pause(version_id, faults, PAUSE)
        self._paused = {key: found for key, found in self._paused.items() if now < found[1]}
        self._paused[version_id] = pause, now + PAUSE.total_seconds()
        return pause
