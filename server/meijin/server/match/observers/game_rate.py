"""The rate of games: how many have ended in the last hours."""

from meijin.game import Ending
from meijin.server.match.arbiter.rolling import RollingTotal
from meijin.server.match.arbiter.stalls import StallWatch
from meijin.server.match.live.listeners import Listener
from meijin.server.match.live.live_game import LiveGame

HOUR = 60
DAY = 24 * HOUR


class GameRate(Listener):
    """Counts the ends of games, void ones left out, for a day."""

    def __init__(self, watch: StallWatch) -> None:
        self._watch = watch
        self._ended = RollingTotal(DAY)

    def game_ended(self, game: LiveGame) -> None:
        """Count an end with a result."""
        outcome = game.arbiter.outcome
        if outcome is not None and outcome.ending is not Ending.VOID:
            self._ended.add(1, self._watch.moment().now_ns)

    def games(self, minutes: int) -> int:
        """How many have ended in the last so many minutes, at most a day's."""
        return self._ended.total(minutes, self._watch.moment().now_ns)
