"""Who meets whom in a Swiss system, and how the bots stand."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.tournaments.formats.judged import (
    OPENINGS,
    Judged,
    assert_same_when_broken,
    by_seed,
    drawn,
    stronger,
)

from meijin.server.tournaments.formats.base import GamePair
from meijin.server.tournaments.formats.dutch import Entry, next_round
from meijin.server.tournaments.formats.swiss import SwissFormat
from meijin.store.schema import BotId


class Swiss(Judged[SwissFormat]):
    """A Swiss system of this many rounds."""

    def __init__(self, count: int, rounds: int) -> None:
        super().__init__(SwissFormat, count, rounds=rounds)


def met(pairs: Sequence[GamePair]) -> list[set[int]]:
    return [{pair.first, pair.second} for pair in pairs]


def test_the_upper_half_meets_the_lower_half() -> None:
    """And then those with the same points, as near to it as the colours allow."""
    swiss = Swiss(8, 3)
    first, second, third = swiss.play_all(stronger)
    assert met(first) == [{1, 5}, {2, 6}, {3, 7}, {4, 8}]
    assert [pair.first for pair in first] == [1, 6, 3, 8]
    assert met(second) == [{1, 4}, {2, 3}, {5, 8}, {6, 7}]
    assert met(third) == [{1, 2}, {3, 5}, {4, 6}, {7, 8}]
    assert swiss.format.is_decided
    standings = swiss.report().standings
    assert [each.points for each in standings] == [6, 4, 4, 4, 2, 2, 2, 0]
    assert standings[0].bot_id == 1


@pytest.mark.parametrize(
    ("points", "have_met", "pairs"),
    [
        # The last of three meets the best of those below.
        ([2, 2, 2, 1, 1, 0], None, [{1, 2}, {3, 4}, {5, 6}]),
        # The first leaves the third to the second, who has met the fourth.
        ([2, 2, 2, 2, 0, 0], (2, 4), [{1, 4}, {2, 3}, {5, 6}]),
    ],
)
def test_who_meets_whom_by_points(
    points: list[float], have_met: tuple[int, int] | None, pairs: list[set[int]]
) -> None:
    entries = [Entry(BotId(bot), points=value) for bot, value in enumerate(points, start=1)]
    for one, other in itertools.permutations(have_met or (), 2):
        entries[one - 1].opponents.add(BotId(other))
    assert [{one.bot_id, other.bot_id} for one, other in next_round(entries)] == pairs


@settings(max_examples=60)
@given(st.integers(2, 13), st.integers(1, 6), st.integers(0, 10**6))
def test_everybody_plays_each_round_or_has_a_bye(count: int, rounds: int, seed: int) -> None:
    """And nobody has two byes in a tournament of the usual length."""
    swiss = Swiss(count, rounds)
    played = swiss.play_all(by_seed(seed))
    assert len(played) == rounds
    for pairs in played:
        busy = Counter(bot for pair in pairs for bot in (pair.first, pair.second))
        assert set(busy.values()) <= {1}
        assert len(busy) == count - count % 2
    byes = Counter(bot for _, bot in swiss.format.byes())
    assert sum(byes.values()) == (rounds if count % 2 else 0)
    if rounds <= math.ceil(math.log2(count)):
        assert set(byes.values()) <= {1}
    assert swiss.format.is_decided


def every_pairing(bots: Sequence[Entry]) -> Iterator[list[tuple[Entry, Entry]]]:
    if not bots:
        yield []
        return
    one, *others = bots
    for other in others:
        rest = [each for each in others if each is not other]
        for pairs in every_pairing(rest):
            yield [(one, other), *pairs]


@settings(max_examples=60)
@given(st.integers(1, 4), st.integers(1, 7), st.integers(0, 10**6))
def test_nobody_meets_twice_while_it_can_be_avoided(half: int, rounds: int, seed: int) -> None:
    """Nor is anybody's colour out of balance: compared with all ways to pair a round."""
    swiss = Swiss(2 * half, rounds)
    for _ in range(rounds):
        before = swiss.format.entries()
        entries = {entry.bot_id: entry for entry in before}
        pairs = [(entries[pair.first], entries[pair.second]) for pair in swiss.plan()]
        ways = list(every_pairing(before))
        new = [way for way in ways if not any(one.has_met(other) for one, other in way)]
        if new:
            assert not any(one.has_met(other) for one, other in pairs)
        if any(not any(one.wants_same(other) for one, other in way) for way in new):
            assert not any(one.wants_same(other) for one, other in pairs)
        swiss.play(by_seed(seed))


@settings(max_examples=40)
@given(st.integers(2, 9), st.integers(1, 4), st.integers(0, 10**6), st.integers(0, 40))
def test_a_later_one_goes_on_with_the_same_plan(
    count: int, rounds: int, seed: int, stop: int
) -> None:
    assert_same_when_broken(Swiss(count, rounds), Swiss(count, rounds), seed, stop)


def test_the_next_round_waits_for_every_result() -> None:
    """Also for that of a game of an earlier round that was voided."""
    swiss = Swiss(4, 3)
    swiss.plan()
    assert swiss.plan() == ()
    swiss.play(stronger)
    swiss.plan()
    swiss.play(stronger)
    swiss.void(1)
    assert not swiss.plan()
    swiss.play(stronger)
    assert len(swiss.plan()) == 2


def test_a_bye_counts_as_an_opponent_with_the_own_points() -> None:
    swiss = Swiss(3, 1)
    swiss.play_all(stronger)
    found = {each.bot_id: each for each in swiss.report().standings}
    values = {bot: [each.value for each in found[bot].tie_breaks] for bot in found}
    assert values == {1: [0.0, 0.0], 2: [2.0, 0.0], 3: [2.0, 2.0]}
    assert [each.bot_id for each in swiss.report().standings] == [3, 1, 2]
    assert (found[BotId(3)].note, found[BotId(3)].games) == ("bye", 0)
    (bye,) = (each for each in swiss.report().meetings if each.is_bye)
    assert (bye.round, bye.first, bye.second, bye.winner) == (1, 3, None, 3)
    assert (bye.first_points, bye.is_over) == (2.0, True)


def test_draws_are_halves() -> None:
    """Everybody has as many points, and nobody has won a meeting."""
    swiss = Swiss(6, 3)
    swiss.play_all(drawn)
    report = swiss.report()
    assert {(each.points, each.draws) for each in report.standings} == {(3.0, 6)}
    assert {meeting.winner for meeting in report.meetings} == {None}
    assert all(meeting.is_over for meeting in report.meetings)


def test_meetings_have_openings_of_their_own() -> None:
    swiss = Swiss(10, 2)
    for pairs in swiss.play_all(stronger):
        assert sorted(pair.opening for pair in pairs) == list(OPENINGS)


@pytest.mark.parametrize("count", [500, 501])
def test_a_large_field_is_paired(count: int) -> None:
    entries = [Entry(BotId(bot), points=bot % 4) for bot in range(1, count + 1)]
    for one, other in itertools.pairwise(entries):
        one.opponents.add(other.bot_id)
        other.opponents.add(one.bot_id)
    found = next_round(entries)
    assert len(found) == count // 2
    assert not any(one.has_met(other) for one, other in found)
