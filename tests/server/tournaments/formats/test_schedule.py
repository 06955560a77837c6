"""Who meets whom, with which opening and colours."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import Result, encode_moves
from meijin.server.tournaments.formats.crosstable import Crosstable
from meijin.server.tournaments.formats.schedule import (
    Gauntlet,
    RoundRobin,
    Schedule,
    ScheduledFormat,
    standings_of,
)
from meijin.store.schema import BotId
from meijin.store.tournaments import PlannedGame

OPENINGS = tuple(encode_moves((cell, cell + 1)) for cell in range(0, 20, 2))


def bots(count: int) -> tuple[BotId, ...]:
    """Ids as a database gives them, in no particular order."""
    return tuple(BotId(7 * number % 31 + 1) for number in range(count))


def plan(
    form: type[ScheduledFormat],
    count: int,
    rounds: int,
    seed: int = 1,
    openings: Sequence[bytes] = OPENINGS,
) -> tuple[PlannedGame, ...]:
    made = Schedule(bots(count), form.pairs(count), rounds=rounds, openings=openings, seed=seed)
    games = tuple(made)
    assert len(made) == len(games) == rounds * len(pairs(form, count))
    return games


def pairs(form: type[ScheduledFormat], count: int) -> list[tuple[BotId, BotId]]:
    entered = bots(count)
    return [(entered[one], entered[other]) for one, other in zip(*form.pairs(count), strict=True)]


def pair_of(game: PlannedGame) -> frozenset[BotId]:
    return frozenset((game.black_id, game.white_id))


@given(
    st.sampled_from((RoundRobin, Gauntlet)),
    st.integers(2, 7),
    st.integers(1, 9),
    st.integers(0, 2**63 - 1),
)
def test_every_pair_meets_once_in_every_round(
    form: type[ScheduledFormat], count: int, rounds: int, seed: int
) -> None:
    """The second of each two rounds is the first with the colours reversed, opening by opening."""
    games = plan(form, count, rounds, seed)
    by_place = {(game.round, pair_of(game)): game for game in games}
    wanted = {frozenset(pair) for pair in pairs(form, count)}
    assert by_place.keys() == set(itertools.product(range(1, rounds + 1), wanted))
    assert len(games) == len(by_place)
    assert [game.round for game in games] == sorted(game.round for game in games)
    for (number, pair), game in by_place.items():
        if number % 2 and number < rounds:
            reverse = by_place[number + 1, pair]
            assert (reverse.black_id, reverse.white_id) == (game.white_id, game.black_id)
            assert (reverse.opening, reverse.pair) == (game.opening, game.pair)
    numbers = {((game.round - 1) // 2, pair_of(game)): game.pair for game in games}
    assert sorted(numbers.values()) == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("rounds", [20, 21, 41])
def test_all_openings_are_dealt_before_one_comes_again(rounds: int) -> None:
    """Each pair goes through the whole book, in an order of its own."""
    dealt: dict[frozenset[BotId], list[bytes]] = defaultdict(list)
    for game in plan(RoundRobin, 4, rounds):
        if game.round % 2:
            dealt[pair_of(game)].append(game.opening)
    for openings in dealt.values():
        for first in range(0, len(openings), len(OPENINGS)):
            deck = openings[first : first + len(OPENINGS)]
            assert len(set(deck)) == len(deck)
        assert set(openings[:10]) == set(OPENINGS)
    assert len({tuple(openings[:10]) for openings in dealt.values()}) > 1


def test_the_seed_decides() -> None:
    """The same seed makes the same schedule, another one another."""
    assert plan(RoundRobin, 5, 4, seed=3) == plan(RoundRobin, 5, 4, seed=3)
    assert plan(RoundRobin, 5, 4, seed=3) != plan(RoundRobin, 5, 4, seed=4)


def test_the_first_colours_are_drawn() -> None:
    """Nobody begins with black because of the order of entry."""
    first = Counter(
        game.black_id for seed in range(200) for game in plan(RoundRobin, 2, 1, seed=seed)
    )
    assert len(first) == 2
    assert min(first.values()) > 60


def test_who_meets_whom() -> None:
    first, *others = bots(5)
    assert pairs(Gauntlet, 5) == [(first, other) for other in others]
    met = {frozenset(pair) for pair in pairs(RoundRobin, 5)}
    assert met == {frozenset(pair) for pair in itertools.combinations(bots(5), 2)}
    assert len(pairs(RoundRobin, 5)) == 10


def test_an_empty_opening_is_dealt_again_and_again() -> None:
    """A variant without a book has one opening: the empty board."""
    games = plan(RoundRobin, 3, 6, openings=(b"",))
    assert {game.opening for game in games} == {b""}


def test_the_standings_are_by_points_and_then_by_whom_they_were_won_against() -> None:
    """Sonneborn-Berger tells those with the same points apart; the same in both is one rank."""
    ada, bob, cyd, dan = (BotId(number) for number in range(1, 5))
    won = {(ada, bob), (bob, cyd), (cyd, ada), (ada, dan), (bob, dan)}
    games = [(*pair, Result.BLACK_WINS) for pair in won] + [(cyd, dan, Result.DRAW)]
    found = standings_of((dan, cyd, bob, ada), Crosstable.of(games))
    assert [(each.rank, each.bot_id, each.points) for each in found] == [
        (1, ada, 2.0),
        (2, bob, 2.0),
        (3, cyd, 1.5),
        (4, dan, 0.5),
    ]
    assert [each.tie_breaks[0].value for each in found] == [2.5, 2.0, 2.25, 0.75]
    assert (found[0].games, found[3].games) == (3, 3)
    (first, second) = standings_of((ada, bob), Crosstable())
    assert (first.rank, second.rank) == (1, 1)
