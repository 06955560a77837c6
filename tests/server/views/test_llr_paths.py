"""Paths of tests' ratios: counted on, thinned, and right whatever has become of the games."""

from __future__ import annotations

import itertools
import random
from datetime import UTC, datetime, timedelta
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from meijin.game import GOMOKU, Result
from meijin.server.tournaments.formats.sprt import SprtRun
from meijin.server.tournaments.formats.sprt_settings import SprtSettings
from meijin.server.views import llr_paths
from meijin.server.views.llr_paths import MAX_POINTS, MOST_MARKS, LlrPath, PathTally
from meijin.store.schema import BotId, GameId, TournamentId, TournamentState
from meijin.store.tournaments.match_counts import EndedResult, PairingResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from meijin.store.tournaments import TournamentRow

ADA, BOB = BotId(1), BotId(2)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CONNECTION = cast("Connection", None)
ROW = cast(
    "TournamentRow",
    SimpleNamespace(
        id=TournamentId(1),
        options={"elo0": 0.0, "elo1": 0.5},
        format="sprt",
        state=TournamentState.RUNNING,
    ),
)
OPENINGS = [bytes((one, 0, other, 0)) for one in range(225) for other in range(225)]
WINS = (Result.BLACK_WINS, Result.WHITE_WINS)


class MadeUpMatch:
    """The results of a match that goes on, and the games that are read of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.results: list[EndedResult] = []
        self.read: list[GameId] = []
        self.running: GameId | None = None
        self._rng = random.Random(1)
        monkeypatch.setattr(llr_paths, "results_after", self._after)
        monkeypatch.setattr(llr_paths, "end_times", _end_times)
        monkeypatch.setattr(llr_paths, "first_running", lambda *_: self.running)

    def finish(self, games: int) -> None:
        """Finish this many more games, in pairs with both colours."""
        for number in range(len(self.results) + 1, len(self.results) + 1 + games):
            black, white = (ADA, BOB) if number % 2 else (BOB, ADA)
            game = number - 1 if number % 10 == 0 else number  # a repeat now and then
            result = PairingResult(number, black, white, self._rng.choice(WINS), game)
            self.results.append(EndedResult(result, GameId(number), number))

    def _after(
        self, _connection: object, _key: object, *, first: GameId, last_end: int
    ) -> Sequence[EndedResult]:
        found = [each for each in self.results if each.game_id >= first]
        self.read += [each.game_id for each in found]
        return [each for each in found if each.end_sequence > last_end]


def _end_times(_connection: object, _key: object, games: Sequence[int]) -> dict[int, datetime]:
    return {game: NOON + timedelta(seconds=game) for game in games}


def new_run() -> SprtRun:
    return SprtRun(SprtSettings.parse(ROW.options), ADA, GOMOKU, OPENINGS)


class Counted(PathTally):
    """A tally of the made-up match, as far as it is counted."""

    def __init__(self) -> None:
        super().__init__(new_run())
        self.go_on()

    def go_on(self) -> None:
        self.count_on(CONNECTION, ROW)

    def shown(self, most: int) -> LlrPath:
        return self.path(CONNECTION, ROW, most)


@pytest.fixture
def match(monkeypatch: pytest.MonkeyPatch) -> MadeUpMatch:
    return MadeUpMatch(monkeypatch)


def test_counting_on_gives_the_same_path(match: MadeUpMatch) -> None:
    """As counting all at once, at the cost of what is new and of what ran; none has bounds alone."""
    tally = Counted()
    path = tally.shown(10)
    assert (path.points, tally.games) == ((), 0)
    assert path.lower < 0 < path.upper
    for more in (1, 6, 0, 13):
        match.finish(more)
        tally.go_on()
    match.read.clear()
    match.finish(2)
    tally.go_on()
    assert match.read == [20, 21, 22]
    assert tally.shown(100) == Counted().shown(100)


def test_a_running_game_is_not_missed(match: MadeUpMatch) -> None:
    """It ends after games that began later."""
    match.finish(4)
    late = match.results.pop(1)
    match.running = late.game_id
    tally = Counted()
    match.results.append(late._replace(end_sequence=9))
    match.running = None
    tally.go_on()
    assert tally.games == 4


def test_the_last_point_is_where_the_test_stands(match: MadeUpMatch) -> None:
    """By the same counts, repeats left out."""
    match.finish(100)
    run = new_run()
    run.add(ended.result for ended in match.results)
    standing = run.standing()
    last = Counted().shown(5).points[-1]
    assert standing.repeats > 0
    assert (last.games, last.llr, last.estimate) == (100, standing.llr, standing.estimate)
    assert last.time == NOON + timedelta(seconds=100)


def test_voided_games_count_no_more(match: MadeUpMatch, monkeypatch: pytest.MonkeyPatch) -> None:
    """All are counted anew where fewer are finished than were counted; their pair waits."""
    row = SimpleNamespace(**vars(ROW) | {"finished": 5})
    monkeypatch.setattr(llr_paths, "get_tournament", lambda *_: row)
    monkeypatch.setattr(SprtRun, "load", lambda *_: new_run())
    match.finish(6)
    before = Counted()
    match.results.pop(2)
    look = partial(llr_paths.path_of_test, CONNECTION, row.id, most=10)
    tally, path = look(kept=(before, before.shown(10)))
    assert (tally.games, path.points[-1].games) == (5, 2)
    assert look(kept=(tally, path))[0] is tally
    row.state = TournamentState.FINISHED
    assert look(kept=(tally, path))[1].points[-1].games == 4


@pytest.mark.parametrize("games", [2, 8, 4 * MOST_MARKS + 10])
def test_the_ends_are_always_among_the_points(match: MadeUpMatch, games: int) -> None:
    """However many games there are, and however few points."""
    match.finish(games)
    tally = Counted()
    for most in (2, 3, 50):
        played = [point.games for point in tally.shown(most).points]
        assert len(played) <= most
        assert (played[0], played[-1]) == (2, games)
        assert played == sorted(set(played))


def test_what_is_kept_is_bounded(match: MadeUpMatch) -> None:
    """A long test has as many points as a short one, evenly spread."""
    match.finish(10 * MOST_MARKS)
    played = [mark.games for mark in Counted()._marks]
    assert MAX_POINTS < len(played) <= MOST_MARKS
    assert {after - before for before, after in itertools.pairwise(played)} == {16}
