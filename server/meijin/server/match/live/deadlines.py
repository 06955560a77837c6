"""Deadlines: the running games in buckets, by when anything can be due in them."""

from collections.abc import Mapping, Sequence

from meijin.game import Seat
from meijin.game.arbiter.moment import Moment
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.stalls import TIMER_RESOLUTION_NS
from meijin.store.schema import GameId

BUCKET_NS = 40_000_000
"""The width of a bucket: as often as the clocks are looked at."""

BUCKETS = 1024
"""How many there are: a game whose deadline is farther off than 41 s is looked at before it."""

SPREAD_FROM = 8
"""Deadlines farther off than so many buckets are looked at early, each game in a bucket that its
number picks: games that began together are not looked at together, however often they are."""

_SOON = -1
"""In place of a bucket: at the next look."""

_SEATS = tuple(Seat)

_NEVER_NS = BUCKETS * BUCKET_NS
"""Longer than any game waits in a bucket."""


class Deadlines:
    """A timer wheel, which a move costs nothing: a game stays where it is while it is moved in.

    That is so because a game is filed under a lower bound of its deadlines, which moves, stalls
    and excuses leave as it is or raise. Whatever brings a deadline forward calls `hasten`.

    Instants are of the server's time served.
    """

    def __init__(self) -> None:
        self._buckets: list[list[GameId]] = [[] for _ in range(BUCKETS)]
        self._soon: list[LiveGame] = []
        self._index = 0

    def hasten(self, game: LiveGame) -> None:
        """Have a game be looked at with the next look: a deadline may have come nearer."""
        if game.bucket != _SOON:
            game.bucket = _SOON
            self._soon.append(game)

    def file(self, game: LiveGame, moment: Moment) -> None:
        """Put a game into the bucket before which nothing can be due in it."""
        index = self._index_at(moment)
        ahead = (moment.served_ns + quiet_ns(game, moment)) // BUCKET_NS - index
        ahead = max(0, min(ahead, BUCKETS - 1))
        if ahead >= SPREAD_FROM:
            ahead -= (index + ahead - game.number) % (ahead // 2)
        game.bucket = index + ahead
        self._buckets[game.bucket % BUCKETS].append(game.id)

    def take_due(self, moment: Moment, running: Mapping[GameId, LiveGame]) -> Sequence[LiveGame]:
        """Take out the running games in which something may be due, which are to be filed anew."""
        index = self._index_at(moment)
        due = {game.id: game for game in self._soon if game.id in running}
        self._soon = []
        for each in range(max(self._index, index - BUCKETS + 1), index + 1):
            ids, self._buckets[each % BUCKETS] = self._buckets[each % BUCKETS], []
            for game_id in ids:
                game = running.get(game_id)
                if game is not None and _SOON < game.bucket <= index:
                    due[game_id] = game
        self._index = index
        return tuple(due.values())

    def _index_at(self, moment: Moment) -> int:
        """The bucket of a moment: the server's time served may go back by a timer's resolution."""
        return max(moment.served_ns // BUCKET_NS, self._index)


def quiet_ns(game: LiveGame, moment: Moment) -> int:
    """For how long nothing can be due in a game, whatever is played, unless it is hastened.

    Each side has at least what is left for its next move: time is added after a move alone, and
    a move takes no more off than has passed. A clock that stands, since its bot is away or
    silent, runs after `Deadlines.hasten` alone.
    """
    arbiter = game.arbiter
    if arbiter.outcome is not None:
        return 0
    quiet = _NEVER_NS
    for seat in _SEATS:
        outbox = game.outboxes[seat]
        if outbox is not None and outbox.silent_since_ns is None:
            quiet = min(quiet, arbiter.budget_left_ns(seat, moment))
    if arbiter.is_anyone_away:
        quiet = min(quiet, arbiter.absence_left_ns(moment))
    return quiet - TIMER_RESOLUTION_NS
