"""Who meets whom, with which opening and colours."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import Result, decode_moves
from meijin.server.tournaments.formats.crosstable import Crosstable, Score
from meijin.server.tournaments.formats.gauntlet import Gauntlet
from meijin.server.tournaments.formats.round_robin import RoundRobin
from meijin.server.tournaments.formats.schedule import Schedule, ScheduledFormat, standings_of
from meijin.store.schema import BotId
from meijin.store.tournaments import PlannedGame

OPENINGS = tuple((cell, cell + 1) for cell in range(0, 20, 2))


def bots(count: int) -> tuple[BotId, ...]:
    """Ids as a database gives them, in no particular order."""
    return tuple(BotId(7 * number % 31 + 1) for number in range(count))


def plan(
    form: type[ScheduledFormat],
    count: int,
    rounds: int,
    seed: int = 1,
    openings: Sequence[Sequence[int]] = OPENINGS,
) -> tuple[PlannedGame, ...]:
    """The schedule of so many bots."""
    made = Schedule(bots(count), form.pairs(count), rounds=rounds, openings=openings, seed=seed)
    games = tuple(made)
    assert len(made) == len(games) == rounds * form.count_pairs(count)
    return games


def pairs(form: type[ScheduledFormat], count: int) -> list[tuple[BotId, BotId]]:
    """Who meets whom."""
    entered = bots(count)
    return [(entered[one], entered[other]) for one, other in zip(*form.pairs(count), strict=True)]


def pair_of(game: PlannedGame) -> frozenset[BotId]:
    """The two bots of a game."""
    return frozenset((game.black_id, game.white_id))


forms = st.sampled_from((RoundRobin, Gauntlet))
cases = st.tuples(forms, st.integers(2, 7), st.integers(1, 9), st.integers(0, 2**63 - 1))


@given(cases)
def test_every_pair_meets_once_in_every_round(
    case: tuple[type[ScheduledFormat], int, int, int],
) -> None:
    """In both formats, for odd and even numbers of bots and rounds."""
    form, count, rounds, _ = case
    games = plan(*case)
    wanted = {frozenset(pair) for pair in pairs(form, count)}
    for number in range(1, rounds + 1):
        met = [pair_of(game) for game in games if game.round == number]
        assert len(met) == len(wanted)
        assert set(met) == wanted
    assert len(games) == rounds * len(wanted)
    assert [game.round for game in games] == sorted(game.round for game in games)


@given(cases)
def test_two_rounds_are_one_opening_with_both_colours(
    case: tuple[type[ScheduledFormat], int, int, int],
) -> None:
    """The second of each two rounds is the first with the colours reversed."""
    _, _, rounds, _ = case
    games = {(game.round, pair_of(game)): game for game in plan(*case)}
    for (number, pair), game in games.items():
        if number % 2 and number < rounds:
            reverse = games[number + 1, pair]
            assert (reverse.black_id, reverse.white_id) == (game.white_id, game.black_id)
            assert reverse.opening == game.opening


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
        assert {tuple(decode_moves(opening)) for opening in openings[:10]} == set(OPENINGS)
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


def test_a_round_robin_pairs_everybody() -> None:
    """Each pair once, whichever comes first."""
    met = pairs(RoundRobin, 5)
    assert {frozenset(pair) for pair in met} == {
        frozenset(pair) for pair in itertools.combinations(bots(5), 2)
    }
    assert len(met) == 10


def test_a_gauntlet_pairs_the_first_with_the_others() -> None:
    """The first bot runs it."""
    first, *others = bots(5)
    assert pairs(Gauntlet, 5) == [(first, other) for other in others]


def test_an_empty_opening_is_dealt_again_and_again() -> None:
    """A variant without a book has one opening: the empty board."""
    games = plan(RoundRobin, 3, 6, openings=((),))
    assert {game.opening for game in games} == {b""}


def test_the_standings_are_by_points_and_then_by_whom_they_were_won_against() -> None:
    """Sonneborn-Berger tells those with the same points apart; the same in both is one rank."""
    ada, bob, cyd, dan = (BotId(number) for number in range(1, 5))
    won = {(ada, bob), (bob, cyd), (cyd, ada), (ada, dan), (bob, dan)}
    games = [Score(*pair, Result.BLACK_WINS) for pair in won] + [Score(cyd, dan, Result.DRAW)]
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
