"""Which games a test has planned, and what it makes of their results."""

from __future__ import annotations

import asyncio
import itertools
import random

import pytest

from meijin.game import Result
from meijin.ladder.statistics.sprt import Decision, Sprt
from meijin.server.tournaments.formats.base import BotCapacity, Capacity, GamePair
from meijin.server.tournaments.formats.sprt import MAX_AHEAD, SprtSupply
from meijin.server.tournaments.formats.sprt_plan import SprtPlan, Unit
from meijin.store.match_counts import MatchCounts, PairingResult
from meijin.store.schema import BotId
from meijin.store.tournaments import PlannedGame

ADA, BOB = BotId(1), BotId(2)
OPENINGS = [bytes((cell, 0)) for cell in range(5)]
WIDE = SprtPlan(Sprt(0, 100), Unit.PAIRS, 10_000)


def supply(
    plan: SprtPlan = WIDE, *, planned: int = 0, results: tuple[PairingResult, ...] = ()
) -> SprtSupply:
    """A test of Ada against Bob."""
    bots = ((ADA, "ada"), (BOB, "bob"))
    return SprtSupply(plan, bots, OPENINGS, seed=3, planned=planned, results=results)


def demand(waiting: int = 0, **altogether: int) -> Capacity:
    """Who could play how many games at once."""
    bots = {"ada": ADA, "bob": BOB}
    seats = {bots[name]: BotCapacity(0, games) for name, games in altogether.items()}
    return Capacity(seats, waiting, held={}, room=10**9)


def plan_pairs(source: SprtSupply, wanted: Capacity) -> list[GamePair]:
    """What it would have played next."""
    return list(asyncio.run(source.next_pairs(wanted)))


def won(number: int, *, by: BotId = ADA) -> PairingResult:
    """The result of a game, of which Ada has black in the odd ones."""
    black, white = (ADA, BOB) if number % 2 else (BOB, ADA)
    result = Result.BLACK_WINS if by == black else Result.WHITE_WINS
    return PairingResult(number, black, white, result)


# -- planning ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "pairs"),
    [
        (demand(), 1),
        (demand(ada=4), 1),
        (demand(waiting=1, ada=4), 0),
        (demand(ada=1, bob=9), 1),
        (demand(waiting=1, ada=1, bob=9), 0),
        (demand(ada=6, bob=4), 2),
        (demand(waiting=1, ada=4, bob=4), 2),
        (demand(waiting=3, ada=4, bob=4), 1),
        (demand(waiting=4, ada=4, bob=4), 0),
        (demand(waiting=9, ada=4, bob=4), 0),
        (demand(ada=10**9, bob=10**9), MAX_AHEAD // 2),
    ],
)
def test_as_many_are_planned_as_may_begin_at_once(wanted: Capacity, pairs: int) -> None:
    """The bot that plays fewer decides; one pair waits whoever is here."""
    assert len(plan_pairs(supply(), wanted)) == pairs


def test_a_pair_is_one_opening_with_both_colours() -> None:
    """Who begins with black alternates from pair to pair."""
    one, other = plan_pairs(supply(), demand(ada=4, bob=4))
    assert (one.first, one.second, other.first, other.second) == (ADA, BOB, BOB, ADA)
    assert one.games(7) == (
        PlannedGame(7, ADA, BOB, one.opening, one.reason),
        PlannedGame(8, BOB, ADA, one.opening, one.reason),
    )
    assert one.reason


def test_all_openings_are_dealt_before_one_comes_again() -> None:
    """In an order that is another one the next time."""
    dealt = [pair.opening for pair in plan_pairs(supply(), demand(ada=40, bob=40))]
    rounds = [tuple(dealt[first : first + 5]) for first in range(0, 20, 5)]
    assert all(sorted(part) == OPENINGS for part in rounds)
    assert len(set(rounds)) > 1


def test_a_later_one_goes_on_with_the_same_pairs() -> None:
    """However many had been planned before."""
    whole = plan_pairs(supply(), demand(ada=40, bob=40))
    for pairs in range(20):
        rest = plan_pairs(supply(planned=2 * pairs), demand(ada=40, bob=40))
        assert rest[: 20 - pairs] == whole[pairs:]


def test_no_more_are_planned_than_there_may_be() -> None:
    """And then none."""
    source = supply(SprtPlan(Sprt(0, 100), Unit.PAIRS, 6), planned=2)
    assert len(plan_pairs(source, demand(ada=40, bob=40))) == 2
    assert plan_pairs(source, demand(ada=40, bob=40)) == []


# -- counting ---------------------------------------------------------------------


def test_a_pair_counts_when_it_is_complete() -> None:
    """Whichever of its games ends first, and whatever ends in between."""
    source = supply()
    for number in (4, 1, 6):
        source.game_ended(won(number))
    assert source.standing.counts == MatchCounts((0, 0, 3), (0, 0, 0, 0, 0))
    source.game_ended(won(3, by=BOB))
    source.game_ended(won(2))
    assert source.standing.counts == MatchCounts((1, 0, 4), (0, 0, 1, 0, 1))
    assert source.verdict == ""


def test_results_after_the_decision_change_nothing() -> None:
    """It was taken with those before."""
    source = supply()
    for number in range(1, 21):
        source.game_ended(won(number))
    decided = source.standing
    assert decided.decision is Decision.H1_ACCEPTED
    assert source.verdict
    for number in range(21, 41):
        source.game_ended(won(number, by=BOB))
    assert source.standing is decided


def test_what_is_stored_says_the_same_as_what_was_heard() -> None:
    """After every single game."""
    rng = random.Random(5)
    heard = supply()
    results = [won(number, by=rng.choice((ADA, ADA, BOB))) for number in range(1, 61)]
    rng.shuffle(results)
    for count, result in enumerate(itertools.takewhile(lambda _: not heard.verdict, results), 1):
        heard.game_ended(result)
        stored = supply(results=tuple(results[:count]))
        assert (stored.standing, stored.verdict) == (heard.standing, heard.verdict)
    assert heard.standing.counts.played > 10
