"""What is tested, and where the test stands."""

import json

import pytest

from meijin.ladder.statistics.sprt import Decision, Scale, Sprt
from meijin.server.tournaments.formats.sprt_plan import SprtPlan, Unit
from meijin.store.match_counts import MatchCounts

PLAN = SprtPlan(Sprt(0, 100), Unit.PAIRS, 40)


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        SprtPlan(Sprt(-5.5, 0, alpha=0.1, beta=0.2, scale=Scale.LOGISTIC), Unit.GAMES, 100_000),
    ],
)
def test_a_plan_is_stored_and_comes_back(plan: SprtPlan) -> None:
    """As JSON."""
    assert SprtPlan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_before_the_first_result_nothing_is_known() -> None:
    """A single game is nothing yet where pairs are counted."""
    for counts in (MatchCounts(), MatchCounts(games=(0, 0, 1))):
        standing = PLAN.standing(counts)
        assert (standing.llr, standing.decision, standing.estimate) == (
            0.0,
            Decision.UNDECIDED,
            None,
        )
        assert standing.counts is counts


@pytest.mark.parametrize("unit", list(Unit))
def test_the_unit_says_what_is_counted(unit: Unit) -> None:
    """Pairs, or each game for itself."""
    counts = MatchCounts(games=(7, 1, 12), pairs=(1, 1, 3, 1, 4))
    plan = SprtPlan(PLAN.test, unit, 40)
    used = counts.pairs if unit is Unit.PAIRS else counts.games
    standing = plan.standing(counts)
    assert standing.llr == PLAN.test.llr(used)
    assert standing.decision is PLAN.test.decide(standing.llr)
    assert standing.estimate is not None


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (MatchCounts((0, 0, 20), (0, 0, 0, 0, 10)), "100 normalised Elo accepted, 0 rejected"),
        (MatchCounts((14, 0, 0), (7, 0, 0, 0, 0)), "0 normalised Elo accepted, 100 rejected"),
    ],
)
def test_a_decision_is_told_in_words(counts: MatchCounts, words: str) -> None:
    """With what it says of whom."""
    verdict = PLAN.verdict(PLAN.standing(counts), "ada", "bob")
    assert verdict == f"ada over bob: {words}"


def test_a_match_is_over_when_its_games_are_used_up() -> None:
    """And not before."""
    pairs = (0, 0, 20, 0, 0)
    plan = SprtPlan(Sprt(-1, 1), Unit.PAIRS, 40)
    assert plan.verdict(plan.standing(MatchCounts((0, 39, 0), pairs)), "a", "b") == ""
    words = plan.verdict(plan.standing(MatchCounts((0, 40, 0), pairs)), "a", "b")
    assert words == "undecided after 40 games, the most there were to be"


def test_the_longest_words_fit_their_column() -> None:
    """Two names of 40 characters, and numbers with as many digits as are printed."""
    plan = SprtPlan(Sprt(-123.456789, 123.456789), Unit.PAIRS, 40)
    standing = plan.standing(MatchCounts((0, 0, 40), (0, 0, 0, 0, 20)))
    assert 0 < len(plan.verdict(standing, "a" * 40, "b" * 40)) <= 200
