"""Brackets, and the games of their ties."""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.tournaments.formats.judged import (
    LOSS,
    WIN,
    Judged,
    assert_same_when_broken,
    by_seed,
    drawn,
    stronger,
)

from meijin.game import TimeControl
from meijin.server.errors import InvalidRequestError
from meijin.server.tournaments.formats.base import BotCapacity, Capacity, GamePair
from meijin.server.tournaments.formats.bracket import BEFORE_VOID, BY_SEED, Tie
from meijin.server.tournaments.formats.knockout import KnockoutFormat, KnockoutSettings, faster
from meijin.store.schema import BotId

CLOCK = TimeControl.parse("60+0.5")


class Knockout(Judged[KnockoutFormat]):
    """A knockout of this many bots."""

    def __init__(
        self, count: int, *, pairs: int = 1, extra_pairs: int = 2, fast_pairs: int = 0
    ) -> None:
        self.settings = KnockoutSettings(pairs, extra_pairs, fast_pairs)
        super().__init__(KnockoutFormat, count, time_control=CLOCK, options=asdict(self.settings))

    def ties(self) -> list[Tie]:
        return self.format.bracket.ties()


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
    ranks = [(each.rank, each.bot_id) for each in standings][:5]
    assert ranks == [(1, 1), (2, 2), (3, 3), (3, 4), (5, 5)]
    assert [each.note for each in standings][:3] == ["winner", "out in round 3", "out in round 2"]


def test_a_tie_is_planned_as_soon_as_its_two_are_known() -> None:
    knockout = Knockout(8)
    knockout.plan()
    for number in (1, 2, 3, 4):
        knockout.play(stronger, number)
    (pair,) = knockout.plan()
    assert (pair.first, pair.second, pair.round) == (1, 4, 2)
    assert knockout.plan() == ()


def test_a_level_tie_is_played_on_and_then_the_better_seed_goes_on() -> None:
    """On openings that it has not had, who begins with black by turns."""
    knockout = Knockout(2, pairs=2, extra_pairs=2)
    planned = knockout.play_all(drawn)
    assert [len(pairs) for pairs in planned] == [2, 1, 1]
    pairs = list(itertools.chain(*planned))
    assert [pair.first for pair in pairs] == [1, 2, 1, 2]
    assert len({pair.opening for pair in pairs}) == 4
    assert {pair.reason for pair in pairs[:2]} == {"round 1, tie 1"}
    assert {pair.reason for pair in pairs[2:]} == {"round 1, tie 1, which is level"}
    assert knockout.format.verdict == f"bot-1 wins the final: {BY_SEED}"


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
    rounds = math.ceil(math.log2(count))
    assert len({tie.winner for tie in ties if tie.round == 1}) == 2 ** (rounds - 1)
    losers = {bot for tie in ties for bot in (tie.first, tie.second) if bot != tie.winner}
    assert losers - {None} | {ties[-1].winner} == {bot for bot, _ in knockout.bots}
    assert len(knockout.games) <= knockout.settings.most_games(count)
    if seed is None:
        assert ties[-1].winner == 1


@settings(max_examples=60)
@given(st.integers(2, 9), st.integers(0, 10**6), st.integers(0, 40))
def test_a_later_one_goes_on_with_the_same_plan(count: int, seed: int, stop: int) -> None:
    assert_same_when_broken(Knockout(count), Knockout(count), seed, stop)


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
    assert (tie.first_points, tie.winner, tie.note) == (0.0, 1, BEFORE_VOID)
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


@pytest.mark.parametrize(
    ("options", "made"),
    [
        *((left_out, (1, 2, 1, 0.25)) for left_out in ({}, {"pairs": 0}, {"extra_pairs": 2})),
        ({"extra_pairs": 0, "fast_pairs": 0}, (1, 0, 0)),
    ],
)
def test_what_is_left_out_has_its_default(options: dict[str, int], made: tuple[int, ...]) -> None:
    """One pair, two further ones, and one with a quarter of the time; none may be asked for."""
    assert KnockoutSettings.parse(options) == KnockoutSettings(*made)


@pytest.mark.parametrize(
    ("least", "clocks"), [(0.0, [None, None, "15+0.125", "15+0.125"]), (0.6, [None] * 4)]
)
def test_the_last_pairs_have_a_faster_clock(least: float, clocks: list[str | None]) -> None:
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
    assert faster(TimeControl.parse(control), share) == TimeControl.parse(part)


@pytest.mark.parametrize("share", [0.001, 1.5, -1.0])
def test_a_clock_that_is_no_faster_is_refused(share: float) -> None:
    with pytest.raises(InvalidRequestError, match=r"knockout\.fast_clock"):
        KnockoutSettings.parse({"fast_clock": share})
