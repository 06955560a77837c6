"""A match's tally: the first bot's results counted one by one, by games and by pairs of games.

A game that repeats an earlier one of the match is left out, and a pair of games counts when both
are new.
"""

from meijin.game import Color
from meijin.store.schema import BotId
from meijin.store.tournaments.match_counts import GAMES_OF_A_PAIR, MatchCounts, PairingResult

PairHalves = tuple[int | None, int | None]
"""The half points of a pair's two games; ``None`` for one that repeats another."""


class MatchTally:
    """Counts what `first` scores, in the order in which games end."""

    def __init__(self, first: BotId) -> None:
        self._first = first
        self._games = [0] * 3
        self._halves = [0] * 5
        self._repeats = 0
        self._seen: set[int] = set()
        """The fingerprints of the games so far."""
        self._open: dict[int, int | None] = {}
        """By pair: the half points of its one game that has ended; ``None`` for a repeat."""

    @property
    def counts(self) -> MatchCounts:
        return MatchCounts(tuple(self._games), tuple(self._halves), self._repeats)

    def add(self, result: PairingResult) -> PairHalves | None:
        """Count a game; tell of the pair that it completes, if any."""
        halves = self._add_game(result)
        pair = (result.number + 1) // GAMES_OF_A_PAIR
        if pair not in self._open:
            self._open[pair] = halves
            return None
        other = self._open.pop(pair)
        if halves is not None and other is not None:
            self._halves[halves + other] += 1
        return halves, other

    def _add_game(self, result: PairingResult) -> int | None:
        if result.fingerprint in self._seen:
            self._repeats += 1
            return None
        color = Color.BLACK if result.black_id == self._first else Color.WHITE
        halves = round(2 * result.result.points(color))
        self._games[halves] += 1
        if result.fingerprint is not None:
            self._seen.add(result.fingerprint)
        return halves
