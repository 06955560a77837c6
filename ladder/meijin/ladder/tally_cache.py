"""The tallies that a worker has in memory, so that a run reads little more than the new games."""

from collections import OrderedDict

import structlog
from sqlalchemy import Connection

from meijin.ladder.tally import RECENT, Tally
from meijin.store.ladders import tallies
from meijin.store.ladders.log import FinishedGame, finished_games
from meijin.store.ladders.rated_games import newest_results
from meijin.store.schema import LadderId

MOST_BYTES = 256 * 2**20
"""Of the tallies in memory, but for the last one that was asked for."""
PROGRESS = 100_000
"""Games after which the log is told how far a long count is."""

_log = structlog.get_logger()


class TallyCache:
    """Tallies of ladders; what the database keeps is the truth, and one that is behind is dropped.

    For one thread at a time.
    """

    def __init__(self) -> None:
        self._tallies: OrderedDict[LadderId, Tally] = OrderedDict()

    def current(self, connection: Connection, ladder_id: LadderId) -> Tally:
        """The tally of all the ladder's finished games, from that which is kept."""
        mark = tallies.last_mark(connection, ladder_id)
        tally = self._tallies.pop(ladder_id, None)
        if tally is None or tally.mark != tally.base or tally.base != mark:
            kept = [] if mark is None else tallies.kept_tallies(connection, ladder_id)
            cutoff = 0 if mark is None else mark.cutoff
            recent = newest_results(connection, ladder_id, cutoff, limit=RECENT)
            tally = Tally.resumed(kept, recent)
        add_with_progress(tally, connection, ladder_id)
        return tally

    def keep(self, ladder_id: LadderId, tally: Tally) -> None:
        """Have a tally that the database has kept ready for the next run."""
        tally.kept()
        self._tallies[ladder_id] = tally
        while len(self._tallies) > 1 and self._bytes > MOST_BYTES:
            self._tallies.popitem(last=False)

    @property
    def _bytes(self) -> int:
        return sum(tally.size for tally in self._tallies.values())


def add_with_progress(tally: Tally, connection: Connection, ladder_id: LadderId) -> None:
    """Add the games that have ended since, and tell the log of each so many."""
    games: list[FinishedGame] = []
    for game in finished_games(connection, ladder_id, after=tally.cutoff):
        games.append(game)
        if len(games) == PROGRESS:
            tally.add(games)
            games.clear()
            _log.info("counting a ladder", ladder_id=ladder_id, games=tally.games)
    tally.add(games)
