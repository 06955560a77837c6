"""Brackets, and the games of their ties."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meijin.game import Result, TimeControl
from meijin.server.errors import InvalidRequestError
from meijin.server.tournaments.formats.base import BotCapacity, Capacity, GamePair
from meijin.server.tournaments.formats.bracket import BEFORE_VOID, BY_SEED, Tie, seed_order
from meijin.server.tournaments.formats.knockout import (
    KnockoutFormat,
    KnockoutSettings,
    faster,
    report_of,
)
from meijin.server.tournaments.formats.pairs import scores_of
from meijin.server.tournaments.formats.report import Report
from meijin.store.schema import BotId
from meijin.store.tournaments.match_counts import PairingResult, PlannedResult

OPENINGS = [bytes((cell, 0)) for cell in range(5)]
NOBODY = Capacity({}, waiting=0, held={}, room=0)
CLOCK = TimeControl.parse("60+0.5")
WIN, DRAW, LOSS = Result.BLACK_WINS, Result.DRAW, Result.WHITE_WINS

Judge = Callable[[PlannedResult], Result]


def stronger(game: PlannedResult) -> Result:
    """The lower id wins."""
    return WIN if game.black_id < game.white_id else LOSS


def drawn(_: PlannedResult) -> Result:
    """Nobody wins."""
    return DRAW


def by_seed(seed: int) -> Judge:
    """Any result, the same for the same game, and many of them drawn."""
    results = (WIN, DRAW, DRAW, LOSS)
    return lambda game: results[
        hash((seed, game.round, game.black_id, game.white_id, game.number % 3)) % 4
    ]


class Knockout:
    """A tournament that is played by a judge."""

    def __init__(
        self, count: int, *, pairs: int = 1, extra_pairs: int = 2, fast_pairs: int = 0
    ) -> None:
        self.settings = KnockoutSettings(pairs, extra_pairs, fast_pairs)
        self.bots = [(BotId(number), f"bot-{number}") for number in range(1, count + 1)]
        self.games: list[PlannedResult] = []
        self.format = self.load()

    def load(self) -> KnockoutFormat:
        """The format of what is stored."""
        return KnockoutFormat(
            self.settings, self.bots, OPENINGS, time_control=CLOCK, seed=7, games=self.games
        )

    def plan(self, capacity: Capacity = NOBODY) -> Sequence[GamePair]:
        """Have it plan, and store it."""
        pairs = asyncio.run(self.format.next_pairs(capacity))
        for pair in pairs:
            first = len(self.games) + 1
            for number, game in enumerate(pair.games(first), start=first):
                self.games.append(
                    PlannedResult(number, game.round, game.black_id, game.white_id, None)
                )
        return pairs

    def play(self, judge: Judge, number: int | None = None) -> None:
        """Play what is planned, or one game of it."""
        for place, game in enumerate(self.games):
            if game.result is None and number in {None, game.number}:
                self.games[place] = game._replace(result=judge(game))
                result = self.games[place].result
                assert result is not None
                self.format.game_ended(
                    PairingResult(game.number, game.black_id, game.white_id, result)
                )

    def play_all(self, judge: Judge) -> None:
        """Until it is decided."""
        while not self.format.is_decided:
            self.plan()
            self.play(judge)

    def void(self, number: int) -> None:
        """Take a finished game back; the format is made anew."""
        self.games[number - 1] = self.games[number - 1]._replace(result=None)
        self.format = self.load()

    def ties(self) -> list[Tie]:
        """The bracket."""
        return self.format.bracket.ties()

    def report(self) -> Report:
        """What is told of it."""
        return report_of([bot for bot, _ in self.bots], self.ties(), scores_of(self.games))


@pytest.mark.parametrize(
    ("size", "order"),
    [(2, [1, 2]), (4, [1, 4, 2, 3]), (8, [1, 8, 4, 5, 2, 7, 3, 6])],
)
def test_the_first_seeds_can_meet_in_the_last_rounds_alone(size: int, order: list[int]) -> None:
    """As usual."""
    assert seed_order(size) == order


@pytest.mark.parametrize(
    ("count", "first_round"),
    [
        (2, [(1, 2)]),
        (3, [(1, None), (2, 3)]),
        (5, [(1, None), (4, 5), (2, None), (3, None)]),
        (6, [(1, None), (4, 5), (2, None), (3, 6)]),
        (8, [(1, 8), (4, 5), (2, 7), (3, 6)]),
    ],
)
def test_the_first_seeds_have_byes(count: int, first_round: list[tuple[int, int | None]]) -> None:
    """As many as are missing for a power of two; two of them may meet at once."""
    knockout = Knockout(count)
    ties = knockout.ties()
    assert [(tie.first, tie.second) for tie in ties if tie.round == 1] == first_round
    byes = {tie.winner for tie in ties if tie.is_bye}
    assert byes == {first for first, second in first_round if second is None}
    planned = [(pair.first, pair.second) for pair in knockout.plan() if pair.round == 1]
    assert planned == [pair for pair in first_round if pair[1] is not None]


def test_the_best_win_where_the_stronger_does() -> None:
    """Everybody is ranked by how far it got."""
    knockout = Knockout(8)
    knockout.play_all(stronger)
    assert knockout.format.verdict == "bot-1 wins the final"
    assert len(knockout.games) == 14
    ties = knockout.ties()
    assert [(tie.number, tie.first, tie.second, tie.winner, tie.next) for tie in ties] == [
        (1, 1, 8, 1, 5),
        (2, 4, 5, 4, 5),
        (3, 2, 7, 2, 6),
        (4, 3, 6, 3, 6),
        (5, 1, 4, 1, 7),
        (6, 2, 3, 2, 7),
        (7, 1, 2, 1, 0),
    ]
    standings = knockout.report().standings
    assert [(each.rank, each.bot_id) for each in standings][:5] == [
        (1, 1),
        (2, 2),
        (3, 3),
        (3, 4),
        (5, 5),
    ]
    assert [each.note for each in standings][:3] == ["winner", "out in round 3", "out in round 2"]


def test_a_tie_is_planned_as_soon_as_its_two_are_known() -> None:
    """Whatever others still play."""
    knockout = Knockout(8)
    knockout.plan()
    for number in (1, 2, 3, 4):
        knockout.play(stronger, number)
    (pair,) = knockout.plan()
    assert (pair.first, pair.second, pair.round) == (1, 4, 2)
    assert knockout.plan() == ()


def test_a_level_tie_is_played_on_and_then_the_better_seed_goes_on() -> None:
    """On openings that it has not had, who begins with black by turns."""
    knockout = Knockout(2, extra_pairs=2)
    pairs: list[GamePair] = []
    while not knockout.format.is_decided:
        pairs += knockout.plan()
        knockout.play(drawn)
    assert [pair.first for pair in pairs] == [1, 2, 1]
    assert len({pair.opening for pair in pairs}) == 3
    assert [pair.reason for pair in pairs] == [
        "round 1, tie 1",
        "round 1, tie 1, which is level",
        "round 1, tie 1, which is level",
    ]
    assert knockout.format.verdict == f"bot-1 wins the final: {BY_SEED}"


def test_the_pairs_of_a_tie_are_planned_at_once() -> None:
    """All of those that it has in any case."""
    assert len(Knockout(2, pairs=3).plan()) == 3


@settings(max_examples=100)
@given(
    st.integers(2, 17), st.integers(1, 2), st.integers(0, 2), st.one_of(st.none(), st.integers())
)
def test_every_knockout_ends_with_one_winner(
    count: int, pairs: int, extra: int, seed: int | None
) -> None:
    """Whatever the results, and though all games are drawn."""
    knockout = Knockout(count, pairs=pairs, extra_pairs=extra)
    knockout.play_all(drawn if seed is None else by_seed(seed))
    ties = knockout.ties()
    assert len({tie.winner for tie in ties if tie.round == 1}) == 2 ** (
        math.ceil(math.log2(count)) - 1
    )
    losers = [
        bot
        for tie in ties
        for bot in (tie.first, tie.second)
        if bot is not None and bot != tie.winner
    ]
    assert sorted([*losers, ties[-1].winner]) == [bot for bot, _ in knockout.bots]  # type: ignore[type-var]  # it has a winner
    assert len(knockout.games) <= knockout.settings.most_games(count)
    if seed is None:
        assert ties[-1].winner == 1


@settings(max_examples=60)
@given(st.integers(2, 9), st.integers(0, 10**6), st.integers(0, 40))
def test_a_later_one_goes_on_with_the_same_plan(count: int, seed: int, stop: int) -> None:
    """Whenever it is made anew from what is stored."""
    whole, broken = Knockout(count), Knockout(count)
    whole.play_all(by_seed(seed))
    while not broken.format.is_decided:
        broken.plan()
        for place, game in enumerate(broken.games):
            if game.result is None and place < stop:
                broken.games[place] = game._replace(result=by_seed(seed)(game))
        broken.format = broken.load()
        broken.play(by_seed(seed))
        broken.format = broken.load()
    assert broken.games == whole.games
    assert broken.report() == whole.report()


def test_who_has_games_in_the_next_round_stays_there() -> None:
    """Though a game is voided, and played again with another result."""
    knockout = Knockout(4)
    knockout.plan()
    knockout.play(stronger)
    knockout.plan()
    for number in (1, 2):
        knockout.void(number)
    assert not knockout.plan()
    knockout.play(lambda game: LOSS if game.black_id == 1 else WIN)
    tie = knockout.ties()[0]
    assert (tie.points_of(BotId(1)), tie.winner, tie.note) == (0.0, 1, BEFORE_VOID)
    knockout.play_all(stronger)
    assert len(knockout.games) == 6


def test_a_voided_final_is_decided_anew() -> None:
    """It is over when the game has been played again."""
    knockout = Knockout(2, extra_pairs=0)
    knockout.play_all(stronger)
    for number in (1, 2):
        knockout.void(number)
    assert not knockout.format.is_decided
    assert knockout.format.verdict == ""
    knockout.play_all(lambda game: LOSS if game.black_id == 1 else WIN)
    assert knockout.format.verdict == "bot-2 wins the final"


@pytest.mark.parametrize("options", [{}, {"pairs": 0}, {"pairs": 1, "extra_pairs": 2}])
def test_what_is_left_out_has_its_default(options: dict[str, int]) -> None:
    """One pair, two further ones, and one with a quarter of the time."""
    assert KnockoutSettings.parse(options) == KnockoutSettings(1, 2, 1, 0.25)


def test_no_further_pairs_can_be_asked_for() -> None:
    """A level tie goes to the better seed at once."""
    none = KnockoutSettings.parse({"extra_pairs": 0, "fast_pairs": 0})
    assert none == KnockoutSettings(1, 0, 0)
    assert none.most_games(8) == 14


@pytest.mark.parametrize(
    ("least", "clocks"),
    [(0.0, [None, None, "15+0.125", "15+0.125"]), (0.6, [None] * 4)],
)
def test_the_last_pairs_have_a_faster_clock(least: float, clocks: list[str | None]) -> None:
    """Unless one of the two could not play it."""
    knockout = Knockout(2, extra_pairs=1, fast_pairs=2)
    seats = {
        BotId(1): BotCapacity(1, 1),
        BotId(2): BotCapacity(1, 1, least_move_time=timedelta(seconds=least)),
    }
    pairs: list[GamePair] = []
    while not knockout.format.is_decided:
        pairs += knockout.plan(Capacity(seats, waiting=0, held={}, room=9))
        knockout.play(drawn)
    told = [pair.time_control and str(pair.time_control) for pair in pairs]
    assert told == clocks
    assert pairs[-1].games(7)[1].time_control == pairs[-1].time_control


def test_who_is_away_gets_no_faster_clock() -> None:
    """Since nobody knows what it can play."""
    knockout = Knockout(2, extra_pairs=0, fast_pairs=1)
    knockout.play_all(drawn)
    assert len(knockout.games) == 4


@pytest.mark.parametrize(
    ("control", "share", "part"),
    [
        ("60+0.5", 0.25, "15+0.125"),
        ("5/move", 0.1, "0.5/move"),
        ("60+0.5,5/move", 0.5, "30+0.25,2.5/move"),
        ("0.001/move", 0.01, "0.001/move"),
        ("1", 0.3333, "0.333"),
    ],
)
def test_a_faster_clock_has_a_share_of_the_time(control: str, share: float, part: str) -> None:
    """In whole milliseconds, and one at least."""
    assert faster(TimeControl.parse(control), share) == TimeControl.parse(part)


@pytest.mark.parametrize("share", [0.001, 1.5, -1.0])
def test_a_clock_that_is_no_faster_is_refused(share: float) -> None:
    """The error names the field."""
    with pytest.raises(InvalidRequestError, match=r"knockout\.fast_clock"):
        KnockoutSettings.parse({"fast_clock": share})
