"""Forecasts: how long the tests of a class take, by the games that were played so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from meijin.v1 import tournament_service_pb2 as pb

USUAL_GAMES = 45
"""Of a test, on average over bots that are as good as the anchor (65) to 200 Elo from it (20)."""
FEWEST_GAMES = 4
"""Against each anchor, before anything is said."""


@dataclass(slots=True)
class Forecast:
    """Counts the games against each anchor from when it is made on."""

    begun: float
    """By the clock that tells the time."""
    _before: dict[str, int] = field(default_factory=dict)
    """Games that had been played when a test was looked at first, by its id."""

    def left(self, tests: Mapping[str, Sequence[pb.Tournament]], now: float) -> timedelta | None:
        """How long the rest takes; ``None`` while an anchor has played too few games.

        The anchors play side by side, and each of them one game at a time: the slowest counts.

        Args:
            tests: By anchor, those that have ended too.
            now: By the clock.
        """
        longest = 0.0
        for each in tests.values():
            played, left = sum(map(self._played, each)), sum(map(_games_left, each))
            if left and played < FEWEST_GAMES:
                return None
            longest = max(longest, left * (now - self.begun) / max(played, 1))
        return timedelta(seconds=longest)

    def _played(self, test: pb.Tournament) -> int:
        done = test.finished_games
        return done - self._before.setdefault(test.tournament_id, done)


def _games_left(test: pb.Tournament) -> int:
    """How many more a test is likely to take; one that has had as many as usual goes to its end."""
    if test.state != pb.TOURNAMENT_STATE_RUNNING:
        return 0
    most, done = test.settings.sprt.most_games, test.finished_games
    return (most if done >= USUAL_GAMES else min(most, USUAL_GAMES)) - done
