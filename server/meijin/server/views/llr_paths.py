"""Sample paths of the log-likelihood ratios of tests, counted on and not anew."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from sqlalchemy import Connection

from meijin.ladder.statistics.sequential.sprt import Estimate, estimate_of_match
from meijin.server.errors import InvalidRequestError
from meijin.server.tournaments.formats import FORMATS
from meijin.server.tournaments.formats.match_tally import Tallied
from meijin.server.tournaments.formats.sprt import SprtFormat, SprtRun
from meijin.server.tournaments.formats.sprt_settings import SprtSettings
from meijin.store.schema import GameId, TournamentId, TournamentState
from meijin.store.tournaments import TournamentRow, get_tournament
from meijin.store.tournaments.match_counts import (
    end_times,
    first_running,
    results_after,
)

MAX_POINTS = 1000
DEFAULT_POINTS = 200
MOST_MARKS = 2 * MAX_POINTS
"""Counts that are kept of a test: with more, every second one is dropped."""
MOST_KEPT = 4
"""Tests that are kept counted; each has up to 350 bytes a game."""


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
    tallied: Tallied
    llr: float

    @property
    def games(self) -> int:
        return self.tallied.counts.played

    def point(self, time: datetime) -> LlrPoint:
        evidence = self.tallied.evidence
        estimate = estimate_of_match(evidence.games, evidence.pairs)
        return LlrPoint(self.games, self.llr, estimate, time)


class PathTally:
    """The results of a test so far, with marks about equally many pairs apart."""

    def __init__(self, run: SprtRun) -> None:
        self._run = run
        self.games = 0
        """That have a result."""
        self._pairs = 0
        """That are counted."""
        self._marks: list[_Mark] = []
        self._step = 1
        """Pairs from one mark to the next."""
        self._last: _Mark | None = None
        self._last_end = 0
        self._next_game = GameId(0)
        """No game before this one runs."""
        self._points: dict[int, LlrPoint] = {}
        """By games."""

    def count_on(self, connection: Connection, row: TournamentRow) -> None:
        results = results_after(connection, row.id, first=self._next_game, last_end=self._last_end)
        running = first_running(connection, row.id, self._next_game)
        is_over = row.state is not TournamentState.RUNNING
        for tallied, llr in self._run.add((each.result for each in results), is_over=is_over):
            self._last = _Mark(tallied, llr)
            if self._pairs % self._step == 0:
                self._mark(self._last)
            self._pairs += 1
        self.games += len(results)
        if results:
            self._last_end = results[-1].end_sequence
        last = max((ended.game_id for ended in results), default=self._next_game)
        self._next_game = last if running is None else running

    def _mark(self, mark: _Mark) -> None:
        self._marks.append(mark)
        if len(self._marks) > MOST_MARKS:
            self._marks = self._marks[::2]
            self._step *= 2
            self._points.clear()

    def path(self, connection: Connection, row: TournamentRow, most: int) -> LlrPath:
        """At most this many points, the first and the last among them."""
        marks = self._marks
        if self._last is not None and marks[-1] != self._last:
            marks = [*marks, self._last]
        shown = _thinned(marks, most)
        new = [mark for mark in shown if mark.games not in self._points]
        times = end_times(connection, row.id, [mark.tallied.last for mark in new])
        for mark in new:
            self._points[mark.games] = mark.point(times[mark.tallied.last])
        test = SprtSettings.parse(row.options).test
        return LlrPath(tuple(self._points[mark.games] for mark in shown), test.lower, test.upper)


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
    tally = PathTally(SprtRun.load(connection, row)) if kept is None else kept[0]
    tally.count_on(connection, row)
    if tally.games != row.finished:  # games that were counted have been voided
        tally = PathTally(SprtRun.load(connection, row))
        tally.count_on(connection, row)
    return tally, tally.path(connection, row, most)
