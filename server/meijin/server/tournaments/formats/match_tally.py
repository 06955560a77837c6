"""A match's tally: the first bot's results, pair by pair in the order in which they were dealt.

A pair is counted when both of its games, and all that were dealt before, have ended: else games
that take long, which may end otherwise than short ones, would be missing whenever a test looks. A
game that repeats an earlier one of the match is left out, and a pair of games counts when both
are new.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from meijin.game import Color, Variant, decode_moves
from meijin.game.board.symmetry import PositionKey, position_key
from meijin.ladder.statistics.sequential.units import Evidence, UnitTally
from meijin.store.schema import BotId
from meijin.store.tournaments.match_counts import GAMES_OF_A_PAIR, MatchCounts, PairingResult


@dataclass(frozen=True, slots=True)
class Tallied:
    """A match up to one of its pairs."""

    counts: MatchCounts = field(default_factory=MatchCounts)
    evidence: Evidence = field(default_factory=Evidence)
    gain: float = 1.0
    """What this pair has added to the evidence, in units."""
    last: int = 0
    """The number of the game that ended last before this pair's turn came."""


class MatchTally:
    """Counts what `first` scores.

    The images of an opening may be other openings to the bots or the same one; whichever leaves
    less evidence counts.

    Args:
        openings: Of each pair, in the order in which they are dealt; it may grow.
    """

    def __init__(self, first: BotId, variant: Variant, openings: Sequence[bytes]) -> None:
        self._first = first
        self._variant = variant
        self._openings = openings
        self._games = [0] * 3
        self._halves = [0] * 5
        self._repeats = 0
        self._seen: set[int] = set()
        """The fingerprints of the games so far."""
        self._ended: dict[int, list[PairingResult]] = {}
        """By pair, from 0: what has ended of it and waits for its turn."""
        self._next = 0
        """The pair whose turn it is."""
        self._last = 0
        """The number of the game that ended last."""
        self._tallies = (UnitTally(), UnitTally())
        """With the images of an opening as others, and as the same."""

    def add(self, results: Iterable[PairingResult], *, is_over: bool = False) -> Iterator[Tallied]:
        """Count results; the match up to each pair whose turn has come.

        Args:
            is_over: What is missing does not come any more: a void game of a match that has ended.
        """
        for result in results:
            self._last = result.number
            pair = (result.number - 1) // GAMES_OF_A_PAIR
            self._ended.setdefault(pair, []).append(result)
            while len(self._ended.get(self._next, ())) == GAMES_OF_A_PAIR:
                yield self._count_next()
        while is_over and self._ended:
            if len(self._ended.get(self._next, ())) == GAMES_OF_A_PAIR:
                yield self._count_next()
            else:
                self._ended.pop(self._next, None)
                self._next += 1

    def _count_next(self) -> Tallied:
        games = sorted(self._ended.pop(self._next))
        halves = [self._points(game) for game in games if self._is_new(game)]
        self._repeats += GAMES_OF_A_PAIR - len(halves)
        for each in halves:
            self._games[each] += 1
        if len(halves) == GAMES_OF_A_PAIR:
            self._halves[sum(halves)] += 1
        gain, evidence = self._weigh(self._openings[self._next], halves)
        self._next += 1
        counts = MatchCounts(tuple(self._games), tuple(self._halves), self._repeats)
        return Tallied(counts, evidence, gain, self._last)

    def _is_new(self, game: PairingResult) -> bool:
        if game.fingerprint in self._seen:
            return False
        if game.fingerprint is not None:
            self._seen.add(game.fingerprint)
        return True

    def _points(self, game: PairingResult) -> int:
        """Half points of the first bot."""
        color = Color.BLACK if game.black_id == self._first else Color.WHITE
        return round(2 * game.result.points(color))

    def _weigh(self, opening: bytes, halves: Sequence[int]) -> tuple[float, Evidence]:
        """What a pair adds, and what all are worth."""
        found = []
        keys = (opening, _position(opening, self._variant))
        for tally, key in zip(self._tallies, keys, strict=True):
            tally.add(key, halves)
            found.append((tally.last_gain(key), tally.evidence()))
        gain, evidence = min(found, key=lambda each: each[1].units)
        return gain if len(halves) == GAMES_OF_A_PAIR else 0.0, evidence


@lru_cache(maxsize=1 << 14)
def _position(opening: bytes, variant: Variant) -> PositionKey:
    """Equal for an opening and its images; it takes 20 us."""
    return position_key(decode_moves(opening), variant)
