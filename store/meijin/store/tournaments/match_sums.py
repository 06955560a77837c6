"""Sums over the games of a match: the score by colour, the stones, and the time that was used."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from meijin.game import Color, Result
from meijin.store.games import decode_times
from meijin.store.schema import BotId, BotVersion, Game, GameState, TournamentId
from meijin.store.tournaments.match_counts import CHUNK

_BYTES_A_MOVE = 2


@dataclass(slots=True)
class ColorScore:
    """What a bot scored with one colour."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def add(self, points: float) -> None:
        """Count a game by the points that it brought."""
        self.wins += points == 1
        self.draws += points == 1 / 2
        self.losses += points == 0


@dataclass(slots=True)
class TimeUse:
    """The time that a bot's clocks were charged."""

    moves: int = 0
    """Those of openings that were set up left out."""
    nanoseconds: int = 0
    longest: int = 0
    """Nanoseconds of one move."""

    def add(self, charged: "Iterable[int]") -> None:
        """Count moves by the nanoseconds of each."""
        for time in charged:
            self.moves += 1
            self.nanoseconds += time
            self.longest = max(self.longest, time)


@dataclass(slots=True)
class MatchSums:
    """Sums over the games with a result, repeats among them."""

    black: ColorScore = field(default_factory=ColorScore)
    """The first bot's games with black."""
    white: ColorScore = field(default_factory=ColorScore)
    plies: int = 0
    """Stones on the boards at the ends, openings among them."""
    first: TimeUse = field(default_factory=TimeUse)
    second: TimeUse = field(default_factory=TimeUse)
    start_time: datetime | None = None
    """Of the first game; ``None`` where there is none."""
    end_time: datetime | None = None
    """Of the last game."""


class _Played(NamedTuple):
    black_id: BotId
    opening_plies: int
    moves: bytes
    times: bytes
    result: Result
    start_time: datetime
    end_time: datetime | None


def match_sums(connection: Connection, tournament_id: TournamentId, first: BotId) -> MatchSums:
    """The sums of a tournament of two bots, for the one that is called first.

    A stone counts for whoever has its colour, though with an opening rule the other one may have
    placed it.
    """
    query = (
        select(
            BotVersion.bot_id,
            Game.opening_plies,
            Game.moves,
            Game.times,
            Game.result,
            Game.start_time,
            Game.end_time,
        )
        .join(BotVersion, BotVersion.id == Game.black_id)
        .where(Game.tournament_id == tournament_id, Game.state == GameState.FINISHED)
        .order_by(Game.id)
    )
    sums = MatchSums()
    for rows in connection.execute(query).partitions(CHUNK):
        for row in rows:
            _add(sums, _Played(*row), first)
    return sums


def _add(sums: MatchSums, game: _Played, first: BotId) -> None:
    has_black = game.black_id == first
    score = sums.black if has_black else sums.white
    score.add(game.result.points(Color.BLACK if has_black else Color.WHITE))
    sums.plies += len(game.moves) // _BYTES_A_MOVE
    _, charged = decode_times(game.times)
    begins = game.opening_plies % 2 == 0  # black made the first move that was timed
    (sums.first if has_black == begins else sums.second).add(charged[::2])
    (sums.second if has_black == begins else sums.first).add(charged[1::2])
    sums.start_time = min(sums.start_time or game.start_time, game.start_time)
    if game.end_time is not None:
        sums.end_time = max(sums.end_time or game.end_time, game.end_time)
