"""Tallies: what a tournament's games have come to so far, counted on and not anew."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection

from meijin.game import Party
from meijin.server.tournaments.formats.crosstable import Crosstable
from meijin.store.schema import BotId, GameId, GameState
from meijin.store.tournaments import TournamentRow
from meijin.store.tournaments.match_counts import BegunGame, games_from

NO_GAME = GameId(0)
"""Before the first."""


@dataclass(frozen=True, slots=True, eq=False)
class TournamentTally:
    """The results of a tournament's games up to one of them, and where to count on."""

    crosstable: Crosstable = field(default_factory=Crosstable)
    faults: Mapping[BotId, int] = field(default_factory=dict)
    """How many games each bot forfeited; those without one are left out."""
    games: int = 0
    """Those that were counted."""
    last_end: int = 0
    """The `end_sequence` of the last of them."""
    next_game: GameId = NO_GAME
    """All games before this one are over."""

    def at(self, connection: Connection, row: TournamentRow) -> "TournamentTally":
        """The tally as the store has it: this one with what has ended since.

        Where games that were counted have been voided, all are counted anew.
        """
        found = _counted_on(connection, row, self)
        if found.games != row.finished and self.next_game != NO_GAME:
            return _counted_on(connection, row, TournamentTally())
        return found


def _counted_on(
    connection: Connection, row: TournamentRow, before: TournamentTally
) -> TournamentTally:
    tables, faults = [before.crosstable], Counter(before.faults)
    games, last_end, next_game = before.games, before.last_end, before.next_game
    open_game: GameId | None = None
    for begun in games_from(connection, row.id, before.next_game):
        ended = [game for game in begun if (_end_of(game) or 0) > before.last_end]
        scores = ((game.black_id, game.white_id, game.result) for game in ended)
        tables.append(Crosstable.of(scores))
        faults.update(_culprits(ended))
        games += len(ended)
        last_end = max([last_end, *filter(None, map(_end_of, ended))])
        running = (game.id for game in begun if game.state is GameState.RUNNING)
        open_game = open_game or next(running, None)
        next_game = GameId(begun[-1].id + 1)
    crosstable = Crosstable.total(tables) if games > before.games else before.crosstable
    return TournamentTally(crosstable, dict(faults), games, last_end, open_game or next_game)


def _end_of(game: BegunGame) -> int | None:
    """When it ended, in the order of the ends; ``None`` for one that does not count."""
    return game.end_sequence if game.state is GameState.FINISHED else None


def _culprits(games: Iterable[BegunGame]) -> Iterable[BotId]:
    for game in games:
        if game.at_fault is Party.BLACK:
            yield game.black_id
        elif game.at_fault is Party.WHITE:
            yield game.white_id
