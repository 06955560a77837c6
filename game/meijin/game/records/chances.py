"""Chances: what the scores that bots tell say of who wins; ``chances.js`` has the same for pages."""

from dataclasses import dataclass
from math import exp

WIN_SCORE = 30_000
"""The score of a win, less a point for each ply up to it."""
PROVEN_SCORE = 29_000
"""From here up to `WIN_SCORE` a score says that a win is proven; below its negative a loss."""

_MOST = 700.0
"""Of the logarithm of odds, which `exp` can still take."""


@dataclass(frozen=True, slots=True)
class ChanceMap:
    """What a bot's scores are worth, by how its games have ended."""

    scale: float = 100.0
    """By how much a score has to grow for the odds to become e times as good."""
    offset: float = 0.0
    """The logarithm of the odds at a score of 0, against an equal opponent."""
    games: int = 0
    """That it was fitted to; 0 for the map of a bot that nothing is known of."""

    def chance(self, score: int) -> float:
        """The points, 0 to 1, that the bot may expect against an equal when it tells a score."""
        if (moves := wins_in(score)) is not None:
            return float(moves > 0)
        odds = score / self.scale + self.offset
        return 1 / (1 + exp(-max(-_MOST, min(odds, _MOST))))


def wins_in(score: int) -> int | None:
    """The moves of the winner up to a proven win, negative where who tells it loses.

    ``None`` for a score that proves nothing.
    """
    if not PROVEN_SCORE <= abs(score) <= WIN_SCORE:
        return None
    plies = WIN_SCORE - abs(score)
    return max((plies + 1) // 2, 1) if score > 0 else -max(plies // 2, 1)
