"""The limit on faults: a tournament is cancelled once a bot has forfeited so many of its games."""

from collections import Counter
from dataclasses import dataclass, field

from meijin.server.match.live.live_game import LiveGame
from meijin.store.schema import BotId

MAX_WORDS = 120
"""Characters of the last fault that a verdict has room for."""

_END = 60
"""Of them those of its end, where a crash has its file and line."""


@dataclass(slots=True)
class FaultLimit:
    """Counts the games that each bot of a tournament has forfeited."""

    most: int
    """So many of one bot are too many; 0 for no limit."""
    counts: Counter[BotId] = field(default_factory=Counter)
    """Of the games that have ended before."""

    def count(self, game: LiveGame) -> str:
        """Count a game with a result; why its tournament is to be cancelled, or nothing."""
        culprit = game.culprit
        if culprit is None or not self.most:
            return ""
        player, outcome = game.player(culprit), game.arbiter.outcome
        assert outcome is not None
        self.counts[player.bot_id] += 1
        faults = self.counts[player.bot_id]
        if faults < self.most:
            return ""
        games = "a game" if faults == 1 else f"{faults} games"
        last = f"{outcome.ending.value}: {_shortened(outcome.detail)}".removesuffix(": ")
        return f"{player.name} has lost {games} by its own faults; the last: {last}"


def _shortened(text: str) -> str:
    if len(text) <= MAX_WORDS:
        return text
    return f"{text[: MAX_WORDS - _END - 3]}...{text[-_END:]}"
