"""Who meets whom in a Swiss system, and how the bots stand."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meijin.game import Result
from meijin.server.tournaments.formats.base import Capacity, GamePair
from meijin.server.tournaments.formats.dutch import Entry, next_round
from meijin.server.tournaments.formats.pairs import scores_of
from meijin.server.tournaments.formats.report import Report
from meijin.server.tournaments.formats.swiss import SwissFormat, Table
from meijin.store.schema import BotId
from meijin.store.tournaments.match_counts import PairingResult, PlannedResult

OPENINGS = [bytes((cell, 0)) for cell in range(5)]
NOBODY = Capacity({}, waiting=0, held={}, room=0)
WIN, DRAW, LOSS = Result.BLACK_WINS, Result.DRAW, Result.WHITE_WINS

Judge = Callable[[BotId, BotId], Result]
"""The result of a game of black and white."""


def stronger(black: BotId, white: BotId) -> Result:
    """The lower id wins."""
    return WIN if black < white else LOSS


def drawn(black: BotId, white: BotId) -> Result:  # noqa: ARG001 - a judge
    """Nobody wins."""
    return DRAW


def by_seed(seed: int) -> Judge:
    """Any result, the same for the same game."""
    results = (WIN, DRAW, LOSS)
    return lambda black, white: results[hash((seed, black, white)) % 3]


class Swiss:
    """A tournament that is played by a judge."""

    def __init__(self, count: int, rounds: int) -> None:
        self.bots = [BotId(number) for number in range(1, count + 1)]
        self.rounds = rounds
        self.games: list[PlannedResult] = []
        self.format = self.load()

    def load(self) -> SwissFormat:
        """The format of what is stored."""
        return SwissFormat(self.bots, OPENINGS, rounds=self.rounds, seed=7, games=self.games)

    def next_pairs(self) -> Sequence[GamePair]:
        """Have it plan, and store it."""
        pairs = asyncio.run(self.format.next_pairs(NOBODY))
        for pair in pairs:
            for game in pair.games(len(self.games) + 1):
                number = len(self.games) + 1
                self.games.append(
                    PlannedResult(number, game.round, game.black_id, game.white_id, None)
                )
        return pairs

    def play(self, judge: Judge) -> None:
        """Play what is planned."""
        for place, game in enumerate(self.games):
            if game.result is None:
                result = judge(game.black_id, game.white_id)
                self.games[place] = game._replace(result=result)
                self.format.game_ended(
                    PairingResult(game.number, game.black_id, game.white_id, result)
                )

    def play_all(self, judge: Judge) -> list[Sequence[GamePair]]:
        """Every round."""
        rounds = []
        while pairs := self.next_pairs():
            rounds.append(pairs)
            self.play(judge)
        return rounds

    def report(self) -> Report:
        """The standings and meetings by what is stored."""
        return Table.of(self.bots, self.games).report(scores_of(self.games))


def met(pairs: Sequence[GamePair]) -> list[set[int]]:
    """Who meets whom."""
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


def test_an_odd_field_has_a_bye_that_scores_like_a_meeting_won() -> None:
    """It goes to the last of those who have none yet, who then meets its equals."""
    swiss = Swiss(5, 3)
    rounds = swiss.play_all(stronger)
    assert met(rounds[0]) == [{1, 3}, {2, 4}]
    byes = [meeting for meeting in swiss.report().meetings if meeting.is_bye]
    assert (byes[0].round, byes[0].first, byes[0].second, byes[0].winner) == (1, 5, None, 5)
    assert len({bye.first for bye in byes}) == 3
    assert {(bye.first_points, bye.is_over) for bye in byes} == {(2.0, True)}
    points = {each.bot_id: each.points for each in swiss.report().standings}
    assert sum(points.values()) == 3 * (2 + 2 + 2)


def test_who_is_left_over_goes_down_to_the_next_group() -> None:
    """The last of three meets the best of those below."""
    points = {1: 2.0, 2: 2.0, 3: 2.0, 4: 1.0, 5: 1.0, 6: 0.0}
    entries = [Entry(BotId(bot), points=value) for bot, value in points.items()]
    pairs = [{one.bot_id, other.bot_id} for one, other in next_round(entries).meetings]
    assert pairs == [{1, 2}, {3, 4}, {5, 6}]


def test_a_group_is_paired_within_though_its_first_choice_would_not_let_it() -> None:
    """Of four, the second and the fourth have met: the first leaves the third to the second."""
    entries = [Entry(BotId(bot), points=2.0) for bot in range(1, 5)]
    entries += [Entry(BotId(bot)) for bot in range(5, 7)]
    entries[1].opponents, entries[3].opponents = {BotId(4)}, {BotId(2)}
    pairs = [{one.bot_id, other.bot_id} for one, other in next_round(entries).meetings]
    assert pairs == [{1, 4}, {2, 3}, {5, 6}]


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
    byes = Counter(bot for _, bot in swiss.format.table.byes())
    assert sum(byes.values()) == (rounds if count % 2 else 0)
    if rounds <= math.ceil(math.log2(count)):
        assert set(byes.values()) <= {1}
    assert swiss.format.is_decided


def every_pairing(bots: Sequence[Entry]) -> Iterator[list[tuple[Entry, Entry]]]:
    """All ways to pair an even number of bots."""
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
        before = swiss.format.table.entries()
        entries = {entry.bot_id: entry for entry in before}
        pairs = [(entries[pair.first], entries[pair.second]) for pair in swiss.next_pairs()]
        ways = list(every_pairing(before))
        new = [way for way in ways if not any(one.has_met(other) for one, other in way)]
        if new:
            assert not any(one.has_met(other) for one, other in pairs)
        if any(not any(one.wants_same(other) for one, other in way) for way in new):
            assert not any(one.wants_same(other) for one, other in pairs)
        swiss.play(by_seed(seed))


@settings(max_examples=40)
@given(st.integers(12, 20), st.integers(0, 10**6))
def test_colours_are_balanced(count: int, seed: int) -> None:
    """In a tournament of the usual length, to one meeting."""
    swiss = Swiss(count, 4)
    swiss.play_all(by_seed(seed))
    assert {abs(entry.balance) for entry in swiss.format.table.entries()} <= {0, 1}


@settings(max_examples=40)
@given(st.integers(2, 9), st.integers(1, 4), st.integers(0, 10**6), st.integers(0, 40))
def test_a_later_one_goes_on_with_the_same_plan(
    count: int, rounds: int, seed: int, stop: int
) -> None:
    """Whenever it is made anew from what is stored."""
    whole, broken = Swiss(count, rounds), Swiss(count, rounds)
    whole.play_all(by_seed(seed))
    for _ in range(rounds):
        broken.next_pairs()
        for place, game in enumerate(broken.games):
            if game.result is None and place < stop:
                result = by_seed(seed)(game.black_id, game.white_id)
                broken.games[place] = game._replace(result=result)
        broken.format = broken.load()
        broken.play(by_seed(seed))
        broken.format = broken.load()
    assert broken.games == whole.games
    assert broken.format.is_decided
    assert broken.report() == whole.report()


def test_the_next_round_waits_for_every_result() -> None:
    """Also for that of a game of an earlier round that was voided."""
    swiss = Swiss(4, 3)
    swiss.next_pairs()
    assert swiss.next_pairs() == ()
    swiss.play(stronger)
    swiss.next_pairs()
    swiss.play(stronger)
    swiss.games[0] = swiss.games[0]._replace(result=None)
    swiss.format = swiss.load()
    assert not swiss.next_pairs()
    swiss.play(stronger)
    assert len(swiss.next_pairs()) == 2


def test_a_bye_counts_as_an_opponent_with_the_own_points() -> None:
    """In Buchholz, and beaten in Sonneborn-Berger."""
    swiss = Swiss(3, 1)
    swiss.play_all(stronger)
    found = {each.bot_id: each for each in swiss.report().standings}
    values = {bot: [each.value for each in found[bot].tie_breaks] for bot in found}
    assert values == {1: [0.0, 0.0], 2: [2.0, 0.0], 3: [2.0, 2.0]}
    assert [(each.rank, each.bot_id) for each in swiss.report().standings] == [
        (1, 3),
        (2, 1),
        (3, 2),
    ]
    assert (found[BotId(3)].note, found[BotId(3)].games) == ("bye", 0)


def test_draws_are_halves() -> None:
    """Everybody has as many points, and nobody has won a meeting."""
    swiss = Swiss(6, 3)
    swiss.play_all(drawn)
    report = swiss.report()
    assert {(each.points, each.draws) for each in report.standings} == {(3.0, 6)}
    assert {meeting.winner for meeting in report.meetings} == {None}
    assert all(meeting.is_over for meeting in report.meetings)


def test_meetings_have_openings_of_their_own() -> None:
    """All of them before one comes again."""
    swiss = Swiss(10, 2)
    for pairs in swiss.play_all(stronger):
        assert sorted(pair.opening for pair in pairs) == OPENINGS


@pytest.mark.parametrize("count", [500, 501])
def test_a_large_field_is_paired(count: int) -> None:
    """Everybody has an opponent, but for one."""
    entries = [Entry(BotId(bot), points=bot % 4) for bot in range(1, count + 1)]
    for one, other in itertools.pairwise(entries):
        one.opponents.add(other.bot_id)
        other.opponents.add(one.bot_id)
    found = next_round(entries)
    assert len(found.meetings) == count // 2
    assert not any(one.has_met(other) for one, other in found.meetings)
