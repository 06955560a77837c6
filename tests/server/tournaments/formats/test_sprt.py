"""What is tested, which games a test has planned, and what it makes of their results."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Sequence

import pytest
from tests.server.tournaments.formats.judged import NO_STORAGE

from meijin.game import Result
from meijin.game.openings.deck import OpeningDeck
from meijin.ladder.statistics.sequential.sprt import Scale, Sprt
from meijin.server.tournaments.formats.base import BotCapacity, Capacity, GamePair
from meijin.server.tournaments.formats.sprt import MAX_AHEAD, SprtFormat
from meijin.server.tournaments.formats.sprt_settings import (
    STALE_PAIRS,
    SprtDecision,
    SprtSettings,
    SprtStanding,
    Unit,
)
from meijin.store.schema import BotId
from meijin.store.tournaments.match_counts import MatchCounts, PairingResult

ADA, BOB = BotId(1), BotId(2)
OPENINGS = [bytes((cell, 0)) for cell in range(5)]
"""None of them the image of another on 15x15."""
OTHERS = [bytes((0, 0, 1, 0, cell, 0)) for cell in range(2, 225)]
"""More than pairs are played, so that each may have one of its own."""
NARROW = SprtSettings(Sprt(0, 100), Unit.PAIRS, 40)
WIDE = SprtSettings(Sprt(0, 100), Unit.PAIRS, 10_000)


def match(
    settings: SprtSettings = WIDE,
    *,
    dealt: Sequence[bytes] = (),
    results: tuple[PairingResult, ...] = (),
) -> SprtFormat:
    bots = ((ADA, "ada"), (BOB, "bob"))
    return SprtFormat(settings, bots, OpeningDeck(OPENINGS), seed=3, results=results, dealt=dealt)


def capacity(waiting: int = 0, **altogether: int) -> Capacity:
    bots = {"ada": ADA, "bob": BOB}
    seats = {bots[name]: BotCapacity(0, games) for name, games in altogether.items()}
    return Capacity(seats, waiting, held={}, room=10**9)


def plan_pairs(source: SprtFormat, wanted: Capacity) -> list[GamePair]:
    return list(asyncio.run(source.next_pairs(wanted, NO_STORAGE)))


def standing_of(settings: SprtSettings, *pairs: int) -> SprtStanding:
    """After pairs on openings of their own, by the half points of the one that is tested."""
    source = match(settings, dealt=OTHERS[: sum(pairs)])
    scores = itertools.chain.from_iterable([half] * count for half, count in enumerate(pairs))
    for number, halves in enumerate(scores):
        for place, points in enumerate(((0, 0), (1, 0), (1, 1), (2, 1), (2, 2))[halves], start=1):
            source.game_ended(scored(2 * number + place, points))
    return source.detail


def counted(standing: SprtStanding) -> MatchCounts:
    return MatchCounts((standing.losses, standing.draws, standing.wins), standing.pairs)


def won(number: int, *, by: BotId = ADA, game: int | None = None) -> PairingResult:
    """The result of a game, of which Ada has black in the odd ones.

    Args:
        game: What games that repeat each other have in common.
    """
    return scored(number, 2 if by == ADA else 0, game)


def scored(number: int, halves: int, game: int | None = None) -> PairingResult:
    """The result of a game, by Ada's half points."""
    black, white = (ADA, BOB) if number % 2 else (BOB, ADA)
    results = (Result.WHITE_WINS, Result.DRAW, Result.BLACK_WINS)
    return PairingResult(number, black, white, results[halves if number % 2 else 2 - halves], game)


# -- settings and standing ---------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        NARROW,
        SprtSettings(Sprt(-5.5, 0, alpha=0.1, beta=0.2, scale=Scale.LOGISTIC), Unit.GAMES, 100_000),
    ],
)
def test_the_settings_are_stored_and_come_back(settings: SprtSettings) -> None:
    assert SprtSettings.parse(json.loads(json.dumps(settings.to_options()))) == settings


def test_before_the_first_pair_nothing_is_known() -> None:
    """A single game is nothing yet, and waits for the other one."""
    source = match(dealt=OPENINGS[:1])
    for _ in range(2):
        assert (source.detail.llr, source.detail.estimate) == (0.0, None)
        assert source.detail.decision is SprtDecision.OPEN
        assert counted(source.detail) == MatchCounts()
        source.game_ended(won(1))


@pytest.mark.parametrize(
    ("elo0", "elo1", "won", "lost"),
    [
        (0, 100, "better", "not 100 nElo better"),
        (50, 150, "more than 50 nElo better", "not 150 nElo better"),
        (-100, 0, "not 100 nElo weaker", "not better"),
        (-150, -50, "not 150 nElo weaker", "more than 50 nElo weaker"),
    ],
)
def test_a_decision_is_told_in_words(elo0: float, elo1: float, won: str, lost: str) -> None:
    """By the hypothesis that it rejects."""
    settings = SprtSettings(Sprt(elo0, elo1))
    for pairs, begin, bound in (
        ((0, 0, 0, 0, 20), f"H1 accepted: ada is {won}", "2.94"),
        ((20,), f"H0 accepted: ada is {lost}", "-2.94"),
    ):
        standing = standing_of(settings, *pairs)
        ratio = f"(LLR {standing.llr:.2f} of {bound})"
        assert settings.verdict(standing, "ada") == f"{begin} {ratio}"


def test_a_match_is_over_when_its_games_are_used_up() -> None:
    settings = SprtSettings(Sprt(-1, 1), Unit.PAIRS, 40)
    assert settings.verdict(standing_of(settings, 0, 1, 18), "a") == ""
    words = settings.verdict(standing_of(settings, 0, 1, 18, 1), "a")
    assert words == "undecided after 40 games, the most there were to be"


def test_the_longest_words_fit_their_column() -> None:
    """Two names of 40 characters, and numbers with as many digits as are printed."""
    settings = SprtSettings(Sprt(-123.456789, 123.456789), Unit.PAIRS, 40)
    standing = standing_of(settings, 0, 0, 0, 0, 20)
    assert 0 < len(settings.verdict(standing, "a" * 40)) <= 200


# -- planning ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "pairs"),
    [
        (capacity(), 1),
        (capacity(ada=4), 1),
        (capacity(waiting=1, ada=4), 0),
        (capacity(ada=1, bob=9), 1),
        (capacity(waiting=1, ada=1, bob=9), 0),
        (capacity(ada=6, bob=4), 2),
        (capacity(waiting=1, ada=4, bob=4), 2),
        (capacity(waiting=3, ada=4, bob=4), 1),
        (capacity(waiting=4, ada=4, bob=4), 0),
        (capacity(waiting=9, ada=4, bob=4), 0),
        (capacity(ada=10**9, bob=10**9), MAX_AHEAD // 2),
    ],
)
def test_as_many_are_planned_as_may_begin_at_once(wanted: Capacity, pairs: int) -> None:
    """The bot that plays fewer decides; one pair waits whoever is here."""
    assert len(plan_pairs(match(), wanted)) == pairs


def test_a_later_one_goes_on_with_the_same_pairs() -> None:
    """Who begins with black by turns."""
    whole = plan_pairs(match(), capacity(ada=40, bob=40))
    assert [pair.first for pair in whole] == [ADA, BOB] * 10
    for pairs in range(20):
        before = [pair.opening for pair in whole[:pairs]]
        rest = plan_pairs(match(dealt=before), capacity(ada=40, bob=40))
        assert rest[: 20 - pairs] == whole[pairs:]


def test_no_more_are_planned_than_there_may_be() -> None:
    settings = SprtSettings(Sprt(0, 100), Unit.PAIRS, 6)
    source = match(settings, dealt=OPENINGS[:1])
    assert len(plan_pairs(source, capacity(ada=40, bob=40))) == 2
    assert plan_pairs(source, capacity(ada=40, bob=40)) == []


# -- counting ---------------------------------------------------------------------


@pytest.mark.parametrize("unit", list(Unit))
def test_a_game_that_repeats_another_is_left_out(unit: Unit) -> None:
    """Of the games, and with its pair of the pairs; what was dealt first counts."""
    source = match(SprtSettings(Sprt(0, 100), unit, 10_000), dealt=OTHERS)
    for number, game in ((1, 7), (2, 8), (4, 8), (3, 9), (6, None), (5, None), (7, 7), (8, 8)):
        source.game_ended(won(number, game=game))
    standing = source.detail
    assert (counted(standing), standing.repeats) == (MatchCounts((0, 0, 5), (0, 0, 0, 0, 2)), 3)
    assert standing.played == 8
    expected = WIDE.test.llr((0, 0, 0, 0, 2) if unit is Unit.PAIRS else (0, 0, 5))
    assert standing.llr == pytest.approx(expected)
    assert standing.estimate is None  # nothing but wins has no interval


def test_a_pair_waits_for_those_dealt_before() -> None:
    """Whatever the order of the ends, what is counted is what was dealt first."""
    results = [scored(number, (number * 7) % 3) for number in range(1, 9)]
    late = match(dealt=OTHERS)
    for result in (*results[2:], results[1]):
        late.game_ended(result)
        assert late.detail.played == 0
    late.game_ended(results[0])
    assert late.detail == match(dealt=OTHERS, results=tuple(results)).detail
    assert late.detail.played == 8


def test_a_late_pair_may_decide_a_test_before_what_ended_first() -> None:
    """The standing is that of the pair that decides; what was dealt after it does not count."""
    source = match(dealt=OTHERS)
    for number in range(3, 101):
        source.game_ended(won(number))
    assert not source.verdict
    source.game_ended(won(1))
    source.game_ended(won(2))
    assert source.detail.decision is SprtDecision.ELO1
    assert source.detail == standing_of(WIDE, 0, 0, 0, 0, 50)
    assert source.detail.played < 100


def test_a_repeat_counts_where_the_first_is_gone() -> None:
    """Results are read anew when a game is voided: its pair waits until it is played again."""
    results = (won(1, game=7), won(2, game=8), won(3, game=7), won(4, game=9))
    assert match(dealt=OTHERS, results=results).detail.pairs == (0, 0, 0, 0, 1)
    assert match(dealt=OTHERS, results=results[1:]).detail.played == 0
    again = (*results[1:], won(1, game=10))
    assert match(dealt=OTHERS, results=again).detail.pairs == (0, 0, 0, 0, 2)


def test_an_opening_that_comes_again_and_ends_alike_counts_once() -> None:
    """An image of it too; the verdict says what the pairs are worth, and what helps."""
    images = [bytes((cell, 0)) for cell in (1, 13, 211, 3, 11, 213)]
    source = match(dealt=[images[number % 6] for number in range(200)])
    for number in range(200):
        for place in (1, 2):
            source.game_ended(scored(2 * number + place, 2 if number % 6 < 3 else 0))
    assert source.detail.decision is SprtDecision.NOTHING_NEW
    assert source.detail.openings == 2
    assert source.detail.units == pytest.approx(2, abs=0.3)
    pairs = sum(source.detail.pairs)
    assert 50 <= pairs <= 75
    assert source.verdict == (
        "undecided: the last 50 pairs of games said nothing new "
        f"({pairs} pairs on 2 openings = 2 units); more openings may decide it"
    )


@pytest.mark.parametrize("unit", list(Unit))
def test_a_test_ends_when_nothing_new_comes(unit: Unit) -> None:
    """After so many pairs in a row without one that counts; one that does begins the row anew."""
    source = match(SprtSettings(Sprt(0, 100), unit, 10_000), dealt=OTHERS)
    numbers = itertools.count(1)

    def play(pairs: int, *games: int) -> None:
        for game in itertools.chain.from_iterable([games] * pairs):
            source.game_ended(won(next(numbers), by=ADA if game % 2 else BOB, game=game))

    play(STALE_PAIRS, 1, 2)
    play(1, 3, 4)
    play(STALE_PAIRS - 1, 2, 1)
    assert (source.verdict, source.detail.decision) == ("", SprtDecision.OPEN)
    play(1, 1, 2)
    assert source.is_decided
    assert source.detail.decision is SprtDecision.NOTHING_NEW
    assert source.verdict == (
        "undecided: the last 50 pairs of games said nothing new "
        "(2 pairs on 2 openings, 198 of 202 games repeat others); more openings may decide it"
    )


def test_a_pair_with_one_new_game_ends_no_row_of_pairs() -> None:
    source = match(dealt=OTHERS)
    for number in range(1, 2 * STALE_PAIRS + 3):
        source.game_ended(won(number, by=BOB, game=1 if number % 2 else number))
    assert source.detail.decision is SprtDecision.NOTHING_NEW
    assert (source.detail.losses, sum(source.detail.pairs)) == (STALE_PAIRS + 2, 1)


def test_results_after_the_decision_change_nothing() -> None:
    source = match(dealt=OTHERS)
    for number in range(1, 21):
        source.game_ended(won(number))
    decided = source.detail
    assert decided.decision is SprtDecision.ELO1
    assert source.is_decided
    assert source.verdict
    for number in range(21, 41):
        source.game_ended(won(number, by=BOB))
    assert source.detail is decided
