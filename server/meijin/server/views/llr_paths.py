"""Sample paths of the log-likelihood ratios of tests, counted on and not anew."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from sqlalchemy import Connection

from meijin.ladder.statistics.sequential.sprt import Estimate, estimate_of_match
from meijin.server.errors import InvalidRequestError
from meijin.server.tournaments.formats import FORMATS
from meijin.server.tournaments.formats.match_tally import MatchTally
from meijin.server.tournaments.formats.sprt import SprtFormat, SprtSettings
from meijin.store.schema import GameId, TournamentId
from meijin.store.tournaments import TournamentRow, get_tournament
from meijin.store.tournaments.match_counts import (
    MatchCounts,
    end_times,
    first_running,
    results_after,
)

MAX_POINTS = 1000
DEFAULT_POINTS = 200
MOST_MARKS = 2 * MAX_POINTS
"""Counts that are kept of a test: with more, every second one is dropped."""
MOST_KEPT = 4
"""Tests that are kept counted; each has up to 70 bytes a game."""


@dataclass(frozen=True, slots=True)
class LlrPoint:
    """Where a test stood when one of its games had ended."""

    games: int
    """With a result so far, repeats among them."""
    llr: float
    estimate: Estimate | None
    """It allows for no stop; ``None`` while all results are the same."""
    time: datetime


@dataclass(frozen=True, slots=True)
class LlrPath:
    """How the ratio of a test moved between its bounds."""

    points: tuple[LlrPoint, ...]
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class _Mark:
    counts: MatchCounts
    game_id: GameId
    """The last game in them."""


class PathTally:
    """The results of a test so far, with marks about equally many games apart."""

    def __init__(self, row: TournamentRow) -> None:
        self._settings = SprtSettings.parse(row.options)
        (first, _), _ = row.bots
        self._tally = MatchTally(first)
        self._marks: list[_Mark] = []
        self._step = 1
        """Games from one mark to the next."""
        self._last: _Mark | None = None
        self._last_end = 0
        self._next_game = GameId(0)
        """No game before this one runs."""
        self._points: dict[MatchCounts, LlrPoint] = {}

    @property
    def games(self) -> int:
        return 0 if self._last is None else self._last.counts.played

    def count_on(self, connection: Connection, tournament_id: TournamentId) -> None:
        results = results_after(
            connection, tournament_id, first=self._next_game, last_end=self._last_end
        )
        running = first_running(connection, tournament_id, self._next_game)
        for games, ended in enumerate(results, self.games + 1):
            self._tally.add(ended.result)
            if (games - 1) % self._step == 0:
                self._mark(_Mark(self._tally.counts, ended.game_id))
        if results:
            self._last = _Mark(self._tally.counts, results[-1].game_id)
            self._last_end = results[-1].end_sequence
        last = max((ended.game_id for ended in results), default=self._next_game)
        self._next_game = last if running is None else running

    def _mark(self, mark: _Mark) -> None:
        self._marks.append(mark)
        if len(self._marks) > MOST_MARKS:
            self._marks = self._marks[::2]
            self._step *= 2
            self._points.clear()

    def path(self, connection: Connection, most: int) -> LlrPath:
        """At most this many points, the first and the last among them."""
        marks = self._marks
        if self._last is not None and marks[-1] != self._last:
            marks = [*marks, self._last]
        shown = _thinned(marks, most)
        new = [mark for mark in shown if mark.counts not in self._points]
        times = end_times(connection, [mark.game_id for mark in new])
        for mark in new:
            self._points[mark.counts] = self._point(mark.counts, times[mark.game_id])
        test = self._settings.test
        points = tuple(self._points[mark.counts] for mark in shown)
        return LlrPath(points, test.lower, test.upper)

    def _point(self, counts: MatchCounts, time: datetime) -> LlrPoint:
        """What counts say; each is worked out once, since a ratio takes 0.5 ms."""
        used = self._settings.used(counts)
        has_any = any(used)
        return LlrPoint(
            counts.played,
            self._settings.test.llr(used) if has_any else 0.0,
            estimate_of_match(counts.games, counts.pairs),
            time,
        )


def _thinned(marks: list[_Mark], most: int) -> list[_Mark]:
    """At most this many of them, evenly chosen, the first and the last among them."""
    if len(marks) <= most:
        return marks
    last = len(marks) - 1
    return [marks[place * last // (most - 1)] for place in range(most)]


CountedPath: TypeAlias = tuple[PathTally, LlrPath]
"""What was counted of a test, and what is shown of it."""


def path_of_test(
    connection: Connection, tournament_id: TournamentId, kept: CountedPath | None, most: int
) -> CountedPath:
    """How the ratio of a test moved, in at most this many points.

    Raises:
        RowNotFoundError: there is no tournament of that id.
        InvalidRequestError: it is none of a test, or these are too few or too many points.
    """
    if not 2 <= most <= MAX_POINTS:  # noqa: PLR2004 - the first and the last
        raise InvalidRequestError(f"max_points {most} is not from 2 to {MAX_POINTS}")
    row = get_tournament(connection, tournament_id)
    if FORMATS[row.format] is not SprtFormat:
        raise InvalidRequestError(f"tournament {row.id} is a {row.format}, which tests nothing")
    tally = PathTally(row) if kept is None else kept[0]
    tally.count_on(connection, row.id)
    if tally.games != row.finished:  # games that were counted have been voided
        tally = PathTally(row)
        tally.count_on(connection, row.id)
    return tally, tally.path(connection, most)
