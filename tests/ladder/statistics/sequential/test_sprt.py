"""The sequential test against another tool's numbers, and its decisions.

What a match of a fixed length says.
"""

import csv
import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ladder.statistics.golden import DATA

from meijin.ladder.statistics.sequential.sprt import (
    Decision,
    Estimate,
    Scale,
    Sprt,
    elo_beyond,
    estimate_of_match,
    likelihood_ratios,
)

BOUND = math.log(19)
"""Where a ratio decides with errors of 5 %."""
SCALES = {"normalized": Scale.NORMALISED, "logistic": Scale.LOGISTIC}


def vectors() -> Iterator[Any]:
    """Tests and counts, and what the other tool makes of them: ratio, Elo, its margin, LOS."""
    with (DATA / "sprt_llr_vectors.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            test = Sprt(float(row["elo0"]), float(row["elo1"]), scale=SCALES[row["model"]])
            counts = [int(count) for count in row["counts_low_to_high"].split()]
            told = [float(row[column]) for column in ("llr_fishtest", "elo", "elo95", "los")]
            yield pytest.param(test, counts, told, id=row["id"])


@pytest.mark.parametrize(("test", "counts", "told"), list(vectors()))
def test_ratio_and_estimate_agree(test: Sprt, counts: list[int], told: list[float]) -> None:
    """On either scale, of games and of pairs: Elo, half of its interval, and the LOS."""
    found = Estimate.of(counts)
    ours = [test.llr(counts), found.elo, found.elo_margin, found.los]
    assert ours == pytest.approx(told, abs=1e-6)


def test_the_bounds_are_those_of_wald() -> None:
    """With errors of 5 % a ratio of 19 to one decides, and errors may differ."""
    sprt = Sprt(0, 10)
    assert (sprt.lower, sprt.upper) == pytest.approx((-BOUND, BOUND))
    bold = Sprt(0, 10, alpha=0.1, beta=0.2)
    assert (bold.lower, bold.upper) == pytest.approx((math.log(0.2 / 0.9), math.log(0.8 / 0.1)))


@pytest.mark.parametrize(
    ("counts", "decision"),
    [
        ([0, 0, 0], Decision.UNDECIDED),
        ([40, 20, 44], Decision.UNDECIDED),
        ([3000, 2000, 4000], Decision.H1_ACCEPTED),
        ([3000, 2000, 2900], Decision.H0_ACCEPTED),
        ([10, 200, 600, 300, 60], Decision.H1_ACCEPTED),
        ([60, 300, 600, 300, 60], Decision.UNDECIDED),
        ([60, 300, 600, 200, 10], Decision.H0_ACCEPTED),
    ],
)
def test_a_decision_follows_from_counts(counts: Sequence[int], decision: Decision) -> None:
    """It needs no memory: the same counts give the same decision."""
    sprt = Sprt(0, 10)
    assert sprt.decide(sprt.llr(counts)) is decision


def test_the_normalised_estimate_by_hand() -> None:
    """A mean of 0.6 with a deviation of 0.49 is 0.204 deviations: 70.9 normalised Elo."""
    estimate = Estimate.of([40, 0, 60])
    per_deviation = 800 / math.log(10)
    assert estimate.normalised_elo == pytest.approx(0.1 / math.sqrt(0.24) * per_deviation, rel=1e-4)
    assert estimate.normalised_margin == pytest.approx(1.96 / 10 * per_deviation, rel=1e-4)


@given(
    st.sampled_from((3, 5)).flatmap(
        lambda size: st.lists(st.integers(0, 5000), min_size=size, max_size=size)
    ),
    st.tuples(st.floats(-200, 200), st.floats(-200, 200)).filter(lambda elo: elo[0] < elo[1]),
    st.sampled_from(Scale),
)
def test_every_count_has_a_ratio(counts: list[int], elo: tuple[float, float], scale: Scale) -> None:
    """It is finite, and turns its sign with the results and the hypotheses.

    Far beyond all bounds it has three digits: the fit of so unlikely a hypothesis is slow.
    """
    llr = Sprt(*elo, scale=scale).llr(counts)
    assert math.isfinite(llr)
    turned = Sprt(-elo[1], -elo[0], scale=scale).llr(counts[::-1])
    assert turned == pytest.approx(-llr, rel=1e-3 if abs(llr) > 10 else 1e-5, abs=1e-5)


@pytest.mark.long
@pytest.mark.parametrize(
    ("p_win", "wrong"), [(0.5, Decision.H1_ACCEPTED), (0.57, Decision.H0_ACCEPTED)]
)
def test_decisions_are_seldom_wrong(p_win: float, wrong: Decision) -> None:
    """Of 200 tests between 0 and 50 Elo with games of such players, at most one in ten errs."""
    rng = random.Random(1)
    sprt = Sprt(0, 50, scale=Scale.LOGISTIC)
    decisions: list[Decision] = []
    for _ in range(200):
        counts = [0, 0, 0]
        while (decision := sprt.decide(sprt.llr(counts))) is Decision.UNDECIDED:
            for _ in range(20):
                counts[2 if rng.random() < p_win else 0] += 1
        decisions.append(decision)
    assert decisions.count(wrong) <= 20


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"elo0": 10, "elo1": 0}, "elo0 10 is not below elo1 0"),
        ({"elo0": 5, "elo1": 5}, "elo0 5 is not below elo1 5"),
        ({"elo0": 0, "elo1": math.nan}, "elo0 0 is not below elo1 nan"),
        ({"elo0": 0, "elo1": 300}, "within -200 and 200, not 0 and 300"),
        ({"elo0": -math.inf, "elo1": 0}, "within -200 and 200, not -inf and 0"),
        ({"elo0": 0, "elo1": 2000, "scale": Scale.LOGISTIC}, "within -1000 and 1000"),
        ({"elo0": 0, "elo1": 10, "alpha": 0.0}, "alpha 0 is not between 0 and 0.5"),
        ({"elo0": 0, "elo1": 10, "beta": 0.5}, "beta 0.5 is not between 0 and 0.5"),
    ],
)
def test_a_test_that_makes_no_sense_is_refused(arguments: dict[str, Any], match: str) -> None:
    """The message names the value."""
    with pytest.raises(ValueError, match=match):
        Sprt(**arguments)


@pytest.mark.parametrize(
    ("counts", "match"), [([1, 2], "2 counts"), ([1] * 4, "4 counts"), ([1, -1, 0], "-1 is no")]
)
def test_counts_that_make_no_sense_are_refused(counts: Sequence[int], match: str) -> None:
    """They are of games or of pairs, and not negative."""
    with pytest.raises(ValueError, match=match):
        Sprt(0, 10).llr(counts)
    with pytest.raises(ValueError, match=match):
        Estimate.of(counts)


def test_pairs_come_before_games() -> None:
    """They know what the opening does to both of their games."""
    pairs = (0, 2, 3, 1, 4)
    assert estimate_of_match((7, 1, 12), pairs) == Estimate.of(pairs)


@pytest.mark.parametrize("pairs", [(0, 0, 5, 0, 0), (0, 0, 0, 0, 0), (0, 1, 0, 1, 0)])
def test_games_tell_where_pairs_do_not(pairs: tuple[int, ...]) -> None:
    """Pairs that all ended alike have no spread, and a few of them leave most games out."""
    assert estimate_of_match((5, 0, 5), pairs) == Estimate.of((5, 0, 5))


def test_games_that_all_ended_alike_have_no_estimate() -> None:
    """An interval without a width would be a lie."""
    assert estimate_of_match((0, 0, 4), (0, 0, 0, 0, 2)) is None
    assert estimate_of_match((0, 4, 0), (0, 0, 2, 0, 0)) is None


@pytest.mark.parametrize("games", [1, 20, 300])
def test_the_bound_of_a_clean_score_is_exact(games: int) -> None:
    """At the bound this many wins in a row have a chance of 5 %."""
    bound = elo_beyond((0, 0, games))
    assert bound is not None
    score = 1 / (1 + 10 ** (-bound / 400))
    assert math.isclose(score**games, 0.05)
    assert elo_beyond((games, 0, 0)) == -bound


@pytest.mark.parametrize("games", [(0, 0, 0), (1, 0, 1), (0, 1, 5), (0, 3, 0)])
def test_other_scores_have_no_bound(games: tuple[int, ...]) -> None:
    """They have an estimate, or say nothing."""
    assert elo_beyond(games) is None


@pytest.mark.parametrize(
    "test",
    [
        Sprt(0, 5),
        Sprt(-20, 200),
        Sprt(-200, -100),
        Sprt(0, 20, scale=Scale.LOGISTIC),
        Sprt(-600, 500, scale=Scale.LOGISTIC),
    ],
)
@pytest.mark.parametrize("kinds", [3, 5])
@pytest.mark.parametrize("most", [2, 9, 400])
def test_each_row_has_its_own_ratio(test: Sprt, kinds: int, most: int) -> None:
    """The same to the last bit alone and among others, also where all results are the same."""
    counts = np.random.default_rng(kinds).integers(0, most, (40, kinds))
    counts = np.concatenate((counts, np.diag([most] * kinds)))
    counts = counts[counts.any(axis=1)]
    alone = [test.llr(row) for row in counts.tolist()]
    assert likelihood_ratios(test, counts).tolist() == alone
